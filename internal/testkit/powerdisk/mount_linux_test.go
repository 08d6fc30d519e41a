package powerdisk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMount: what a program writes, maps, renames and syncs on the disk is what a cut keeps.
func TestMount(t *testing.T) {
	// This process serves the disk and maps a file of it. While it waits for a page nothing may
	// stop its other threads, as the garbage collector does.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))))
	d, err := Mount(t.TempDir())
	if err != nil {
		t.Skipf("this test needs to mount a FUSE file system: root and /dev/fuse: %v", err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Errorf("unmount: %v", err)
		}
	}()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	syncDir := func() {
		f, err := os.Open(d.Dir)
		must(err)
		must(f.Sync())
		must(f.Close())
	}
	path := filepath.Join(d.Dir, "f")
	f, err := os.Create(path)
	must(err)
	must(f.Truncate(block))
	mapped, err := unix.Mmap(int(f.Fd()), 0, block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(err)
	copy(mapped, "mapped and synced")
	must(unix.Msync(mapped, unix.MS_SYNC))
	syncDir()
	synced := d.Journal.Len()
	copy(mapped[100:], "mapped only")
	must(os.Rename(path, path+"2"))
	must(os.WriteFile(filepath.Join(d.Dir, "other"), []byte("not synced"), 0o600))
	want := make([]byte, block)
	copy(want, "mapped and synced")
	for _, at := range []int{synced, d.Journal.Len()} {
		dir := cut(t, &d.Journal, at, LoseAll, 0)
		expect(t, filepath.Join(dir, "f"), want)
		expect(t, filepath.Join(dir, "f2"), nil)
		expect(t, filepath.Join(dir, "other"), nil)
	}
	must(unix.Msync(mapped, unix.MS_SYNC))
	syncDir()
	copy(want[100:], "mapped only")
	dir := cut(t, &d.Journal, d.Journal.Len(), LoseAll, 0)
	expect(t, filepath.Join(dir, "f2"), want)
	expect(t, filepath.Join(dir, "f"), nil)
	expect(t, filepath.Join(dir, "other"), []byte{}) // its name is synced, its data is not

	d.FailSyncs(true)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("a sync on a failing disk: %v", err)
	}
	d.FailSyncs(false)
	must(unix.Munmap(mapped))
	must(f.Close())
}
