package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
)

// damagedStore is a data folder that is to be damaged: the store in it, and beside it
// the witness. Files of an earlier moment lie in was.
type damagedStore struct {
	name     string
	dir, was string
	truth    map[string]string
}

// tableOptions have several tables and logs in a store of a few megabytes.
func tableOptions(data string) Options {
	return Options{
		Dir: filepath.Join(data, "store"), MemTableSize: 1 << 20, NoSync: true,
		Analyze: func(text string) []byte { return []byte("terms of " + text) },
	}
}

// fillRound writes what a store holds: lessons, steps of a session, code in two
// worktrees, vectors, receipts, states, and a value that is large. It forgets a part
// of what the round before wrote.
func fillRound(t *testing.T, s *Store, round int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(round)))
	words := func(n int) string { // text that does not compress to nothing
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%x ", rng.Uint32())
		}
		return b.String()
	}
	x := session(fmt.Sprintf("x-%d", round))
	commit(t, s, memory.Batch{Sessions: []memory.Session{x}, Projects: []memory.Project{{ID: "p-1", Name: "demo"}}})
	for n := range 30 {
		var b memory.Batch
		for i := range 10 {
			r, d := lesson(fmt.Sprintf("l-%d-%d-%d", round, n, i), words(40))
			b.Records, b.Docs = append(b.Records, r), append(b.Docs, d)
		}
		st, d := step(fmt.Sprintf("t-%d-%d", round, n), x.ID)
		b.Records, b.Docs = append(b.Records, st), append(b.Docs, d)
		b.States = []memory.StateEdit{setState(stateOf(x.ID), fmt.Sprint(n))}
		b.Receipts = []memory.Receipt{{ID: fmt.Sprintf("rc-%d-%03d", round, n), Project: "p-1", Session: x.ID, Turn: n, At: noon}}
		if round > 0 {
			b.DropRecords = []string{fmt.Sprintf("l-%d-%d-0", round-1, n)}
		}
		commit(t, s, b)
	}
	for n := range 10 {
		f, docs := fileOf("s-1", fmt.Sprintf("dir/f-%d-%d.go", round, n), 8)
		commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{f, sameText(f, "s-2", f.Path)}})
	}
	r, d := lesson(fmt.Sprintf("large-%d", round), words(30_000))
	commit(t, s, memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{d}})
}

// makeStores makes the stores that are damaged: one that was closed, one whose process
// was killed with several logs, and a small one that was killed after few writes.
func makeStores(t *testing.T) []damagedStore {
	t.Helper()
	var stores []damagedStore
	data := t.TempDir()
	was := filepath.Join(t.TempDir(), "was")
	for round := range 3 {
		s, err := Open(tableOptions(data))
		must(t, err)
		load(t, s)
		must(t, s.OpenCollection(t.Context(), testSpace, nil))
		fillRound(t, s, round)
		if round == 2 {
			killed := filepath.Join(t.TempDir(), "killed")
			truth := remembered(t, s)
			copyFolder(t, data, killed)
			splitLog(t, filepath.Join(killed, "store"))
			stores = append(stores, damagedStore{"killed", killed, was, truth})
		}
		if round == 1 { // with a log, which the stores below do not have any more
			copyFolder(t, data, was)
		}
		must(t, s.Close())
	}
	s, err := Open(tableOptions(data))
	must(t, err)
	load(t, s)
	truth := remembered(t, s)
	must(t, s.Close())
	stores = append(stores, damagedStore{"closed", data, was, truth})

	young := t.TempDir()
	s, err = Open(tableOptions(young))
	must(t, err)
	load(t, s)
	for n := range 20 {
		r, d := lesson(fmt.Sprintf("l-%d", n), fmt.Sprintf("lesson %d", n))
		d.Vectors = nil
		commit(t, s, memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{d}})
	}
	killed := filepath.Join(t.TempDir(), "young")
	truth = remembered(t, s)
	copyFolder(t, young, killed)
	stores = append(stores, damagedStore{"young", killed, was, truth})
	must(t, s.Close())
	return stores
}

// splitLog makes two logs of the only one, as they are when one is full and not yet a
// table: between two transactions, near the middle.
func splitLog(t *testing.T, dir string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("the logs %v, %v; want one", logs, err)
	}
	b, err := os.ReadFile(logs[0])
	must(t, err)
	at := bytes.Index(b[filled(b)/2:], []byte("!badger!txn")) + filled(b)/2 // its key, then the version
	at += len("!badger!txn") + 8
	for b[at] >= '0' && b[at] <= '9' { // the value
		at++
	}
	at += 4 // the checksum
	first, second := bytes.Clone(b), bytes.Clone(b)
	clear(first[at:])
	clear(second[20:])
	copy(second[20:], b[at:])
	next := filepath.Join(dir, "00099.mem")
	must(t, errors.Join(os.WriteFile(logs[0], first, 0o600), os.WriteFile(next, second, 0o600)))
}

// remembered is what a store remembers: values by key, without the bookkeeping that
// every start changes.
func remembered(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := s.View(func(v View) error {
		for _, prefix := range [][]byte{
			prefixRecord, prefixProject, prefixSandbox, prefixFile, prefixChunkSet, prefixUsed, prefixTerms, prefixVector, prefixCollection,
			prefixSession, prefixState, prefixTomb, prefixReceipt, prefixTurn,
		} {
			for k := range v.keys(prefix) {
				item, err := v.txn.Get(k)
				if err != nil {
					return err
				}
				if err := item.Value(func(b []byte) error { all[string(k)] = string(b); return nil }); err != nil {
					all[string(k)] = "unreadable"
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// copySparse copies a file, without the parts that are zeros.
func copySparse(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	part, zeros := make([]byte, 1<<18), make([]byte, 1<<18)
	for at := int64(0); ; {
		n, err := in.Read(part)
		if n > 0 && !bytes.Equal(part[:n], zeros[:n]) {
			if _, err := out.WriteAt(part[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return out.Truncate(at)
		}
		if err != nil {
			return err
		}
	}
}

// copyFolder copies files, sparse ones as such.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		if e.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		return copySparse(path, at)
	}); err != nil {
		t.Fatal(err)
	}
}

// harm is one way to damage a data folder.
type harm struct {
	kind, name string
	do         func(t *testing.T, d damagedStore, data string)
}

// filled is how many bytes of a file are written: logs have empty ends.
func filled(b []byte) int { return max(1, len(bytes.TrimRight(b, "\x00"))) }

// toFile are the ways to damage one file.
func toFile(name string) []harm {
	edit := func(fn func(b []byte) []byte) func(*testing.T, damagedStore, string) {
		return func(t *testing.T, _ damagedStore, data string) {
			path := filepath.Join(data, name)
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, fn(b), 0o600)
			}
			must(t, err)
		}
	}
	flip := func(part float64) func([]byte) []byte {
		return func(b []byte) []byte {
			if len(b) > 0 {
				b[min(int(part*float64(filled(b))), len(b)-1)] ^= 0x10
			}
			return b
		}
	}
	page := func(part float64) func([]byte) []byte {
		return func(b []byte) []byte {
			at := int(part*float64(filled(b))) / 4096 * 4096
			clear(b[min(at, len(b)):min(at+4096, len(b))])
			return b
		}
	}
	cut := func(keep func(b []byte) int) func([]byte) []byte {
		return func(b []byte) []byte { return b[:min(len(b), max(0, keep(b)))] }
	}
	harms := []harm{
		{"missing", "missing", func(t *testing.T, _ damagedStore, data string) {
			must(t, os.Remove(filepath.Join(data, name)))
		}},
		{"a folder in its place", "a folder", func(t *testing.T, _ damagedStore, data string) {
			path := filepath.Join(data, name)
			must(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		}},
		{"as it was before", "stale", func(t *testing.T, d damagedStore, data string) {
			b, err := os.ReadFile(filepath.Join(d.was, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(data, name), b, 0o600)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}},
		{"emptied", "empty", edit(cut(func([]byte) int { return 0 }))},
		{"cut", "10 bytes long", edit(cut(func([]byte) int { return 10 }))},
		{"cut", "half", edit(cut(func(b []byte) int { return filled(b) / 2 }))},
		{"cut", "a byte short", edit(cut(func(b []byte) int { return filled(b) - 1 }))},
		{"noise", "noise", edit(func(b []byte) []byte {
			rng := rand.New(rand.NewPCG(2, 3))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return b
		})},
		{"zeros", "zeros", edit(func(b []byte) []byte { clear(b); return b })},
		{"something added", "longer", edit(func(b []byte) []byte { return append(b, "something more"...) })},
	}
	for _, part := range []float64{0, .1, .3, .5, .7, .9, .99, .9999} {
		harms = append(harms, harm{"a bit flipped", fmt.Sprintf("a bit at %g", part), edit(flip(part))})
	}
	for _, part := range []float64{0, .5, .98} {
		harms = append(harms, harm{"zeros", fmt.Sprintf("a page at %g", part), edit(page(part))})
	}
	for i := range harms {
		harms[i].name = name + " " + harms[i].name
	}
	return harms
}

// harmsByChance are n damages of any file, of each kind of file equally many.
func harmsByChance(t *testing.T, d damagedStore, n int, rng *rand.Rand) []harm {
	t.Helper()
	byKind := map[string][]string{}
	for _, name := range filesBelow(t, d.dir) {
		kind := cmp.Or(filepath.Ext(name), filepath.Base(name))
		byKind[kind] = append(byKind[kind], name)
	}
	kinds := slices.Sorted(maps.Keys(byKind))
	var harms []harm
	for i := range n {
		names := byKind[kinds[i%len(kinds)]]
		h := harmByChance(names[rng.IntN(len(names))], names[rng.IntN(len(names))], rng)
		h.name = fmt.Sprintf("%s, by chance %d", h.name, i)
		harms = append(harms, h)
	}
	return harms
}

// harmByChance is a damage of a file; other is one of its kind.
func harmByChance(name, other string, rng *rand.Rand) harm {
	const sector = 512
	part, size, seed := rng.Float64(), 1+rng.IntN(5000), rng.Uint64()
	// place is a sector or page in what is written of a file.
	place := func(b []byte, unit int) []byte {
		at := int(part*float64(filled(b))) / unit * unit
		return b[at:min(len(b), at+unit)]
	}
	edit := func(fn func(b, former, other []byte, rng *rand.Rand) []byte) func(*testing.T, damagedStore, string) {
		return func(t *testing.T, d damagedStore, data string) {
			b, err := os.ReadFile(filepath.Join(data, name))
			must(t, err)
			former, _ := os.ReadFile(filepath.Join(d.was, name)) // it may not have existed
			others, err := os.ReadFile(filepath.Join(data, other))
			if err == nil && len(b) > 0 {
				err = os.WriteFile(filepath.Join(data, name), fn(b, former, others, rand.New(rand.NewPCG(seed, 0))), 0o600)
			}
			must(t, err)
		}
	}
	ways := []harm{
		{kind: "a bit flipped", do: edit(func(b, _, _ []byte, rng *rand.Rand) []byte {
			b[rng.IntN(filled(b))] ^= 1 << rng.IntN(8)
			return b
		})},
		{kind: "several bits flipped", do: edit(func(b, _, _ []byte, rng *rand.Rand) []byte {
			for range 2 + rng.IntN(20) {
				b[rng.IntN(filled(b))] ^= 1 << rng.IntN(8)
			}
			return b
		})},
		{kind: "a byte of any value", do: edit(func(b, _, _ []byte, rng *rand.Rand) []byte {
			b[rng.IntN(filled(b))] = byte(rng.Uint32())
			return b
		})},
		{kind: "cut", do: edit(func(b, _, _ []byte, rng *rand.Rand) []byte { return b[:rng.IntN(filled(b))] })},
		{kind: "bytes missing within", do: edit(func(b, _, _ []byte, rng *rand.Rand) []byte {
			at := rng.IntN(filled(b))
			return slices.Delete(b, at, min(len(b), at+size))
		})},
		{kind: "something added", do: edit(func(b, _, _ []byte, rng *rand.Rand) []byte {
			more := make([]byte, size)
			for i := range more {
				more[i] = byte(rng.Uint32())
			}
			return slices.Insert(b, rng.IntN(filled(b)+1), more...)
		})},
		{kind: "zeros", do: edit(func(b, _, _ []byte, _ *rand.Rand) []byte { clear(place(b, sector)); return b })},
		{kind: "zeros", do: edit(func(b, _, _ []byte, _ *rand.Rand) []byte { clear(place(b, 8*sector)); return b })},
		{kind: "noise", do: edit(func(b, _, _ []byte, rng *rand.Rand) []byte {
			to := place(b, sector)
			for i := range to {
				to[i] = byte(rng.Uint32())
			}
			return b
		})},
		{kind: "a page as it was before", do: edit(func(b, former, _ []byte, _ *rand.Rand) []byte {
			at := int(part*float64(filled(b))) / 4096 * 4096
			if at < len(former) {
				copy(b[at:min(len(b), at+4096)], former[at:])
			}
			return b
		})},
		{kind: "a page of another place", do: edit(func(b, _, other []byte, rng *rand.Rand) []byte {
			from := rng.IntN(max(1, filled(other))) / 4096 * 4096
			copy(place(b, 4096), other[min(from, len(other)):])
			return b
		})},
		{kind: "the bytes of another file", do: edit(func(_, _, other []byte, _ *rand.Rand) []byte { return other })},
	}
	h := ways[rng.IntN(len(ways))]
	h.name = name + ": " + h.kind
	return h
}

// filesBelow are the files in a folder and those below, by their paths in it.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(path, dir), string(filepath.Separator)))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// harmsTo lists what is done to a store: to each of its files, and to several.
func harmsTo(t *testing.T, d damagedStore) []harm {
	t.Helper()
	var harms []harm
	names := filesBelow(t, d.dir)
	var tables, logs []string
	for _, name := range names {
		switch filepath.Ext(name) {
		case ".sst":
			tables = append(tables, name)
		case ".mem":
			logs = append(logs, name)
		}
	}
	for _, name := range names {
		harms = append(harms, toFile(name)...)
	}
	swap := func(a, b string) {
		harms = append(harms, harm{"two files swapped", a + " and " + b + " swapped", func(t *testing.T, _ damagedStore, data string) {
			x, y := filepath.Join(data, a), filepath.Join(data, b)
			must(t, errors.Join(os.Rename(x, x+".x"), os.Rename(y, x), os.Rename(x+".x", y)))
		}})
	}
	twice := func(from, to string, was bool) {
		harms = append(harms, harm{"a file twice", fmt.Sprintf("%s again as %s, of before %v", from, to, was), func(t *testing.T, d damagedStore, data string) {
			source := data
			if was {
				source = d.was
			}
			b, err := os.ReadFile(filepath.Join(source, from))
			if err == nil {
				err = os.WriteFile(filepath.Join(data, to), b, 0o600)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}})
	}
	if n := len(tables); n > 1 {
		swap(tables[0], tables[n-1])
		swap(tables[0], "store/MANIFEST")
		twice(tables[0], "store/000900.sst", false)
		twice(tables[0], "store/000900.sst", true)
	}
	if n := len(logs); n > 0 {
		twice(logs[n-1], "store/00900.mem", false)
		swap(logs[0], "store/MANIFEST")
		if n > 1 {
			swap(logs[0], logs[n-1])
		}
	}
	all := func(name string, fn func(data string) error) {
		harms = append(harms, harm{"all files of a kind missing or of before", name, func(t *testing.T, _ damagedStore, data string) {
			must(t, fn(data))
		}})
	}
	remove := func(pattern string) func(string) error {
		return func(data string) error {
			found, err := filepath.Glob(filepath.Join(data, "store", pattern))
			for _, path := range found {
				err = errors.Join(err, os.Remove(path))
			}
			return err
		}
	}
	all("the folder missing", func(data string) error { return os.RemoveAll(filepath.Join(data, "store")) })
	all("the folder empty", remove("*"))
	all("the tables missing", remove("*.sst"))
	all("the logs missing", remove("*.mem"))
	all("the values missing", remove("*.vlog"))
	all("the MANIFEST and tables missing", func(data string) error {
		return errors.Join(remove("*.sst")(data), remove("MANIFEST")(data))
	})
	all("the store of before", func(data string) error {
		copyFolder(t, filepath.Join(d.was, "store"), filepath.Join(data, "new"))
		return errors.Join(os.RemoveAll(filepath.Join(data, "store")), os.Rename(filepath.Join(data, "new"), filepath.Join(data, "store")))
	})
	return harms
}

// outcome is what became of a damage, for the table.
type outcome struct {
	store, kind, harm, class, words string
	changed                         bool // what was there already is no damage
	// lost and back are how many values a damaged and a repaired store lacks, records how
	// many there were and gone how many the repaired one lacks.
	lost, back, records, gone int
}

// damageEnv has the whole table made, with so many damages by chance; make damage sets it.
// damageSeedEnv chooses them.
const (
	damageEnv     = "RECALLD_TEST_DAMAGE"
	damageSeedEnv = "RECALLD_TEST_DAMAGE_SEED"
)

// TestDamageTable damages stores in every way that it knows, one after another, and others
// by chance, and opens each as the daemon does. Whatever is not as it was must be said, and
// a repair must end in a sound store that has all that could be read.
func TestDamageTable(t *testing.T) {
	every, chance, seed := 4, 8, uint64(1)
	if text := os.Getenv(damageEnv); text != "" {
		every = 1
		if _, err := fmt.Sscan(text, &chance); err != nil {
			t.Fatalf("%s=%q is no number: %v", damageEnv, text, err)
		}
	} else {
		testlong.Only(t)
	}
	if text := os.Getenv(damageSeedEnv); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("%s=%q is no seed: %v", damageSeedEnv, text, err)
		}
	}
	var table []outcome
	stores := makeStores(t)
	for n, d := range stores {
		var harms []harm
		for i, h := range harmsTo(t, d) {
			if i%every == 0 {
				harms = append(harms, h)
			}
		}
		harms = append(harms, harmsByChance(t, d, (chance+len(stores)-1)/len(stores), rand.New(rand.NewPCG(seed, uint64(n))))...)
		for _, h := range harms {
			t.Run(d.name+" "+h.name, func(t *testing.T) { table = append(table, suffer(t, d, h)) })
		}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STORE\tDAMAGE\tOUTCOME\tLOST\tAFTER REPAIR\tWORDS")
	for _, o := range table {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%.150s\n", o.store, o.harm, o.class, o.lost, o.back, o.words)
	}
	_ = w.Flush()
	t.Logf("seed %d\n%s\n%s", seed, b.String(), byKind(table))
}

// byKind is the table of what has changed a file, as it stands in docs/reliability.md.
func byKind(table []outcome) string {
	type row struct{ cases, noticed, harmless, silent, whole, records, gone int }
	rows, all := map[string]*row{}, &row{}
	for _, o := range table {
		if !o.changed {
			continue
		}
		r := rows[o.kind]
		if r == nil {
			r = &row{}
			rows[o.kind] = r
		}
		for _, r := range []*row{r, all} {
			r.cases++
			switch o.class {
			case "noticed":
				r.noticed++
			case "intact":
				r.harmless++
			default:
				r.silent++
			}
			if o.back == 0 {
				r.whole++
			}
			r.records, r.gone = r.records+o.records, r.gone+o.gone
		}
	}
	text := "| damage | cases | noticed | harmless | silent | nothing lost after repair | records lost after repair |\n|---|---|---|---|---|---|---|\n"
	line := func(kind string, r *row) string {
		return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d of %d |\n", kind, r.cases, r.noticed, r.harmless, r.silent, r.whole, r.gone, r.records)
	}
	for _, kind := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b].cases, rows[a].cases), cmp.Compare(a, b))
	}) {
		text += line(kind, rows[kind])
	}
	return text + line("**all**", all)
}

// suffer damages a copy of a store, opens it, and repairs it.
func suffer(t *testing.T, d damagedStore, h harm) outcome {
	o := outcome{store: d.name, kind: h.kind, harm: h.name}
	data := filepath.Join(t.TempDir(), "data")
	copyFolder(t, d.dir, data)
	h.do(t, d, data)
	o.changed = !sameFiles(t, d.dir, data)
	opts := tableOptions(data)
	opts.ReadDamaged = true
	before := filesOf(t, filepath.Join(data, "store"))
	s, err := Open(opts)
	if err != nil {
		o.class, o.words = "refused", err.Error()
		if e := (*DamagedError)(nil); !errors.As(err, &e) && memory.AsError(err).Message == "" {
			t.Errorf("open: %v; want words", err)
		}
		t.Errorf("open: %v; want a store that says what it lost", err)
		return o
	}
	load(t, s)
	got := remembered(t, s)
	o.lost = missing(d.truth, got)
	same := maps.Equal(got, d.truth)
	damage := s.Damage()
	switch {
	case damage != nil:
		o.class, o.words = "noticed", damage.Text()
		if len(damage.Files)+len(damage.Lost) == 0 {
			t.Errorf("the damage has no words: %s", o.words)
		}
	case same:
		o.class = "intact"
	default:
		o.class = "SILENT"
		t.Errorf("%d of %d values are gone or others and %d are new, and nothing says so", o.lost, len(d.truth), missing(got, d.truth))
	}
	r, doc := lesson("l-new", "a lesson after the damage")
	doc.Vectors = nil
	_, err = s.Commit(t.Context(), memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{doc}})
	if refused := memory.CodeOf(err) == memory.CodeUnavailable; refused != (damage != nil && damage.ReadOnly) || err != nil && !refused {
		t.Errorf("write to the store: %v, with the damage %+v", err, damage)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if damage != nil && damage.ReadOnly {
		if after := filesOf(t, filepath.Join(data, "store")); !maps.Equal(before, after) {
			t.Errorf("the damaged files were changed: before %d files, after %d", len(before), len(after))
		}
	}
	after := repaired(t, d, data, damage, got)
	o.back = missing(d.truth, after)
	o.records, o.gone = len(recordsIn(d.truth)), missing(recordsIn(d.truth), after)
	return o
}

// repaired repairs a store, without a backup, and returns what it remembers after it.
func repaired(t *testing.T, d damagedStore, data string, damage *memory.StoreDamage, readable map[string]string) map[string]string {
	t.Helper()
	opts := tableOptions(data)
	repair, err := PrepareRepair(t.Context(), opts, nil)
	if err != nil {
		t.Errorf("prepare repair: %v", err)
		return nil
	}
	if repair.Left != nil {
		t.Errorf("the repaired store is not sound: %v", repair.Left)
	}
	if repair.Needed() != (damage != nil) {
		t.Errorf("a repair is needed: %v, after the damage %+v", repair.Needed(), damage)
	}
	if !repair.Needed() {
		if err := repair.Discard(); err != nil {
			t.Error(err)
		}
		return readable
	}
	aside, err := repair.Finish()
	if err != nil {
		t.Errorf("finish repair: %v", err)
		return nil
	}
	if _, err := os.Stat(aside); err != nil {
		t.Errorf("the damaged files were not kept: %v", err)
	}
	s, err := Open(opts)
	if err != nil {
		t.Errorf("open the repaired store: %v", err)
		return nil
	}
	load(t, s)
	if damage := s.Damage(); damage != nil {
		t.Errorf("the repaired store says: %s", damage.Text())
	}
	got := remembered(t, s)
	for k := range readable {
		if strings.HasPrefix(k, "r/") && got[k] != readable[k] && k != "r/l-new" {
			t.Errorf("%s could be read and is gone after the repair", k)
		}
	}
	r, doc := lesson("l-after", "a lesson after the repair")
	doc.Vectors = nil
	commit(t, s, memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{doc}})
	if err := errors.Join(s.Check(), s.Close()); err != nil {
		t.Errorf("the repaired store after a write: %v", err)
	}
	return got
}

// recordsIn are the values that are records.
func recordsIn(all map[string]string) map[string]string {
	records := map[string]string{}
	for k, v := range all {
		if strings.HasPrefix(k, string(prefixRecord)) {
			records[k] = v
		}
	}
	return records
}

// sameFiles reports whether two folders have the same files.
func sameFiles(t *testing.T, a, b string) bool {
	t.Helper()
	names := filesBelow(t, a)
	if !slices.Equal(names, filesBelow(t, b)) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		x, err := os.ReadFile(filepath.Join(a, name))
		y, err2 := os.ReadFile(filepath.Join(b, name))
		must(t, errors.Join(err, err2))
		return !bytes.Equal(x, y)
	})
}

// missing is how many values of one store another has not, or others.
func missing(want, got map[string]string) (n int) {
	for k, v := range want {
		if got[k] != v {
			n++
		}
	}
	return n
}

// filesOf are the files of a folder with what is in them, but for the lock.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, _ := os.ReadFile(filepath.Join(dir, e.Name())) // one may be a folder
		files[e.Name()] = string(b)
	}
	return files
}
