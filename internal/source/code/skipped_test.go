package code_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestSkipped: what is left out is listed with its reason, before the folder was
// indexed and after, and nothing is indexed by asking.
func TestSkipped(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{
		"a.go": "package a\n", "logo.go": "\x00\x01", "dist/x.js": "x()\n", "sum.lock": "x\n", ".recalldignore": "secret*\n", "secret.txt": "x\n",
	})
	want := []memory.SkippedFile{
		{Path: "dist", Reason: "skipped_folder"}, {Path: "logo.go", Reason: "binary"},
		{Path: "secret.txt", Reason: "ignored"}, {Path: "sum.lock", Reason: "skipped_name"},
	}
	for _, when := range []string{"before", "after"} {
		got, err := r.boxes.Skipped(t.Context(), memory.SkippedRequest{Path: filepath.Base(root), Caller: memory.Caller{Dir: filepath.Dir(root)}})
		must(t, err)
		if diff := cmp.Diff(want, got.Files); diff != "" {
			t.Errorf("%s indexing (-want +got):\n%s", when, diff)
		}
		if got.Total != len(want) || got.Reasons["binary"] != 1 || got.Root != root {
			t.Errorf("%s indexing: %d of %v in %s", when, got.Total, got.Reasons, got.Root)
		}
		if when == "before" {
			if repos, err := r.boxes.Repos(t.Context()); err != nil || len(repos) > 0 {
				t.Errorf("asking made %v known, %v", repos, err)
			}
			r.ask(root)
			r.next()
			r.runNext()
		}
	}
	if _, err := r.boxes.Skipped(t.Context(), memory.SkippedRequest{Path: "x"}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("a relative path without a caller: %v", err)
	}
}

// TestRequestedAt: a caller's own time counts, unless it is still to come or
// older than the last.
func TestRequestedAt(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	now := r.clock.Now()
	for _, step := range []struct {
		name        string
		asked, want time.Time
	}{
		{"a while ago", now.Add(-time.Minute), now.Add(-time.Minute)},
		{"still to come", now.Add(time.Hour), now},
		{"older than the last", now.Add(-time.Hour), now},
	} {
		q, err := r.boxes.IndexRepo(t.Context(), memory.IndexRequest{Path: root, RequestedAt: step.asked})
		must(t, err)
		if got := r.state(q.Sandbox).RequestedAt; !got.Equal(step.want) {
			t.Errorf("%s: requested at %v, want %v", step.name, got, step.want)
		}
	}
}
