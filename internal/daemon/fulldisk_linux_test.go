package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// smallDisk mounts a file system of its own, of so many bytes, and returns its folder.
// It needs root, loop devices and mkfs.ext4.
func smallDisk(t *testing.T, size int64) string {
	t.Helper()
	const needs = "this test needs a small disk: root, loop devices and mkfs.ext4"
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "m")
	must(t, os.Mkdir(at, 0o700))
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, size))
	if out, err := exec.Command("mkfs.ext4", "-q", "-m", "0", image).CombinedOutput(); err != nil {
		t.Skipf("%s: %v %s", needs, err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, at).CombinedOutput(); err != nil {
		t.Skipf("%s: %v %s", needs, err, out)
	}
	t.Cleanup(func() {
		// A daemon that was killed a moment ago may still hold it.
		if out, err := exec.Command("umount", "-l", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return at
}

// ballast fills a disk from outside until nothing more goes in, as another program
// would, and returns what takes it away.
func ballast(t *testing.T, dir string) (drop func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	must(t, err)
	for part := int64(64 << 20); part >= 512; {
		size, err := f.Seek(0, 2)
		must(t, err)
		buf := make([]byte, part)
		if _, err := f.Write(buf); err != nil {
			must(t, f.Truncate(size))
			part /= 2
		}
	}
	must(t, f.Sync())
	must(t, f.Close())
	return func() { must(t, os.Remove(path)) }
}

// fillers write lessons through a daemon until they are stopped, and remember what was
// acknowledged and how they were refused.
type fillers struct {
	t       *testing.T
	c       *child
	dir     string
	mu      sync.Mutex
	acked   map[string]bool
	refused error // the last one
	wrong   error // one that was no refusal
	run     atomic.Bool
	done    sync.WaitGroup
}

func (f *fillers) start(c *child, writers int) {
	f.c = c
	f.run.Store(true)
	for w := range writers {
		f.done.Go(func() {
			for n := 0; f.run.Load(); n++ {
				random := rand.NewPCG(uint64(w), uint64(time.Now().UnixNano()))
				words := make([]string, 450)
				for i := range words {
					words[i] = fmt.Sprintf("w%x", random.Uint64()>>40)
				}
				kept, err := service.Remember.Do(context.Background(), f.c, memory.RememberRequest{
					Lesson: fmt.Sprintf("writer %d lesson %d: %s", w, n, strings.Join(words, " ")), Project: f.dir, Caller: memory.Caller{Dir: f.dir},
				})
				f.mu.Lock()
				switch {
				case err == nil:
					f.acked[kept.ID] = true
				case memory.CodeOf(err) == memory.CodeReadOnly:
					f.refused = err
				default:
					f.wrong = err
				}
				f.mu.Unlock()
			}
		})
	}
}

// await waits until what the fillers have met holds.
func (f *fillers) await(what string, holds func() bool) {
	f.t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		f.mu.Lock()
		ok, wrong := holds(), f.wrong
		f.mu.Unlock()
		if wrong != nil {
			f.t.Fatalf("a write failed and was not refused: %v\n%s", wrong, f.c.log)
		}
		if ok {
			return
		}
		if time.Since(start) > patience {
			f.t.Fatalf("never: %s; the last refusal was %v\n%s", what, f.refused, f.c.log)
		}
	}
}

func (f *fillers) more(n int) {
	f.t.Helper()
	f.mu.Lock()
	want := len(f.acked) + n
	f.mu.Unlock()
	f.await(fmt.Sprintf("%d more lessons are stored", n), func() bool { return len(f.acked) >= want })
}

func (f *fillers) refusedNow() error {
	f.t.Helper()
	f.mu.Lock()
	f.refused = nil
	f.mu.Unlock()
	f.await("a write is refused", func() bool { return f.refused != nil })
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

func (f *fillers) stop() {
	f.run.Store(false)
	f.done.Wait()
}

// answers checks that a daemon whose disk takes no writes answers and says so.
func (f *fillers) answers() {
	f.t.Helper()
	f.c.until("loaded", func(st *memory.Status) bool { return st.State == stateReady })
	a := f.c.ask(f.dir, "writer lesson")
	if len(a.Items) == 0 {
		f.t.Errorf("a question without room finds nothing: %+v", a)
	}
	if !slices.ContainsFunc(a.Degraded, func(d memory.Degraded) bool { return d.Part == "store" }) {
		f.t.Errorf("the answer says %+v, want that nothing can be stored", a.Degraded)
	}
	st, err := service.Status.Do(f.t.Context(), f.c, service.None{})
	must(f.t, err)
	if st.ReadOnly == "" {
		f.t.Error("status does not say that nothing can be stored")
	}
}

// TestFullDisk fills the disk from outside while many write through a daemon. It stays
// alive, answers, refuses writes with words, and takes them again by itself; it starts
// on a full and on a read-only disk; and no acknowledged write is lost.
func TestFullDisk(t *testing.T) {
	testlong.Only(t)
	disk := smallDisk(t, 320<<20)
	cfg := newConfig(t)
	cfg.Data = filepath.Join(disk, "d")
	must(t, cfg.Paths().Prepare())
	dir := t.TempDir() // on another disk
	f := &fillers{t: t, dir: dir, acked: map[string]bool{}}

	c := startChild(t, cfg)
	f.start(c, 6)
	for round := range 3 {
		f.more(300)
		drop := ballast(t, disk)
		err := f.refusedNow()
		if e := memory.AsError(err); !strings.Contains(e.Message, " free") || !strings.Contains(e.Message, cfg.Paths().Store) || e.Hint == "" || e.Limit == "" {
			t.Errorf("round %d: the refusal is %+v; want what is free, what is needed, where, and what to do", round, e)
		}
		f.answers()
		drop()
	}
	f.more(100)
	st := c.until("writable", func(st *memory.Status) bool { return st.ReadOnly == "" })
	f.mu.Lock()
	t.Logf("%d lessons on %d bytes; the last refusal: %v", len(f.acked), st.DiskBytes, f.refused)
	f.mu.Unlock()

	// Killed while the disk is full, it starts there, and goes on when there is room.
	drop := ballast(t, disk)
	_ = f.refusedNow()
	f.stop()
	must(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait() // it was killed
	c = startChild(t, cfg)
	f.start(c, 2)
	_ = f.refusedNow()
	f.answers()
	drop()
	f.more(50)
	f.stop()

	// Killed, and then the disk is read-only.
	must(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	remount(t, disk, "ro")
	c = startChild(t, cfg)
	f.start(c, 2)
	_ = f.refusedNow()
	f.answers()
	remount(t, disk, "rw")
	f.more(50)
	f.stop()
	_, err := service.Stop.Do(t.Context(), c, service.None{})
	must(t, err)
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the daemon ended with %v\n%s", err, c.log)
	}

	found, err := CheckStore(t.Context(), cfg, "test")
	must(t, err)
	if found != nil {
		t.Errorf("the store is not sound: %v", found)
	}
	core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	must(t, err)
	for id := range f.acked {
		if _, err := core.Store.Record(id); err != nil {
			t.Errorf("a lesson was acknowledged and is lost: %v", err)
		}
	}
	must(t, core.Close())
}

func remount(t *testing.T, at, how string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+how, at).CombinedOutput(); err != nil {
		t.Fatalf("remount %s: %v %s", how, err, out)
	}
}

// TestReadingWithoutRoom: on a full and on a read-only disk a store that is damaged, and
// one of an older layout, are read all the same, checked, and not repaired; the sound one
// takes writes by itself when it can.
func TestReadingWithoutRoom(t *testing.T) {
	testlong.Only(t)
	for _, full := range []bool{true, false} {
		for _, damaged := range []bool{true, false} {
			t.Run(fmt.Sprintf("full %v, damaged %v", full, damaged), func(t *testing.T) {
				disk := smallDisk(t, 320<<20)
				cfg := newConfig(t)
				cfg.Data = filepath.Join(disk, "d")
				must(t, cfg.Paths().Prepare())
				// Of before there were witnesses and provenance.
				must(t, os.CopyFS(cfg.Paths().Store, os.DirFS("testdata/store-hash-v1")))
				must(t, os.WriteFile(cfg.Paths().Lock, nil, 0o600))
				if damaged {
					spoilTables(t, cfg.Paths().Store)
				}
				again := func() { remount(t, disk, "rw") }
				if full {
					again = ballast(t, disk)
				} else {
					remount(t, disk, "ro")
				}
				found, err := CheckStore(t.Context(), cfg, "test")
				if err != nil || (found != nil) != damaged {
					t.Errorf("the check: found %v, %v", found, err)
				}
				if r, err := PrepareRepair(t.Context(), cfg, "test"); memory.CodeOf(err) != memory.CodeReadOnly {
					t.Errorf("a repair is prepared: %+v, %v; want that there is no room", r, err)
				}
				c := startChild(t, cfg)
				a := c.ask(t.TempDir(), "SQLite says it is locked: what to do", memory.Lesson)
				if len(a.Items) == 0 || !strings.Contains(a.Items[0].Text, "busy_timeout") || len(a.Degraded) == 0 {
					t.Errorf("the lesson about SQLite is found as %+v, lacking %q", a.Items, degraded(a))
				}
				remember := memory.RememberRequest{Lesson: "Make room first", Project: t.TempDir()}
				if _, err := service.Remember.Do(t.Context(), c, remember); err == nil {
					t.Error("a write is taken")
				}
				again()
				if !damaged {
					c.until("writable", func(st *memory.Status) bool { return st.ReadOnly == "" })
					_, err := service.Remember.Do(t.Context(), c, remember)
					must(t, err)
				}
				_, err = service.Stop.Do(t.Context(), c, service.None{})
				must(t, err)
				if err := c.cmd.Wait(); err != nil {
					t.Errorf("the daemon ended with %v\n%s", err, c.log)
				}
				if found, err := CheckStore(t.Context(), cfg, "test"); err != nil || (found != nil) != damaged {
					t.Errorf("the check with room again: found %v, %v", found, err)
				}
			})
		}
	}
}
