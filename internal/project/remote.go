package project

import (
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/recalld/recalld/internal/git"
)

// remote is the origin of a clone: key if it is on a server, path if it is on this
// machine, both empty for none.
type remote struct {
	// key is "host/path", the same for every way of writing the address.
	key  string
	path string
}

// name is the last part of the address.
func (r remote) name() string { return path.Base(r.key) }

// parseRemote normalises an address of git. It removes scheme, user, password, port, the
// .git at the end and the case of the host, in which the ssh and https addresses of a
// repository differ.
func parseRemote(address string) remote {
	address = strings.TrimSpace(address)
	if address == "" {
		return remote{}
	}
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		u, err := url.Parse(address)
		if err != nil {
			return remote{}
		}
		if strings.EqualFold(scheme, "file") {
			return remote{path: localPath(u.Host, u.Path)}
		}
		return serverRemote(u.Hostname(), u.Path)
	}
	// "user@host:path", unless a slash comes first or it is a drive: "C:/repo", on Windows also
	// "C:repo".
	host, p, ok := cutHost(address)
	if !ok || strings.ContainsAny(host, `/\`) || len(host) == 1 && (runtime.GOOS == "windows" || strings.IndexAny(p, `/\`) == 0) {
		return remote{path: filepath.FromSlash(address)}
	}
	if _, after, ok := strings.Cut(host, "@"); ok {
		host = after
	}
	return serverRemote(host, p)
}

// cutHost cuts an address at the colon after its host. Brackets around an address of IPv6, or a
// host with its port, and the port are removed.
func cutHost(address string) (host, p string, ok bool) {
	user, after, bracketed := strings.Cut(address, "[")
	if !bracketed || user != "" && (!strings.HasSuffix(user, "@") || strings.ContainsAny(user, `:/\`)) {
		return strings.Cut(address, ":")
	}
	host, p, ok = strings.Cut(after, "]:")
	if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}
	return user + host, p, ok
}

func serverRemote(host, p string) remote {
	p = strings.Trim(path.Clean("/"+p), "/")
	p = strings.TrimRight(strings.TrimSuffix(p, ".git"), "/") // a/b.git and a/b/.git
	if host == "" || p == "" {
		return remote{}
	}
	return remote{key: strings.ToLower(host) + "/" + p}
}

// localPath is the path of a file URL; on Windows "file:///C:/repo" holds its
// drive behind a slash.
func localPath(host, p string) string {
	if len(p) > 2 && p[0] == '/' && p[2] == ':' {
		p = p[1:]
	}
	if host != "" && host != "localhost" {
		p = "//" + host + p
	}
	return filepath.FromSlash(p)
}

// readRemote returns the address of the remote "origin", else of the only remote, from a
// git config file; empty if there is none or the file cannot be read.
func readRemote(config string) string { return originURL(git.ReadConfig(config)) }

// originURL is readRemote of a config. Of several addresses of a remote git fetches
// from the first.
func originURL(c git.Config) string {
	urls := map[string]string{}
	for _, s := range c {
		if s.Section != "remote" || s.Subsection == "" || s.Key != "url" {
			continue
		}
		if _, seen := urls[s.Subsection]; !seen {
			urls[s.Subsection] = s.Value
		}
	}
	if u, ok := urls["origin"]; ok {
		return u
	}
	if len(urls) == 1 {
		for _, u := range urls {
			return u
		}
	}
	return ""
}
