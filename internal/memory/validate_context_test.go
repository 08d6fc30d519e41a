package memory

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestContextRequestsAreChecked(t *testing.T) {
	item := func(change func(*ContextItem)) *ChangeContextRequest {
		i := ContextItem{Ref: Ref{Type: Rule, Name: "A"}}
		change(&i)
		return &ChangeContextRequest{Add: []ContextItem{i}}
	}
	assemble := func(change func(*AssembleRequest)) *AssembleRequest {
		r := AssembleRequest{Message: "how"}
		change(&r)
		return &r
	}
	many := func(n int) []Ref {
		var refs []Ref
		for i := range n {
			refs = append(refs, Ref{Type: Rule, Name: "rule " + strconv.Itoa(i)})
		}
		return refs
	}
	for _, c := range []struct {
		what  string
		req   any
		field string // empty: it is valid
	}{
		{"a context", &ContextRequest{}, ""},
		{"of a session", &ContextRequest{SessionRef{SessionID: "session-1"}}, ""},
		{"of a session without a name", &ContextRequest{SessionRef{SessionID: "../x"}}, "sessionId"},
		{"of a session with a long name", &ContextRequest{SessionRef{SessionID: strings.Repeat("s", MaxNameText+1)}}, "sessionId"},
		{"of a project with a long name", &ContextRequest{SessionRef{Project: strings.Repeat("p", MaxPathText+1)}}, "project"},
		{"for a caller with a long folder", &ContextRequest{SessionRef{Caller: Caller{Dir: strings.Repeat("/", MaxPathText+1)}}}, "caller.dir"},

		{"a change", item(func(*ContextItem) {}), ""},
		{"always", item(func(i *ContextItem) { i.IncludeMode = IncludeAlways }), ""},
		{"in the mode agent", item(func(i *ContextItem) { i.IncludeMode = IncludeAgent }), "add[0].includeMode"},
		{"in an unknown mode", item(func(i *ContextItem) { i.IncludeMode = "often" }), "add[0].includeMode"},
		{"with a score", item(func(i *ContextItem) { i.SimilarityScore = new(.5) }), "add[0].similarityScore"},
		{"of an unknown type", item(func(i *ContextItem) { i.Type = Lesson }), "add[0].type"},
		{"without a name", item(func(i *ContextItem) { i.Name = " " }), "add[0].name"},
		{"a tool without a server", item(func(i *ContextItem) { i.Type = Tool }), "add[0].serverName"},
		{"a rule with a server", item(func(i *ContextItem) { i.ServerName = "fs" }), "add[0].serverName"},
		{"nothing", &ChangeContextRequest{}, "add"},
		{"as many as there may be", &ChangeContextRequest{Remove: many(MaxChanges)}, ""},
		{"one more", &ChangeContextRequest{Remove: many(MaxChanges + 1)}, "remove"},
		{"one more of both", &ChangeContextRequest{Add: []ContextItem{{Ref: Ref{Type: Rule, Name: "x"}}}, Remove: many(MaxChanges)}, "add"},
		{"one twice", &ChangeContextRequest{Remove: append(many(2), many(1)...)}, "remove[2]"},
		{"one added and removed", &ChangeContextRequest{Add: []ContextItem{{Ref: many(1)[0]}}, Remove: many(1)}, "remove[0]"},
		{"a long id", &ChangeContextRequest{RequestID: strings.Repeat("x", MaxNameText+1), Remove: many(1)}, "request_id"},

		{"a message", assemble(func(*AssembleRequest) {}), ""},
		{"no message", assemble(func(r *AssembleRequest) { r.Message = " \n" }), "message"},
		{"the longest message", assemble(func(r *AssembleRequest) { r.Message = strings.Repeat("ä", MaxQuery) }), ""},
		{"a longer message", assemble(func(r *AssembleRequest) { r.Message = strings.Repeat("ä", MaxQuery+1) }), "message"},
		{"broken bytes", assemble(func(r *AssembleRequest) { r.Message = "a\xff" }), "message"},
		{"a long task type", assemble(func(r *AssembleRequest) { r.TaskType = strings.Repeat("x", MaxNameText+1) }), "task_type"},
		{"the highest numbers", assemble(func(r *AssembleRequest) {
			r.TopK, r.TopN, r.MaxTokens, r.IncludeScore = MaxTopK, MaxTopN, MaxBudget, new(1.0)
		}), ""},
		{"the lowest numbers", assemble(func(r *AssembleRequest) { r.TopK, r.TopN, r.MaxTokens, r.IncludeScore = 1, 1, MinBudget, new(0.0) }), ""},
		{"topK too high", assemble(func(r *AssembleRequest) { r.TopK = MaxTopK + 1 }), "topK"},
		{"topK too low", assemble(func(r *AssembleRequest) { r.TopK = -1 }), "topK"},
		{"topN too high", assemble(func(r *AssembleRequest) { r.TopN = MaxTopN + 1 }), "topN"},
		{"too few tokens", assemble(func(r *AssembleRequest) { r.MaxTokens = MinBudget - 1 }), "max_tokens"},
		{"too many tokens", assemble(func(r *AssembleRequest) { r.MaxTokens = MaxBudget + 1 }), "max_tokens"},
		{"a score over 1", assemble(func(r *AssembleRequest) { r.IncludeScore = new(1.01) }), "includeScore"},
		{"a score that is no number", assemble(func(r *AssembleRequest) { r.IncludeScore = new(math.NaN()) }), "includeScore"},
	} {
		err := Check(c.req)
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v, want no error", c.what, err)
		case c.field != "" && (err == nil || CodeOf(err) != CodeInvalidInput || AsError(err).Field != c.field):
			t.Errorf("%s: %v, want an error at %s", c.what, err, c.field)
		case c.field != "" && AsError(err).Limit == "":
			t.Errorf("%s: %v names no limit", c.what, err)
		}
	}
}

func TestAChangeThatIsCheckedHasItsModesAndLeavesTheCallersAlone(t *testing.T) {
	given := []ContextItem{{Ref: Ref{Type: Rule, Name: " A "}}, {Ref: Ref{Type: Rule, Name: "B"}, IncludeMode: IncludeAlways}}
	before := slices.Clone(given)
	r := ChangeContextRequest{Add: given}
	if err := Check(&r); err != nil {
		t.Fatal(err)
	}
	if r.Add[0].IncludeMode != IncludeManual || r.Add[0].Name != "A" || r.Add[1].IncludeMode != IncludeAlways {
		t.Errorf("checked, the change is %+v", r.Add)
	}
	if !slices.Equal(given, before) {
		t.Errorf("the caller's list is %+v, want %+v", given, before)
	}
}

func TestTheRecordOfAReceipt(t *testing.T) {
	r := Receipt{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Items: []ReceiptItem{
		{ID: "u-1", Kind: Rule, Name: "A", Mode: IncludeAlways},
		{ID: "o-1", Kind: Tool, Name: "read", Server: "fs", Mode: IncludeAgent, Relevance: .87},
		{ID: "l-1", Kind: Lesson, Mode: IncludeAgent, Relevance: .6},
		{ID: "t-1", Kind: Task, Name: "task-1", Mode: IncludeAlways},
	}}
	got, want := RecordOf(&r), ContextRecord{Timestamp: r.At, Items: []RecordItem{
		{Type: Rule, Name: "A", IncludeMode: IncludeAlways},
		{Type: Tool, Name: "read", ServerName: "fs", IncludeMode: IncludeAgent, SimilarityScore: new(.87)},
		{Type: Lesson, Name: "l-1", IncludeMode: IncludeAgent, SimilarityScore: new(.6)},
		{Type: Task, Name: "task-1", IncludeMode: IncludeAlways},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the record is %+v, want %+v", got, want)
	}
	if r.Items[1].Relevance = 0; *got.Items[1].SimilarityScore != .87 {
		t.Error("the record changes with the receipt")
	}
}
