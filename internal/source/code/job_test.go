package code

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestMergeRuns(t *testing.T) {
	many := make([]string, memory.MaxChangedFiles)
	for i := range many {
		many[i] = fmt.Sprintf("f%05d", i)
	}
	long := []string{strings.Repeat("a", maxChangedBytes-1)}
	for _, test := range []struct {
		name         string
		older, newer string
		want         []string
	}{
		{"both name files", runOf("b", "a"), runOf("c", "a"), []string{"a", "b", "c"}},
		{"the older one is of everything", runOf(), runOf("a"), nil},
		{"the newer one is of everything", runOf("a"), runOf(), nil},
		{"too many files", runOf(many...), runOf("g"), nil},
		{"just few enough files", runOf(many[1:]...), runOf("f00000"), many},
		{"paths that are too long", runOf(long...), runOf("bc"), nil},
		{"paths just short enough", runOf(long...), runOf("b"), append(slices.Clone(long), "b")},
		{"the older one cannot be read", `{"sandbox":7}`, runOf("a"), nil},
		{"the newer one cannot be read", runOf("a"), `[]`, nil},
		{"the older one is empty", `null`, runOf("a"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got RunRequest
			merged := MergeRuns(json.RawMessage(test.older), json.RawMessage(test.newer))
			if err := json.Unmarshal(merged, &got); err != nil {
				t.Fatalf("merged into %.100s: %v", merged, err)
			}
			if got.Sandbox != "s-1" || got.Project != "p-1" {
				t.Errorf("merged into a run of %q in %q", got.Sandbox, got.Project)
			}
			if !slices.Equal(got.Changed, test.want) {
				t.Errorf("looks at %d files %.100q, want %d %.100q", len(got.Changed), got.Changed, len(test.want), test.want)
			}
		})
	}
	if got := MergeRuns(json.RawMessage(`[]`), json.RawMessage(`7`)); string(got) != "7" {
		t.Errorf("two runs that cannot be read are merged into %s, want the newer one, to be told of", got)
	}
}

// runOf writes the payload of a run over some files, none being all.
func runOf(changed ...string) string {
	text, err := json.Marshal(RunRequest{Sandbox: "s-1", Project: "p-1", Changed: changed})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// FuzzMergeRuns: whatever the payloads are, what either was to look at is looked
// at.
func FuzzMergeRuns(f *testing.F) {
	for _, seed := range []string{runOf(), runOf("a"), runOf("a", "b/c"), `null`, `[]`, `{"changed":["a"]}`, `{`, `{"changed":[""]}`} {
		f.Add(seed, runOf("x"))
		f.Add(runOf("x"), seed)
	}
	f.Fuzz(func(t *testing.T, older, newer string) {
		merged := MergeRuns(json.RawMessage(older), json.RawMessage(newer))
		var a, b, got RunRequest
		fromOlder, fromNewer := json.Unmarshal([]byte(older), &a), json.Unmarshal([]byte(newer), &b)
		if err := json.Unmarshal(merged, &got); err != nil {
			if fromOlder == nil || fromNewer == nil {
				t.Fatalf("%q and %q are merged into %q: %v", older, newer, merged, err)
			}
			return
		}
		for _, part := range []struct {
			run RunRequest
			err error
		}{{a, fromOlder}, {b, fromNewer}} {
			all := part.err != nil || len(part.run.Changed) == 0
			if all && len(got.Changed) > 0 {
				t.Errorf("%q and %q are merged into %q, which does not look at everything", older, newer, merged)
			}
			for _, path := range part.run.Changed {
				if len(got.Changed) > 0 && !slices.Contains(got.Changed, path) {
					t.Errorf("%q and %q are merged into %q, which loses %q", older, newer, merged, path)
				}
			}
		}
	})
}
