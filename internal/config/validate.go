package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Error says what is wrong with one setting.
type Error struct {
	// Source is "file:line" or an environment variable; empty if not known.
	Source string
	// Field is the path of the setting.
	Field string
	// Limit says in words what is allowed.
	Limit   string
	Message string
	Cause   error
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Source, e.Field} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	b.WriteString(e.Message)
	if e.Limit != "" {
		fmt.Fprintf(&b, " (limit: %s)", e.Limit)
	}
	return b.String()
}

// FileError is returned by Load and Edit when the settings file cannot be read, or is not
// made of settings. A value outside its limits is an *Error alone: another layer may have set it.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// checks collects errors.
type checks struct{ errs []error }

func (c *checks) fail(field, limit, format string, args ...any) {
	c.errs = append(c.errs, &Error{Field: field, Limit: limit, Message: fmt.Sprintf(format, args...)})
}

// validate checks a setting against its tags.
func (s setting) validate(v *checks) {
	if words := s.tag.Get("enum"); words != "" && !slices.Contains(strings.Split(words, ","), s.value.String()) {
		v.fail(s.path, strings.ReplaceAll(words, ",", ", "), "%q is not one of them", s.value)
	}
	limit := s.tag.Get("limit")
	if limit == "" {
		return
	}
	limit, off := strings.CutPrefix(limit, "0,")
	if off && s.value.IsZero() {
		return
	}
	least, most := s.bounds(limit)
	if !(number(s.value) >= number(least) && number(s.value) <= number(most)) { // also false for NaN
		text := fmt.Sprintf("%v–%v", least, most)
		if off {
			text = "0 or " + text
		}
		v.fail(s.path, text, "%v is out of range", s.value)
	}
}

// bounds parses a range such as "1s-10m" for the setting's type.
func (s setting) bounds(limit string) (least, most reflect.Value) {
	parse := func(text string) reflect.Value {
		v := reflect.New(s.value.Type()).Elem()
		if err := (setting{value: v}).set(text); err != nil {
			panic("config: limit of " + s.path + ": " + err.Error())
		}
		return v
	}
	from, to, _ := strings.Cut(limit, "-")
	return parse(from), parse(to)
}

func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// Validate checks every setting. The error joins an *Error for each invalid one.
func (c *Config) Validate() error {
	v := &checks{}
	for _, s := range c.settings() {
		s.validate(v)
	}
	c.TCP.validate(v)
	c.Index.validate(v)
	c.Embedding.Ollama.validate(v)
	for i, folder := range c.Sources.Trusted {
		if _, err := path.Match(filepath.ToSlash(folder), ""); err != nil || folder == "" {
			v.fail(fmt.Sprintf("sources.trusted[%d]", i), "a folder, or a pattern with *, ? and [ ]", "%q is neither", folder)
		}
	}
	c.Sessions.validate(v)
	c.Tasks.validate(v)
	c.Context.validate(v)
	c.MCP.validate(v)
	c.Search.validate(v)
	if c.Lessons.Dir == "" {
		v.fail("lessons.dir", "a folder", "is empty")
	}
	return errors.Join(v.errs...)
}

func (t *TCP) validate(v *checks) {
	const limit = "127.0.0.1:PORT, [::1]:PORT, localhost:PORT, or another address with tcp.certificate and tcp.key"
	if t.Certificate != "" && t.Key == "" {
		v.fail("tcp.key", "the file of the certificate's key", "tcp.certificate is set and this is not")
	}
	if t.Key != "" && t.Certificate == "" {
		v.fail("tcp.certificate", "the file of the key's certificate", "tcp.key is set and this is not")
	}
	host, port, err := net.SplitHostPort(t.Address)
	switch ip, ipErr := netip.ParseAddr(host); {
	case err != nil:
		v.fail("tcp.address", limit, "%q is not host:port", t.Address)
	case host != "localhost" && ipErr != nil:
		v.fail("tcp.address", limit, "%q is neither a loopback address nor another", host)
	case host != "localhost" && !ip.IsLoopback() && t.Certificate == "":
		v.fail("tcp.address", limit, "%q is not a loopback address, and there is no certificate", host)
	default:
		if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
			v.fail("tcp.address", limit, "%q is not a port", port)
		}
	}
	for i, origin := range t.AllowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin {
			v.fail(fmt.Sprintf("tcp.allowed_origins[%d]", i), "scheme://host[:port]", "%q is not an origin", origin)
		}
	}
}

func (x *Index) validate(v *checks) {
	for i, name := range x.SkipDirs {
		if name == "" || strings.ContainsAny(name, `/\`) {
			v.fail(fmt.Sprintf("index.skip_dirs[%d]", i), "the name of a folder", "%q is not a name", name)
		}
	}
	for i, pattern := range x.SkipFiles {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			v.fail(fmt.Sprintf("index.skip_files[%d]", i), "a pattern of *, ? and [ ]", "%q is not a pattern", pattern)
		}
	}
}

func (o *Ollama) validate(v *checks) {
	const section = "embedding.ollama."
	if n := len(o.Model); n == 0 || n > 200 || strings.ContainsFunc(o.Model, isSpace) {
		v.fail(section+"model", "1–200 characters without spaces", "%q is not the name of a model", o.Model)
	}
	if len(o.Prefixes) > 200 {
		v.fail(section+"prefixes", "at most 200", "%d families", len(o.Prefixes))
	}
	for family, p := range o.Prefixes {
		if len(p.Query) > 1000 || len(p.Document) > 1000 {
			v.fail(section+"prefixes."+family, "at most 1000 bytes", "the prefix is too long")
		}
	}
	if o.URL == "" {
		return
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		v.fail(section+"url", "http://host:port", "%q is not a URL", o.URL)
		return
	}
	if !o.AllowRemote && o.Used() && !isLoopback(u.Hostname()) {
		v.fail(section+"url", "a server on this machine unless "+section+"allow_remote is true",
			"%q is another machine", u.Hostname())
	}
}

func isSpace(r rune) bool { return r <= ' ' }

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

func (s *Sessions) validate(v *checks) {
	if s.Dir == "" {
		v.fail("sessions.dir", "a folder", "is empty")
	}
	for i, tag := range s.FlowTags {
		if tag == "" {
			v.fail(fmt.Sprintf("sessions.flow_tags[%d]", i), "a word", "is empty")
		}
	}
	for i, rule := range s.Labels {
		field := fmt.Sprintf("sessions.labels[%d]", i)
		if rule.Label == "" {
			v.fail(field+".label", "a word", "is empty")
		}
		for _, tool := range rule.Tools {
			if _, err := path.Match(tool, ""); err != nil {
				v.fail(field+".tools", "names, or patterns with * and ?", "%q is not a pattern", tool)
			}
		}
	}
}

// isToolName reports whether MCP clients accept a text as a tool's name, or as the first
// characters of one.
func isToolName(s string) bool {
	return len(s) <= maxToolName && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// searchKey are the keys that can have an action. Ctrl-C always leaves; a terminal cannot tell
// Ctrl-H, Ctrl-I and Ctrl-M from Backspace, Tab and Enter.
var searchKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(ctrl-[abd-gj-ln-z]|alt-[a-z]|f([1-9]|1[0-2])|up|down|pgup|pgdn|tab|shift-tab|enter|esc|insert)$`)
})

func (s *Search) validate(v *checks) {
	set := map[string]bool{}
	for i, text := range s.Keys {
		field := fmt.Sprintf("search.keys[%d]", i)
		key, action, _ := strings.Cut(text, "=")
		switch {
		case !searchKey().MatchString(key):
			v.fail(field, "ctrl-LETTER but c, h, i and m, alt-LETTER, f1–f12, up, down, pgup, pgdn, tab, shift-tab, enter, esc, insert; such as ctrl-j=down", "%q is none of these keys", key)
		case !slices.Contains(SearchActions, action):
			v.fail(field, strings.Join(SearchActions, ", "), "%q is none of these actions", action)
		case set[key]:
			v.fail(field, "one action a key", "%s is there twice", key)
		}
		set[key] = true
	}
}
