package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Limits of what is written of sessions and steps (contract 1), in code points
// where they are of text.
const (
	MaxGoalText  = 2000
	MaxErrorText = 8000
	// MaxAside is how many lessons one lesson may supersede, or retract.
	MaxAside = 20
	// MaxSessionJSON is in bytes, for build and launch each.
	MaxSessionJSON = 16 << 10
	// MaxStepJSON is in bytes, for all JSON values of a step together.
	MaxStepJSON     = 256 << 10
	MaxStepDuration = 7 * 24 * time.Hour
)

// maxScreenText bounds what is kept as a step's screen, and screenshot names.
const maxScreenText = MaxNameText

// Validate checks the limits. Whether the flow tags are in the vocabulary is for
// whoever knows it.
func (r *StartSessionRequest) Validate() error {
	if err := validRequest(&r.RequestID, &r.Project, r.SessionID, &r.Caller); err != nil {
		return err
	}
	if err := texts(bounded{"goal", &r.Goal, 0, MaxGoalText}); err != nil {
		return err
	}
	if err := validTags("flowTags", r.FlowTags); err != nil {
		return err
	}
	if err := validTags("tags", r.Tags); err != nil {
		return err
	}
	if err := smallObject("build", r.Build); err != nil {
		return err
	}
	return smallObject("launch", r.Launch)
}

// Validate checks the limits.
func (r *EndSessionRequest) Validate() error {
	return validRequest(&r.RequestID, &r.Project, r.SessionID, &r.Caller)
}

// Validate checks the limits.
func (r *RecordStepRequest) Validate() error {
	if err := validRequest(&r.RequestID, &r.Project, r.SessionID, &r.Caller); err != nil {
		return err
	}
	if r.Outcome.OK && r.Outcome.Error != nil {
		return Invalid("outcome.error", "only where outcome.ok is false", "a step that went well has no error")
	}
	return validStep(r.Timestamp, StepContent{
		Tool: r.Tool, Outcome: r.Outcome, Observation: r.Observation, Environment: r.Environment,
		DurationMs: r.DurationMs, Screenshot: r.Screenshot,
	})
}

// Validate checks the limits of a session that was read from a file. They are
// those of one that is started, so that it can be written again.
func (s *Session) Validate() error {
	r := StartSessionRequest{SessionID: s.ID, Goal: s.Goal, FlowTags: s.FlowTags, Tags: s.Tags, Build: s.Build, Launch: s.Launch}
	if err := ValidSessionID("sessionId", s.ID); err != nil {
		return err
	}
	if !validTime(s.CreatedAt) && !s.Bare {
		return Invalid("createdAt", timeLimit, "is missing or out of range")
	}
	if err := ValidTime("endedAt", s.EndedAt); err != nil {
		return err
	}
	if err := s.Git.validate(); err != nil {
		return err
	}
	if n := extraSize(s.Extra); n > MaxSessionJSON {
		return Invalid("sessionId", fmt.Sprintf("at most %d bytes of other fields", MaxSessionJSON), "the session has %d bytes of other fields", n)
	}
	return r.Validate()
}

// Validate checks the limits of what a caller says of itself.
func (c *Caller) Validate() error {
	for _, t := range []struct {
		field, text string
		most        int
	}{{"caller.dir", c.Dir, MaxPathText}, {"caller.client", c.Client, MaxNameText}, {"caller.session", c.Session, MaxNameText}, {"caller.window", c.Window, MaxNameText}} {
		if err := Text(t.field, t.text, 0, t.most); err != nil {
			return err
		}
	}
	return nil
}

// validate checks what a file says of git; nil says nothing. A branch is a path.
func (g *Git) validate() error {
	if g == nil {
		return nil
	}
	if err := Text("git.branch", g.Branch, 0, MaxPathText); err != nil {
		return err
	}
	return Text("git.commit", g.Commit, 0, MaxNameText)
}

// extraSize is what fields that this version does not know take, in bytes.
func extraSize(fields map[string]json.RawMessage) int {
	n := 0
	for name, value := range fields {
		n += len(name) + len(value)
	}
	return n
}

// ValidateStep checks the limits of a step that was read from a file.
func (r *Record) ValidateStep() error {
	if r.Step == nil {
		return Invalid("tool", "", "is missing")
	}
	if r.Created.IsZero() {
		return Invalid("timestamp", timeLimit, "is missing")
	}
	if err := validTags("labels", r.Step.Labels); err != nil {
		return err
	}
	if err := r.Step.Git.validate(); err != nil {
		return err
	}
	if n := extraSize(r.Step.Extra); n > MaxStepJSON {
		return Invalid("tool", fmt.Sprintf("at most %d bytes of other fields", MaxStepJSON), "the step has %d bytes of other fields", n)
	}
	return validStep(r.Created, *r.Step)
}

// validStep checks what a step says; a time that is zero is filled in later.
func validStep(at time.Time, c StepContent) error {
	if err := ValidTime("timestamp", at); err != nil {
		return err
	}
	fields := []bounded{
		{"tool.name", &c.Tool.Name, 1, MaxNameText},
		{"artifacts.screenshot", &c.Screenshot, 0, maxScreenText},
	}
	values := []jsonField{
		{"tool.input", c.Tool.Input}, {"tool.target", c.Tool.Target},
		{"observation", c.Observation}, {"environment", c.Environment}, {"build", c.Build},
	}
	if e := c.Outcome.Error; e != nil {
		fields = append(fields,
			bounded{"outcome.error.code", &e.Code, 0, MaxNameText},
			bounded{"outcome.error.message", &e.Message, 0, MaxErrorText})
		values = append(values, jsonField{"outcome.error.details", e.Details})
	}
	for _, f := range fields {
		if err := Text(f.field, *f.text, f.min, f.max); err != nil {
			return err
		}
	}
	if strings.TrimSpace(c.Tool.Name) == "" {
		return Invalid("tool.name", fmt.Sprintf("1–%d characters", MaxNameText), "is empty")
	}
	if d := c.DurationMs; d < 0 || d > MaxStepDuration.Milliseconds() {
		return Invalid("durationMs", fmt.Sprintf("0–%d", MaxStepDuration.Milliseconds()), "%d is out of range", d)
	}
	if err := validValues(values); err != nil {
		return err
	}
	if o := strings.TrimSpace(string(c.Observation)); o != "" && o != "null" && o[0] != '{' && o[0] != '"' {
		return Invalid("observation", "an object or a text", "is neither an object nor a text")
	}
	return nil
}

type jsonField struct {
	field string
	value json.RawMessage
}

// validValues checks that values are JSON and together no larger than a step
// may be; the error names the largest.
func validValues(values []jsonField) error {
	total, largest := 0, values[0]
	for _, v := range values {
		if len(v.value) > 0 && !json.Valid(v.value) {
			return Invalid(v.field, "valid JSON", "is not valid JSON")
		}
		if total += len(v.value); len(v.value) > len(largest.value) {
			largest = v
		}
	}
	if total > MaxStepJSON {
		return Invalid(largest.field, fmt.Sprintf("at most %d bytes in all JSON values of a step", MaxStepJSON),
			"the values have %d bytes, most of them here", total)
	}
	return nil
}

// ValidSessionID checks an id of a session. It names a folder, so it holds
// nothing that a file system could take for something else.
func ValidSessionID(field, id string) error {
	limit := fmt.Sprintf("%d–%d of A–Z a–z 0–9 . _ -, the first no dot", MinSessionID, MaxNameText)
	if len(id) < MinSessionID || len(id) > MaxNameText {
		return Invalid(field, limit, "%d characters", len(id))
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return Invalid(field, limit, "%s cannot name a folder everywhere", Quote(id))
		}
	}
	// Windows drops a dot at the end of a folder's name.
	if id[0] == '.' || id[len(id)-1] == '.' {
		return Invalid(field, limit, "%s begins or ends with a dot", Quote(id))
	}
	return nil
}

// validRequest checks what every request about a session says, and trims it.
func validRequest(requestID, project *string, sessionID string, caller *Caller) error {
	err := texts(bounded{"request_id", requestID, 0, MaxNameText}, bounded{"project", project, 0, MaxPathText})
	if err != nil {
		return err
	}
	if err := caller.Validate(); err != nil || sessionID == "" {
		return err
	}
	return ValidSessionID("sessionId", sessionID)
}

// timeLimit is what RFC 3339 can write and what was not before computers told
// the time this way.
const timeLimit = "a time from 1970 to 9999"

// ValidTime checks that a field is a time that can be written; a zero one is left to
// whoever fills it in.
func ValidTime(field string, t time.Time) error {
	if !t.IsZero() && !validTime(t) {
		return Invalid(field, timeLimit, "is out of range")
	}
	return nil
}

func validTime(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() <= 9999 }

// bounded is a text with its limits in characters.
type bounded struct {
	field    string
	text     *string
	min, max int
}

// texts trims texts and checks their limits.
func texts(fields ...bounded) error {
	for _, f := range fields {
		*f.text = strings.TrimSpace(*f.text)
		if err := Text(f.field, *f.text, f.min, f.max); err != nil {
			return err
		}
	}
	return nil
}

func validTags(field string, tags []string) error { return list(field, tags, MaxTags, MaxTagText) }

// smallObject checks a JSON object of a session's.
func smallObject(field string, raw json.RawMessage) error {
	limit := fmt.Sprintf("a JSON object of at most %d bytes", MaxSessionJSON)
	switch text := strings.TrimSpace(string(raw)); {
	case text == "" || text == "null":
		return nil
	case len(raw) > MaxSessionJSON:
		return Invalid(field, limit, "%d bytes are too many", len(raw))
	case text[0] != '{' || !json.Valid(raw):
		return Invalid(field, limit, "is no JSON object")
	}
	return nil
}

// validAside checks ids of lessons that a lesson puts aside.
func validAside(field string, ids []string) error { return list(field, ids, MaxAside, MaxNameText) }
