package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestWithheldCodeByItsID: the id by which an answer names code that it withholds shows the code,
// also where several places have its text.
func TestWithheldCodeByItsID(t *testing.T) {
	s := serve(t, newConfig(t))
	dir := shop(t)
	for _, name := range []string{"a.go", "b.go"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("package shop\n\n// Reconcile compares the shelf with the ledger.\nfunc Reconcile() {}\n"), 0o600))
	}
	s.index(dir)
	s.until("indexed", func(st *memory.Status) bool { return len(st.Projects) == 1 && !st.Projects[0].IndexedAt.IsZero() })
	a, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{
		Query: "Reconcile compares the shelf with the ledger", Kinds: []memory.Kind{memory.Chunk}, MinRelevance: new(1.0), Caller: memory.Caller{Dir: dir},
	})
	must(t, err)
	if len(a.Withheld) == 0 {
		t.Fatalf("%+v: nothing is withheld", a)
	}
	for _, w := range a.Withheld {
		whole, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{IDs: []string{w.ID}, Caller: memory.Caller{Dir: dir}})
		must(t, err)
		if len(whole.Items) != 1 {
			t.Errorf("%s, of %s, is\n%s", w.ID, w.Path, whole.Text)
		}
	}
}

// TestCodeByItsID: code that was shown in part is shown in full by the beginning of its
// id, read from disk, and not once the disk has another text.
func TestCodeByItsID(t *testing.T) {
	s := serve(t, newConfig(t))
	dir := shop(t)
	long := "package stock\n\n// Reconcile compares the shelf with the ledger.\nfunc Reconcile(shelf []int) int {\n" + strings.Repeat("\tshelf = append(shelf, len(shelf))\n", 40) + "\treturn len(shelf)\n}\n"
	file := filepath.Join(dir, "stock.go")
	must(t, os.WriteFile(file, []byte(long), 0o600))
	s.index(dir)
	s.until("indexed", func(st *memory.Status) bool { return len(st.Projects) == 1 && !st.Projects[0].IndexedAt.IsZero() })
	a := s.ask(dir, "Reconcile compares the shelf with the ledger", memory.Chunk)
	if len(a.Items) == 0 || !a.Items[0].Cut || !strings.Contains(a.Text, "… (recall ids: "+a.Items[0].ID[:10]+")") {
		t.Fatalf("%+v\n%s\nwant code of which a part is shown, with the beginning of its id", a.Items, a.Text)
	}
	whole, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{IDs: []string{a.Items[0].ID[:10]}, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if len(whole.Items) != 1 || whole.Items[0].ID != a.Items[0].ID || !strings.Contains(whole.Text, "return len(shelf)\n}") {
		t.Errorf("by its id it is\n%s\nwant all of it", whole.Text)
	}
	must(t, os.WriteFile(file, []byte("package stock\n"), 0o600))
	gone, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{IDs: []string{a.Items[0].ID}, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if len(gone.Items) > 0 || len(gone.Withheld) != 1 || gone.Withheld[0].Reason != memory.Changed && gone.Withheld[0].Reason != memory.NotFound {
		t.Errorf("once it has changed: %+v and %+v, want it withheld", gone.Items, gone.Withheld)
	}
}
