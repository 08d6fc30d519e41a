package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"

	"github.com/recalld/recalld/embedder/ollama/ollamatest"
	"github.com/recalld/recalld/internal/memory"
)

// fakeOllama is an Ollama server that counts, and the settings by which a machine
// uses it.
func fakeOllama(t *testing.T) (fake *ollamatest.Fake, settings []string) {
	fake = ollamatest.NewFake()
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return fake, []string{
		"RECALLD_EMBEDDING_OLLAMA_ENABLED=on", "RECALLD_EMBEDDING_OLLAMA_URL=" + server.URL, "RECALLD_EMBEDDING_OLLAMA_MODEL=" + ollamatest.Model,
	}
}

// sentTexts counts the texts of a warehouse that a server was sent.
func sentTexts(fake *ollamatest.Fake) int {
	n := 0
	for _, request := range fake.Embeds() {
		texts, _ := request.Input.([]any)
		for _, text := range texts {
			if s, ok := text.(string); ok && strings.Contains(s, "weights") {
				n++
			}
		}
	}
	return n
}

// warehouse is a repository of git of so many files, each with distinct content.
func warehouse(t *testing.T, files int) (dir string, git func(...string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "warehouse")
	for i := range files {
		writeShelf(t, dir, i, "crate")
	}
	git = gitIn(t, dir)
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	return dir, git
}

func writeShelf(t *testing.T, dir string, i int, what string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "package shelf\n\n")
	for f := range 4 {
		fmt.Fprintf(&b, "// Lift%dFrom%d takes the %s number %d down from shelf %d.\nfunc Lift%dFrom%d(weights []int) int {\n\ttotal := 0\n", f, i, what, f, i, f, i)
		for line := range 10 {
			fmt.Fprintf(&b, "\ttotal += weights[%d] // %s %d of shelf %d\n", line, what, line, i)
		}
		b.WriteString("\treturn total\n}\n\n")
	}
	write(t, filepath.Join(dir, fmt.Sprintf("hall%d", i%10), fmt.Sprintf("shelf%d.go", i)), b.String())
}

// eye looks at a daemon over one connection, which costs a round trip each time.
type eye struct {
	t *testing.T
	c *client.Client
}

func (m *machine) watch(dir string) *eye {
	m.t.Helper()
	return &eye{m.t, m.mustConnect(dir)}
}

func (e *eye) status() memory.Status {
	e.t.Helper()
	var st memory.Status
	must(e.t, e.c, "status", nil, &st)
	return st
}

// until asks for the state until a condition holds.
func (e *eye) until(what string, holds func(memory.Status) bool) memory.Status {
	e.t.Helper()
	for began := time.Now(); ; {
		st := e.status()
		if holds(st) {
			return st
		}
		if time.Since(began) > patience {
			e.t.Fatalf("never %s: %+v", what, st)
		}
	}
}

// finds asks until an answer shows a text of a path, and returns how long that took.
func (e *eye) finds(question, path, text string) time.Duration {
	e.t.Helper()
	for began := time.Now(); ; {
		var a memory.RecallResponse
		must(e.t, e.c, "recall", map[string]any{"query": question, "kinds": []string{"chunk"}, "min_relevance": 0, "limit": 10}, &a)
		if slices.ContainsFunc(a.Items, func(i memory.Item) bool { return i.Source.Path == path && strings.Contains(i.Text, text) }) {
			return time.Since(began)
		}
		if time.Since(began) > patience {
			e.t.Fatalf("asked %q, %s is never shown with %q; found %q, withheld %+v", question, path, text, paths(a), a.Withheld)
		}
	}
}

// box returns the sandbox of a folder, nil if it is not known.
func box(st memory.Status, root string) *memory.SandboxState {
	i := slices.IndexFunc(st.Projects, func(b memory.SandboxState) bool { return b.Root == root })
	if i < 0 {
		return nil
	}
	return &st.Projects[i]
}

// settled says that a folder is indexed, nothing is done, and every text is embedded.
func settled(root string) func(memory.Status) bool {
	return func(st memory.Status) bool {
		b := box(st, root)
		return b != nil && !b.IndexedAt.IsZero() && b.Progress == nil && st.Queue.Waiting+st.Queue.Running == 0 &&
			!slices.ContainsFunc(st.Collections, func(s memory.CollectionState) bool { return s.State != "ready" || s.Embedded < st.Documents })
	}
}

// TestE2ESavedFile: what an editor saves is found within a second, whether it writes
// in place or renames, also in a new folder.
func TestE2ESavedFile(t *testing.T) {
	m := newMachine(t)
	dir, _ := warehouse(t, 30)
	other, _ := warehouse(t, 30)
	m.run(dir, "index", "--wait")
	m.run(other, "index", "--wait")
	e := m.watch(dir)
	best := patience
	for i, path := range []string{"hall1/shelf1.go", "hall3/new.go", "annex/deep/new.go"} {
		what := []string{"piano", "harpsichord", "accordion"}[i]
		text := fmt.Sprintf("package shelf\n\n// Play tunes the %s before the concert begins.\nfunc Play() {}\n", what)
		full := filepath.Join(dir, filepath.FromSlash(path))
		if i == 1 { // as most editors do
			write(t, full+".tmp", text)
			if err := os.Rename(full+".tmp", full); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, full, text)
		}
		took := e.finds("tune the "+what+" before the concert", path, what)
		t.Logf("%s is found %s after it was saved", path, took.Round(time.Millisecond))
		best = min(best, took)
	}
	if best > time.Second { // the best of them: this machine may have other things to do
		t.Errorf("a saved file is found after %s at best, want a second", best)
	}
}

// TestE2EWorktree: a second worktree is ready in seconds and has nothing embedded; what
// the daemon keeps hardly grows.
func TestE2EWorktree(t *testing.T) {
	fake, settings := fakeOllama(t)
	m := newMachine(t, settings...)
	dir, git := warehouse(t, 300)
	m.run(dir, "index", "--wait")
	e := m.watch(dir)
	before := e.until("settled", settled(dir))
	sent := sentTexts(fake)
	if sent == 0 {
		t.Fatal("no text of the repository was sent to the model")
	}
	tree := filepath.Join(filepath.Dir(dir), "tree")
	git("worktree", "add", "-q", tree)
	began := time.Now()
	m.run(tree, "index", "--wait")
	after := e.until("settled", settled(tree))
	took := time.Since(began)
	one, two := box(after, dir), box(after, tree)
	if two.Project != one.Project || two.Chunks != one.Chunks || two.Files != one.Files {
		t.Errorf("the worktree is %+v, want project, files and chunks of %+v", two, one)
	}
	t.Logf("the worktree is ready after %s", took)
	if n := sentTexts(fake) - sent; n > 0 || after.Documents != before.Documents {
		t.Errorf("%d texts were embedded again, and %d documents are kept instead of %d", n, after.Documents, before.Documents)
	}
	grown := after.DiskBytes - before.DiskBytes
	t.Logf("ready after %s; %d bytes on disk before, %d more after: %.1f %%", took.Round(time.Millisecond), before.DiskBytes, grown,
		100*float64(grown)/float64(before.DiskBytes))
	// Vectors and terms are shared; what is kept of a file is its name, its beginning
	// and where its chunks are. With the small model of the test that is more of the whole.
	if perFile := grown / 300; perFile > 1024 {
		t.Errorf("a file of the worktree takes %d bytes, want less than 1,024", perFile)
	}
	answer := m.recall(tree, "take the crate number 2 down from shelf 17", "--kinds", "chunk")
	if len(answer.Items) == 0 || answer.Items[0].Source.Sandbox != tree {
		t.Errorf("asked in the worktree, the answer is of %+v", answer.Items)
	}
}

// TestE2ERename: a folder that is renamed is found at its new place, and nothing of
// it is embedded again.
func TestE2ERename(t *testing.T) {
	fake, settings := fakeOllama(t)
	m := newMachine(t, settings...)
	dir, git := warehouse(t, 40)
	m.run(dir, "index", "--wait")
	e := m.watch(dir)
	before := e.until("settled", settled(dir))
	sent := sentTexts(fake)
	git("mv", "hall3", "cellar")
	e.finds("take the crate number 1 down from shelf 13", "cellar/shelf13.go", "shelf 13")
	after := e.until("settled", settled(dir))
	if n := sentTexts(fake) - sent; n > 0 || after.Documents != before.Documents {
		t.Errorf("after a rename %d texts were embedded again, and %d documents are kept instead of %d", n, after.Documents, before.Documents)
	}
	if b := box(after, dir); b.Files != box(before, dir).Files {
		t.Errorf("%d files are known after a rename, want %d", b.Files, box(before, dir).Files)
	}
}

// TestE2EBranchSwitch: a switch of branches that changes hundreds of files is one run.
func TestE2EBranchSwitch(t *testing.T) {
	m := newMachine(t)
	dir, git := warehouse(t, 250)
	git("switch", "-q", "-c", "barrels")
	for i := range 250 {
		writeShelf(t, dir, i, "barrel")
	}
	git("commit", "-q", "-a", "-m", "barrels")
	git("switch", "-q", "main")
	m.run(dir, "index", "--wait")
	e := m.watch(dir)
	e.until("settled", settled(dir))
	git("switch", "-q", "barrels")
	want := int64(0)
	for i := range 250 {
		info, err := os.Stat(filepath.Join(dir, fmt.Sprintf("hall%d/shelf%d.go", i%10, i)))
		if err != nil {
			t.Fatal(err)
		}
		want += info.Size()
	}
	// No query meanwhile: an answer that meets changed code has it looked at again.
	e.until("indexed", func(st memory.Status) bool { return settled(dir)(st) && box(st, dir).Bytes == want })
	// The first look at a folder that is now watched may come as late as here: it changes nothing.
	var log memory.LogLines
	m.ask(&log, dir, "call", "log")
	runs := slices.DeleteFunc(log.Lines, func(line string) bool {
		return !strings.Contains(line, "indexed") || strings.Contains(line, "changed=0 ")
	})
	if len(runs) != 2 {
		t.Errorf("indexing and a switch of branches change files in %d runs, want 1 each:\n%s", len(runs), strings.Join(runs, "\n"))
	}
	e.finds("take the barrel number 3 down from shelf 249", "hall9/shelf249.go", "barrel")
	answer := m.recall(dir, "take the crate down from shelf 7", "--kinds", "chunk", "--min-relevance", "0", "--limit", "20")
	if strings.Contains(shown(answer), "crate") {
		t.Errorf("text of the other branch is shown:\n%s", shown(answer))
	}
}

// TestE2ESandboxesFolder: a repository that is cloned below a folder of the setting is
// indexed by itself.
func TestE2ESandboxesFolder(t *testing.T) {
	dir, git := warehouse(t, 5)
	home := t.TempDir()
	folder, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, "RECALLD_SANDBOXES="+folder)
	e := m.watch(dir)
	e.until("ready", func(st memory.Status) bool { return st.State == "ready" })
	clone := filepath.Join(folder, "team", "clone")
	git("clone", "-q", ".", clone)
	began := time.Now()
	e.until("indexed", settled(clone))
	t.Logf("a clone is indexed %s after it was made", time.Since(began).Round(time.Millisecond))
	if got := paths(m.recall(clone, "take the crate down from shelf 3")); !slices.Contains(got, "hall3/shelf3.go") {
		t.Errorf("in the clone found %q, want hall3/shelf3.go", got)
	}
}

// TestE2EPause: nothing is indexed while indexing is held, also after a restart; then
// what was missed is made up for.
func TestE2EPause(t *testing.T) {
	m := newMachine(t)
	dir, _ := warehouse(t, 10)
	m.run(dir, "index", "--wait")
	var held memory.Paused
	m.ask(&held, dir, "pause", dir)
	if !slices.Equal(held.Sandboxes, []string{dir}) || held.All {
		t.Errorf("held is %+v, want %s alone", held, dir)
	}
	e := m.watch(dir)
	before := box(e.status(), dir).IndexedAt
	write(t, filepath.Join(dir, "late.go"), "package late\n\n// Late folds the parachute before the jump.\nfunc Late() {}\n")
	// Another repository is indexed meanwhile: had this one waited, it would have been too.
	other, _ := warehouse(t, 5)
	m.run(other, "index", "--wait")
	if at := box(e.status(), dir).IndexedAt; !at.Equal(before) {
		t.Errorf("a repository that is held was indexed at %s, after %s", at, before)
	}
	m.run(dir, "stop")
	var st memory.Status
	m.ask(&st, dir, "call", "status")
	if b := box(st, dir); b == nil || !b.Paused || !b.IndexedAt.Equal(before) {
		t.Errorf("after a restart the repository is %+v, want it held", b)
	}
	m.ask(&held, dir, "resume", dir)
	if len(held.Sandboxes) > 0 {
		t.Errorf("after resume %q are held", held.Sandboxes)
	}
	m.watch(dir).finds("fold the parachute before the jump", "late.go", "parachute")
}

// TestE2EForgetProject: a project that is forgotten is gone with its code, lessons and
// folders, and does not come back by itself.
func TestE2EForgetProject(t *testing.T) {
	m := newMachine(t)
	dir, _ := warehouse(t, 5)
	m.run(dir, "index", "--wait")
	m.run(dir, "remember", "Grease the lift of the warehouse every week")
	if out, err := m.command(dir, "forget", "--project", "warehouse").CombinedOutput(); err == nil {
		t.Errorf("a project is forgotten without a yes:\n%s", out)
	}
	var gone memory.Forgotten
	m.ask(&gone, dir, "forget", "--project", "warehouse", "--yes")
	if gone.Files != 5 || gone.Records != 1 {
		t.Errorf("forgotten are %+v, want 5 files and 1 record", gone)
	}
	write(t, filepath.Join(dir, "hall1", "shelf1.go"), "package shelf\n\n// Nothing is kept here.\n")
	m.run(dir, "stop")
	var st memory.Status
	m.ask(&st, dir, "call", "status")
	if len(st.Projects) > 0 || st.Documents > 0 {
		t.Errorf("after a restart %+v and %d documents are known", st.Projects, st.Documents)
	}
}

// TestE2ELightIndex: without the full index files are found by name and beginning, as
// they are on disk, and the answer says so.
func TestE2ELightIndex(t *testing.T) {
	m := newMachine(t, "RECALLD_INDEX_FULL=false")
	dir, _ := warehouse(t, 20)
	write(t, filepath.Join(dir, "docs", "forklift.md"), "# Forklift manual\n\nCharge it at night.\n")
	m.run(dir, "index", "--wait")
	var files memory.FileList
	m.ask(&files, dir, "files", "forklift")
	if len(files.Files) != 1 || files.Files[0].Path != "docs/forklift.md" || !strings.Contains(files.Files[0].Head, "Forklift manual") {
		t.Errorf("found %+v, want docs/forklift.md with how it begins", files.Files)
	}
	a := m.recall(dir, "where is the forklift manual", "--kinds", "chunk")
	if len(a.Items) == 0 || a.Items[0].Source.Path != "docs/forklift.md" || a.Items[0].State != "light" {
		t.Errorf("found %+v, want docs/forklift.md, marked as light; degraded %+v", a.Items, a.Degraded)
	}
	if !slices.ContainsFunc(a.Degraded, func(d memory.Degraded) bool { return strings.HasPrefix(d.Reason, "searched by file names only") }) {
		t.Errorf("the answer does not say that only file names were searched: %+v", a.Degraded)
	}
	write(t, filepath.Join(dir, "docs", "forklift.md"), "# Crane manual\n")
	if text := m.recall(dir, "where is the forklift manual", "--kinds", "chunk").Text; strings.Contains(text, "Forklift") {
		t.Errorf("a beginning is shown that is not on disk any more:\n%s", text)
	}
}

// TestE2EMovedRepository: a repository without a remote is the same project where it
// was moved to: its lessons are there, and its code is found at the new place only.
func TestE2EMovedRepository(t *testing.T) {
	m := newMachine(t)
	dir, _ := warehouse(t, 10)
	m.run(dir, "index", "--wait")
	var kept memory.Remembered
	m.ask(&kept, dir, "remember", "Grease the lift of the warehouse every week")
	moved := filepath.Join(filepath.Dir(dir), "depot")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if a := m.recall(moved, "grease the lift", "--kinds", "lesson"); a.Project != kept.Project || len(a.Items) != 1 {
		t.Errorf("at the new place the project is %s with %d lessons, want %s with 1", a.Project, len(a.Items), kept.Project)
	}
	m.run(moved, "index", "--wait")
	a := m.recall(moved, "take the crate down from shelf 3", "--kinds", "chunk")
	if len(a.Items) == 0 || a.Project != kept.Project {
		t.Fatalf("at the new place no code is found in project %s: %+v", a.Project, a.Withheld)
	}
	ids := make([]string, len(a.Items)) // a line does not name the folder: the item in full does
	for i, item := range a.Items {
		ids[i] = item.ID
	}
	var full memory.RecallResponse
	m.ask(&full, moved, append([]string{"show"}, ids...)...)
	if len(full.Items) != len(ids) {
		t.Errorf("%d of %d memories are shown in full: %+v", len(full.Items), len(ids), full.Withheld)
	}
	for _, item := range full.Items {
		if item.Source.Sandbox != moved {
			t.Errorf("code is shown from %s, which was moved to %s", item.Source.Sandbox, moved)
		}
	}
}
