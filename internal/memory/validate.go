package memory

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of contract 0, in code points where they are of text.
const (
	MaxQuery      = 8000
	DefaultLimit  = 5
	MaxLimit      = 50
	DefaultTokens = 1000
	MinTokens     = 50
	MaxTokens     = 8000
	// AdviceTokens is the budget of the lessons about a step's error: nobody asked for
	// them.
	AdviceTokens    = 400
	MaxLessonText   = 4000
	MaxContextText  = 2000
	MaxCommandText  = 2000
	MaxNameText     = 200
	MaxTags         = 20
	MaxTagText      = 64
	MaxPathText     = 4096
	MaxChangedFiles = 10000
	MaxForgetIDs    = 1000
	// MaxRecallIDs is how many memories one recall shows in full; MinIDPrefix is the
	// shortest beginning of an id, its kind's letter and dash included.
	MaxRecallIDs = 20
	MinIDPrefix  = 4
	// MaxReferenceText is the longest text that is kept as one document.
	MaxReferenceText = 20000
)

// DefaultKinds are the kinds that a recall looks for when none is named.
var DefaultKinds = []Kind{Lesson, Step, Chunk, Task}

var recallKinds = []Kind{Lesson, Step, Chunk, Task, Reference, Rule, Tool}

// DefaultMinRelevance is the floor of a kind on the calibrated scale.
func DefaultMinRelevance(k Kind) float64 {
	if k == Chunk {
		return 0.75
	}
	return 0.5
}

// Validate checks the limits and fills in the defaults, but for limit, budget and
// floor: zero leaves them to the settings of whoever answers.
func (r *RecallRequest) Validate() error {
	r.Query = strings.TrimSpace(r.Query)
	least := 1
	if len(r.IDs) > 0 {
		least = 0
	}
	if err := Text("query", r.Query, least, MaxQuery); err != nil {
		return err
	}
	if len(r.IDs) > MaxRecallIDs {
		return Invalid("ids", fmt.Sprintf("1–%d", MaxRecallIDs), "%d of them", len(r.IDs))
	}
	for i, id := range r.IDs {
		if err := Text(fmt.Sprintf("ids[%d]", i), id, MinIDPrefix, MaxNameText); err != nil {
			return err
		}
	}
	if len(r.Kinds) == 0 {
		r.Kinds = slices.Clone(DefaultKinds)
	}
	if len(r.Kinds) > len(recallKinds) {
		return Invalid("kinds", fmt.Sprintf("at most %d", len(recallKinds)), "too many kinds")
	}
	for _, k := range r.Kinds {
		if !slices.Contains(recallKinds, k) {
			return Invalid("kinds", joinKinds(recallKinds), "unknown kind %s", Quote(string(k)))
		}
	}
	if r.Limit != 0 && (r.Limit < 1 || r.Limit > MaxLimit) {
		return Invalid("limit", fmt.Sprintf("1–%d", MaxLimit), "%d is out of range", r.Limit)
	}
	if r.MaxTokens != 0 && (r.MaxTokens < MinTokens || r.MaxTokens > MaxTokens) {
		return Invalid("max_tokens", fmt.Sprintf("%d–%d", MinTokens, MaxTokens), "%d is out of range", r.MaxTokens)
	}
	if m := r.MinRelevance; m != nil && !(*m >= 0 && *m <= 1) {
		return Invalid("min_relevance", "0–1", "%v is out of range", *m)
	}
	switch r.Format {
	case "":
		r.Format = FormatText
	case FormatText, FormatJSON, FormatMarkdown:
	default:
		return Invalid("format", "text, json, markdown", "unknown format %s", Quote(string(r.Format)))
	}
	if err := Text("project", r.Project, 0, MaxPathText); err != nil {
		return err
	}
	if err := Text("repo", r.Repo, 0, MaxNameText); err != nil {
		return err
	}
	if r.Scope != nil {
		if err := r.Scope.validate(); err != nil {
			return err
		}
	}
	if r.Filters != nil {
		r.Filters = new(*r.Filters) // the caller's are not written to
		return r.Filters.validate()
	}
	return nil
}

func (s *Scope) validate() error {
	if s.Session != "" {
		return Text("scope.sessionId", s.Session, MinSessionID, MaxNameText)
	}
	switch s.Name {
	case "":
		s.Name = ScopeAll
	case ScopeAll, ScopeCurrent:
	default:
		return Invalid("scope", "current, all or {sessionId}", "unknown scope %s", Quote(s.Name))
	}
	return nil
}

// validate checks the limits and gives the language the name that it is kept under.
func (f *Filters) validate() error {
	for _, t := range []struct{ field, text string }{
		{"filters.flowTag", f.FlowTag}, {"filters.tag", f.Tag}, {"filters.screen", f.Screen},
		{"filters.gitBranch", f.GitBranch}, {"filters.lang", f.Lang},
	} {
		if err := Text(t.field, t.text, 0, MaxNameText); err != nil {
			return err
		}
	}
	if f.Lang != "" {
		var err error
		if f.Lang, err = Language(f.Lang); err != nil {
			return err
		}
	}
	if f.SinceHours < 0 || f.SinceHours > MaxSinceHours {
		return Invalid("filters.sinceHours", fmt.Sprintf("1–%d", MaxSinceHours), "%d is out of range", f.SinceHours)
	}
	return Text("filters.path", f.Path, 0, MaxPathText)
}

// Validate checks the limits and fills in the defaults.
func (r *RememberRequest) Validate() error {
	if r.Type != "" && r.AlsoType != "" && r.Type != r.AlsoType {
		return Invalid("type", "one of type and event_type, which are one field", "is %s, and event_type is %s",
			Quote(string(r.AlsoType)), Quote(string(r.Type)))
	}
	field := "event_type"
	if r.Type == "" && r.AlsoType != "" {
		field = "type"
	}
	r.Type, r.AlsoType = cmp.Or(r.Type, r.AlsoType, EventPattern), ""
	switch r.Type {
	case EventError, EventSuccess, EventPattern:
	default:
		return Invalid(field, "error, success, pattern", "unknown type %s", Quote(string(r.Type)))
	}
	for _, t := range []struct {
		field string
		text  *string
		min   int
		max   int
	}{
		{"lesson", &r.Lesson, 1, MaxLessonText},
		{"context", &r.Context, 0, MaxContextText},
		{"command", &r.Command, 0, MaxCommandText},
		{"repo", &r.Repo, 0, MaxNameText},
		{"agent_id", &r.AgentID, 0, MaxNameText},
		{"project", &r.Project, 0, MaxPathText},
		{"request_id", &r.RequestID, 0, MaxNameText},
	} {
		*t.text = strings.TrimSpace(*t.text)
		if err := Text(t.field, *t.text, t.min, t.max); err != nil {
			return err
		}
	}
	if err := r.Caller.Validate(); err != nil {
		return err
	}
	if err := validTags("tags", r.Tags); err != nil {
		return err
	}
	if err := validAside("supersedes", r.Supersedes); err != nil {
		return err
	}
	if err := validAside("retracts", r.Retracts); err != nil {
		return err
	}
	if r.SuccessRate != "" {
		if _, err := ParseRate(r.SuccessRate); err != nil {
			return err
		}
	}
	return nil
}

// Validate checks the limits.
func (r *IndexRequest) Validate() error {
	if r.Path == "" {
		r.Path = r.SandboxRoot
	}
	if r.Path == "" {
		r.Path = r.Caller.Dir
	}
	if err := Text("path", r.Path, 1, MaxPathText); err != nil {
		return err
	}
	if err := Text("project_id", r.ProjectID, 0, MaxNameText); err != nil {
		return err
	}
	return list("changed_files", r.ChangedFiles, MaxChangedFiles, MaxPathText)
}

// Validate checks the limits.
func (r *ForgetRequest) Validate() error {
	if len(r.IDs) == 0 && r.Project == "" {
		return Invalid("ids", fmt.Sprintf("1–%d ids, or a project", MaxForgetIDs), "nothing is named")
	}
	if len(r.IDs) > 0 && r.Project != "" {
		return Invalid("project", "ids or a project", "both are named")
	}
	if err := list("ids", r.IDs, MaxForgetIDs, MaxNameText); err != nil {
		return err
	}
	return Text("project", r.Project, 0, MaxPathText)
}

// list checks that a field holds at most n texts of 1 to max code points each.
func list(field string, texts []string, n, max int) error {
	if len(texts) > n {
		return Invalid(field, fmt.Sprintf("at most %d", n), "%d of them", len(texts))
	}
	for i, text := range texts {
		if err := Text(fmt.Sprintf("%s[%d]", field, i), text, 1, max); err != nil {
			return err
		}
	}
	return nil
}

// Text checks that a field is valid UTF-8 of min to max code points without
// NUL.
func Text(field, text string, min, max int) error {
	limit := fmt.Sprintf("at most %d characters", max)
	if min > 0 {
		limit = fmt.Sprintf("%d–%d characters", min, max)
	}
	switch n := utf8.RuneCountInString(text); {
	case n < min && n == 0:
		return Invalid(field, limit, "is empty")
	case n < min:
		return Invalid(field, limit, "%d characters are too few", n)
	case n > max:
		return Invalid(field, limit, "%d characters are too many", n)
	case !utf8.ValidString(text):
		return Invalid(field, "valid UTF-8", "is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return Invalid(field, "text without NUL", "contains a NUL character")
	}
	return nil
}

var ratePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,7})/(\d{1,7})$`) })

// ParseRate reads a success rate written "X/Y", 0 ≤ X ≤ Y.
func ParseRate(s string) (Rate, error) {
	const limit = "X/Y with 0 ≤ X ≤ Y"
	m := ratePattern().FindStringSubmatch(s)
	if m == nil {
		return Rate{}, Invalid("success_rate", limit, "%s is not a rate", Quote(s))
	}
	x, _ := strconv.Atoi(m[1])
	y, _ := strconv.Atoi(m[2])
	if x > y {
		return Rate{}, Invalid("success_rate", limit, "%s is not a rate", Quote(s))
	}
	return Rate{Successes: x, Attempts: y}, nil
}

// String writes the rate as "X/Y".
func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.Successes, r.Attempts) }

func joinKinds(kinds []Kind) string {
	s := make([]string, len(kinds))
	for i, k := range kinds {
		s[i] = string(k)
	}
	return strings.Join(s, ", ")
}
