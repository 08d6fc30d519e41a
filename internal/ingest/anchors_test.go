package ingest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// anchorOf is an anchor of a file with n lines.
func anchorOf(path string, n int) memory.Anchor {
	return memory.Anchor{Path: path, Whole: true, Code: memory.FileChunk{
		Hash: memory.DocumentID(path), End: 10 * n, StartLine: 1, EndLine: n,
	}, Sketch: []byte{1, 2, 3, 4}}
}

// finder stands for what finds anchors: it keeps the queries and answers with a list.
type finder struct {
	asked []memory.AnchorQuery
	found []memory.Anchor
	err   error
}

func (f *finder) find(_ context.Context, q memory.AnchorQuery) ([]memory.Anchor, error) {
	f.asked = append(f.asked, q)
	return f.found, f.err
}

func newAnchoredRig(t *testing.T) (*rig, *finder) {
	f := new(finder)
	return newRig(t, func(_ *rig, o *Options) { o.Anchors = f.find }), f
}

// TestAnchorsAreKept: the anchors of the last telling that had some.
func TestAnchorsAreKept(t *testing.T) {
	r, f := newAnchoredRig(t)
	first, second := []memory.Anchor{anchorOf("a.go", 3)}, []memory.Anchor{anchorOf("b.go", 4)}
	given := []memory.AnchorRequest{{Path: "a.go", Symbol: "A"}, {Path: "b.go", Lines: []int{1, 2}}}
	req := memory.RememberRequest{Context: "c hunter2", Lesson: "l", Command: "m"}
	var id string
	for _, step := range []struct {
		found, want []memory.Anchor
	}{{first, first}, {nil, first}, {second, second}} {
		f.found = step.found
		id = r.remember(req).ID
		if diff := cmp.Diff(step.want, r.record(id).Event.Anchors); diff != "" {
			t.Errorf("anchors after a telling with %d (-want +got):\n%s", len(step.found), diff)
		}
		req.Anchors = given
	}
	want := memory.AnchorQuery{Project: r.record(id).Project, Dir: r.repo, Given: given, Text: "l\nc [redacted]\nm"}
	if diff := cmp.Diff(want, f.asked[2]); diff != "" {
		t.Errorf("the query (-want +got):\n%s", diff)
	}
}

// TestBadAnchorStoresNothing: neither one that breaks a limit nor one that is nowhere.
func TestBadAnchorStoresNothing(t *testing.T) {
	r, f := newAnchoredRig(t)
	nine := make([]memory.AnchorRequest, 9)
	for i := range nine {
		nine[i].Path = "a.go"
	}
	for field, anchors := range map[string][]memory.AnchorRequest{
		"anchors": nine, "anchors[0].path": {{}}, "anchors[1].path": {{Path: "a"}, {Path: strings.Repeat("x", 1001)}},
		"anchors[0].symbol": {{Path: "a", Symbol: strings.Repeat("x", 201)}}, "anchors[0].lines": {{Path: "a", Symbol: "A", Lines: []int{1, 2}}},
		"anchors[2].lines": {{Path: "a"}, {Path: "a"}, {Path: "a", Lines: []int{3}}},
	} {
		req := memory.RememberRequest{Lesson: "l", Anchors: anchors, Caller: r.caller}
		if _, err := r.ingest.Remember(t.Context(), req); memory.AsError(err).Field != field || memory.AsError(err).Limit == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, lines := range [][]int{{0, 1}, {2, 1}, {1, 2, 3}, {-1, 4}} {
		req := memory.RememberRequest{Lesson: "l", Anchors: []memory.AnchorRequest{{Path: "a", Lines: lines}}, Caller: r.caller}
		if _, err := r.ingest.Remember(t.Context(), req); memory.AsError(err).Field != "anchors[0].lines" {
			t.Errorf("lines %v: %v", lines, err)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("anchors were looked for: %+v", f.asked)
	}
	f.err = memory.Invalid("anchors[0].path", "", "there is no such file")
	if _, err := r.ingest.Remember(t.Context(), memory.RememberRequest{Lesson: "l", Caller: r.caller}); memory.AsError(err).Field != "anchors[0].path" {
		t.Errorf("remembered: %v", err)
	}
	if got := r.contents(); got != (contents{}) {
		t.Errorf("the store holds %+v", got)
	}
}

// TestAnchorsAreImported: from the field that an export writes, as far as they are valid
// and without taking their hashes for secrets.
func TestAnchorsAreImported(t *testing.T) {
	good := []memory.Anchor{anchorOf("a.go", 3)}
	raw := func(anchors ...memory.Anchor) string {
		b, err := json.Marshal(anchors)
		must(t, err)
		return string(b)
	}
	bad := func(change func(*memory.Anchor)) string {
		a := anchorOf("a.go", 3)
		change(&a)
		return raw(a)
	}
	for name, test := range map[string]struct {
		field string
		want  []memory.Anchor
		extra bool // it stays among the fields that nobody knows
	}{
		"valid":            {raw(good...), good, false},
		"another meaning":  {`"of ships"`, nil, true},
		"a path out":       {bad(func(a *memory.Anchor) { a.Path = "../a.go" }), nil, true},
		"an absolute path": {bad(func(a *memory.Anchor) { a.Path = "/a.go" }), nil, true},
		"no lines":         {bad(func(a *memory.Anchor) { a.Code.EndLine = 0 }), nil, true},
		"a long sketch":    {bad(func(a *memory.Anchor) { a.Sketch = make([]byte, 260) }), nil, true},
		"half a hash":      {bad(func(a *memory.Anchor) { a.Sketch = make([]byte, 6) }), nil, true},
		"a secret":         {bad(func(a *memory.Anchor) { a.Path = "hunter2.go" }), nil, false},
		"too many":         {raw(slices.Repeat(good, 9)...), nil, true},
	} {
		r, _ := newAnchoredRig(t)
		line := memory.LogLine{Timestamp: testTime, Type: memory.EventPattern, Lesson: "l", Extra: map[string]json.RawMessage{"anchors": json.RawMessage(test.field)}}
		project := memory.Project{ID: "p-demo", Name: "demo", Names: []string{"demo"}}
		done, err := r.ingest.ImportLessons(t.Context(), project, memory.Provenance{Origin: memory.OriginImported}, []memory.LogLine{line})
		if err != nil || done.Added != 1 {
			t.Fatalf("%s: imported %+v, %v", name, done, err)
		}
		rec := r.record(lessonID(project.ID, memory.LogLine{Repo: "demo", Lesson: "l"}))
		if diff := cmp.Diff(test.want, rec.Event.Anchors); diff != "" || (len(rec.Extra) > 0) != test.extra {
			t.Errorf("%s: other fields %v, anchors (-want +got):\n%s", name, rec.Extra, diff)
		}
	}
}

// TestTouchedFiles: a lesson is told which files the steps before it worked on, of its own
// session and for a while.
func TestTouchedFiles(t *testing.T) {
	r, f := newAnchoredRig(t)
	r.start(memory.StartSessionRequest{Goal: "mend it"})
	for _, target := range []string{`"a.go"`, `"go test ./..."`, `"b/c.go"`, `"https://example.com/x.go"`, `"a.go"`} {
		r.step(memory.RecordStepRequest{Tool: memory.StepTool{Name: "edit", Target: json.RawMessage(target)}, Outcome: memory.Outcome{OK: true}})
	}
	r.remember(memory.RememberRequest{Lesson: "one"})
	r.remember(memory.RememberRequest{Lesson: "two", Caller: memory.Caller{Dir: r.repo, Client: "another"}})
	r.now = r.now.Add(fixWindow + time.Second)
	r.remember(memory.RememberRequest{Lesson: "three"})
	var got [][]string
	for _, q := range f.asked {
		got = append(got, q.Touched)
	}
	if diff := cmp.Diff([][]string{{"a.go", "b/c.go"}, nil, nil}, got); diff != "" {
		t.Errorf("touched files (-want +got):\n%s", diff)
	}
}
