package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Details are taken out of all lines that are about what is named, also where more has
// to be written than one transaction holds, and of no others.
func TestEraseDetails(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), NoSync: true})
	const updates = 150
	other := strings.Repeat("of another project ", 1000) // is written again beside what is erased
	for range updates {
		_, err := s.Update(t.Context(), func(tx *Tx) error {
			tx.Audit("act", "of one", "p1", "t-1")
			tx.Audit("act", other, "p2", "t-2")
			return nil
		})
		must(t, err)
	}
	if whole := s.whole().bytes; int64(updates*len(other)) < whole {
		t.Fatalf("all of the log is written in one transaction of %d bytes", whole)
	}
	if _, err := s.Commit(t.Context(), memory.Batch{EraseDetails: []string{"p1", "t-3"}}); err != nil {
		t.Fatal(err)
	}
	held, erased := 0, 0
	err := s.View(func(v View) error {
		for lines, err := range v.Audit() {
			if err != nil {
				return err
			}
			for _, e := range lines {
				switch {
				case e.Detail == other && len(e.About) == 2:
					held++
				case e.Detail == nil && e.About == nil && e.Action == "act" && e.Seq > 0 && !e.At.IsZero():
					erased++
				default:
					t.Fatalf("a line is %.200v", e)
				}
			}
		}
		return nil
	})
	if err != nil || held != updates || erased != updates {
		t.Errorf("%d lines have their detail and %d have none, %v; want %d of each", held, erased, err, updates)
	}
}

// The log is read backwards from any update on, and a damaged line is passed over.
func TestAuditBack(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), NoSync: true})
	var seqs []uint64
	for range 5 {
		done, err := s.Commit(t.Context(), memory.Batch{Action: "act", Detail: "d"})
		must(t, err)
		seqs = append(seqs, done.Seq)
	}
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(keyAudit(seqs[2]), []byte("broken")) })
	must(t, err)
	back := func(before uint64, most int) (got []uint64) {
		for lines, err := range s.AuditBack(before) {
			must(t, err)
			if got = append(got, lines[0].Seq); len(got) == most {
				break
			}
		}
		return got
	}
	for _, tt := range []struct {
		before uint64
		most   int
		want   []uint64
	}{
		{0, 9, []uint64{seqs[4], seqs[3], seqs[1], seqs[0]}},
		{0, 2, []uint64{seqs[4], seqs[3]}},
		{seqs[4], 9, []uint64{seqs[3], seqs[1], seqs[0]}},
		{seqs[2], 1, []uint64{seqs[1]}},
		{seqs[0], 9, nil},
		{1, 9, nil},
	} {
		if got := back(tt.before, tt.most); !slices.Equal(got, tt.want) {
			t.Errorf("%d updates before %d are %v, want %v", tt.most, tt.before, got, tt.want)
		}
	}
	// The store is checked at the end.
	err = s.db.Update(func(txn *badger.Txn) error { return txn.Delete(keyAudit(seqs[2])) })
	must(t, err)
}
