package sessiondir_test

import (
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// now is the time of the tests' clocks; files are given times around it.
var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// collected are parts put together.
type collected struct {
	sessions []memory.Session // each as it was last told
	steps    map[string][]memory.Record
	problems []memory.ImportProblem
	parts    int
}

func (c *collected) session(id string) (memory.Session, bool) {
	for _, s := range c.sessions {
		if s.ID == id {
			return s, true
		}
	}
	return memory.Session{}, false
}

// tools are the tools of a session's steps, in the order in which they came.
func (c *collected) tools(id string) []string {
	var tools []string
	for _, r := range c.steps[id] {
		tools = append(tools, r.Step.Tool.Name)
	}
	return tools
}

func collect(t *testing.T, parts iter.Seq2[sessiondir.Batch, error]) *collected {
	t.Helper()
	c := &collected{steps: map[string][]memory.Record{}}
	at := map[string]int{}
	for p, err := range parts {
		if err != nil {
			t.Fatalf("read sessions: %v", err)
		}
		c.parts++
		c.problems = append(c.problems, p.Problems...)
		if p.Session.ID == "" {
			if len(p.Steps) > 0 {
				t.Errorf("a part of %s has steps without a session", p.Folder)
			}
			continue
		}
		i, ok := at[p.Session.ID]
		if !ok {
			i = len(c.sessions)
			at[p.Session.ID] = i
			c.sessions = append(c.sessions, memory.Session{})
		}
		c.sessions[i] = p.Session
		for _, r := range p.Steps {
			if r.Session != p.Session.ID || r.Kind != memory.Step || r.ID != "" {
				t.Errorf("a step of %s is of session %q, kind %q, with id %q", p.Session.ID, r.Session, r.Kind, r.ID)
			}
		}
		c.steps[p.Session.ID] = append(c.steps[p.Session.ID], p.Steps...)
	}
	return c
}

// pairs yields what was collected as an export takes it.
func (c *collected) pairs() iter.Seq2[memory.Session, []memory.Record] {
	return func(yield func(memory.Session, []memory.Record) bool) {
		for _, s := range c.sessions {
			if !yield(s, c.steps[s.ID]) {
				return
			}
		}
	}
}

// write makes a file that was last changed age ago by the tests' clock, and gives
// the folders above it, up to dir, the same time.
func write(t *testing.T, dir, name, text string, age time.Duration) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.WriteFile(path, []byte(text), 0o666))
	for at := path; at != filepath.Clean(dir); at = filepath.Dir(at) {
		setTime(t, at, age)
	}
	return path
}

// setTime sets when a file or folder was last changed.
func setTime(t *testing.T, path string, age time.Duration) {
	t.Helper()
	must(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
}

func testSession(id string) memory.Session {
	return memory.Session{ID: id, CreatedAt: now, Goal: "make the tests pass", FlowTags: []string{"send"}}
}

func testStep(tool string, at time.Time) memory.Record {
	return memory.Record{Kind: memory.Step, Created: at,
		Step: &memory.StepContent{Tool: memory.StepTool{Name: tool}, Outcome: memory.Outcome{OK: true}}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
