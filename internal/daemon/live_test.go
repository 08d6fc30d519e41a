package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestSavedFileIsFoundWithinASecond: through the whole daemon, with a model of its
// own, while other repositories are known and watched.
func TestSavedFileIsFoundWithinASecond(t *testing.T) {
	s := serve(t, newConfig(t))
	for range 4 {
		s.indexed(s.index(large(t, 50)))
	}
	dir := shop(t)
	s.indexed(s.index(dir))
	s.until("watched", func(st *memory.Status) bool {
		return len(st.Projects) == 5 && !slices.ContainsFunc(st.Projects, func(b memory.SandboxState) bool {
			return b.Watch == "" || b.Progress != nil || b.Stale
		})
	})
	if s.indexed(s.index(dir)).Watch != "events" {
		t.Skip("the repository is not watched by events: raise fs.inotify.max_user_watches")
	}
	var took []time.Duration
	for i, subject := range []string{"voucher", "refund", "invoice"} {
		began := time.Now()
		place(t, dir, fmt.Sprintf("cart/%s.go", subject),
			fmt.Sprintf("package cart\n\n// Redeem%d checks whether the %s of a customer has expired and prints it.\nfunc Redeem%d() {}\n", i, subject, i))
		for {
			a := s.ask(dir, "has the customer's "+subject+" expired", memory.Chunk)
			if len(a.Items) > 0 && strings.HasSuffix(a.Items[0].Source.Path, subject+".go") {
				break
			}
			if time.Since(began) > patience {
				t.Fatalf("%s.go is not found for %s", subject, patience)
			}
		}
		took = append(took, time.Since(began))
	}
	t.Logf("found after %s", took)
	// Other programs may have the machine meanwhile: the best of three counts.
	if best := slices.Min(took); best > time.Second {
		t.Errorf("a saved file is found after %s at best, want within a second", best)
	}
	must(t, os.Remove(filepath.Join(dir, "cart", "refund.go")))
	s.until("without the file that was removed", func(st *memory.Status) bool {
		for _, b := range st.Projects {
			if b.Root == dir {
				return b.Files == 4
			}
		}
		return false
	})
}
