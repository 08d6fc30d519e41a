package git

import (
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// maxConfig is how large a config may be, in bytes.
const maxConfig = 1 << 20

// Setting is one line of a config. Section and Key are in lower case.
type Setting struct{ Section, Subsection, Key, Value string }

// Config is a config's settings in their order. Files that it includes are not read.
type Config []Setting

// ReadConfig reads a config file; one that cannot be read has no settings.
func ReadConfig(path string) Config {
	text, err := fsx.ReadFile(path, maxConfig)
	if err != nil {
		return nil
	}
	return ParseConfig(text)
}

// Get returns the effective value of a setting: the last one.
func (c Config) Get(section, key string) (value string, ok bool) {
	for _, s := range c {
		if s.Section == section && s.Subsection == "" && s.Key == key {
			value, ok = s.Value, true
		}
	}
	return value, ok
}

// Off reports whether a switch is set to false.
func (c Config) Off(section, key string) bool {
	value, ok := c.Get(section, key)
	switch strings.ToLower(value) {
	case "false", "no", "off", "0", "":
		return ok
	}
	return false
}

// ParseConfig reads the needed part of git's syntax: sections, comments, quotes and escapes
// within a value. A value on several lines is cut after the first.
func ParseConfig(text []byte) Config {
	var all Config
	var section, sub string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			head, after, ok := cutHead(rest)
			section, sub = "", ""
			if !ok {
				continue
			}
			section, sub, _ = strings.Cut(strings.TrimSpace(head), " ")
			section, sub = strings.ToLower(section), configValue(sub)
			line = strings.TrimSpace(after)
		}
		key, value, isSet := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if section == "" || key == "" || key[0] == '#' || key[0] == ';' {
			continue
		}
		if !isSet {
			value = "true"
		}
		all = append(all, Setting{section, sub, key, configValue(value)})
	}
	return all
}

// cutHead cuts at the bracket that ends a section's head: the first one that is not quoted.
func cutHead(s string) (head, after string, ok bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ']' && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// configValue removes quotes, escapes and a comment from a value.
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
