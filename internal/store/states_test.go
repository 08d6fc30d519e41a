package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func stateOf(session string) memory.StateKey {
	return memory.StateKey{Project: "p-1", Kind: memory.StateSession, ID: session}
}

var servers = memory.StateKey{Project: "p-1", Kind: memory.StateServers}

// setState is an edit that does not ask what was there.
func setState(k memory.StateKey, to string) memory.StateEdit {
	return memory.StateEdit{Key: k, Edit: func([]byte) ([]byte, error) { return []byte(to), nil }}
}

// wantState holds a state against what it should be; "" is none.
func wantState(t *testing.T, s *Store, k memory.StateKey, want string) {
	t.Helper()
	got, err := s.State(k)
	if want == "" && memory.CodeOf(err) == memory.CodeNotFound {
		return
	}
	if err != nil || string(got) != want {
		t.Errorf("state %v = %q, %v; want %q", k, got, err, want)
	}
}

func TestStateKeepsItsBytes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	const bytes = "{\"b\": 1,\n \"a\":2.50, \"é\":\"\\u00e9\"}"
	commit(t, s, memory.Batch{
		Sessions: []memory.Session{session("x-1")},
		States:   []memory.StateEdit{setState(stateOf("x-1"), bytes), setState(servers, "[]")},
	})
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	wantState(t, s, stateOf("x-1"), bytes)
	wantState(t, s, servers, "[]")
	wantState(t, s, memory.StateKey{Project: "p-2", Kind: memory.StateServers}, "")

	saw := ""
	commit(t, s, memory.Batch{States: []memory.StateEdit{{Key: stateOf("x-1"), Edit: func(old []byte) ([]byte, error) {
		saw = string(old)
		return nil, nil
	}}}})
	if saw != bytes {
		t.Errorf("the edit was given %q, want %q", saw, bytes)
	}
	wantState(t, s, stateOf("x-1"), "")
}

func TestStateThatIsRefused(t *testing.T) {
	s := open(t, Options{})
	full := errors.New("the context is full")
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1")}, States: []memory.StateEdit{setState(stateOf("x-1"), "1")}})
	seq := s.Seq()
	for name, test := range map[string]struct {
		edit memory.StateEdit
		code memory.Code
		say  string
	}{
		"an edit's error": {memory.StateEdit{Key: stateOf("x-1"), Edit: func([]byte) ([]byte, error) { return []byte("2"), full }}, memory.CodeInternal, full.Error()},
		"too large":       {setState(stateOf("x-1"), strings.Repeat("2", maxState+1)), memory.CodeInvalidInput, `"x-1"`},
		"no session":      {setState(stateOf("x-2"), "2"), memory.CodeNotFound, `"x-2"`},
		"another's":       {setState(memory.StateKey{Project: "p-2", Kind: memory.StateSession, ID: "x-1"}, "2"), memory.CodeNotFound, `"x-1"`},
		"no project":      {setState(memory.StateKey{Kind: memory.StateServers}, "2"), memory.CodeInvalidInput, "project"},
		"no kind":         {setState(memory.StateKey{Project: "p-1"}, "2"), memory.CodeInvalidInput, "kind"},
		"NUL":             {setState(stateOf("x-1\x00"), "2"), memory.CodeInvalidInput, "NUL"},
	} {
		r, d := lesson("l-1", "beside a state")
		_, err := s.Commit(t.Context(), memory.Batch{
			Records: []memory.Record{r}, Docs: []memory.Doc{d}, Receipts: []memory.Receipt{{ID: "rc-1", Project: "p-1"}},
			States: []memory.StateEdit{setState(servers, "3"), test.edit},
		})
		if memory.CodeOf(err) != test.code || !strings.Contains(fmt.Sprint(err), test.say) {
			t.Errorf("%s: %v, want %s that says %s", name, err, test.code, test.say)
		}
		if test.code == memory.CodeInternal && !errors.Is(err, full) {
			t.Errorf("%s: %v is not the edit's error", name, err)
		}
	}
	wantState(t, s, stateOf("x-1"), "1")
	wantState(t, s, servers, "")
	if _, err := s.Record("l-1"); memory.CodeOf(err) != memory.CodeNotFound || s.Seq() != seq {
		t.Errorf("a refused batch wrote: %v, sequence number %d after %d", err, s.Seq(), seq)
	}
	commit(t, s, memory.Batch{States: []memory.StateEdit{setState(servers, strings.Repeat("2", maxState))}})
}

// TestEditsOfOneGroupSeeOneAnother: also when one between them is refused.
func TestEditsOfOneGroupSeeOneAnother(t *testing.T) {
	s := open(t, Options{})
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1")}})
	adds := func(what string, err error) func(*Tx) error {
		return func(tx *Tx) error {
			return tx.EditState(memory.StateEdit{Key: stateOf("x-1"), Edit: func(old []byte) ([]byte, error) {
				return append(old, what...), err
			}})
		}
	}
	errs := together(t, s, adds("a", nil), adds("b", errors.New("no")), adds("c", nil))
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("the edits were answered %v, want the second refused alone", errs)
	}
	wantState(t, s, stateOf("x-1"), "ac")

	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := s.Commit(t.Context(), memory.Batch{States: []memory.StateEdit{{Key: servers, Edit: func(old []byte) ([]byte, error) {
				return append(old, '.'), nil
			}}}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantState(t, s, servers, strings.Repeat(".", 50))
}

func TestRepeatedRequestEditsOnce(t *testing.T) {
	s := open(t, Options{})
	for range 2 {
		commit(t, s, memory.Batch{RequestID: "req-1", States: []memory.StateEdit{{Key: servers, Edit: func(old []byte) ([]byte, error) {
			return append(old, '.'), nil
		}}}})
	}
	wantState(t, s, servers, ".")
}

func TestStatesGoWithTheirProject(t *testing.T) {
	s := open(t, Options{})
	other := memory.StateKey{Project: "p-10", Kind: memory.StateServers} // p-1 begins it
	commit(t, s, memory.Batch{
		Projects: []memory.Project{{ID: "p-1"}}, Sessions: []memory.Session{session("x-1")},
		States: []memory.StateEdit{setState(stateOf("x-1"), "1"), setState(servers, "2"), setState(other, "3")},
	})
	commit(t, s, memory.Batch{DropProjects: []string{"p-1"}})
	wantState(t, s, stateOf("x-1"), "")
	wantState(t, s, servers, "")
	wantState(t, s, other, "3")
}

func TestCheckFindsStatesOfNothing(t *testing.T) {
	for name, k := range map[string][]byte{
		"of no session": keyState(stateOf("never")),
		"of no name":    key(prefixState, "p-1"),
	} {
		s := open(t, Options{})
		must(t, setRaw(s, k, seal(k, []byte("1"))))
		if err := s.Check(); err == nil {
			t.Errorf("a state %s: Check found nothing wrong", name)
		}
		must(t, deleteRaw(s, k))
	}
}

func deleteRaw(s *Store, key []byte) error {
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	if err := txn.Delete(key); err != nil {
		return err
	}
	return txn.Commit()
}
