package code_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

func TestIndexRepoQueues(t *testing.T) {
	r := newRig(t, rigOptions{})
	one := folder(t, map[string]string{"a.go": "package a\n", "b/b.go": "package b\n"})
	two := folder(t, map[string]string{"c.go": "package c\n"})
	gitFolder(t, one, "")

	first, second := r.ask(filepath.Join(one, "b"), "b.go"), r.ask(two)
	if first.Root != one || first.ProjectName != filepath.Base(one) || first.Position != 0 || first.Coalesced || first.Job == "" {
		t.Errorf("a folder of the first repository is answered with %+v", first)
	}
	if second.Root != two || second.Position != 1 || second.Sandbox == first.Sandbox || second.Project == first.Project {
		t.Errorf("the second repository is answered with %+v, after %+v", second, first)
	}
	if s := r.state(first.Sandbox); s.Progress == nil || s.Progress.Phase != "queued" || !s.RequestedAt.Equal(r.clock.Now()) || !s.Stale {
		t.Errorf("before it was indexed the first repository is %+v, progress %+v", s, s.Progress)
	}
	again := r.ask(one, "a.go")
	if !again.Coalesced || again.Job != first.Job || again.Position != 0 {
		t.Errorf("asked again: %+v, want the job %s", again, first.Job)
	}
	run := <-r.queue.asked
	if !slices.Equal(run.Changed, []string{"b/b.go"}) {
		t.Errorf("asked for b.go in the folder b, the run is over %q", run.Changed)
	}
	if payload := string(r.lease().Payload); !strings.Contains(payload, `"changed":["a.go","b/b.go"]`) {
		t.Errorf("the joined run is %s, want both files", payload)
	}
}

// TestIndexRepoNamesFiles: a file is the one that its caller means, however it
// is named.
func TestIndexRepoNamesFiles(t *testing.T) {
	root := folder(t, map[string]string{"a/a.go": "package a\n"})
	gitFolder(t, root, "")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	for _, test := range []struct{ path, changed, want string }{
		{root, "a/a.go", "a/a.go"},
		{root, filepath.Join(root, "a", "a.go"), "a/a.go"},
		{filepath.Join(root, "a"), "a.go", "a/a.go"},
		{filepath.Join(root, "a"), "../b.go", "b.go"},
		{filepath.Join(root, "a"), filepath.Join(root, "a", "a.go"), "a/a.go"},
		{filepath.Join(root, "a"), filepath.Join(root, "b.go"), "b.go"},
		{link, filepath.Join(link, "a", "a.go"), "a/a.go"},
		{link, filepath.Join(root, "a", "a.go"), "a/a.go"},
		{filepath.Join(link, "a"), "gone.go", "a/gone.go"},
	} {
		r := newRig(t, rigOptions{})
		r.ask(test.path, test.changed)
		if run := <-r.queue.asked; !slices.Equal(run.Changed, []string{test.want}) {
			t.Errorf("%s in %s is looked for as %q, want %s", test.changed, test.path, run.Changed, test.want)
		}
	}
}

func TestIndexRepoBoundsWhatItQueues(t *testing.T) {
	underrace.Skip(t, "a limit, met by one caller")
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	changed := make([]string, memory.MaxChangedFiles)
	for i := range changed {
		changed[i] = strings.Repeat("d/", i%2000) + "a.go"
	}
	r.ask(root, changed...)
	if run := <-r.queue.asked; len(run.Changed) > 0 {
		t.Errorf("a run over %d paths is queued, want one over everything", len(run.Changed))
	}
}

func TestIndexRepoRefuses(t *testing.T) {
	r := newRig(t, rigOptions{})
	root, above := folder(t, map[string]string{"a.go": "package a\n"}), folder(t, nil)
	for _, name := range []string{"one", "two"} {
		must(t, os.Mkdir(filepath.Join(above, name), 0o755))
		gitFolder(t, filepath.Join(above, name), "")
	}
	for _, test := range []struct {
		name string
		req  memory.IndexRequest
		code memory.Code
		says string
	}{
		{"no such folder", memory.IndexRequest{Path: filepath.Join(root, "nowhere")}, memory.CodeNotFound, "nowhere"},
		{"a file", memory.IndexRequest{Path: filepath.Join(root, "a.go")}, memory.CodeInvalidInput, "not a folder"},
		{"nothing named", memory.IndexRequest{}, memory.CodeInvalidInput, "path"},
		{"a relative path from nowhere", memory.IndexRequest{Path: "x"}, memory.CodeInvalidInput, "relative"},
		{"above several repositories", memory.IndexRequest{Path: above}, memory.CodeConflict, filepath.Join(above, "two")},
		{"the root of the file system", memory.IndexRequest{Path: filepath.VolumeName(root) + string(filepath.Separator)}, memory.CodeForbidden, "too large"},
		{"too many files", memory.IndexRequest{Path: root, ChangedFiles: make([]string, memory.MaxChangedFiles+1)}, memory.CodeInvalidInput, "changed_files"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := r.boxes.IndexRepo(t.Context(), test.req)
			if err == nil || memory.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v of code %s, want %s that says %q", err, memory.CodeOf(err), test.code, test.says)
			}
		})
	}
	if n := r.waiting(); n != 0 {
		t.Errorf("%d runs wait, though every request was refused", n)
	}
	q, err := r.boxes.IndexRepo(t.Context(), memory.IndexRequest{Path: ".", Caller: memory.Caller{Dir: root}})
	if err != nil || q.Root != root {
		t.Errorf("a path relative to the caller's folder: %+v, %v", q, err)
	}
}

// TestUnreadableIsCounted: what cannot be read is counted by runs over some paths too, and is
// not once it can be read.
func TestUnreadableIsCounted(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file: run it as another user")
	}
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n", "closed/c.go": "package c\n"})
	q := r.ask(root)
	r.runNext()
	for _, step := range []struct {
		path string
		mode os.FileMode
		want int
	}{{"a.go", 0, 1}, {"closed", 0, 2}, {"b.go", 0o600, 2}, {"a.go", 0o600, 1}, {"closed", 0o700, 0}} {
		must(t, os.Chmod(filepath.Join(root, step.path), step.mode))
		r.ask(root, step.path)
		r.runNext()
		if got := r.state(q.Sandbox).Skipped["unreadable"]; got != step.want {
			t.Errorf("after %s got the mode %o, %d are counted as unreadable, want %d", step.path, step.mode, got, step.want)
		}
	}
}

// TestHostNamesAProject: what a host calls the project becomes a name of it, and
// none is lost when requests and the ends of runs come together.
func TestHostNamesAProject(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	q := r.ask(root)
	r.disk.onPut(func(ctx context.Context, f memory.File) error {
		_, err := r.boxes.IndexRepo(ctx, memory.IndexRequest{SandboxRoot: root, ProjectID: "host-42"})
		return err
	})
	r.runNext()
	projects, err := r.store.Projects()
	must(t, err)
	if len(projects) != 1 || projects[0].ID != q.Project || !slices.Equal(projects[0].Names, []string{filepath.Base(root), "host-42"}) {
		t.Errorf("the projects are %+v, want one with the host's name as its second", projects)
	}
}

// TestProjectOfFolderChanges: a clone that is given another remote is another
// project, and what is indexed of it goes along, also by a run that was asked for
// before.
func TestProjectOfFolderChanges(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	old := time.Now().Add(-time.Hour) // so old that it need not be read again
	must(t, os.Chtimes(filepath.Join(root, "a.go"), old, old))
	gitFolder(t, root, "https://example.org/team/shop.git")
	before := r.ask(root)
	late := r.lease()
	gitFolder(t, root, "https://example.org/team/fork.git")
	after := r.ask(root)
	if after.Project == before.Project || after.Sandbox != before.Sandbox || after.ProjectName != "fork" {
		t.Fatalf("with another remote %+v, before %+v", after, before)
	}
	must(t, r.run(late))
	r.runNext()
	if f := r.indexed(after.Sandbox)["a.go"]; f.Project != after.Project {
		t.Errorf("a.go is of project %q, want %q", f.Project, after.Project)
	}

	gitFolder(t, root, "https://example.org/team/third.git")
	third := r.ask(root)
	r.runNext()
	if f := r.indexed(third.Sandbox)["a.go"]; f.Project != third.Project {
		t.Errorf("indexed before, a.go is of project %q, want %q", f.Project, third.Project)
	}
}

// TestRemoteOfFolderAdded: a repository that gets a remote stays the project it was.
func TestRemoteOfFolderAdded(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	gitFolder(t, root, "")
	before := r.ask(root)
	r.runNext()
	gitFolder(t, root, "https://example.org/team/shop.git")
	if after := r.ask(root); after.Project != before.Project || after.Sandbox != before.Sandbox {
		t.Errorf("with a remote %+v, before %+v, want the same project", after, before)
	}
}

// TestRunEndsBeforeItsRequest: a run may be over before the request that asked
// for it has been told that it waits.
func TestRunEndsBeforeItsRequest(t *testing.T) {
	r := newRig(t, rigOptions{})
	r.queue.after = r.runNext
	q := r.ask(folder(t, map[string]string{"a.go": "package a\n"}))
	if s := r.state(q.Sandbox); s.Progress != nil || s.Files != 1 {
		t.Errorf("after the run: %d files, progress %+v, want one and none", s.Files, s.Progress)
	}
}

func TestRequestDuringRunWaits(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	q := r.ask(root)
	r.disk.onPut(func(context.Context, memory.File) error {
		r.disk.onPut(nil)
		if again := r.ask(root); again.Coalesced {
			t.Errorf("joined to the run in progress: %+v", again)
		}
		if s := r.state(q.Sandbox); s.Progress == nil || s.Progress.Phase != "indexing" {
			t.Errorf("in a run progress is %+v", s.Progress)
		}
		return nil
	})
	r.runNext()
	if s := r.state(q.Sandbox); s.Progress == nil || s.Progress.Phase != "queued" {
		t.Errorf("the run that was asked for meanwhile waits, and progress is %+v", s.Progress)
	}
	r.runNext()
	if s := r.state(q.Sandbox); s.Progress != nil {
		t.Errorf("after both runs progress is %+v", s.Progress)
	}
}

// TestForgetWhileIndexing: nothing of a project comes back that is being removed
// while it is indexed and asked for.
func TestForgetWhileIndexing(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n\nfunc A() {}\n", "b.go": "package b\n\nfunc B() {}\n"})
	q := r.ask(root)
	lease := r.lease()
	entered := r.stallPut("a.go")
	ended := make(chan error, 1)
	go func() { ended <- r.boxes.Run(t.Context(), lease.Payload) }()
	<-entered
	have := &holdings{rig: r}
	have.listed = func() {
		if err := <-ended; err != nil {
			t.Errorf("the run that is held is to be tried again: %v", err)
		}
		if s := r.state(q.Sandbox); !s.Stale || s.Progress != nil {
			t.Errorf("while its run is held: %+v, progress %+v, want stale and none", s, s.Progress)
		}
		if _, err := r.boxes.IndexRepo(t.Context(), memory.IndexRequest{Path: root}); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("asked for while it is forgotten: %v, want %s", err, memory.CodeConflict)
		}
		if err := r.boxes.Run(t.Context(), lease.Payload); err != nil {
			t.Errorf("run while it is forgotten: %v", err)
		}
	}
	gone, err := r.paths.Forget(t.Context(), memory.ForgetRequest{Project: q.Project}, have)
	must(t, err)
	if gone.Files != 2 {
		t.Errorf("forgot %+v, want the file that was indexed and the other's head", gone)
	}
	have.release()
	r.disk.onPut(nil)
	must(t, r.run(lease))
	projects, err := r.store.Projects()
	must(t, err)
	boxes, err := r.store.Sandboxes()
	must(t, err)
	if counts := r.store.Counts(); len(projects)+len(boxes)+len(counts)+len(r.indexed(q.Sandbox))+r.index.Documents() > 0 {
		t.Errorf("after it was forgotten there are projects %+v, sandboxes %+v, records %v, %d documents", projects, boxes, counts, r.index.Documents())
	}

	again := r.ask(root)
	r.runNext()
	if s := r.state(again.Sandbox); s.Files != 2 || s.Progress != nil {
		t.Errorf("asked for after that: %+v, want 2 files", s)
	}
}

// TestHeldRunIsOwed: a project that was to be forgotten and was not is brought up
// to date by the next run, whatever that was asked for.
func TestHeldRunIsOwed(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n"})
	q := r.ask(root)
	r.runNext()
	write(t, root, "b.go", "package b\n\nfunc B() {}\n")
	r.ask(root)
	release := r.boxes.Suspend(q.Project)
	r.runNext()
	release()
	release() // twice is no harm
	if s := r.state(q.Sandbox); !s.Stale || s.Chunks != 2 {
		t.Errorf("after its run was held: %+v, want stale", s)
	}
	before := r.indexed(q.Sandbox)
	r.ask(root, "a.go")
	r.runNext()
	if after := r.indexed(q.Sandbox); after["b.go"].Hash == before["b.go"].Hash || r.state(q.Sandbox).Stale {
		t.Error("a run over a.go did not make up for the one that was held")
	}
}

// holdings lists what a project holds once its runs are held, as the daemon has
// it.
type holdings struct {
	*rig
	listed  func()
	release func()
}

func (h *holdings) SessionHoldings(ctx context.Context, id string) ([]memory.SessionHoldings, error) {
	return h.store.SessionHoldings(ctx, id)
}

func (h *holdings) ProjectReceipts(ctx context.Context, project string) ([]string, error) {
	return h.store.ProjectReceipts(ctx, project)
}

func (h *holdings) ProjectHoldings(ctx context.Context, project string) (memory.Holdings, error) {
	h.release = h.boxes.Suspend(project)
	h.listed()
	return h.store.ProjectHoldings(ctx, project)
}

// TestMaxFilesHoldsForChanges: files that appear one by one are no more than those that
// a look at everything takes.
func TestMaxFilesHoldsForChanges(t *testing.T) {
	opts := runOptions()
	opts.MaxFiles = 2
	r := newRig(t, rigOptions{run: opts})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	q := r.ask(root)
	r.runNext()
	for _, name := range []string{"b.go", "c.go", "a.go"} {
		write(t, root, name, "package now\n\n// "+name+"\n")
		r.ask(root, name)
		r.runNext()
	}
	files := r.indexed(q.Sandbox)
	if _, over := files["c.go"]; over || len(files) != 2 || files["a.go"].Size < 20 {
		t.Errorf("indexed are %v, want b.go and the new a.go", slices.Sorted(maps.Keys(files)))
	}
}
