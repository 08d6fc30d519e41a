package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Error is one thing wrong with the settings.
type Error struct {
	// Source is where the setting stands: "file:line" or a variable of the
	// environment. Empty when that is not known.
	Source string
	// Field is the path of the setting.
	Field string
	// Limit is what it must keep to, in words.
	Limit   string
	Message string
}

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

// checks gathers what is wrong.
type checks struct{ errs []error }

func (c *checks) fail(field, limit, format string, args ...any) {
	c.errs = append(c.errs, &Error{Field: field, Limit: limit, Message: fmt.Sprintf(format, args...)})
}

func (c *checks) oneOf(field, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		c.fail(field, strings.Join(allowed, ", "), "%q is not one of them", value)
	}
}

// number is what a range can be checked of.
type number interface {
	~int | ~int64 | ~float64
}

// within is written so that NaN is out of every range.
func within[T number](c *checks, field string, value, min, max T) {
	if !(value >= min && value <= max) {
		c.fail(field, fmt.Sprintf("%v–%v", min, max), "%v is out of range", value)
	}
}

// Validate checks every setting. The error joins an *Error for each that is at
// fault.
func (c *Config) Validate() error {
	v := &checks{}
	v.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	v.oneOf("log.format", c.Log.Format, "text", "json")
	within(v, "log.max_size", c.Log.MaxSize, 64e3, 1e9)
	within(v, "daemon.start_timeout", c.Daemon.StartTimeout, time.Second, 10*time.Minute)
	within(v, "daemon.drain_timeout", c.Daemon.DrainTimeout, 0, 10*time.Minute)
	c.TCP.validate(v)
	c.Index.validate(v)
	within(v, "queue.depth", c.Queue.Depth, 10, 1_000_000)
	within(v, "queue.lease", c.Queue.Lease, time.Second, time.Hour)
	within(v, "queue.max_attempts", c.Queue.MaxAttempts, 1, 100)
	within(v, "queue.backoff_min", c.Queue.BackoffMin, time.Millisecond, time.Hour)
	within(v, "queue.backoff_max", c.Queue.BackoffMax, max(c.Queue.BackoffMin, time.Millisecond), 24*time.Hour)
	c.Recall.validate(v)
	c.Embedding.Ollama.validate(v)
	within(v, "receipts.retention_days", c.Receipts.RetentionDays, 0, 36_500)
	for i, folder := range c.Sources.Trusted {
		if _, err := path.Match(filepath.ToSlash(folder), ""); err != nil || folder == "" {
			v.fail(fmt.Sprintf("sources.trusted[%d]", i), "a folder, or a pattern with *, ? and [ ]", "%q is neither", folder)
		}
	}
	c.Sessions.validate(v)
	c.Tasks.validate(v)
	c.Context.validate(v)
	c.MCP.validate(v)
	if c.Lessons.Dir == "" {
		v.fail("lessons.dir", "a folder", "is empty")
	}
	if c.FollowEvery != 0 {
		within(v, "follow_every", c.FollowEvery, 100*time.Millisecond, time.Hour)
	}
	return errors.Join(v.errs...)
}

func (t *TCP) validate(v *checks) {
	const limit = "127.0.0.1:PORT, [::1]:PORT or localhost:PORT"
	host, port, err := net.SplitHostPort(t.Address)
	switch ip, ipErr := netip.ParseAddr(host); {
	case err != nil:
		v.fail("tcp.address", limit, "%q is not host:port", t.Address)
	case host != "localhost" && (ipErr != nil || !ip.IsLoopback()):
		v.fail("tcp.address", limit, "%q is not a loopback address", host)
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
	within(v, "index.max_file_size", x.MaxFileSize, 1e3, 100e6)
	within(v, "index.max_files", x.MaxFiles, 1, 10_000_000)
	within(v, "index.time_limit", x.TimeLimit, time.Second, 24*time.Hour)
	within(v, "index.workers", x.Workers, 1, 64)
	within(v, "index.stale_after", x.StaleAfter, time.Second, 24*time.Hour)
	within(v, "index.reconcile_every", x.ReconcileEvery, time.Second, 24*time.Hour)
	if x.MaxSize != 0 {
		within(v, "index.max_size", x.MaxSize, 1e6, 1e12)
	}
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

func (r *Recall) validate(v *checks) {
	within(v, "recall.limit", r.Limit, 1, 50)
	within(v, "recall.max_tokens", r.MaxTokens, 50, 8000)
	within(v, "recall.code_deadline", r.CodeDeadline, time.Millisecond, 500*time.Millisecond)
	within(v, "recall.query_deadline", r.QueryDeadline, time.Millisecond, 10*time.Second)
	within(v, "recall.code_results", r.CodeResults, 0, 50)
	within(v, "recall.code_size", r.CodeSize, 0, 64<<10)
	for kind, floor := range r.MinRelevance.Map() {
		within(v, "recall.min_relevance."+kind, floor, 0, 1)
	}
	for kind, days := range r.HalfLifeDays.Map() {
		within(v, "recall.half_life_days."+kind, days, 0, 36_500)
	}
	within(v, "recall.vector_weight", r.VectorWeight, 0, 10)
}

func (o *Ollama) validate(v *checks) {
	const section = "embedding.ollama."
	v.oneOf(section+"enabled", o.Enabled, OllamaAuto, OllamaOn, OllamaOff)
	within(v, section+"batch", o.Batch, 1, 512)
	within(v, section+"concurrency", o.Concurrency, 1, 64)
	within(v, section+"timeout", o.Timeout, time.Second, 10*time.Minute)
	within(v, section+"keep_alive", o.KeepAlive, -time.Second, 24*time.Hour)
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
	return host == "localhost" || err == nil && ip.IsLoopback()
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

// isToolName says whether MCP clients take a text for a tool's name, or for the
// first characters of one.
func isToolName(s string) bool {
	return len(s) <= maxToolName && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}
