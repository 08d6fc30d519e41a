package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// receipt is one of p-1 with an id that sorts by its minute, as ids do.
func receipt(minute int, change ...func(*memory.Receipt)) memory.Receipt {
	r := memory.Receipt{ID: fmt.Sprintf("rc-%04d", minute), At: noon.Add(time.Duration(minute) * time.Minute), Project: "p-1"}
	for _, c := range change {
		c(&r)
	}
	return r
}

func inTurn(session string, n int) func(*memory.Receipt) {
	return func(r *memory.Receipt) { r.Session, r.Turn = session, n }
}

func ofPurpose(p memory.Purpose) func(*memory.Receipt) {
	return func(r *memory.Receipt) { r.Purpose = p }
}

func ofProject(p string) func(*memory.Receipt) { return func(r *memory.Receipt) { r.Project = p } }

func receiptIDs(rs []memory.Receipt) []string {
	ids := []string{}
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return ids
}

// TestReceiptCalledByAPart: the beginning or end of an id is enough if no other receipt has
// it, whether it is written or waits.
func TestReceiptCalledByAPart(t *testing.T) {
	s := open(t, Options{})
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{{ID: "rc-0001aa11bb22", At: noon}, {ID: "rc-0002aa11bb22", At: noon}, {ID: "rc-0003cc33dd44", At: noon}}})
	s.mu.Lock() // as EnqueueReceipt does, but nothing asks for a commit
	s.pending = append(s.pending, memory.Receipt{ID: "rc-0004ee55ff66", At: noon})
	s.mu.Unlock()
	for part, want := range map[string]string{
		"33dd44": "rc-0003cc33dd44", "rc-0003": "rc-0003cc33dd44", "55ff66": "rc-0004ee55ff66", "1aa11bb22": "rc-0001aa11bb22", "rc-0002aa11bb22": "rc-0002aa11bb22",
	} {
		if r, err := s.Receipt(part); err != nil || r.ID != want {
			t.Errorf("the receipt %s is %s, %v, want %s", part, r.ID, err, want)
		}
	}
	for part, want := range map[string]memory.Code{"11bb22": memory.CodeInvalidInput, "3dd44": memory.CodeNotFound, "cc33dd": memory.CodeNotFound, "": memory.CodeNotFound} {
		if r, err := s.Receipt(part); memory.CodeOf(err) != want {
			t.Errorf("the receipt %q is %s, %v, want %s", part, r.ID, err, want)
		}
	}
	if _, err := s.Receipt("11bb22"); !strings.Contains(err.Error(), "rc-0001aa11bb22, rc-0002aa11bb22") {
		t.Errorf("%v, want it to name both", err)
	}
}

// TestReceiptsAreFound asks the same before and after the receipts are written, and
// with some of each.
func TestReceiptsAreFound(t *testing.T) {
	all := []memory.Receipt{
		receipt(0, inTurn("x-1", 301)),
		receipt(1, inTurn("x-1", 0)),
		receipt(2, inTurn("x-1", 1), ofPurpose(memory.PurposeContext)),
		receipt(3),
		receipt(4, inTurn("x-1", 1)),
		receipt(5, inTurn("x-2", 1), ofPurpose(memory.PurposeContext)),
		receipt(6, ofProject("p-2")),
		receipt(7, inTurn("x-1", 300), ofPurpose(memory.PurposeTools)),
		receipt(8, inTurn("x-1", 2), ofPurpose(memory.PurposeContext)), // begun before, ended after
		receipt(9, ofProject("p-10"), inTurn("x-1", 1)),
	}
	stores := map[string]func(*testing.T, *Store){
		"written": func(t *testing.T, s *Store) { commit(t, s, memory.Batch{Receipts: all}) },
		"waiting": func(_ *testing.T, s *Store) {
			s.mu.Lock() // as EnqueueReceipt does, but nothing asks for a commit
			defer s.mu.Unlock()
			s.pending = slices.Clone(all)
		},
		"some waiting": func(t *testing.T, s *Store) {
			commit(t, s, memory.Batch{Receipts: slices.Concat(all[:4], all[6:])})
			s.mu.Lock()
			defer s.mu.Unlock()
			s.pending = slices.Clone(all[3:7])
		},
	}
	for state, put := range stores {
		s := open(t, Options{})
		commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1"), session("x-2"), session("x-1", func(x *memory.Session) { x.Project = "p-10" })}})
		put(t, s)
		for name, test := range map[string]struct {
			filter memory.ReceiptFilter
			limit  int
			want   []int // minutes
			more   bool
		}{
			"everything":        {memory.ReceiptFilter{}, 20, []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, false},
			"the newest":        {memory.ReceiptFilter{}, 2, []int{9, 8}, true},
			"just enough":       {memory.ReceiptFilter{}, 10, []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, false},
			"project":           {memory.ReceiptFilter{Project: "p-1"}, 20, []int{8, 7, 5, 4, 3, 2, 1, 0}, false},
			"another project":   {memory.ReceiptFilter{Project: "p-2"}, 1, []int{6}, false},
			"unknown project":   {memory.ReceiptFilter{Project: "p-3"}, 1, nil, false},
			"since":             {memory.ReceiptFilter{Project: "p-1", Since: noon.Add(5 * time.Minute)}, 20, []int{8, 7, 5}, false},
			"since now":         {memory.ReceiptFilter{Since: noon.Add(time.Hour)}, 20, nil, false},
			"purpose":           {memory.ReceiptFilter{Purposes: []memory.Purpose{memory.PurposeContext, memory.PurposeTools}}, 20, []int{8, 7, 5, 2}, false},
			"questions":         {memory.ReceiptFilter{Project: "p-1", Purposes: []memory.Purpose{memory.PurposeRecall}}, 2, []int{4, 3}, true},
			"session":           {memory.ReceiptFilter{Project: "p-1", Session: "x-1"}, 20, []int{8, 7, 4, 2, 1, 0}, false},
			"session's newest":  {memory.ReceiptFilter{Project: "p-1", Session: "x-1"}, 3, []int{8, 7, 4}, true},
			"session's last":    {memory.ReceiptFilter{Project: "p-1", Session: "x-1"}, 1, []int{8}, true},
			"session since":     {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Since: noon.Add(4 * time.Minute)}, 20, []int{8, 7, 4}, false},
			"session's purpose": {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Purposes: []memory.Purpose{memory.PurposeContext}}, 1, []int{8}, true},
			"turn":              {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Turn: new(1)}, 20, []int{4, 2}, false},
			"before the first":  {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Turn: new(0)}, 20, []int{1}, false},
			"a high turn":       {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Turn: new(300)}, 20, []int{7}, false},
			"a turn without":    {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Turn: new(3)}, 20, nil, false},
			"an absurd turn":    {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Turn: new(-1)}, 20, nil, false},
			"turn and purpose":  {memory.ReceiptFilter{Project: "p-1", Session: "x-1", Turn: new(1), Purposes: []memory.Purpose{memory.PurposeContext}}, 20, []int{2}, false},
			"turns of all":      {memory.ReceiptFilter{Turn: new(1)}, 20, []int{9, 5, 4, 2}, false},
			"unknown session":   {memory.ReceiptFilter{Project: "p-2", Session: "x-1"}, 20, nil, false},
		} {
			want := []string{}
			for _, minute := range test.want {
				want = append(want, receipt(minute).ID)
			}
			got, more, err := s.Receipts(test.filter, test.limit)
			if diff := cmp.Diff(want, receiptIDs(got)); diff != "" || more != test.more || err != nil {
				t.Errorf("%s, %s: more %v, %v, want more %v (-want +got):\n%s", state, name, more, err, test.more, diff)
			}
		}
		for name, f := range map[string]memory.ReceiptFilter{"no project": {Session: "x-1"}} {
			if _, _, err := s.Receipts(f, 1); memory.CodeOf(err) != memory.CodeInvalidInput {
				t.Errorf("%s, a session of %s: %v, want invalid input", state, name, err)
			}
		}
		if _, _, err := s.Receipts(memory.ReceiptFilter{}, 0); memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("%s, no limit: %v, want invalid input", state, err)
		}
	}
}

// TestReceiptIsPutAgain: a verdict comes for one that is stored, and for one that
// still waits.
func TestReceiptIsPutAgain(t *testing.T) {
	s := open(t, Options{})
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1"), session("x-2")}})
	judged := func(r memory.Receipt) memory.Receipt {
		r.Judged = append(r.Judged, memory.ItemVerdict{Verdict: memory.Worked, At: noon})
		return r
	}
	first, waiting := receipt(1, inTurn("x-1", 1)), receipt(2, inTurn("x-1", 2))
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{first}})
	s.EnqueueReceipt(waiting)
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{judged(first), judged(waiting)}})
	for range 2 { // now, and when what waited cannot wait any more
		got, _, err := s.Receipts(memory.ReceiptFilter{Project: "p-1", Session: "x-1"}, 10)
		if diff := cmp.Diff([]memory.Receipt{judged(waiting), judged(first)}, got); diff != "" || err != nil {
			t.Errorf("receipts with verdicts: %v (-want +got):\n%s", err, diff)
		}
		if r, err := s.Receipt(waiting.ID); err != nil || len(r.Judged) != 1 {
			t.Errorf("receipt %s = %+v, %v; want one verdict", waiting.ID, r, err)
		}
		commit(t, s, memory.Batch{Projects: []memory.Project{{ID: "p-1"}}})
	}
	// Of two that wait the later one is to stay.
	s.EnqueueReceipt(receipt(3))
	s.EnqueueReceipt(judged(receipt(3)))
	for range 2 {
		if r, err := s.Receipt("rc-0003"); err != nil || len(r.Judged) != 1 {
			t.Errorf("receipt that was put off twice = %+v, %v; want one verdict", r, err)
		}
		if got, _, err := s.Receipts(memory.ReceiptFilter{}, 1); err != nil || len(got) != 1 || len(got[0].Judged) != 1 {
			t.Errorf("the newest receipt, put off twice = %+v, %v; want one verdict", got, err)
		}
		wantReceipts(t, s, memory.ReceiptFilter{}, "rc-0003", "rc-0002", "rc-0001")
		commit(t, s, memory.Batch{Projects: []memory.Project{{ID: "p-2"}}})
	}
	// In another session and turn it is no longer found in the first.
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{receipt(1, inTurn("x-2", 7))}})
	for session, want := range map[string][]string{"x-1": {"rc-0002"}, "x-2": {"rc-0001"}} {
		got, _, err := s.Receipts(memory.ReceiptFilter{Project: "p-1", Session: session}, 10)
		if diff := cmp.Diff(want, receiptIDs(got)); diff != "" || err != nil {
			t.Errorf("receipts of %s after one moved: %v (-want +got):\n%s", session, err, diff)
		}
	}
}

// TestHowLongReceiptsAreKept looks at the time to live that the database was given.
func TestHowLongReceiptsAreKept(t *testing.T) {
	const keep = 24 * time.Hour
	now := time.Now()
	s := open(t, Options{KeepReceipts: keep, Clock: func() time.Time { return now }})
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1")}})
	made := func(ago time.Duration, id string, change ...func(*memory.Receipt)) memory.Receipt {
		return receipt(0, append(change, func(r *memory.Receipt) { r.ID, r.At = id, now.Add(-ago) })...)
	}
	unknown := made(0, "of a session that was forgotten", inTurn("x-9", 1))
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{
		made(0, "new"), made(20*time.Hour, "put again"), made(9*keep, "put again late"), made(9*keep, "of a session", inTurn("x-1", 1)),
		unknown, {ID: "of no time"},
	}})
	s.EnqueueReceipt(made(0, "later, of a session", inTurn("x-1", 2)))
	s.EnqueueReceipt(made(time.Hour, "later"))
	commit(t, s, memory.Batch{Projects: []memory.Project{{ID: "p-1"}}}) // takes them along
	for id, want := range map[string]time.Duration{
		"new": keep, "put again": 4 * time.Hour, "put again late": time.Minute, "of a session": 0, "of no time": keep,
		"of a session that was forgotten": keep, "later, of a session": 0, "later": 23 * time.Hour,
	} {
		wantLife(t, s, key(prefixReceipt, id), want)
	}
	at, err := turnOf(&unknown)
	must(t, err)
	wantLife(t, s, at.key(), keep)
}

// wantLife holds how long a key has to live against how long it should; 0 is for good.
func wantLife(t *testing.T, s *Store, k []byte, want time.Duration) {
	t.Helper()
	err := s.View(func(v View) error {
		item, err := v.txn.Get(k)
		if err != nil {
			return err
		}
		left := time.Until(time.Unix(int64(item.ExpiresAt()), 0))
		if want == 0 && item.ExpiresAt() != 0 || want > 0 && (left-want).Abs() > 30*time.Second {
			t.Errorf("%q has %v to live (expires at %d), want %v", k, left, item.ExpiresAt(), want)
		}
		return nil
	})
	if err != nil {
		t.Errorf("read %q: %v", k, err)
	}
}

// What expires is timed as it is written: a receipt must not outlive its turn by a
// second, in which it would be one without.
func TestTurnExpiresBehindItsReceipt(t *testing.T) {
	s := open(t, Options{KeepReceipts: time.Hour})
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		if err := tx.PutReceipt(receipt(1, inTurn("not stored", 1))); err != nil {
			return err
		}
		at := func(prefix []byte) int {
			return slices.IndexFunc(tx.writes, func(w write) bool { return bytes.HasPrefix(w.key, prefix) && w.ttl > 0 })
		}
		if r, turn := at(prefixReceipt), at(prefixTurn); r < 0 || turn < r {
			t.Errorf("the receipt is write %d and its turn write %d, want the turn behind it", r, turn)
		}
		return nil
	})
	must(t, err)
}

// TestMendedTurnExpires: a turn that a repair restores is kept as long as its receipt, also
// forever.
func TestMendedTurnExpires(t *testing.T) {
	s := open(t, Options{KeepReceipts: time.Hour})
	expiring, kept := receipt(1, inTurn("not stored", 1)), receipt(2, inTurn("x-1", 1))
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1")}, Receipts: []memory.Receipt{expiring, kept}})
	expiry := func(k []byte) (at uint64) {
		t.Helper()
		if err := s.db.View(func(txn *badger.Txn) error {
			item, err := txn.Get(k)
			if err == nil {
				at = item.ExpiresAt()
			}
			return err
		}); err != nil {
			t.Fatalf("%q: %v", k, err)
		}
		return at
	}
	turns := map[string][]byte{}
	for _, r := range []memory.Receipt{expiring, kept} {
		at, err := turnOf(&r)
		must(t, err)
		turns[r.ID] = at.key()
		must(t, deleteRaw(s, at.key()))
	}
	must(t, mend(s.db.DB, nil, &examination{}))
	for id, k := range turns {
		turn, of := expiry(k), expiry(key(prefixReceipt, id))
		if turn < of || turn > of+5 || (of == 0) != (id == kept.ID) {
			t.Errorf("the turn of %s expires at %d, its receipt at %d", id, turn, of)
		}
	}
}

func TestReceiptsGoWithTheirSession(t *testing.T) {
	s := open(t, Options{})
	longer := session("x-10") // x-1 begins it
	commit(t, s, memory.Batch{
		Sessions: []memory.Session{session("x-1"), longer},
		Receipts: []memory.Receipt{receipt(1, inTurn("x-1", 0)), receipt(2, inTurn("x-1", 1)), receipt(3, inTurn("x-10", 1)), receipt(4)},
		States:   []memory.StateEdit{setState(stateOf("x-1"), "1"), setState(stateOf("x-10"), "10")},
	})
	s.EnqueueReceipt(receipt(5, inTurn("x-1", 2)))
	commit(t, s, memory.Batch{DropSessions: []memory.SessionKey{{Project: "p-1", ID: "x-1"}}})
	wantState(t, s, stateOf("x-1"), "")
	wantState(t, s, stateOf("x-10"), "10")
	wantReceipts(t, s, memory.ReceiptFilter{}, "rc-0004", "rc-0003")
	wantReceipts(t, s, memory.ReceiptFilter{Project: "p-1", Session: "x-1"})
	commit(t, s, memory.Batch{DropReceipts: []string{"rc-0003", "rc-0009"}})
	wantReceipts(t, s, memory.ReceiptFilter{Project: "p-1", Session: "x-10"})
	wantNoKeys(t, s, prefixTurn)
}

func wantReceipts(t *testing.T, s *Store, f memory.ReceiptFilter, want ...string) {
	t.Helper()
	got, _, err := s.Receipts(f, 100)
	if err != nil || !slices.Equal(receiptIDs(got), want) {
		t.Errorf("receipts of %+v are %v, %v; want %v", f, receiptIDs(got), err, want)
	}
}

func wantNoKeys(t *testing.T, s *Store, prefix []byte) {
	t.Helper()
	if err := s.View(func(v View) error {
		for k := range v.keys(prefix) {
			t.Errorf("%q is left", k)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestSessionWithMoreThanATransactionHolds is dropped whole, in as many as it takes.
func TestSessionWithMoreThanATransactionHolds(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20, NoSync: true})
	commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1"), session("x-2")}, States: []memory.StateEdit{setState(stateOf("x-1"), "1")}})
	for n := range 30 {
		var b memory.Batch
		for i := range 100 {
			b.Receipts = append(b.Receipts, receipt(100*n+i, inTurn("x-1", n)))
		}
		commit(t, s, b)
	}
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{receipt(9000, inTurn("x-2", 1))}})
	if twice := (batchSize{entries: 6000}); twice.within(s.whole()) {
		t.Fatal("all of it fits one transaction: the test tries too little")
	}
	held, err := s.ProjectReceipts(t.Context(), "p-1")
	if err != nil || len(held) != 3001 {
		t.Fatalf("the project holds %d receipts, %v; want 3001", len(held), err)
	}
	s.EnqueueReceipt(receipt(8000, inTurn("x-1", 99)))
	commit(t, s, memory.Batch{DropSessions: []memory.SessionKey{{Project: "p-1", ID: "x-1"}}})
	wantReceipts(t, s, memory.ReceiptFilter{}, "rc-9000")
	wantState(t, s, stateOf("x-1"), "")
	commit(t, s, memory.Batch{DropProjects: []string{"p-1"}})
	wantReceipts(t, s, memory.ReceiptFilter{})
	wantNoKeys(t, s, prefixTurn)
}

// onLook is a context that calls a function when it is first looked at.
type onLook struct {
	context.Context
	first func()
}

func (c onLook) Err() error {
	c.first()
	return c.Context.Err()
}

// TestProjectReceiptsBesideAWriter: a receipt that is written while they are listed is listed
// once.
func TestProjectReceiptsBesideAWriter(t *testing.T) {
	s := open(t, Options{})
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{receipt(1)}})
	s.mu.Lock() // as EnqueueReceipt does, but nothing asks for a commit
	s.pending = append(s.pending, receipt(2))
	s.mu.Unlock()
	write := sync.OnceFunc(func() { commit(t, s, memory.Batch{Receipts: []memory.Receipt{receipt(3, ofProject("p-2"))}}) })
	for _, when := range []string{"meanwhile", "before"} {
		got, err := s.ProjectReceipts(onLook{t.Context(), write}, "p-1")
		if diff := cmp.Diff([]string{"rc-0001", "rc-0002"}, got); diff != "" || err != nil {
			t.Errorf("written %s: %v (-want +got):\n%s", when, err, diff)
		}
	}
}

func TestReceiptThatCannotBeNamed(t *testing.T) {
	s := open(t, Options{})
	for name, r := range map[string]memory.Receipt{
		"NUL":            receipt(1, inTurn("a\x00b", 1)),
		"turn below 0":   receipt(1, inTurn("x-1", -1)),
		"turn too large": receipt(1, inTurn("x-1", 1<<32)),
	} {
		_, err := s.Commit(t.Context(), memory.Batch{Receipts: []memory.Receipt{r}})
		if memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("%s: %v, want invalid input", name, err)
		}
	}
	wantReceipts(t, s, memory.ReceiptFilter{})
}

// TestDamagedReceipt is passed over, and goes with its turn when it is put again or
// dropped.
func TestDamagedReceipt(t *testing.T) {
	moved := receipt(2, inTurn("x-1", 7))
	for name, b := range map[string]memory.Batch{
		"put again":       {Receipts: []memory.Receipt{moved}},
		"dropped":         {DropReceipts: []string{"rc-0002"}},
		"session dropped": {DropSessions: []memory.SessionKey{{Project: "p-1", ID: "x-1"}}},
	} {
		s := open(t, Options{})
		commit(t, s, memory.Batch{
			Sessions: []memory.Session{session("x-1")},
			Receipts: []memory.Receipt{receipt(1, inTurn("x-1", 1)), receipt(2, inTurn("x-1", 2)), receipt(3, inTurn("x-1", 3))},
		})
		damage(t, s, key(prefixReceipt, "rc-0002"))
		wantReceipts(t, s, memory.ReceiptFilter{}, "rc-0003", "rc-0001")
		wantReceipts(t, s, memory.ReceiptFilter{Project: "p-1", Session: "x-1"}, "rc-0003", "rc-0001")
		if err := s.Check(); err == nil {
			t.Errorf("%s: Check found nothing wrong", name)
		}
		commit(t, s, b)
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckFindsTurnsThatAreAmiss(t *testing.T) {
	of := receipt(1, inTurn("x-1", 1))
	at, err := turnOf(&of)
	must(t, err)
	set := func(s *Store, k []byte) error { return setRaw(s, k, seal(k, nil)) }
	other := at
	other.number = 2
	for name, spoil := range map[string]func(*Store) error{
		"no turn":    func(s *Store) error { return deleteRaw(s, at.key()) },
		"no receipt": func(s *Store) error { return deleteRaw(s, key(prefixReceipt, of.ID)) },
		"two turns":  func(s *Store) error { return set(s, other.key()) },
		"not a turn": func(s *Store) error { return set(s, key(prefixTurn, "p-1\x00x-1")) },
	} {
		s := open(t, Options{})
		commit(t, s, memory.Batch{Sessions: []memory.Session{session("x-1")}, Receipts: []memory.Receipt{of}})
		must(t, spoil(s))
		if err := s.Check(); err == nil {
			t.Errorf("%s: Check found nothing wrong", name)
		}
		if err := s.db.DropAll(); err != nil { // it is no sound store at the end
			t.Fatal(err)
		}
		must(t, setMeta(s.db.DB, keySchema, latest(migrations)))
		load(t, s)
	}
}

// TestLedgerOfAnOlderVersion has receipts without turns, which is as it should be.
func TestLedgerOfAnOlderVersion(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	commit(t, s, memory.Batch{Receipts: []memory.Receipt{receipt(1), receipt(2)}})
	must(t, setMeta(s.db.DB, keySchema, 3))
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	wantReceipts(t, s, memory.ReceiptFilter{Project: "p-1"}, "rc-0002", "rc-0001")
	if v, err := meta(s.db.DB, keySchema); v != latest(migrations) || v < 4 || err != nil {
		t.Errorf("the store has version %d, %v; want %d", v, err, latest(migrations))
	}
}

// TestJoinedWritesShareATransaction: a crash between two must leave no turn without
// its receipt.
func TestJoinedWritesShareATransaction(t *testing.T) {
	var writes []write
	for i := range 10 {
		writes = append(writes, write{key: []byte{'k', byte(i)}, joined: i%2 == 1})
	}
	one := writes[0].size().bytes
	for n := range int64(12) {
		for limit, name := range map[batchSize]string{{100 * one, n}: "entries", {n * one, 100}: "bytes"} {
			got, _ := fitting(writes, limit)
			want := min(2*max((int(n)+1)/2, 1), len(writes)) // whole pairs, one at least
			if got != want {
				t.Errorf("room for %d %s: the first transaction has %d writes, want %d", n, name, got, want)
			}
		}
	}
}

func FuzzParseTurn(f *testing.F) {
	f.Add([]byte("p-1\x00x-1\x00\x00\x00\x00\x01rc-1\x00context"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00rc\x00"))
	f.Add([]byte("p\x00s\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, rest []byte) {
		k := key(prefixTurn, string(rest))
		if at, ok := parseTurn(k); ok && string(at.key()) != string(k) {
			t.Errorf("turn %+v of key %q has the key %q", at, k, at.key())
		}
	})
}
