package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// EntryKinds are the types of entries, in the order in which contexts show them.
var EntryKinds = []Kind{Rule, Reference, Tool}

// Includes lists every include mode.
var Includes = []Include{IncludeAlways, IncludeManual, IncludeAgent}

const entryKindLimit = "rule, reference or tool"

// Validate checks the limits and trims all texts. Two entries of the same type, name
// and server are an error, and so are two servers of one name.
func (r *RegisterRequest) Validate() error {
	if err := catalogueRequest(&r.RequestID, &r.Project, &r.Source, &r.Caller); err != nil {
		return err
	}
	if len(r.Entries) == 0 && len(r.Servers) == 0 && !r.Replace {
		return Invalid("entries", fmt.Sprintf("1–%d entries, or servers", MaxRegistered), "nothing is named")
	}
	r.Entries, r.Servers = slices.Clone(r.Entries), slices.Clone(r.Servers) // the caller's are not written to
	if err := ValidEntries(r.Entries); err != nil {
		return err
	}
	return ValidServers(r.Servers)
}

// Validate checks the limits.
func (r *UnregisterRequest) Validate() error {
	if err := catalogueRequest(&r.RequestID, &r.Project, &r.Source, &r.Caller); err != nil {
		return err
	}
	switch {
	case len(r.Entries) == 0 && r.Source == "":
		return Invalid("entries", fmt.Sprintf("1–%d entries, or a source", MaxRegistered), "nothing is named")
	case len(r.Entries) > 0 && r.Source != "":
		return Invalid("source", "entries or a source", "both are named")
	case len(r.Entries) > MaxRegistered:
		return Invalid("entries", fmt.Sprintf("at most %d", MaxRegistered), "%d of them", len(r.Entries))
	}
	r.Entries = slices.Clone(r.Entries)
	for i := range r.Entries {
		if err := r.Entries[i].Validate(fmt.Sprintf("entries[%d].", i)); err != nil {
			return err
		}
	}
	return distinct("entries", r.Entries, func(ref Ref) Ref { return ref })
}

// Validate checks the limits.
func (r *EntriesRequest) Validate() error {
	if err := catalogueRequest(new(string), &r.Project, new(string), &r.Caller); err != nil {
		return err
	}
	if len(r.Types) > len(EntryKinds) {
		return Invalid("types", fmt.Sprintf("at most %d", len(EntryKinds)), "%d of them", len(r.Types))
	}
	for i, k := range r.Types {
		if !slices.Contains(EntryKinds, k) {
			return Invalid(fmt.Sprintf("types[%d]", i), entryKindLimit, "unknown type %s", Quote(string(k)))
		}
	}
	return validText("server", &r.Server, 0, MaxNameText)
}

// ValidEntries checks the limits of entries that are registered at once, and trims
// their texts in place.
func ValidEntries(entries []CatalogueEntry) error {
	if len(entries) > MaxRegistered {
		return Invalid("entries", fmt.Sprintf("at most %d", MaxRegistered), "%d of them", len(entries))
	}
	for i := range entries {
		if err := entries[i].Validate(fmt.Sprintf("entries[%d].", i)); err != nil {
			return err
		}
	}
	return distinct("entries", entries, func(e CatalogueEntry) Ref { return e.Ref })
}

// ValidServers checks the limits of servers that are registered at once, and trims
// their names in place.
func ValidServers(servers []Server) error {
	if len(servers) > MaxServers {
		return Invalid("servers", fmt.Sprintf("at most %d", MaxServers), "%d of them", len(servers))
	}
	for i := range servers {
		if err := servers[i].Validate(fmt.Sprintf("servers[%d].", i)); err != nil {
			return err
		}
	}
	return distinct("servers", servers, func(s Server) string { return s.Name })
}

// Validate checks an identity and trims it; errors name fields that begin with at.
func (r *Ref) Validate(at string) error {
	r.Name, r.ServerName = strings.TrimSpace(r.Name), strings.TrimSpace(r.ServerName)
	if !slices.Contains(EntryKinds, r.Type) {
		return Invalid(at+"type", entryKindLimit, "unknown type %s", Quote(string(r.Type)))
	}
	if err := entryName(at+"name", r.Name); err != nil {
		return err
	}
	if r.Type == Tool {
		return entryName(at+"serverName", r.ServerName)
	}
	if r.ServerName != "" {
		return Invalid(at+"serverName", "tools only", "a %s has no server", r.Type)
	}
	return nil
}

// Validate checks the limits and trims the texts; errors name fields that begin with
// at. A rule or reference has a content or at least a description, or it would hand
// out nothing.
func (e *CatalogueEntry) Validate(at string) error {
	if err := e.Ref.Validate(at); err != nil {
		return err
	}
	for _, t := range []struct {
		field string
		text  *string
		most  int
	}{{"description", &e.Description, MaxDescription}, {"content", &e.Content, MaxContent}, {"guidance", &e.Guidance, MaxGuidance}} {
		if err := validText(at+t.field, t.text, 0, t.most); err != nil {
			return err
		}
	}
	if err := validInclude(at+"include", e.Include); err != nil {
		return err
	}
	if e.Type == Tool {
		if e.Content != "" {
			return Invalid(at+"content", "rules and references only", "a tool has none: it has guidance")
		}
		return e.validSchema(at + "inputSchema")
	}
	switch {
	case e.Guidance != "":
		return Invalid(at+"guidance", "tools only", "a %s has none: it has content", e.Type)
	case len(e.InputSchema) > 0:
		return Invalid(at+"inputSchema", "tools only", "a %s has none", e.Type)
	case e.Core:
		return Invalid(at+"core", "tools only", "a %s is not called", e.Type)
	case e.Content == "" && e.Description == "":
		return Invalid(at+"content", fmt.Sprintf("1–%d characters, or a description", MaxContent), "is empty")
	}
	return nil
}

// validSchema checks an input schema and writes it without spaces, so that it is the
// same however it was laid out; null is none.
func (e *CatalogueEntry) validSchema(field string) error {
	limit := fmt.Sprintf("a JSON object of at most %d bytes", MaxInputSchema)
	text := bytes.TrimSpace(e.InputSchema)
	switch {
	case len(text) == 0 || string(text) == "null":
		e.InputSchema = nil
		return nil
	case len(text) > MaxInputSchema:
		return Invalid(field, limit, "%d bytes are too many", len(text))
	case text[0] != '{' || !json.Valid(text):
		return Invalid(field, limit, "is no JSON object")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return Invalid(field, limit, "is no JSON object")
	}
	e.InputSchema = compact.Bytes()
	return nil
}

// Validate checks the limits and trims the name; errors name fields that begin with
// at.
func (s *Server) Validate(at string) error {
	s.Name = strings.TrimSpace(s.Name)
	if err := entryName(at+"name", s.Name); err != nil {
		return err
	}
	return validInclude(at+"include", s.Include)
}

// entryName checks a name of an entry or a server. Contexts show it within a line.
func entryName(field, name string) error {
	if err := Text(field, name, 1, MaxNameText); err != nil {
		return err
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return Invalid(field, "one line", "%s has a control character", Quote(name))
	}
	return nil
}

func validInclude(field string, mode Include) error {
	if mode != "" && !slices.Contains(Includes, mode) {
		return Invalid(field, "always, manual or agent", "unknown mode %s", Quote(string(mode)))
	}
	return nil
}

// distinct refuses two of one key and names both.
func distinct[T any, K comparable](field string, list []T, keyOf func(T) K) error {
	first := make(map[K]int, len(list))
	for i, x := range list {
		key := keyOf(x)
		if j, twice := first[key]; twice {
			return Invalid(fmt.Sprintf("%s[%d]", field, i), "each once", "is %s[%d] again", field, j)
		}
		first[key] = i
	}
	return nil
}

// catalogueRequest checks and trims what the requests of a catalogue have in common.
func catalogueRequest(requestID, project, source *string, caller *Caller) error {
	if err := validText("request_id", requestID, 0, MaxNameText); err != nil {
		return err
	}
	if err := validText("project", project, 0, MaxPathText); err != nil {
		return err
	}
	if err := validText("source", source, 0, MaxNameText); err != nil {
		return err
	}
	if strings.HasPrefix(*source, FilePrefix) {
		return Invalid("source", "a name that does not begin with "+FilePrefix, "%s is taken for a file", Quote(*source))
	}
	return caller.Validate()
}
