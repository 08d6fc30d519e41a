package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
)

// TestRandomOperations runs thousands of random batches, reopening now and
// then, and compares with a model in memory.
func TestRandomOperations(t *testing.T) {
	steps := testlong.Steps(200, 1500)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, NoSync: true})
	m := newModel()
	for step := range steps {
		b := m.randomBatch(rng)
		if rng.IntN(3) == 0 { // written before the batch, whenever that is
			r := m.randomReceipt(rng, "wait", b)
			s.EnqueueReceipt(r)
			m.receipts[r.ID] = r
		}
		c, err := s.Commit(context.Background(), b)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if diff := cmp.Diff(m.apply(b), c.Left); diff != "" {
			t.Fatalf("step %d: left out (-model +store):\n%s", step, diff)
		}
		if rng.IntN(4) == 0 { // of a file that may be there
			s.Used(time.Unix(int64(step), 0), memory.FileKey{Sandbox: "s-0", Path: fmt.Sprintf("f%d.go", rng.IntN(10))})
		}
		if step%3 == 0 { // else it is not kept in memory for long
			m.compareCurrent(t, s, step)
			m.compareLedger(t, s, rng, step)
		}
		if rng.IntN(200) == 0 {
			if err := s.Check(); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			must(t, s.Close())
			s = open(t, Options{Dir: dir, NoSync: true})
		}
	}
	m.compare(t, s)
}

// model is what the store should hold.
type model struct {
	records    map[string]memory.Record
	files      map[memory.FileKey]memory.File
	sessions   map[memory.SessionKey]memory.Session
	states     map[memory.StateKey]string
	receipts   map[string]memory.Receipt
	tombstones map[string]bool
}

func newModel() model {
	return model{
		records: map[string]memory.Record{}, files: map[memory.FileKey]memory.File{},
		sessions: map[memory.SessionKey]memory.Session{}, states: map[memory.StateKey]string{},
		receipts: map[string]memory.Receipt{}, tombstones: map[string]bool{},
	}
}

// randomBatch draws from few ids and few texts, so that texts are shared,
// dropped and stored again.
func (m *model) randomBatch(rng *rand.Rand) memory.Batch {
	var b memory.Batch
	id := func(kind string, n int) string { return fmt.Sprintf("%s-%d", kind, rng.IntN(n)) }
	for range rng.IntN(4) {
		r, d := lesson(id("l", 40), fmt.Sprintf("text %d", rng.IntN(30)))
		b.Docs, b.Records = append(b.Docs, d), append(b.Records, r)
	}
	for range rng.IntN(2) {
		text := rng.IntN(8)
		f := memory.File{
			Project: "p-1", Sandbox: id("s", 2), Path: fmt.Sprintf("f%d.go", rng.IntN(10)),
			Hash: memory.DocID{byte(text)}, Head: fmt.Sprintf("head %d", text),
		}
		// Mostly what follows from the text, else a file that cannot share.
		cutting := rng
		if rng.IntN(5) > 0 {
			cutting = rand.New(rand.NewPCG(uint64(text), 0))
		}
		for i := range cutting.IntN(5) {
			d := doc(fmt.Sprintf("text %d", cutting.IntN(30)))
			b.Docs = append(b.Docs, d)
			f.Chunks = append(f.Chunks, memory.FileChunk{Doc: d.ID, Start: i, End: i + 1})
		}
		b.Files = append(b.Files, f)
	}
	for range rng.IntN(3) {
		b.DropRecords = append(b.DropRecords, id("l", 40))
	}
	if rng.IntN(3) == 0 {
		b.DropFiles = append(b.DropFiles, memory.FileKey{Sandbox: "s-0", Path: fmt.Sprintf("f%d.go", rng.IntN(10))})
	}
	if rng.IntN(3) == 0 {
		b.PruneFiles = append(b.PruneFiles, memory.FileKey{Sandbox: id("s", 2), Path: fmt.Sprintf("f%d.go", rng.IntN(10))})
	}
	b.Import = rng.IntN(3) == 0
	if rng.IntN(3) == 0 {
		b.Tombstones = append(b.Tombstones, b.DropRecords...)
	}
	if rng.IntN(4) == 0 {
		b.DropTombstones = append(b.DropTombstones, id("l", 40))
	}
	m.addSessions(rng, &b, id)
	b = withoutRepeats(b)
	m.addStates(rng, &b)
	for range rng.IntN(3) {
		b.Receipts = append(b.Receipts, m.randomReceipt(rng, "rc", b))
	}
	if rng.IntN(3) == 0 {
		b.DropReceipts = append(b.DropReceipts, id("rc", 60), id("wait", 60))
	}
	return withoutRepeats(b)
}

// addSessions has a batch start, change, end and drop sessions, and write steps
// of sessions that are there.
func (m *model) addSessions(rng *rand.Rand, b *memory.Batch, id func(string, int) string) {
	for range rng.IntN(3) {
		x := memory.Session{
			ID: id("x", 8), Project: id("p", 2), Client: id("c", 2), Window: id("w", 2), Bare: rng.IntN(5) == 0,
			CreatedAt: time.Date(2026, 1, 1, 0, rng.IntN(5), 0, 0, time.UTC), Goal: id("goal", 1000),
		}
		if rng.IntN(3) == 0 {
			x.EndedAt = x.CreatedAt.Add(time.Hour)
		}
		b.Sessions = append(b.Sessions, x)
		r, d := lesson(id("t", 30), fmt.Sprintf("text %d", rng.IntN(30)))
		r.Kind, r.Project, r.Session, r.Event, r.Step = memory.Step, x.Project, x.ID, nil, &memory.StepContent{Screen: "home"}
		b.Docs, b.Records = append(b.Docs, d), append(b.Records, r)
	}
	if rng.IntN(4) != 0 {
		return
	}
	gone := memory.SessionKey{Project: id("p", 2), ID: id("x", 8)}
	named := func(r memory.Record) bool { return r.Project == gone.Project && r.Session == gone.ID }
	b.DropSessions = append(b.DropSessions, gone)
	b.Sessions = slices.DeleteFunc(b.Sessions, func(x memory.Session) bool { return x.Key() == gone })
	b.Records = slices.DeleteFunc(b.Records, named)
	// A step that this batch moves to another session is not dropped.
	moves := func(id string) bool {
		return slices.ContainsFunc(b.Records, func(r memory.Record) bool { return r.ID == id })
	}
	b.Import = false // which may leave a move out
	for _, r := range m.records {
		if named(r) && !moves(r.ID) {
			b.DropRecords = append(b.DropRecords, r.ID)
		}
	}
}

// addStates has a batch edit the states of sessions that will be there, and of a
// catalogue, some of them away.
func (m *model) addStates(rng *rand.Rand, b *memory.Batch) {
	var keys []memory.StateKey
	for k := range m.sessions {
		keys = append(keys, memory.StateKey{Project: k.Project, Kind: memory.StateSession, ID: k.ID})
	}
	for _, x := range b.Sessions {
		keys = append(keys, memory.StateKey{Project: x.Project, Kind: memory.StateSession, ID: x.ID})
	}
	keys = append(keys, memory.StateKey{Project: "p-0", Kind: memory.StateServers})
	for _, k := range keys {
		if slices.Contains(b.DropSessions, memory.SessionKey{Project: k.Project, ID: k.ID}) || rng.IntN(6) > 0 {
			continue
		}
		removes, what := rng.IntN(4) == 0, byte('a'+rng.IntN(26))
		b.States = append(b.States, memory.StateEdit{Key: k, Edit: func(old []byte) ([]byte, error) {
			if removes || len(old) > 40 {
				return nil, nil
			}
			return append(old, what), nil
		}})
	}
}

// randomReceipt draws from few ids, so that receipts are put again in other turns and
// sessions, some of them not stored, but none that the batch drops.
func (m *model) randomReceipt(rng *rand.Rand, id string, b memory.Batch) memory.Receipt {
	n := rng.IntN(60)
	r := memory.Receipt{ID: fmt.Sprintf("%s-%d", id, n), Project: fmt.Sprintf("p-%d", rng.IntN(2)), At: noon.Add(time.Duration(n) * time.Second)}
	if x := fmt.Sprintf("x-%d", rng.IntN(9)); rng.IntN(3) > 0 && !slices.Contains(b.DropSessions, memory.SessionKey{Project: r.Project, ID: x}) {
		r.Session, r.Turn = x, rng.IntN(4)
	}
	if rng.IntN(2) == 0 {
		r.Purpose = memory.PurposeContext
	}
	return r
}

// withoutRepeats keeps one write per key: a batch may have nothing twice.
func withoutRepeats(b memory.Batch) memory.Batch {
	seen := map[string]bool{}
	first := func(parts ...string) bool {
		k := strings.Join(parts, "/")
		was := seen[k]
		seen[k] = true
		return !was
	}
	b.Records = keep(b.Records, func(r memory.Record) bool { return first("r", r.ID) })
	b.DropRecords = keep(b.DropRecords, func(id string) bool { return first("r", id) })
	b.Files = keep(b.Files, func(f memory.File) bool { return first("f", f.Sandbox, f.Path) })
	b.DropFiles = keep(b.DropFiles, func(f memory.FileKey) bool { return first("f", f.Sandbox, f.Path) })
	b.PruneFiles = keep(b.PruneFiles, func(f memory.FileKey) bool { return first("f", f.Sandbox, f.Path) })
	b.Sessions = keep(b.Sessions, func(x memory.Session) bool { return first("x", x.Project, x.ID) })
	b.States = keep(b.States, func(e memory.StateEdit) bool { return first("g", e.Key.Project, e.Key.Kind, e.Key.ID) })
	b.Receipts = keep(b.Receipts, func(r memory.Receipt) bool { return first("l", r.ID) })
	b.DropReceipts = keep(b.DropReceipts, func(id string) bool { return first("l", id) })
	b.Tombstones = keep(b.Tombstones, func(id string) bool { return first("d", id) })
	b.DropTombstones = keep(b.DropTombstones, func(id string) bool { return first("d", id) })
	return b
}

func keep[T any](list []T, wanted func(T) bool) []T {
	return slices.DeleteFunc(list, func(x T) bool { return !wanted(x) })
}

// apply returns the records that an import leaves out.
func (m *model) apply(b memory.Batch) (left []string) {
	for _, r := range b.Records {
		if b.Import && m.tombstones[r.ID] && !slices.Contains(b.DropTombstones, r.ID) {
			left = append(left, r.ID)
			continue
		}
		m.records[r.ID] = r
	}
	for _, f := range b.Files {
		m.files[memory.FileKey{Sandbox: f.Sandbox, Path: f.Path}] = f
	}
	for _, k := range b.PruneFiles {
		if f, ok := m.files[k]; ok && len(f.Chunks) > 0 {
			f.Chunks, f.Pruned = nil, true
			m.files[k] = f
		}
	}
	for _, x := range b.Sessions {
		m.sessions[x.Key()] = x
	}
	for _, id := range b.Tombstones {
		m.tombstones[id] = true
	}
	for _, id := range b.DropRecords {
		delete(m.records, id)
	}
	for _, k := range b.DropFiles {
		delete(m.files, k)
	}
	for _, e := range b.States {
		var old []byte
		if was, ok := m.states[e.Key]; ok {
			old = []byte(was)
		}
		if state, _ := e.Edit(old); state == nil {
			delete(m.states, e.Key)
		} else {
			m.states[e.Key] = string(state)
		}
	}
	for _, r := range b.Receipts {
		m.receipts[r.ID] = r
	}
	for _, id := range b.DropReceipts {
		delete(m.receipts, id)
	}
	for _, k := range b.DropSessions {
		delete(m.sessions, k)
		delete(m.states, memory.StateKey{Project: k.Project, Kind: memory.StateSession, ID: k.ID})
		maps.DeleteFunc(m.receipts, func(_ string, r memory.Receipt) bool { return r.Project == k.Project && r.Session == k.ID })
	}
	for _, id := range b.DropTombstones {
		delete(m.tombstones, id)
	}
	return left
}

// compareCurrent holds what is kept of the open sessions against all of them.
func (m *model) compareCurrent(t *testing.T, s *Store, step int) {
	t.Helper()
	for _, of := range []owner{{"p-0", "c-0", "w-0"}, {"p-0", "c-1", "w-1"}, {"p-1", "c-0", "w-1"}, {"p-1", "c-1", "w-0"}} {
		var want memory.Session
		for _, x := range m.sessions {
			newer := want.ID == "" || x.CreatedAt.After(want.CreatedAt) || x.CreatedAt.Equal(want.CreatedAt) && x.ID < want.ID
			if x.Project == of.project && x.Client == of.client && x.Window == of.window && x.Open() && newer {
				want = x
			}
		}
		got, ok, err := s.CurrentSession(of.project, memory.Caller{Client: of.client, Window: of.window})
		if err != nil || ok != (want.ID != "") {
			t.Fatalf("step %d: current session of %v: %v, %v; want %q", step, of, ok, err, want.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("step %d: current session of %v (-model +store):\n%s", step, of, diff)
		}
	}
}

// compareLedger asks for receipts in a random way.
func (m *model) compareLedger(t *testing.T, s *Store, rng *rand.Rand, step int) {
	t.Helper()
	var f memory.ReceiptFilter
	if rng.IntN(4) > 0 {
		f.Project = fmt.Sprintf("p-%d", rng.IntN(2))
	}
	if f.Project != "" && rng.IntN(2) == 0 {
		f.Session = fmt.Sprintf("x-%d", rng.IntN(9))
	}
	if rng.IntN(3) == 0 {
		f.Turn = new(rng.IntN(4))
	}
	if rng.IntN(3) == 0 {
		f.Purposes = []memory.Purpose{memory.PurposeContext}
	}
	limit := 1 + rng.IntN(30)
	want := []string{}
	for _, r := range m.receipts {
		if (f.Project == "" || r.Project == f.Project) && (f.Session == "" || r.Session == f.Session) &&
			(f.Turn == nil || r.Turn == *f.Turn) && (f.Purposes == nil || r.Purpose == memory.PurposeContext) {
			want = append(want, r.ID)
		}
	}
	slices.Sort(want)
	slices.Reverse(want)
	wantMore := len(want) > limit
	got, more, err := s.Receipts(f, limit)
	if diff := cmp.Diff(want[:min(len(want), limit)], receiptIDs(got)); diff != "" || more != wantMore || err != nil {
		t.Fatalf("step %d: receipts of %+v, at most %d: more %v, %v, want more %v (-model +store):\n%s", step, f, limit, more, err, wantMore, diff)
	}
}

func (m *model) compare(t *testing.T, s *Store) {
	t.Helper()
	got := newModel()
	if err := s.View(func(v View) error {
		for r, err := range v.Records() {
			if err != nil {
				return err
			}
			got.records[r.ID] = r
		}
		for f, err := range v.Files("") {
			if err != nil {
				return err
			}
			got.files[memory.FileKey{Sandbox: f.Sandbox, Path: f.Path}] = f
		}
		for x, err := range v.Sessions("") {
			if err != nil {
				return err
			}
			got.sessions[x.Key()] = x
		}
		for r, err := range v.Receipts() {
			if err != nil {
				return err
			}
			got.receipts[r.ID] = r
		}
		for k := range v.keys(prefixState) {
			parts := strings.Split(string(k[len(prefixState):]), "\x00")
			at := memory.StateKey{Project: parts[0], Kind: parts[1], ID: parts[2]}
			state, err := v.State(at)
			if err != nil {
				return err
			}
			got.states[at] = string(state)
		}
		for k := range v.keys(prefixTomb) {
			got.tombstones[string(k[len(prefixTomb):])] = true
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.sessions, got.sessions); diff != "" {
		t.Errorf("sessions (-model +store):\n%s", diff)
	}
	if diff := cmp.Diff(m.states, got.states); diff != "" {
		t.Errorf("states (-model +store):\n%s", diff)
	}
	if diff := cmp.Diff(m.receipts, got.receipts); diff != "" {
		t.Errorf("receipts (-model +store):\n%s", diff)
	}
	if diff := cmp.Diff(m.tombstones, got.tombstones); diff != "" {
		t.Errorf("tombstones (-model +store):\n%s", diff)
	}
	if diff := cmp.Diff(m.records, got.records); diff != "" {
		t.Errorf("records (-model +store):\n%s", diff)
	}
	for k, want := range m.files {
		f, ok := got.files[k]
		if !ok || len(f.Chunks) != len(want.Chunks) || f.Pruned != want.Pruned || f.Head != want.Head {
			t.Errorf("file %v: stored %v, want %v", k, f, want)
		}
		for i := range f.Chunks {
			if f.Chunks[i] != want.Chunks[i] {
				t.Errorf("file %v: chunk %d = %+v, want %+v", k, i, f.Chunks[i], want.Chunks[i])
			}
		}
	}
	if len(got.files) != len(m.files) {
		t.Errorf("%d files stored, want %d", len(got.files), len(m.files))
	}
}
