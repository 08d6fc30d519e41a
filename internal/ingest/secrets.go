package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// cleaner takes secrets out of everything of one write and counts them.
type cleaner struct {
	redact func(text string) (clean string, n int)
	// redactValue is redact for a value with names; see Options.RedactValue.
	redactValue func(value string, names ...string) (clean string, n int)
	// echo marks quotes of recall in the strings of JSON values; nil marks none.
	echo *QuoteFilter
	n    int
	gone error // why cleaning stopped; see while
}

func (s *Service) newCleaner() *cleaner {
	return &cleaner{redact: s.opts.Redact, redactValue: s.opts.RedactValue}
}

// while stops the cleaning once ctx ends. If gone is set then, the caller must write
// nothing.
func (c *cleaner) while(ctx context.Context) {
	redact, redactValue := c.redact, c.redactValue
	c.redact = func(text string) (string, int) {
		if c.gone = cmp.Or(c.gone, ctx.Err()); c.gone != nil {
			return "", 0
		}
		return redact(text)
	}
	c.redactValue = func(value string, names ...string) (string, int) {
		if c.gone = cmp.Or(c.gone, ctx.Err()); c.gone != nil {
			return "", 0
		}
		return redactValue(value, names...)
	}
}

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

// git cleans the description of a repository; its argument is not changed.
func (c *cleaner) git(g *memory.Git) *memory.Git {
	if g == nil {
		return nil
	}
	clean := *g
	c.text(&clean.Branch, memory.MaxPathText)
	c.text(&clean.Commit, memory.MaxNameText)
	return &clean
}

// json cleans the texts of a JSON value, and the numbers that are secrets by their
// names; null and nothing are nothing.
func (c *cleaner) json(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return c.rewrite(raw, "")
}

// extra cleans fields that this version does not know, their names as well. The
// map given is not changed.
func (c *cleaner) extra(fields map[string]json.RawMessage) map[string]json.RawMessage {
	if fields == nil {
		return nil
	}
	clean := make(map[string]json.RawMessage, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) { // of two names that become one, the same is kept
		raw := c.rewrite(fields[name], name)
		name, n := c.redact(name)
		c.n += n
		clean[name] = raw
	}
	return clean
}

// rewrite returns a JSON value without its secrets; name is the name of the value. All
// else stays unchanged byte by byte, such as the order of keys and the form of numbers.
// A value that is not valid JSON is returned unchanged.
func (c *cleaner) rewrite(raw json.RawMessage, name string) json.RawMessage {
	at := surroundings{named: namesBeside(raw), outer: name}
	out := make([]byte, 0, len(raw))
	end := 0
	for s := range steptext.Scalars(raw) {
		clean := c.scalar(s, &at)
		if clean == s.Text {
			continue
		}
		out = append(out, raw[end:s.Start]...)
		out = append(out, steptext.Encode(clean)...)
		end = s.End
	}
	return append(out, raw[end:]...)
}

// scalar cleans one scalar. Its neighbours may show that it is a secret although it does
// not look like one: {"password": "…"}, ["--password", "…"].
func (c *cleaner) scalar(s steptext.Scalar, at *surroundings) string {
	clean, n := s.Text, 0
	switch s.Kind {
	case steptext.ScalarOther:
		return clean
	case steptext.ScalarKey:
		clean, n = c.redact(clean)
	case steptext.ScalarNumber:
		if n = c.byName(&clean, at.names(s)); n == 0 {
			return s.Text
		}
	case steptext.ScalarText:
		if n = c.byName(&clean, at.names(s)); n == 0 {
			n = c.asArgument(&clean, at.arguments(s))
		}
		at.take(s, clean)
	}
	c.n += n
	clean, _ = c.echo.mark(clean)
	return clean
}

// byName cleans a text under each possible name until a secret is found.
func (c *cleaner) byName(text *string, ways [][]string) int {
	for _, names := range ways {
		clean, n := c.redactValue(*text, names...)
		if n > 0 {
			*text = clean
			return n
		}
	}
	return 0
}

// asArgument cleans a text as what follows the other arguments of a command.
func (c *cleaner) asArgument(text *string, before []string) int {
	if len(before) == 0 || *text == "" {
		return 0
	}
	front := strings.Join(before, " ") + " "
	both, n := c.redact(front + *text)
	clean, ok := strings.CutPrefix(both, front)
	if !ok || n == 0 {
		return 0
	}
	*text = clean
	return n
}
