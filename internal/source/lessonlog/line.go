package lessonlog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// wireLine has the fields that this version knows, in the order in which they are
// written.
type wireLine struct {
	Timestamp   string           `json:"timestamp,omitempty"`
	AgentID     string           `json:"agent_id,omitempty"`
	Repo        string           `json:"repo,omitempty"`
	Type        memory.EventType `json:"event_type"`
	Context     string           `json:"context,omitempty"`
	Command     string           `json:"command,omitempty"`
	Lesson      string           `json:"lesson"`
	SuccessRate string           `json:"success_rate,omitempty"`
	Counted     bool             `json:"counted,omitempty"`
	Tags        []string         `json:"tags,omitempty"`
	Supersedes  []string         `json:"supersedes,omitempty"`
	Retracts    []string         `json:"retracts,omitempty"`
}

// knownFields are the names of wireLine's fields.
var knownFields = []string{"timestamp", "agent_id", "repo", "event_type", "context", "command", "lesson",
	"success_rate", "counted", "tags", "supersedes", "retracts"}

// Parse decodes one line, with or without its end, and sets its hash. Only the lesson is
// required: a missing type is "pattern", a missing timestamp the zero time. Unknown fields
// are kept in Extra. Invalid UTF-8 is replaced. The error is a *memory.Error that names the
// field; the limits are the same as in memory.RememberRequest.
func Parse(line []byte) (memory.LogLine, error) {
	if len(line) > MaxLine {
		return memory.LogLine{}, tooLong(len(line))
	}
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil || fields == nil {
		return memory.LogLine{}, &memory.Error{Code: memory.CodeInvalidInput, Field: "line", Limit: "one JSON object",
			Message: "is not a JSON object", Cause: err}
	}
	l, err := fromFields(fields)
	if err != nil {
		return memory.LogLine{}, err
	}
	if l, err = checked(l); err != nil {
		return memory.LogLine{}, err
	}
	l.Hash = Hash(l)
	return l, nil
}

func fromFields(fields map[string]json.RawMessage) (l memory.LogLine, err error) {
	const text, list = "a text", "a list of texts"
	var stamp, kind string
	for _, f := range []struct {
		name string
		into any
		want string
	}{
		{"timestamp", &stamp, text}, {"agent_id", &l.AgentID, text}, {"repo", &l.Repo, text}, {"event_type", &kind, text},
		{"context", &l.Context, text}, {"command", &l.Command, text}, {"lesson", &l.Lesson, text}, {"success_rate", &l.SuccessRate, text},
		{"tags", &l.Tags, list}, {"supersedes", &l.Supersedes, list}, {"retracts", &l.Retracts, list}, {"counted", &l.Counted, "true or false"},
	} {
		if raw, ok := fields[f.name]; ok && !decode(raw, f.into) {
			return l, memory.Invalid(f.name, f.want, "is not %s", f.want)
		}
		delete(fields, f.name)
	}
	l.Type = memory.EventType(kind)
	if l.Timestamp, err = parseTime(stamp); err != nil {
		return l, err
	}
	if len(fields) > 0 {
		l.Extra = fields
	}
	return l, nil
}

// decode decodes a field and reports whether it is of the kind of into. Most are texts without
// an escape, which are what stands between the quotes.
func decode(raw json.RawMessage, into any) bool {
	if text, ok := into.(*string); ok && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		*text = string(raw[1 : len(raw)-1])
		return true
	}
	return json.Unmarshal(raw, into) == nil
}

func parseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return time.Time{}, nil
	}
	if t, ok := fsx.ParseTime(s); ok {
		return t, nil
	}
	return time.Time{}, memory.Invalid("timestamp", "RFC 3339", "%s is not a time", memory.Quote(s))
}

// checked returns the normal form of a line if it keeps the limits of a lesson.
func checked(l memory.LogLine) (memory.LogLine, error) {
	l = normal(l)
	r := memory.RememberRequest{
		Repo: l.Repo, Type: l.Type, Context: l.Context, Command: l.Command, Lesson: l.Lesson,
		SuccessRate: l.SuccessRate, Tags: l.Tags, AgentID: l.AgentID, Supersedes: l.Supersedes, Retracts: l.Retracts,
	}
	if err := memory.Check(&r); err != nil {
		return memory.LogLine{}, err
	}
	return l, nil
}

// normal brings a line into the form in which it is written, so that a line has the same
// hash when it is read again. It is idempotent.
func normal(l memory.LogLine) memory.LogLine {
	for _, text := range []*string{&l.AgentID, &l.Repo, &l.Context, &l.Command, &l.Lesson, &l.SuccessRate} {
		*text = clean(*text)
	}
	if l.Type = memory.EventType(clean(string(l.Type))); l.Type == "" {
		l.Type = memory.EventPattern
	}
	l.Timestamp = l.Timestamp.UTC()
	for _, list := range []*[]string{&l.Tags, &l.Supersedes, &l.Retracts} {
		var kept []string
		for _, s := range *list {
			if s = clean(s); s != "" {
				kept = append(kept, s)
			}
		}
		*list = kept
	}
	return l
}

func clean(s string) string { return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD")) }

// Hash returns the document id of a line's encoding. It does not depend on the order of
// the fields or their spacing.
func Hash(l memory.LogLine) memory.DocID { return memory.DocumentID(string(Encode(l))) }

// Encode writes a line in its normal form: the known fields in the order of the contract,
// then the fields of Extra by name, without blanks and needless escapes, and a line end.
// Empty fields are left out, except the type and the lesson. It does not check limits.
func Encode(l memory.LogLine) []byte {
	l = normal(l)
	w := wireLine{
		AgentID: l.AgentID, Repo: l.Repo, Type: l.Type, Context: l.Context, Command: l.Command, Lesson: l.Lesson,
		SuccessRate: l.SuccessRate, Counted: l.Counted, Tags: l.Tags, Supersedes: l.Supersedes, Retracts: l.Retracts,
	}
	if !l.Timestamp.IsZero() {
		w.Timestamp = l.Timestamp.Format(time.RFC3339Nano)
	}
	var b bytes.Buffer
	writeJSON(&b, w)
	b.Truncate(b.Len() - len("}"))
	for _, name := range slices.Sorted(maps.Keys(l.Extra)) {
		if slices.Contains(knownFields, name) {
			continue // it would be written twice
		}
		b.WriteByte(',')
		writeJSON(&b, strings.ToValidUTF8(name, "\uFFFD"))
		b.WriteByte(':')
		writeRaw(&b, l.Extra[name])
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// writeJSON appends a value whose encoding cannot fail.
func writeJSON(b *bytes.Buffer, v any) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)       // texts and lists of texts
	b.Truncate(b.Len() - 1) // the encoder's line end
}

// writeRaw appends a value unchanged but for blanks. Invalid JSON, which a line that was
// read cannot contain, becomes a text.
func writeRaw(b *bytes.Buffer, raw json.RawMessage) {
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	if n := b.Len(); json.Compact(b, raw) != nil {
		b.Truncate(n)
		writeJSON(b, string(raw))
	}
}

func tooLong(n int) *memory.Error {
	return memory.Invalid("line", maxLineText, "%d bytes are too many", n)
}

// maxLineText is MaxLine in words.
const maxLineText = "at most 65536 bytes"
