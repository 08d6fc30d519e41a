package project

import (
	"bufio"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxConfig is how much of a repository's config is read.
const maxConfig = 1 << 20

// remote is where a repository was cloned from: key for one on a server, path
// for one on this machine, both empty for none.
type remote struct {
	// key is "host/path", the same for every way of writing the address.
	key  string
	path string
}

// name is the last part of the address.
func (r remote) name() string { return path.Base(r.key) }

// parseRemote normalises an address of git's. Scheme, user, password, port,
// the .git at the end and the host's case are taken out: the ssh and the https
// address of a repository differ in just these.
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
	// "user@host:path", unless a slash comes first or it is a drive: "C:/repo".
	host, p, ok := strings.Cut(address, ":")
	if !ok || strings.ContainsAny(host, `/\`) || len(host) == 1 {
		return remote{path: filepath.FromSlash(address)}
	}
	if _, after, ok := strings.Cut(host, "@"); ok {
		host = after
	}
	return serverRemote(strings.Trim(host, "[]"), p)
}

func serverRemote(host, p string) remote {
	p = strings.Trim(path.Clean("/"+p), "/")
	p = strings.TrimSuffix(p, ".git")
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

// readRemote returns the address of the remote "origin", else of the only
// remote, from a git config file; empty when there is none or the file cannot
// be read.
func readRemote(config string) string {
	f, err := os.Open(config)
	if err != nil {
		return ""
	}
	defer f.Close() // only read
	return originURL(io.LimitReader(f, maxConfig))
}

// originURL reads as much of git's config syntax as remotes need: sections,
// comments, quotes and escapes within a value.
func originURL(r io.Reader) string {
	urls := map[string]string{}
	var section string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxConfig)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "["); ok {
			head, after, ok := strings.Cut(rest, "]")
			if !ok {
				section = ""
				continue
			}
			section, line = remoteSection(head), strings.TrimSpace(after)
		}
		key, value, ok := strings.Cut(line, "=")
		if section == "" || !ok || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		// Of several addresses of a remote git fetches from the first.
		if _, seen := urls[section]; !seen {
			urls[section] = configValue(value)
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

// remoteSection returns NAME of a section's head `remote "NAME"`.
func remoteSection(head string) string {
	kind, name, ok := strings.Cut(strings.TrimSpace(head), " ")
	if !ok || !strings.EqualFold(kind, "remote") {
		return ""
	}
	return configValue(name)
}

// configValue takes quotes, escapes and a comment out of a value.
func configValue(s string) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
