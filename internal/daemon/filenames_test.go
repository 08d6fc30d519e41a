package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// aboutQueue is asked in words of the file queue/retry.go, by which both indexes
// find it.
const aboutQueue = "where is retryQueue with backoff and jitter"

// queueRepo is a repository of two files.
func queueRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"queue/retry.go": "package queue\n\n// retryQueue waits with backoff and jitter.\nfunc retryQueue() {}\n",
		"docs/other.md":  "# Something else\n\nNothing of the kind.\n",
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// codeOf is how an answer shows the file: by the index "full" or "light", or not at all.
func codeOf(a *memory.RecallResponse) string {
	for _, item := range a.Items {
		switch {
		case item.Kind != memory.Chunk || item.Source.Path != "queue/retry.go":
		case item.State == "light":
			return "light"
		default:
			return "full"
		}
	}
	return ""
}

func codeLack(a *memory.RecallResponse) string {
	for _, d := range a.Degraded {
		if d.Part == memory.PartCode {
			return d.Reason
		}
	}
	return ""
}

// TestIndexesSwitchedOff: each index of code answers without the other, says so where
// it is the light one, and without both there is none, as status says.
func TestIndexesSwitchedOff(t *testing.T) {
	for name, test := range map[string]struct {
		full, light bool
		want, lack  string
		listed      bool // files, on request
		note        bool
	}{
		"both":  {true, true, "full", "", true, false},
		"full":  {true, false, "full", "", false, false},
		"light": {false, true, "light", "searched by file names only: the full index is switched off", true, false},
		"none":  {false, false, "", "not searched: both indexes are switched off", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := newConfig(t)
			cfg.Index.Full, cfg.Index.Light = test.full, test.light
			s, dir := serve(t, cfg), queueRepo(t)
			s.indexed(s.index(dir))
			a := s.ask(dir, aboutQueue, memory.Chunk)
			if codeOf(a) != test.want || codeLack(a) != test.lack || !strings.Contains(a.Text, test.lack) {
				t.Errorf("code is shown by %q (%q), want %q (%q):\n%s", codeOf(a), codeLack(a), test.want, test.lack, a.Text)
			}
			list, err := service.Files.Do(t.Context(), s, memory.FilesRequest{Pattern: "retry *.go", Caller: memory.Caller{Dir: dir}})
			if !test.listed && (memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(memory.AsError(err).Hint, "index.light")) {
				t.Errorf("files: %v, want them unavailable, and the setting in the hint", err)
			}
			if test.listed {
				must(t, err)
			}
			if test.listed && (list.Total != 1 || list.Files[0].Path != "queue/retry.go" || !strings.HasPrefix(list.Files[0].Head, "package queue")) {
				t.Errorf("files: %+v, want the one", list)
			}
			st, err := service.Status.Do(t.Context(), s, service.None{})
			must(t, err)
			said := slices.ContainsFunc(st.Notes, func(n string) bool { return strings.Contains(n, "code is not remembered") })
			if said != test.note {
				t.Errorf("status says that code is not remembered: %v, want %v (%v)", said, test.note, st.Notes)
			}
		})
	}
}

// TestIndexSwitchedBothWays: what was indexed before a setting changed is not shown
// against it, and comes back with it.
func TestIndexSwitchedBothWays(t *testing.T) {
	cfg, dir := newConfig(t), queueRepo(t)
	for _, step := range []struct {
		full bool
		want string
	}{{true, "full"}, {false, "light"}, {true, "full"}} {
		now := cfg
		now.Index.Full = step.full
		s := serve(t, now)
		if !step.full { // before it is looked at again
			if got := codeOf(s.ask(dir, aboutQueue)); got != step.want {
				t.Errorf("just switched off, code is shown by %q, want %q", got, step.want)
			}
		}
		s.indexed(s.index(dir))
		if got := codeOf(s.ask(dir, aboutQueue)); got != step.want {
			t.Errorf("with full %v, code is shown by %q, want %q", step.full, got, step.want)
		}
		s.end()
		must(t, s.wait())
	}
}

// TestMissingCodeIsSaid: of a folder that waits for its first run the answer says why,
// and nothing waits for it.
func TestMissingCodeIsSaid(t *testing.T) {
	s, dir := serve(t, newConfig(t)), queueRepo(t)
	_, err := service.Pause.Do(t.Context(), s, memory.PauseRequest{})
	must(t, err)
	q := s.index(dir)
	a := s.ask(dir, aboutQueue)
	if codeOf(a) != "" || codeLack(a) != "not searched: indexing is paused" || !strings.Contains(a.Text, "(Code was not searched: indexing is paused") {
		t.Errorf("degraded %v, want code, indexing is paused:\n%s", a.Degraded, a.Text)
	}
	_, err = service.Pause.Do(t.Context(), s, memory.PauseRequest{Resume: true})
	must(t, err)
	s.indexed(q)
	if a := s.ask(dir, aboutQueue); codeOf(a) != "full" || codeLack(a) != "" {
		t.Errorf("after its first run code is shown by %q (%q), want the full index", codeOf(a), codeLack(a))
	}
}

// TestLightOfACore: without a daemon, and with the disk changed since, the core shows
// nothing that is not there now.
func TestLightOfACore(t *testing.T) {
	cfg, dir := newConfig(t), queueRepo(t)
	cfg.Index.Full = false
	s := serve(t, cfg)
	s.indexed(s.index(dir))
	s.end()
	must(t, s.wait())
	core := openCore(t, CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	ask := func() *memory.RecallResponse {
		a, err := core.Recall.Recall(t.Context(), memory.RecallRequest{Query: aboutQueue, Caller: memory.Caller{Dir: dir}})
		must(t, err)
		return a
	}
	if got := codeOf(ask()); got != "light" {
		t.Errorf("code is shown by %q, want the light index", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "queue", "retry.go"), []byte("package other\n"), 0o644))
	a := ask()
	if codeOf(a) != "" || strings.Contains(a.Text, "package") || !a.Stale {
		t.Errorf("a file that begins otherwise now is shown, or the answer is not stale:\n%s", a.Text)
	}
	must(t, os.Remove(filepath.Join(dir, "queue", "retry.go")))
	if a := ask(); codeOf(a) != "" || !a.Stale {
		t.Errorf("a file that has gone is shown, or the answer is not stale:\n%s", a.Text)
	}
}
