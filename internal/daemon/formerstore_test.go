package daemon

import (
	"os"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
)

// TestFormerStore opens a store of three lessons that the last version with hashed
// features wrote (testdata/store-hash-v1, as it was when that daemon stopped). They are
// found at once, their vectors are made anew, and the former ones are dropped.
func TestFormerStore(t *testing.T) {
	const former = "builtin/hash-v1@256-e70c9da3"
	cfg := newConfig(t)
	must(t, os.CopyFS(cfg.Paths().Store, os.DirFS("testdata/store-hash-v1")))
	s := serve(t, cfg)
	s.await("replaced collection dropped")
	if log := s.log.String(); !strings.Contains(log, "collection="+former) {
		t.Errorf("another collection than %s was dropped:\n%s", former, log)
	}
	st := s.until("switched", func(st *memory.Status) bool {
		return len(st.Collections) == 1 && st.Collections[0].State == memory.CollectionReady
	})
	if now := st.Collections[0]; now.Model != builtin.Name || now.Embedded != 3 || st.Documents != 3 {
		t.Errorf("after the switch the collection is %+v of %d documents, want all three of %s", now, st.Documents, builtin.Name)
	}
	a := s.ask(t.TempDir(), "SQLite says it is locked: what to do", memory.Lesson)
	if len(a.Items) == 0 || !strings.Contains(a.Items[0].Text, "busy_timeout") {
		t.Errorf("the lesson about SQLite is found as %+v, lacking %q", a.Items, degraded(a))
	}
}
