package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func session(id string, change ...func(*memory.Session)) memory.Session {
	x := memory.Session{ID: id, Project: "p-1", Client: "agent", CreatedAt: noon}
	for _, c := range change {
		c(&x)
	}
	return x
}

// ownWindow calls from the window of the sessions that inWindow opens.
var ownWindow = memory.Caller{Client: "agent", Window: "w-1"}

func inWindow(x *memory.Session) { x.Window = ownWindow.Window }

func step(id, session string) (memory.Record, memory.Doc) {
	r, d := lesson(id, "what "+id+" did")
	r.Kind, r.Event, r.Session = memory.Step, nil, session
	r.Step = &memory.StepContent{Tool: memory.StepTool{Name: "run"}, Outcome: memory.Outcome{OK: true}}
	return r, d
}

func commit(t *testing.T, s *Store, b memory.Batch) memory.Committed {
	t.Helper()
	c, err := s.Commit(t.Context(), b)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return c
}

// TestSessionSurvivesReopening writes every field there is.
func TestSessionSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	want := memory.Session{
		ID: "mm-20260115-abc", Project: "p-1", Client: "agent", CreatedAt: noon.Add(123 * time.Millisecond), EndedAt: noon.Add(time.Hour),
		Goal: "Run send flow smoke test", FlowTags: []string{"send"}, Tags: []string{"smoke"},
		Git:         &memory.Git{Branch: "feature/foo", Commit: "abc123", Dirty: true},
		Build:       json.RawMessage(`{"buildType":"build:test"}`),
		Launch:      json.RawMessage(`{"ports":{"anvil":8545},"ratio":1.50}`),
		Screenshots: true, Bare: true, Extra: map[string]json.RawMessage{"later": json.RawMessage(`[1,2]`)},
	}
	r, d := step("t-1", want.ID)
	r.Step.Tool.Input = json.RawMessage(`{"b":1,"a":2.0}`)
	r.Step.Extra = map[string]json.RawMessage{"later": json.RawMessage(`null`)}
	commit(t, s, memory.Batch{Sessions: []memory.Session{want}, Records: []memory.Record{r}, Docs: []memory.Doc{d}})
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	got, err := s.Session("p-1", want.ID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session after reopening (-want +got):\n%s", diff)
	}
	back, err := s.Record("t-1")
	must(t, err)
	if diff := cmp.Diff(r, back); diff != "" {
		t.Errorf("step after reopening (-want +got):\n%s", diff)
	}
}

func TestSessionsOfOneProject(t *testing.T) {
	s := open(t, Options{})
	other := func(x *memory.Session) { x.Project = "p-10" } // p-1 begins it
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("b"), session("a"), session("a", other), session("c", other)}})
	mine, err := s.ProjectSessions("p-1")
	must(t, err)
	if diff := cmp.Diff([]memory.Session{session("a"), session("b")}, mine); diff != "" {
		t.Errorf("sessions of p-1 (-want +got):\n%s", diff)
	}
	if all, err := s.ProjectSessions(""); err != nil || all != nil {
		t.Errorf("sessions of no project: %v, %v; want none", all, err)
	}
	h, err := s.ProjectHoldings(t.Context(), "p-10")
	must(t, err)
	if diff := cmp.Diff(memory.Holdings{Sessions: []string{"a", "c"}}, h); diff != "" {
		t.Errorf("holdings of p-10 (-want +got):\n%s", diff)
	}
	_, err = s.Session("p-1", "c")
	if memory.CodeOf(err) != memory.CodeNotFound || !strings.Contains(fmt.Sprint(err), `"c"`) || strings.Contains(fmt.Sprint(err), "\x00") {
		t.Errorf("a session of another project: %v, want not found with its id", err)
	}
}

// TestPrivateSessionStaysPrivate: no write of a session takes the mark away, whatever merges.
func TestPrivateSessionStaysPrivate(t *testing.T) {
	s := open(t, Options{})
	merges := map[string]func(old, new memory.Session) (memory.Session, error){
		"none": nil,
		"old":  func(old, _ memory.Session) (memory.Session, error) { return old, nil },
		"new":  func(_, new memory.Session) (memory.Session, error) { return new, nil },
	}
	private := func(x *memory.Session) { x.Private = true }
	for name, merge := range merges {
		for _, x := range [][]memory.Session{{session(name+"-a", private), session(name + "-a")}, {session(name + "-b"), session(name+"-b", private)}} {
			for _, x := range x {
				commit(t, s, memory.Batch{Sessions: []memory.Session{x}, MergeSession: merge})
			}
			if got, err := s.Session("p-1", x[0].ID); err != nil || !got.Private {
				t.Errorf("merge %s of %+v: %+v, %v", name, x, got, err)
			}
		}
	}
}

func TestSessionThatCannotBeNamed(t *testing.T) {
	s := open(t, Options{})
	for name, x := range map[string]memory.Session{
		"no id":           session(""),
		"NUL":             session("a\x00b"),
		"NUL in projects": session("a", func(x *memory.Session) { x.Project = "p\x00" }),
	} {
		_, err := s.Commit(t.Context(), memory.Batch{Sessions: []memory.Session{x}})
		if memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("%s: %v, want invalid input", name, err)
		}
	}
}

func TestCurrentSession(t *testing.T) {
	s := open(t, Options{})
	at := func(minutes int) func(*memory.Session) {
		return func(x *memory.Session) { x.CreatedAt = noon.Add(time.Duration(minutes) * time.Minute) }
	}
	ended := func(x *memory.Session) { x.EndedAt = noon.Add(time.Hour) }
	bare := func(x *memory.Session) { x.Bare = true }
	client := func(c string) func(*memory.Session) { return func(x *memory.Session) { x.Client = c } }
	put := func(xs ...memory.Session) memory.Batch {
		for i := range xs {
			inWindow(&xs[i])
		}
		return memory.Batch{Sessions: xs}
	}
	for _, test := range []struct {
		what  string
		batch memory.Batch
		want  string // of the agent's window in p-1; empty for none
	}{
		{"at first", memory.Batch{}, ""},
		{"started", put(session("b")), "b"},
		{"of another client", put(session("z", at(9), client("other"))), "b"},
		{"of another project", put(session("z", at(9), func(x *memory.Session) { x.Project = "p-2" })), "b"},
		{"a newer one", put(session("c", at(2))), "c"},
		{"an older one", put(session("d", at(-2))), "c"},
		{"as new as the newest, first by id", put(session("a", at(2))), "a"},
		{"bare", put(session("e", at(5), bare)), "a"},
		{"imported with its end", put(session("f", at(6), ended)), "a"},
		{"ended", put(session("a", at(2), ended)), "c"},
		{"dropped", memory.Batch{DropSessions: []memory.SessionKey{{Project: "p-1", ID: "c"}}}, "b"},
		{"metadata came for the bare one", put(session("e", at(5))), "e"},
		{"taken over by another client", put(session("e", at(5), client("other"))), "b"},
		{"something else is written", memory.Batch{Projects: []memory.Project{{ID: "p-1"}}}, "b"},
		{"two end at once", put(session("b", ended), session("d", at(-2), ended)), ""},
	} {
		if _, err := s.Commit(t.Context(), test.batch); err != nil {
			t.Fatalf("%s: %v", test.what, err)
		}
		for _, from := range []string{"memory", "the database", "memory again"} {
			if from == "the database" {
				s.mu.Lock()
				s.current = nil
				s.mu.Unlock()
			}
			x, ok, err := s.CurrentSession("p-1", ownWindow)
			if err != nil || ok != (test.want != "") || x.ID != test.want {
				t.Errorf("%s: the current session from %s is %q, %v, %v; want %q", test.what, from, x.ID, ok, err, test.want)
			}
		}
	}
}

// TestCurrentSessionBesideWriters: who has started or ended a session finds it
// so, whoever reads and writes at the same time.

// TestCurrentSessionIsOnesOwn: a window never gets the session of another one, and
// of sessions that belong to none only what is the one and only.
func TestCurrentSessionIsOnesOwn(t *testing.T) {
	window := func(w string) func(*memory.Session) { return func(x *memory.Session) { x.Window = w } }
	later := func(x *memory.Session) { x.CreatedAt = noon.Add(time.Hour) }
	for what, test := range map[string]struct {
		open    []memory.Session
		window  string
		want    string
		choices string // of the refusal
	}{
		"nothing is open":                           {nil, "w-1", "", ""},
		"its own, beside a newer one of another":    {[]memory.Session{session("a", window("w-1")), session("b", window("w-2"), later)}, "w-1", "a", ""},
		"another window's only":                     {[]memory.Session{session("b", window("w-2"))}, "w-1", "", ""},
		"another window's, and the caller has none": {[]memory.Session{session("b", window("w-2"))}, "", "", ""},
		"the only one of no window":                 {[]memory.Session{session("a"), session("b", window("w-2"))}, "w-1", "a", ""},
		"its own before one of no window":           {[]memory.Session{session("a", window("w-1")), session("b", later)}, "w-1", "a", ""},
		"two of no window":                          {[]memory.Session{session("a"), session("b", later)}, "w-1", "", "b, a"},
		"two of no window, and the caller has none": {[]memory.Session{session("a"), session("b", later)}, "", "", "b, a"},
		"twelve of no window":                       {twelve(), "", "", "x-l, x-k, x-j, x-i, x-h, x-g, x-f, x-e, x-d, x-c and 2 older"},
	} {
		s := open(t, Options{NoSync: true})
		if _, err := s.Commit(t.Context(), memory.Batch{Sessions: test.open}); err != nil {
			t.Fatal(err)
		}
		x, ok, err := s.CurrentSession("p-1", memory.Caller{Client: "agent", Window: test.window})
		if test.choices != "" {
			e := memory.AsError(err)
			if !errors.Is(err, memory.ErrSeveralSessions) || e.Code != memory.CodeInvalidInput || e.Field != "sessionId" || e.Limit != test.choices {
				t.Errorf("%s: %q, %v; want a refusal with the choices %q", what, x.ID, err, test.choices)
			}
			continue
		}
		if err != nil || ok != (test.want != "") || x.ID != test.want {
			t.Errorf("%s: the current session is %q, %v, %v; want %q", what, x.ID, ok, err, test.want)
		}
	}
}

func twelve() (all []memory.Session) {
	for i := range 12 {
		all = append(all, session(fmt.Sprintf("x-%c", 'a'+i), func(x *memory.Session) { x.CreatedAt = noon.Add(time.Duration(i) * time.Minute) }))
	}
	return all
}

func TestCurrentSessionBesideWriters(t *testing.T) {
	s := open(t, Options{NoSync: true})
	var all sync.WaitGroup
	for w := range 8 {
		client := fmt.Sprintf("agent-%d", w)
		all.Go(func() {
			for i := range 20 {
				x := session(fmt.Sprintf("x-%d-%d", w, i), func(x *memory.Session) { x.Client = client })
				if _, err := s.Commit(t.Context(), memory.Batch{Sessions: []memory.Session{x}}); err != nil {
					t.Error(err)
					return
				}
				if got, ok, err := s.CurrentSession("p-1", memory.Caller{Client: client}); err != nil || !ok || got.ID != x.ID {
					t.Errorf("after the start of %s the current session is %q, %v, %v", x.ID, got.ID, ok, err)
				}
				x.EndedAt = noon.Add(time.Minute)
				if _, err := s.Commit(t.Context(), memory.Batch{Sessions: []memory.Session{x}}); err != nil {
					t.Error(err)
					return
				}
				if got, ok, err := s.CurrentSession("p-1", memory.Caller{Client: client}); err != nil || ok {
					t.Errorf("after the end of %s the current session is %q, %v", x.ID, got.ID, err)
				}
			}
		})
	}
	all.Wait()
}

func TestSessionsAreLoadedAndApplied(t *testing.T) {
	dir := t.TempDir()
	var changes []memory.SessionChange
	s := open(t, Options{Dir: dir, Apply: func(cs []memory.Change) {
		for _, c := range cs {
			changes = append(changes, c.Sessions...)
		}
	}})
	first, ended := session("a"), session("a", func(x *memory.Session) { x.EndedAt = noon })
	commit(t, s, memory.Batch{Sessions: []memory.Session{first}})
	commit(t, s, memory.Batch{Sessions: []memory.Session{ended}})
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("b")}})
	gone := memory.SessionKey{Project: "p-1", ID: "a"}
	commit(t, s, memory.Batch{DropSessions: []memory.SessionKey{gone, {Project: "p-1", ID: "never"}}})
	b := session("b")
	want := []memory.SessionChange{{New: &first}, {Old: &first, New: &ended}, {New: &b}, {Old: &ended}}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	r, d := step("t-1", "b")
	put(t, s, r, d)
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	var order []string
	if _, err := s.Load(t.Context(), memory.Loader{
		Session: func(x memory.Session) error { order = append(order, x.ID); return nil },
		Record:  func(r memory.Record) error { order = append(order, r.ID); return nil },
		File:    func(memory.File) error { return nil },
		Terms:   func(memory.DocID, []byte) error { return nil },
		Vector:  func(string, memory.DocID, []float32) error { return nil },
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "t-1"}, order); diff != "" {
		t.Errorf("loaded, sessions first (-want +got):\n%s", diff)
	}
}

func TestCheckFindsLostSessions(t *testing.T) {
	s := open(t, Options{})
	r, d := step("t-1", "a")
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("a"), session("b")}, Records: []memory.Record{r}, Docs: []memory.Doc{d}})
	finds := func(what, want string) {
		t.Helper()
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Check says %v, want %q", what, err, want)
		}
	}
	raw, err := encode(session("b"))
	must(t, err)
	a, b := session("a"), session("b")
	must(t, setRaw(s, keySession(a.Key()), seal(keySession(a.Key()), raw)))
	finds("another's value", "belongs to another session")
	if _, err := s.Session("p-1", "a"); memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("another's value is read as %v, want corrupt", err)
	}
	raw, err = encode(a)
	must(t, err)
	must(t, setRaw(s, keySession(a.Key()), seal(keySession(a.Key()), raw)))
	commit(t, s, memory.Batch{DropSessions: []memory.SessionKey{a.Key()}})
	finds("a step without a session", `step t-1: its session "a" is not stored`)
	if _, _, err := s.CurrentSession("p-1", ownWindow); err != nil { // so that it is kept
		t.Fatal(err)
	}
	must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Delete(keySession(b.Key())) }))
	finds("a kept one that is not stored", "session b: it is cached as open")
	finds("a counted one that is not stored", "sessions: 0 are stored, 1 more are counted")
	if raw, err = encode(b); err != nil {
		t.Fatal(err)
	}
	must(t, setRaw(s, keySession(b.Key()), seal(keySession(b.Key()), raw)))
	commit(t, s, memory.Batch{Sessions: []memory.Session{a}})
}

// onLog is a log that calls a function with its first line.
type onLog struct {
	slog.Handler
	first func()
}

func (h onLog) Handle(context.Context, slog.Record) error {
	h.first()
	return nil
}

func (onLog) Enabled(context.Context, slog.Level) bool { return true }

// TestOpenSessionsBesideAWriter: a session that is written while the open ones are read hides
// no other.
func TestOpenSessionsBesideAWriter(t *testing.T) {
	var once sync.Once
	var meanwhile func()
	s := open(t, Options{Logger: slog.New(onLog{slog.DiscardHandler, func() { once.Do(meanwhile) }})})
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1"), session("x-2")}})
	// The damaged one is logged while the sessions are read.
	damaged := memory.SessionKey{Project: "p-1", ID: "x-0"}
	must(t, setRaw(s, keySession(damaged), []byte("broken")))
	s.mu.Lock()
	s.current = nil // as before the first call
	s.mu.Unlock()
	meanwhile = func() { commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-3")}}) }
	got, err := s.OpenSessions()
	if err != nil || len(got) < 2 {
		t.Errorf("%d sessions are open, %v; want at least the two that were open before", len(got), err)
	}
	if got, err := s.OpenSessions(); err != nil || len(got) != 3 {
		t.Errorf("%d sessions are open, %v; want 3", len(got), err)
	}
	commit(t, s, memory.Batch{DropSessions: []memory.SessionKey{damaged}})
}

func TestProjectRecords(t *testing.T) {
	s := open(t, Options{})
	for _, id := range []string{"l-2", "l-1", "l-3"} {
		r, d := lesson(id, "text of "+id)
		if id == "l-3" {
			r.Project = "p-2"
		}
		put(t, s, r, d)
	}
	r, d := step("t-1", "a")
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("a")}, Records: []memory.Record{r}, Docs: []memory.Doc{d}})
	ids := func(kind memory.Kind) (ids []string, damaged int) {
		for r, err := range s.ProjectRecords(t.Context(), "p-1", kind) {
			if err != nil {
				damaged++
				continue
			}
			ids = append(ids, r.ID)
		}
		return ids, damaged
	}
	if got, damaged := ids(memory.Lesson); !cmp.Equal(got, []string{"l-1", "l-2"}) || damaged > 0 {
		t.Errorf("lessons of p-1: %v and %d damaged, want l-1 and l-2", got, damaged)
	}
	if got, _ := ids(memory.Step); !cmp.Equal(got, []string{"t-1"}) {
		t.Errorf("steps of p-1: %v, want t-1", got)
	}
	for range s.ProjectRecords(t.Context(), "p-1", memory.Lesson) {
		break // which must not be called again
	}
	// A damaged record that still says whose it is counts for its project and kind alone.
	commit(t, s, memory.Batch{Projects: []memory.Project{{ID: "p-1", Name: "one"}, {ID: "p-2", Name: "two"}}})
	other, _ := lesson("l-3", "text of l-3")
	other.Project = "p-2"
	raw, err := encode(other)
	must(t, err)
	k := key(prefixRecord, "l-3")
	for what, c := range map[string]struct {
		value   []byte
		damaged int // among the lessons of p-1
	}{
		"a text":                {bytes.Replace(seal(k, raw), []byte("text of"), []byte("text if"), 1), 0},
		"the id of its project": {bytes.Replace(seal(k, raw), []byte("p-2"), []byte("p-3"), 1), 1},
		"its kind":              {bytes.Replace(seal(k, raw), []byte("flesson"), []byte("flessom"), 1), 1},
	} {
		must(t, setRaw(s, k, c.value))
		if _, damaged := ids(memory.Lesson); damaged != c.damaged {
			t.Errorf("with %s of a lesson of p-2 damaged, %d of p-1 are, want %d", what, damaged, c.damaged)
		}
		if _, damaged := ids(memory.Step); damaged != c.damaged {
			t.Errorf("with %s of a lesson of p-2 damaged, %d steps of p-1 are, want %d", what, damaged, c.damaged)
		}
		n := 0
		for _, err := range s.ProjectRecords(t.Context(), "p-2", memory.Lesson) {
			if err != nil {
				n++
			}
		}
		if n != 1 {
			t.Errorf("with %s damaged, %d lessons of p-2 are, want 1", what, n)
		}
	}
	must(t, setRaw(s, k, seal(k, raw)))
	k = key(prefixRecord, "l-1")
	must(t, setRaw(s, k, []byte("broken")))
	if got, damaged := ids(memory.Lesson); !cmp.Equal(got, []string{"l-2"}) || damaged != 1 {
		t.Errorf("beside a damaged one: %v and %d damaged, want l-2 and 1", got, damaged)
	}
	good, _ := lesson("l-1", "text of l-1")
	if raw, err = encode(good); err != nil {
		t.Fatal(err)
	}
	must(t, setRaw(s, k, seal(k, raw)))
	must(t, s.Close())
	for _, err := range s.ProjectRecords(t.Context(), "p-1", memory.Lesson) {
		if err != ErrClosed {
			t.Errorf("records of a closed store: %v, want ErrClosed", err)
		}
	}
}
