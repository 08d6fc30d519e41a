package store

import (
	"strings"
	"testing"

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
		if err != nil {
			t.Fatal(err)
		}
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
