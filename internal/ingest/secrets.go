package ingest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// cleaner takes secrets out of everything of one write and counts them.
type cleaner struct {
	redact func(text string) (clean string, n int)
	// echo marks in the strings of JSON values what recall handed out; nil does not.
	echo *Echo
	n    int
}

func (s *Service) newCleaner() *cleaner { return &cleaner{redact: s.opts.Redact} }

// text cleans a text and keeps it within most characters, for the mark of a
// secret may be longer than the secret.
func (c *cleaner) text(text *string, most int) {
	clean, n := c.redact(*text)
	c.n += n
	*text = strings.TrimSpace(clean)
	if n == 0 || utf8.RuneCountInString(*text) <= most {
		return
	}
	*text = strings.TrimSpace(string([]rune(*text)[:most]))
}

// list cleans tags, each kept once and none empty. The list given is not changed.
func (c *cleaner) list(tags []string) []string {
	var clean []string
	for _, tag := range tags {
		c.text(&tag, memory.MaxTagText)
		if tag != "" && !slices.Contains(clean, tag) {
			clean = append(clean, tag)
		}
	}
	return clean
}

// json cleans the strings of a JSON value; null and nothing are nothing.
func (c *cleaner) json(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return rewriteStrings(raw, c.value)
}

// extra cleans fields that this version does not know. The map given is not
// changed.
func (c *cleaner) extra(fields map[string]json.RawMessage) map[string]json.RawMessage {
	fields = maps.Clone(fields)
	for name, raw := range fields {
		fields[name] = rewriteStrings(raw, func(_, text string) string { return c.value(name, text) })
	}
	return fields
}

// value cleans one string of a JSON value. What it is the value of may tell that
// it is a secret where it does not look like one: {"password": "…"}.
func (c *cleaner) value(key, text string) string {
	clean, n := c.redact(text)
	if n == 0 && text != "" {
		clean, n = c.assigned(key, text)
	}
	c.n += n
	clean, _ = c.echo.Mark(clean)
	return clean
}

// assigned cleans a text as what stands behind a key.
func (c *cleaner) assigned(key, text string) (string, int) {
	if key == "" || strings.ContainsAny(text, "\"\\\n") {
		return text, 0
	}
	if _, n := c.redact(key); n > 0 { // it is the key that would be found
		return text, 0
	}
	front := `"` + key + `": "`
	both, n := c.redact(front + text + `"`)
	if n == 0 {
		return text, 0
	}
	clean, ok := strings.CutPrefix(both, front)
	if !ok { // a rule took the key with it
		return "[redacted]", n
	}
	return strings.TrimSuffix(clean, `"`), n
}

// rewriteStrings returns a JSON value with its strings, the keys of objects among
// them, replaced by what fn makes of them. fn is told the key that a string, or
// the list it stands in, is the value of; a key itself has none. All else, the
// order of keys and the writing of numbers, stays byte by byte as it is. A value
// that is not valid JSON is returned as it came.
func rewriteStrings(raw json.RawMessage, fn func(key, text string) string) json.RawMessage {
	if !json.Valid(raw) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	key := ""
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			if raw[i] == '}' || raw[i] == '{' {
				key = ""
			}
			out = append(out, raw[i])
			i++
			continue
		}
		end := stringEnd(raw, i)
		var text string
		literal := raw[i:end]
		if json.Unmarshal(literal, &text) != nil {
			return raw // not in valid JSON
		}
		of := key
		if isKey(raw, end) {
			key, of = text, ""
		}
		if clean := fn(of, text); clean != text {
			literal = quote(clean)
		}
		out = append(out, literal...)
		i = end
	}
	return out
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// isKey says that what ends at i is the key of an object.
func isKey(raw []byte, i int) bool {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i < len(raw) && raw[i] == ':'
}

// quote writes a string as JSON, with no more escapes than JSON asks for.
func quote(text string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string can always be encoded
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
