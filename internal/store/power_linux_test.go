package store

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/testkit/powerdisk"
	"github.com/recalld/recalld/internal/testlong"
)

// TestPowerFailure kills a process that writes into a new store on a disk, and then the disk's
// power: what was acknowledged is there, whatever became of what was not synced. Another
// process has created the folder above the store a moment before, as clients do.
func TestPowerFailure(t *testing.T) {
	testlong.Only(t)
	disk, err := powerdisk.Mount(t.TempDir())
	if err != nil {
		t.Skipf("this test needs to mount a FUSE file system: root and /dev/fuse: %v", err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	data := filepath.Join(disk.Dir, "above", "data")
	must(t, os.MkdirAll(data, 0o700))
	acked, _ := killWriter(t, filepath.Join(data, "store"), 300)
	for _, loss := range powerdisk.Losses {
		t.Run(string(loss), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cut")
			must(t, disk.Journal.Cut(disk.Journal.Len(), loss, rand.New(rand.NewPCG(1, 1)), dir))
			s := open(t, Options{Dir: filepath.Join(dir, "above", "data", "store")}) // it is checked at the end of the test
			for w, last := range acked {
				checkWriter(t, s, w, last)
			}
		})
	}
}
