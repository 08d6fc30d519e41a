package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Limits of working contexts and compactions.
const (
	MaxEntityText = 500      // characters of an entity's name and type
	MaxEntityData = 16 << 10 // bytes of JSON
	// MaxWorkingContext is what a session's working context may have grown to by a
	// report, in bytes of JSON.
	MaxWorkingContext = 512 << 10
	// MaxDiscovered bounds the tools that a session discovered, and those whose
	// guidance it was told. The oldest give way: they are found again.
	MaxDiscovered = 1000
	MaxSummary    = 20_000 // characters, before it is counted in tokens
	MaxTranscript = 200_000
	MaxKeepTurns  = 100
)

// Validate checks the limits and fills in the default.
func (r *SearchToolsRequest) Validate() error {
	if err := validWhich(&r.SessionRef); err != nil {
		return err
	}
	if err := validText("request_id", &r.RequestID, 0, MaxNameText); err != nil {
		return err
	}
	if err := validText("query", &r.Query, 1, MaxToolsQuery); err != nil {
		return err
	}
	if r.Limit == 0 {
		r.Limit = DefaultTools
	}
	if r.Limit < 1 || r.Limit > MaxToolsFound {
		return Invalid("limit", fmt.Sprintf("1–%d", MaxToolsFound), "%d is out of range", r.Limit)
	}
	return nil
}

// Validate checks the limits.
func (r *WorkingContextRequest) Validate() error { return validWhich(&r.SessionRef) }

// Validate checks the limits and writes the data of entities without spaces. A tool of
// the host itself has no server.
func (r *ReportRequest) Validate() error {
	if err := validWhich(&r.SessionRef); err != nil {
		return err
	}
	if err := validText("request_id", &r.RequestID, 0, MaxNameText); err != nil {
		return err
	}
	switch {
	case len(r.UsedTools)+len(r.Entities) == 0 && !r.ClearDiscovered:
		return Invalid("entities", "entities, usedTools or clearDiscovered", "nothing is reported")
	case len(r.UsedTools) > MaxUsedTools:
		return Invalid("usedTools", fmt.Sprintf("at most %d", MaxUsedTools), "%d of them", len(r.UsedTools))
	case len(r.Entities) > MaxEntities:
		return Invalid("entities", fmt.Sprintf("at most %d", MaxEntities), "%d of them", len(r.Entities))
	}
	r.UsedTools, r.Entities = slices.Clone(r.UsedTools), slices.Clone(r.Entities) // the caller's are not written to
	for i := range r.UsedTools {
		at := fmt.Sprintf("usedTools[%d].", i)
		if err := validText(at+"serverName", &r.UsedTools[i].ServerName, 0, MaxNameText); err != nil {
			return err
		}
		if err := validText(at+"toolName", &r.UsedTools[i].ToolName, 1, MaxNameText); err != nil {
			return err
		}
	}
	for i := range r.Entities {
		if err := r.Entities[i].validate(fmt.Sprintf("entities[%d].", i)); err != nil {
			return err
		}
	}
	return nil
}

// validate checks the limits; errors name fields that begin with at.
func (e *Entity) validate(at string) error {
	for _, t := range []struct {
		field     string
		text      *string
		min, most int
	}{{"id", &e.ID, 1, MaxNameText}, {"type", &e.Type, 0, MaxEntityText}, {"name", &e.Name, 0, MaxEntityText}} {
		if err := validText(at+t.field, t.text, t.min, t.most); err != nil {
			return err
		}
	}
	limit := fmt.Sprintf("a JSON object of at most %d bytes", MaxEntityData)
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0 || string(data) == "null":
		e.Data = nil
		return nil
	case len(data) > MaxEntityData:
		return Invalid(at+"data", limit, "%d bytes are too many", len(data))
	case data[0] != '{':
		return Invalid(at+"data", limit, "is no JSON object")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return Invalid(at+"data", limit, "is no JSON object")
	}
	e.Data = compact.Bytes()
	return nil
}

// Validate checks the limits. How many tokens a summary has, and whether it names a
// tool, is for whoever compacts.
func (r *CompactRequest) Validate() error {
	if err := validWhich(&r.SessionRef); err != nil {
		return err
	}
	for _, t := range []struct {
		field string
		text  *string
		most  int
	}{{"request_id", &r.RequestID, MaxNameText}, {"summary", &r.Summary, MaxSummary}, {"transcript", &r.Transcript, MaxTranscript}} {
		if err := validText(t.field, t.text, 0, t.most); err != nil {
			return err
		}
	}
	if n := r.KeepTurns; n < 0 || n > MaxKeepTurns {
		return Invalid("keepTurns", fmt.Sprintf("1–%d", MaxKeepTurns), "%d is out of range", n)
	}
	return nil
}
