package code_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// pause holds, or resumes, what must be there.
func (r *rig) pause(path string, resume bool) *memory.Paused {
	r.t.Helper()
	p, err := r.boxes.Pause(r.t.Context(), memory.PauseRequest{Path: path, Resume: resume})
	if err != nil {
		r.t.Fatalf("pause %q, resume %v: %v", path, resume, err)
	}
	return p
}

// TestPauseProject: while a project is paused nothing of it is indexed, another
// project is, what is asked for is accepted, and it is all done after that, also
// when the store was opened again between.
func TestPauseProject(t *testing.T) {
	r := newRig(t, rigOptions{})
	one, other := folder(t, map[string]string{"a.go": "package a\n"}), folder(t, map[string]string{"b.go": "package b\n"})
	gitFolder(t, one, "https://example.org/team/shop.git")
	q := r.ask(one)
	r.runNext()
	if p := r.pause(one, false); p.All || !slices.Equal(p.Sandboxes, []string{one}) {
		t.Errorf("paused is %+v, want %s", p, one)
	}
	if p := r.pause(one, false); len(p.Sandboxes) != 1 { // twice is no harm
		t.Errorf("paused twice is %+v", p)
	}
	write(t, one, "new.go", "package a\n")
	again := r.ask(one, "new.go")
	if again.Job == "" || again.Sandbox != q.Sandbox {
		t.Errorf("asked for while it is paused: %+v", again)
	}
	r.runNext()
	b := r.ask(other)
	r.runNext()
	if s := r.state(b.Sandbox); s.Files != 1 || s.Progress != nil {
		t.Errorf("another project is %+v", s)
	}
	if s := r.state(q.Sandbox); s.Files != 1 || s.Progress == nil || s.Progress.Phase != "paused" || !s.Stale {
		t.Errorf("paused it is %+v, progress %+v", s, s.Progress)
	}

	// A clone that appears now is the same project, and paused too.
	clone := folder(t, map[string]string{"a.go": "package a\n"})
	gitFolder(t, clone, "https://example.org/team/shop.git")
	c := r.ask(clone)
	r.runNext()
	if s := r.state(c.Sandbox); c.Project != q.Project || !s.Paused || s.Files != 0 {
		t.Errorf("a clone that appears while it is paused: %+v", s)
	}

	next := r.reopen(rigOptions{})
	if s := next.state(q.Sandbox); !s.Paused {
		t.Error("opened again it is not paused")
	}
	if p := next.pause(clone, true); len(p.Sandboxes) > 0 {
		t.Errorf("resumed, %+v are paused", p)
	}
	next.runNext()
	next.runNext()
	for _, id := range []string{q.Sandbox, c.Sandbox} {
		if s := next.state(id); s.Stale || s.Progress != nil || s.Files == 0 {
			t.Errorf("resumed: %+v, progress %+v", s, s.Progress)
		}
	}
	if n := next.waiting(); n != 0 || next.state(q.Sandbox).Files != 2 {
		t.Errorf("%d runs wait, %d files are indexed, want 0 and 2", n, next.state(q.Sandbox).Files)
	}
}

// TestPauseEndsRun: a run in progress ends when its project is paused, and is owed.
func TestPauseEndsRun(t *testing.T) {
	for _, all := range []bool{false, true} {
		r := newRig(t, rigOptions{})
		root := folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n"})
		q := r.ask(root)
		lease := r.lease()
		entered := r.stallPut("a.go")
		ended := make(chan error, 1)
		go func() { ended <- r.run(lease) }()
		<-entered
		path := root
		if all {
			path = ""
		}
		if p := r.pause(path, false); p.All != all || (len(p.Sandboxes) == 1) == all {
			t.Errorf("paused is %+v", p)
		}
		if err := <-ended; err != nil {
			t.Errorf("the run that is paused is to be tried again: %v", err)
		}
		if s := r.state(q.Sandbox); s.Progress == nil || s.Progress.Phase != "paused" || !s.Stale || s.LastError != "" {
			t.Errorf("paused in its run: %+v, progress %+v", s, s.Progress)
		}
		counts, err := r.boxes.Counts()
		must(t, err)
		if counts.Paused != all || counts.Stale != 1 || counts.Runs != 0 {
			t.Errorf("counts are %+v", counts)
		}
		r.disk.onPut(nil)
		r.pause(path, true)
		r.runNext()
		if s := r.state(q.Sandbox); s.Stale || s.Files != 2 || s.Chunks != 2 {
			t.Errorf("resumed: %+v", s)
		}
	}
}

// TestPauseAll: everything is held, over a restart too, and made up for.
func TestPauseAll(t *testing.T) {
	r := newRig(t, rigOptions{})
	one, two := folder(t, map[string]string{"a.go": "package a\n"}), folder(t, map[string]string{"b.go": "package b\n"})
	if p := r.pause("", false); !p.All || p.Sandboxes == nil {
		t.Errorf("paused is %+v, want all", p)
	}
	q := r.ask(one)
	r.runNext()
	next := r.reopen(rigOptions{})
	o := next.ask(two)
	next.runNext()
	for _, id := range []string{q.Sandbox, o.Sandbox} {
		if s := next.state(id); s.Files != 0 || s.Progress == nil || s.Progress.Phase != "paused" {
			t.Errorf("paused: %+v, progress %+v", s, s.Progress)
		}
	}
	// One that is paused by itself stays so.
	next.pause(two, false)
	if p := next.pause("", true); p.All || !slices.Equal(p.Sandboxes, []string{two}) {
		t.Errorf("resumed, %+v is paused, want %s", p, two)
	}
	next.runNext()
	if n := next.waiting(); n != 0 || next.state(q.Sandbox).Files != 1 || next.state(o.Sandbox).Files != 0 {
		t.Errorf("%d runs wait; %+v and %+v", n, next.state(q.Sandbox), next.state(o.Sandbox))
	}
}

// TestResumeWithoutFolder: a sandbox whose folder is missing is not run when all work
// goes on, for the run could only fail.
func TestResumeWithoutFolder(t *testing.T) {
	r := newRig(t, rigOptions{})
	missing, there := r.ask(folder(t, map[string]string{"a.go": "package a\n"})), r.ask(folder(t, map[string]string{"b.go": "package b\n"}))
	r.runNext()
	r.runNext()
	r.pause("", false)
	must(t, os.RemoveAll(missing.Root))
	r.pause("", true)
	r.runNext()
	if s := r.state(missing.Sandbox); r.waiting() != 0 || s.GoneAt.IsZero() || s.LastError != "" || s.Files != 1 {
		t.Errorf("%d runs wait, the missing one is %+v; want it known to be gone and kept", r.waiting(), s)
	}
	if s := r.state(there.Sandbox); s.Progress != nil || s.Stale {
		t.Errorf("the other one is %+v, want it looked at", s)
	}
}

// TestWhyCodeIsMissing: an answer says why the index has no code of a project, and
// nothing once one of its worktrees is indexed.
func TestWhyCodeIsMissing(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	check := func(when, project, want string) {
		t.Helper()
		if got := r.boxes.Missing(project); got != want {
			t.Errorf("%s: code is missing because %q, want %q", when, got, want)
		}
	}
	check("before anything", "p-1", memory.NotIndexed)
	q := r.ask(root)
	check("queued", q.Project, "the repository is being indexed for the first time")
	check("another project", "p-1", memory.NotIndexed)
	r.pause("", false)
	check("paused", q.Project, "indexing is paused")
	r.pause("", true)
	must(t, os.Rename(root, root+"-away"))
	r.runNext()
	check("failed", q.Project, "indexing has failed")
	must(t, os.Rename(root+"-away", root))
	r.leaseAndRun(q)
	check("indexed", q.Project, "")
}

func TestPauseRefuses(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	for _, test := range []struct {
		path string
		code memory.Code
	}{
		{root, memory.CodeNotFound},
		{filepath.Join(root, "nowhere"), memory.CodeNotFound},
		{"relative", memory.CodeInvalidInput},
		{string(make([]byte, memory.MaxPathText+1)), memory.CodeInvalidInput},
	} {
		if _, err := r.boxes.Pause(t.Context(), memory.PauseRequest{Path: test.path}); err == nil || memory.CodeOf(err) != test.code {
			t.Errorf("pause %.40q: %v, want %s", test.path, err, test.code)
		}
	}
}

// TestResumeWithFullQueue: sandboxes for which the queue has no room when all work
// goes on are indexed as runs end, and nobody has to ask.
func TestResumeWithFullQueue(t *testing.T) {
	const boxes, depth = 7, 2
	r := newRig(t, rigOptions{depth: boxes})
	var known []string
	for range boxes {
		known = append(known, r.ask(folder(t, map[string]string{"a.go": "package a\n"})).Sandbox)
	}
	r.pause("", false)
	for r.waiting() > 0 {
		r.runNext() // held
	}
	next := r.reopen(rigOptions{depth: depth})
	next.pause("", true)
	for range boxes {
		if next.waiting() == 0 {
			break
		}
		next.runNext()
	}
	for _, id := range known {
		if s := next.state(id); s.Files != 1 || s.Stale {
			t.Errorf("resumed with a queue of %d: %+v, want it indexed", depth, s)
		}
	}
}
