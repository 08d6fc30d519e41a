package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Values of Ollama.Enabled.
const (
	OllamaAuto = "auto"
	OllamaOn   = "on"
	OllamaOff  = "off"
)

// Used says that the server is asked for vectors.
func (o *Ollama) Used() bool { return o.Enabled != OllamaOff && o.Unused == "" }

// find puts the server that OLLAMA_HOST names in the place of no URL. That
// variable is set for Ollama's own programs, often to another machine: unless a
// setting asks for the server, one that may not be used is left alone and is no
// error.
func (o *Ollama) find(host string) {
	if o.URL != "" {
		return
	}
	found := ollamaURL(host)
	u, err := url.Parse(found)
	switch {
	case o.Enabled != OllamaAuto:
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		o.Unused = fmt.Sprintf("OLLAMA_HOST is %q, which names no server", host)
		return
	case !o.AllowRemote && !isLoopback(u.Hostname()):
		o.Unused = fmt.Sprintf("OLLAMA_HOST names %s, another machine, and embedding.ollama.allow_remote is false", u.Hostname())
	}
	o.URL = found
}

// ollamaURL reads OLLAMA_HOST as Ollama's own clients do (envconfig.Host in
// github.com/ollama/ollama): scheme, host and port may each be missing, and an
// IPv6 address may stand without brackets. An unspecified address is what a
// server listens on, not where it is: that is this machine.
func ollamaURL(host string) string {
	const ownPort = "11434"
	port := ownPort
	scheme, rest, found := strings.Cut(strings.TrimSpace(host), "://")
	switch {
	case !found:
		scheme, rest = "http", scheme
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	rest, path, _ := strings.Cut(rest, "/")
	name, p, err := net.SplitHostPort(rest)
	if err != nil {
		name, p = strings.Trim(rest, "[]"), ""
	}
	if n, err := strconv.ParseUint(p, 10, 16); err == nil {
		port = strconv.FormatUint(n, 10)
	}
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	if path = strings.TrimRight(path, "/"); path != "" {
		path = "/" + path
	}
	return scheme + "://" + net.JoinHostPort(name, port) + path
}
