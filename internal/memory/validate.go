package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of contract 0 that are more than tags. Those of texts are in code points.
const (
	MaxQuery        = 8000
	MaxLimit        = 50
	MinTokens       = 50
	MaxChangedFiles = 10000
	MaxGoalText     = 2000
	MaxErrorText    = 8000
	MaxSinceHours   = 720
	MinBudget       = 50
	MaxTopK         = 200
	MaxTopN         = 50
	MaxEntityText   = 500      // characters of an entity's name and type
	MaxEntityData   = 16 << 10 // bytes of JSON
	MaxSummary      = 20_000   // characters, before it is counted in tokens
	MaxTranscript   = 200_000
	MaxKeepTurns    = 100
	DefaultLimit    = 5
	MaxStepQuery    = 200 // characters of a search for steps
	DefaultMatches  = 20
	MaxMatches      = 100
	DefaultLast     = 20
	MaxLast         = 200
	DefaultSessions = 10
	MaxSessions     = 50
	DefaultTokens   = 1000
	MaxTokens       = 8000
	MaxLessonText   = 4000
	MaxContextText  = 2000
	MaxCommandText  = 2000
	MaxNameText     = 200
	MaxTags         = 20
	MaxTagText      = 64
	MaxPathText     = 4096
	// AdviceTokens is the budget of the lessons about a step's error: nobody asked for
	// them.
	AdviceTokens = 400
	// MinIDPrefix is the shortest beginning of an id that recall takes, its kind's
	// letter and dash included.
	MinIDPrefix = 4
	// MaxReferenceText is the longest text that is kept as one document.
	MaxReferenceText = 20000
	MinSessionID     = 4
	MaxChanges       = 200 // entries added to a context and taken out of it in one request
	// MaxAside is how many lessons one lesson may supersede, or retract.
	MaxAside = 20
	// MaxSessionJSON bounds other fields of a session's file, in bytes; MaxStepJSON all
	// JSON values of a step together.
	MaxSessionJSON  = 16 << 10
	MaxStepJSON     = 256 << 10
	MaxStepDuration = 7 * 24 * time.Hour
	// MaxWorkingContext bounds what a report may make of a session's working context, in
	// bytes of JSON.
	MaxWorkingContext = 512 << 10
	// MaxDiscovered bounds the tools that a session discovered, and those whose guidance
	// it was given. The oldest are dropped: they are found again.
	MaxDiscovered = 1000
)

// The names of scopes.
const (
	ScopeCurrent = "current"
	ScopeAll     = "all"
)

// DefaultKinds are the kinds that a recall looks for when none is named.
var DefaultKinds = []Kind{Lesson, Step, Chunk, Task}

// DefaultMinRelevance is the relevance threshold of a kind on the calibrated scale.
func DefaultMinRelevance(k Kind) float64 {
	if k == Chunk {
		return 0.75
	}
	return 0.5
}

// Validate checks the limits and fills in the defaults, except for limit, budget and
// threshold: the settings of the daemon replace their zeros.
func (r *RecallRequest) Validate() error { return check(r) }

func (r *RecallRequest) relations(string) error {
	if r.Query == "" && len(r.IDs) == 0 {
		return Text("query", "", 1, MaxQuery)
	}
	if len(r.Kinds) == 0 {
		r.Kinds = slices.Clone(DefaultKinds)
	}
	return nil
}

func (s *Scope) relations(at string) error {
	if s.Session != "" {
		return Text(at+"sessionId", s.Session, MinSessionID, MaxNameText)
	}
	switch s.Name {
	case "":
		s.Name = ScopeAll
	case ScopeAll, ScopeCurrent:
	default:
		return Invalid(strings.TrimSuffix(at, "."), scopeForms, "unknown scope %s", Quote(s.Name))
	}
	return nil
}

// relations gives the language the name that it is kept under.
func (f *Filters) relations(string) (err error) {
	if f.Lang != "" {
		f.Lang, err = Language(f.Lang)
	}
	return err
}

// Validate checks the limits and fills in the defaults.
func (r *RememberRequest) Validate() error { return check(r) }

func (r *RememberRequest) relations(string) error {
	if r.Type != "" && r.AlsoType != "" && r.Type != r.AlsoType {
		return Invalid("type", "one of type and event_type, which are one field", "is %s, and event_type is %s",
			Quote(string(r.AlsoType)), Quote(string(r.Type)))
	}
	r.Type, r.AlsoType = cmp.Or(r.Type, r.AlsoType, EventPattern), ""
	if r.SuccessRate == "" {
		return nil
	}
	_, err := ParseRate(r.SuccessRate)
	return err
}

// Validate checks the limits and fills in the path.
func (r *IndexRequest) Validate() error { return check(r) }

func (r *IndexRequest) relations(string) error {
	r.Path = cmp.Or(r.Path, r.SandboxRoot, r.Caller.Dir)
	return Text("path", r.Path, 1, MaxPathText)
}

// Validate checks the limits and fills in the defaults.
func (r *FilesRequest) Validate() error { return check(r) }

// Validate checks the limits.
func (r *ForgetRequest) Validate() error { return check(r) }

func (r *ForgetRequest) relations(string) error {
	return either("ids", len(r.IDs) > 0, "project", r.Project != "")
}

// either refuses a request that names none of two things, or both.
func either(a string, hasA bool, b string, hasB bool) error {
	switch {
	case !hasA && !hasB:
		return Invalid(a, a+" or "+b, "nothing is named")
	case hasA && hasB:
		return Invalid(b, a+" or "+b, "both are named")
	}
	return nil
}

// Validate checks the limits. Whether the flow tags are in the vocabulary, the daemon
// checks.
func (r *StartSessionRequest) Validate() error { return check(r) }

// Validate checks the limits.
func (r *EndSessionRequest) Validate() error { return check(r) }

// Validate checks the limits.
func (r *RecordStepRequest) Validate() error { return check(r) }

func (r *RecordStepRequest) relations(string) error {
	if r.Outcome.OK && r.Outcome.Error != nil {
		return Invalid("outcome.error", "only with ok false", "a step that went well has no error")
	}
	return validStep(StepContent{Tool: r.Tool, Outcome: r.Outcome, Observation: r.Observation, Environment: r.Environment})
}

// Validate checks the limits of a session that was read from a file. They are
// those of one that is started, so that it can be written again.
func (s *Session) Validate() error {
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
	return check(&StartSessionRequest{SessionID: s.ID, Goal: s.Goal, FlowTags: s.FlowTags, Tags: s.Tags, Build: s.Build, Launch: s.Launch})
}

// Validate checks the limits of what a caller says of itself.
func (c *Caller) Validate() error { return checkStruct(reflect.ValueOf(c).Elem(), "caller.") }

// validate checks what a file says of git; nil says nothing. A branch is a path.
func (g *Git) validate() error {
	if g == nil {
		return nil
	}
	return checkStruct(reflect.ValueOf(g).Elem(), "git.")
}

// extraSize is what fields that this version does not know take, in bytes.
func extraSize(fields map[string]json.RawMessage) int {
	n := 0
	for name, value := range fields {
		n += len(name) + len(value)
	}
	return n
}

// ValidateStep checks the limits of a step that was read from a file. They are those
// of one that is recorded.
func (r *Record) ValidateStep() error {
	if r.Step == nil {
		return Invalid("tool", "", "is missing")
	}
	if r.Created.IsZero() {
		return Invalid("timestamp", timeLimit, "is missing")
	}
	for i, label := range r.Step.Labels {
		if err := Text(fmt.Sprintf("labels[%d]", i), label, 1, MaxTagText); err != nil {
			return err
		}
	}
	if n := len(r.Step.Labels); n > MaxTags {
		return Invalid("labels", fmt.Sprintf("at most %d", MaxTags), "%d of them", n)
	}
	if err := r.Step.Git.validate(); err != nil {
		return err
	}
	if n := extraSize(r.Step.Extra); n > MaxStepJSON {
		return Invalid("tool", fmt.Sprintf("at most %d bytes of other fields", MaxStepJSON), "the step has %d bytes of other fields", n)
	}
	c := *r.Step
	request := RecordStepRequest{
		Timestamp: r.Created, Tool: c.Tool, Outcome: Outcome{Error: c.Outcome.Error}, Observation: c.Observation,
		Environment: c.Environment, DurationMs: c.DurationMs, Screenshot: c.Screenshot,
	}
	if err := check(&request); err != nil {
		return err
	}
	return validStep(c)
}

// validStep checks that a step names a tool, and that its JSON values are no larger
// together than a step may be; the error names the largest.
func validStep(c StepContent) error {
	if strings.TrimSpace(c.Tool.Name) == "" {
		return Invalid("tool.name", Range{1, MaxNameText}.Of("characters"), "is empty")
	}
	values := map[string]json.RawMessage{
		"tool.input": c.Tool.Input, "tool.target": c.Tool.Target,
		"observation": c.Observation, "environment": c.Environment, "build": c.Build,
	}
	if c.Outcome.Error != nil {
		values["outcome.error.details"] = c.Outcome.Error.Details
	}
	total, largest := 0, "observation"
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if len(value) > 0 && !json.Valid(value) {
			return Invalid(name, "valid JSON", "is not valid JSON")
		}
		if total += len(value); len(value) > len(values[largest]) {
			largest = name
		}
	}
	if total > MaxStepJSON {
		return Invalid(largest, fmt.Sprintf("at most %d bytes in all JSON values of a step", MaxStepJSON),
			"the values have %d bytes, most of them here", total)
	}
	return nil
}

// Validate checks the limits. The settings and the clock fill in what is left out.
func (r *CompleteTaskRequest) Validate() error { return check(r) }

// Task is what the request reports. A task requires no context unless it says so.
func (r *CompleteTaskRequest) Task() CompletedTask {
	return CompletedTask{
		TaskID: r.TaskID, CompletedAt: r.CompletedAt, TaskType: r.TaskType,
		RequiresContext: r.RequiresContext != nil && *r.RequiresContext,
		Intent:          r.Intent, Summary: r.Summary, ValidationReport: r.ValidationReport,
	}
}

// Validate checks the limits. The clock fills in the time.
func (r *BlockTaskRequest) Validate() error { return check(r) }

// Validate checks the limits.
func (r *UnblockTaskRequest) Validate() error { return check(r) }

// Validate checks the limits; zero leaves the size of the window to the settings.
func (r *TaskWindowRequest) Validate() error { return check(r) }

// Validate checks the limits and fills in the default.
func (r *TaskHistoryRequest) Validate() error { return check(r) }

// Validate checks the limits, but not what is in the state: its reader does.
func (r *LoadTasksRequest) Validate() error { return check(r) }

// Validate checks the limits of a task that was kept elsewhere, and trims its texts.
func (t *CompletedTask) Validate() error { return check(t) }

func (t *CompletedTask) relations(at string) error { return dated(at+"completed_at", t.CompletedAt) }

// Validate checks the limits of a blocker that was kept elsewhere, and trims its
// texts.
func (b *BlockedTask) Validate() error { return check(b) }

func (b *BlockedTask) relations(at string) error { return dated(at+"blocked_at", b.BlockedAt) }

func dated(field string, at time.Time) error {
	if at.IsZero() {
		return Invalid(field, "a time", "is missing")
	}
	return nil
}

// EntryKinds are the types of entries, in the order in which contexts show them.
var EntryKinds = []Kind{Rule, Reference, Tool}

// Includes lists every include mode.
var Includes = []Include{IncludeAlways, IncludeManual, IncludeAgent}

// Validate checks the limits and trims all texts. Two entries of the same type, name
// and server are an error, and so are two servers of one name.
func (r *RegisterRequest) Validate() error { return check(r) }

func (r *RegisterRequest) relations(string) error {
	if len(r.Entries) == 0 && len(r.Servers) == 0 && !r.Replace {
		return Invalid("entries", "entries or servers", "nothing is named")
	}
	if err := validSource(r.Source); err != nil {
		return err
	}
	if err := distinct("entries", r.Entries, func(e CatalogueEntry) Ref { return e.Ref }); err != nil {
		return err
	}
	return distinct("servers", r.Servers, func(s Server) string { return s.Name })
}

// Validate checks the limits.
func (r *UnregisterRequest) Validate() error { return check(r) }

func (r *UnregisterRequest) relations(string) error {
	if err := either("entries", len(r.Entries) > 0, "source", r.Source != ""); err != nil {
		return err
	}
	if err := validSource(r.Source); err != nil {
		return err
	}
	return distinct("entries", r.Entries, func(ref Ref) Ref { return ref })
}

func validSource(source string) error {
	if strings.HasPrefix(source, FilePrefix) {
		return Invalid("source", "a name that does not begin with "+FilePrefix, "%s is taken for a file", Quote(source))
	}
	return nil
}

// Validate checks the limits.
func (r *EntriesRequest) Validate() error { return check(r) }

// ValidEntries checks the limits of entries that are registered at once, and trims
// their texts in place.
func ValidEntries(entries []CatalogueEntry) error {
	r := RegisterRequest{Entries: entries, Replace: true}
	err := check(&r)
	copy(entries, r.Entries)
	return err
}

// ValidServers checks the limits of servers that are registered at once, and trims
// their names in place.
func ValidServers(servers []Server) error {
	r := RegisterRequest{Servers: servers, Replace: true}
	err := check(&r)
	copy(servers, r.Servers)
	return err
}

// Validate checks an identity and trims it; errors name fields that begin with at.
func (r *Ref) Validate(at string) error { return checkStruct(reflect.ValueOf(r).Elem(), at) }

func (r *Ref) relations(at string) error {
	if err := oneLine(at+"name", r.Name); err != nil {
		return err
	}
	switch {
	case r.Type == Tool && r.ServerName == "":
		return Text(at+"serverName", "", 1, MaxNameText)
	case r.Type != Tool && r.ServerName != "":
		return Invalid(at+"serverName", "tools only", "a %s has no server", r.Type)
	}
	return oneLine(at+"serverName", r.ServerName)
}

// Validate checks the limits and trims the texts; errors name fields that begin with
// at. A rule or reference has a content or at least a description, or it would hand
// out nothing.
func (e *CatalogueEntry) Validate(at string) error {
	return checkStruct(reflect.ValueOf(e).Elem(), at)
}

func (e *CatalogueEntry) relations(at string) (err error) {
	if err := e.Ref.relations(at); err != nil {
		return err
	}
	switch {
	case e.Type == Tool && e.Content != "":
		return Invalid(at+"content", "rules and references only", "a tool has none: it has guidance")
	case e.Type == Tool:
		e.InputSchema, err = compact(at+"inputSchema", e.InputSchema)
		return err
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

// Validate checks the limits and trims the name; errors name fields that begin with
// at.
func (s *Server) Validate(at string) error { return checkStruct(reflect.ValueOf(s).Elem(), at) }

func (s *Server) relations(at string) error { return oneLine(at+"name", s.Name) }

// oneLine checks a name of an entry or a server. Contexts show it within a line.
func oneLine(field, name string) error {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return Invalid(field, "one line", "%s has a control character", Quote(name))
	}
	return nil
}

// compact writes a JSON value without spaces, so that equal values have equal bytes.
func compact(field string, value json.RawMessage) (json.RawMessage, error) {
	if len(value) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return nil, Invalid(field, "valid JSON", "is not valid JSON")
	}
	return b.Bytes(), nil
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

// Validate checks the limits.
func (r *ContextRequest) Validate() error { return check(r) }

// Validate checks the limits and fills in the default mode of added entries.
func (r *ChangeContextRequest) Validate() error { return check(r) }

func (r *ChangeContextRequest) relations(string) error {
	if len(r.Add)+len(r.Remove) == 0 {
		return Invalid("add", fmt.Sprintf("1–%d entries to add or remove", MaxChanges), "nothing is to be changed")
	}
	if n := len(r.Add) + len(r.Remove); n > MaxChanges {
		return Invalid("add", fmt.Sprintf("at most %d entries to add and remove", MaxChanges), "%d of them", n)
	}
	seen := make(map[Ref]string, len(r.Add)+len(r.Remove))
	once := func(field string, ref Ref) error {
		if before, twice := seen[ref]; twice {
			return Invalid(field, "each once", "is %s again", before)
		}
		seen[ref] = field
		return nil
	}
	for i, item := range r.Add {
		field := fmt.Sprintf("add[%d]", i)
		if err := once(field, item.Ref); err != nil {
			return err
		}
		if item.SimilarityScore != nil {
			return Invalid(field+".similarityScore", "none", "an entry that is added by hand has no score")
		}
	}
	for i, ref := range r.Remove {
		if err := once(fmt.Sprintf("remove[%d]", i), ref); err != nil {
			return err
		}
	}
	return nil
}

// Validate checks the limits. Zero values are left to the settings.
func (r *AssembleRequest) Validate() error { return check(r) }

// Validate checks the limits and fills in the default.
func (r *SearchToolsRequest) Validate() error { return check(r) }

// Validate checks the limits.
func (r *WorkingContextRequest) Validate() error { return check(r) }

// Validate checks the limits and writes the data of entities without spaces. A tool of
// the host itself has no server.
func (r *ReportRequest) Validate() error { return check(r) }

func (r *ReportRequest) relations(string) error {
	if len(r.UsedTools)+len(r.Entities) == 0 && !r.ClearDiscovered {
		return Invalid("entities", "entities, usedTools or clearDiscovered", "nothing is reported")
	}
	return nil
}

func (e *Entity) relations(at string) (err error) {
	e.Data, err = compact(at+"data", e.Data)
	return err
}

// Validate checks the limits. How many tokens a summary has, and whether it names a
// tool, the compaction checks.
func (r *CompactRequest) Validate() error { return check(r) }

// Validate checks the limits and fills in the default.
func (r *ReceiptsRequest) Validate() error { return check(r) }

func (r *ReceiptsRequest) relations(string) error {
	if r.Turn != nil && r.SessionID == "" {
		return Invalid("turn", "with a sessionId", "turns are counted within a session")
	}
	return nil
}

// Validate checks the limits; turn 0 is the last one.
func (r *ContextOfRequest) Validate() error { return check(r) }

// Validate checks the limits and trims the texts.
func (r *FeedbackRequest) Validate() error { return check(r) }

// Validate checks the limits and fills in the default. Whether the embedder exists, the
// read path checks.
func (r *ReplayRequest) Validate() error { return check(r) }

func (r *ReplayRequest) relations(string) error {
	if r.SessionID == "" && r.Since.IsZero() {
		return Invalid("since", "a time, or a sessionId", "no queries are named")
	}
	for _, kind := range slices.Sorted(maps.Keys(r.MinRelevance)) {
		if !slices.Contains(Kinds, kind) {
			return Invalid("min_relevance", "kinds of memories", "unknown kind %s", Quote(string(kind)))
		}
		if f := r.MinRelevance[kind]; !(f >= 0 && f <= 1) {
			return Invalid("min_relevance."+string(kind), "0–1", "%v is out of range", f)
		}
	}
	return nil
}

// Text checks that a field is valid UTF-8 of min to max code points without
// NUL.
func Text(field, text string, min, max int) error {
	limit := Range{int64(min), int64(max)}.Of("characters")
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

// timeLimit excludes times that RFC 3339 cannot write, and those before Unix time.
const timeLimit = "a time from 1970 to 9999"

// ValidTime checks that a field is a time that can be written. A zero one is filled in
// later.
func ValidTime(field string, t time.Time) error {
	if !t.IsZero() && !validTime(t) {
		return Invalid(field, timeLimit, "is out of range")
	}
	return nil
}

func validTime(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() <= 9999 }

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
