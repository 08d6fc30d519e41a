package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/powerdisk"
)

// smallMedia are disks that can be filled, made read-only or slow.
func smallMedia() []medium {
	return []medium{
		{name: "a disk of 400 MB (ext4)", mount: mountImage, usage: mixed, faults: append(everywhere(),
			fault{"the disk is full, then killed", (*world).fullDisk},
			fault{"the disk is read-only", (*world).readOnlyDisk},
		)},
		{name: "a disk of its own (FUSE)", mount: mountDisk, usage: mixed, faults: []fault{
			{"each write and sync takes 5 ms, then killed", (*world).slowDisk},
			{"syncs fail", (*world).failingSyncs},
		}},
	}
}

// mountImage mounts a small file system of its own.
func mountImage(_ *testing.T, _ *world) (string, func(), error) {
	const size = 400 << 20
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		return "", nil, err
	}
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "m")
	err = errors.Join(os.Mkdir(at, 0o700), os.WriteFile(image, nil, 0o600), os.Truncate(image, size))
	for _, args := range [][]string{{"mkfs.ext4", "-q", "-m", "0", image}, {"mount", "-o", "loop", image, at}} {
		if err != nil {
			break
		}
		var out []byte
		if out, err = exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			err = fmt.Errorf("root, loop devices and mkfs.ext4 are needed: %s: %w %s", args[0], err, out)
		}
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return at, func() {
		// A process that was killed a moment ago may still hold it.
		_ = exec.Command("umount", "-l", at).Run()
		_ = os.RemoveAll(dir)
	}, nil
}

// mountDisk mounts a disk of package powerdisk, which w keeps.
func mountDisk(_ *testing.T, w *world) (string, func(), error) {
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		return "", nil, err
	}
	disk, err := powerdisk.Mount(dir)
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("root and /dev/fuse are needed: %w", err), os.RemoveAll(dir))
	}
	w.disk = disk
	return dir, func() {
		if disk.Close() != nil {
			_ = exec.Command("umount", "-l", dir).Run()
		}
		_ = os.RemoveAll(dir)
	}, nil
}

// ballast fills a disk from outside until nothing more goes in.
func (w *world) ballast() (drop func()) {
	path := filepath.Join(filepath.Dir(w.home.data), "ballast")
	f, err := os.Create(path)
	w.must(err)
	for part, size := 64<<20, int64(0); part >= 512; {
		n, err := f.Write(make([]byte, part))
		if err != nil {
			w.must(f.Truncate(size))
			_, err = f.Seek(size, 0)
			w.must(err)
			part /= 2
			continue
		}
		size += int64(n)
	}
	_ = f.Sync() // the disk is full
	w.must(f.Close())
	return func() { w.must(os.Remove(path)) }
}

// fullDisk fills the disk under load: writes are refused, and taken again when there is room.
// Half of the daemons are killed while it is full, and start there.
func (w *world) fullDisk() []string {
	c := w.start("")
	l := w.begin(c)
	l.more(w.some())
	drop := w.ballast()
	before := l.refusals(memory.CodeReadOnly)
	l.until("a write is refused", func() bool { return l.refusals(memory.CodeReadOnly) > before })
	if w.random.IntN(2) == 0 {
		c.kill()
		l.end()
		c = w.start("")
		asker := begin(w.t, c, w.o, w.repo, w.files, usage{}, 0)
		asker.ready()
		if _, err := service.Recall.Do(w.t.Context(), c, memory.RecallRequest{Query: "valves", Project: w.repo}); err != nil {
			w.t.Errorf("a daemon on a full disk does not answer: %v\n%s", err, c.log)
		}
		drop()
	} else {
		drop()
		l.more(w.some())
		if c.isOver() {
			w.t.Errorf("the daemon ended when the disk was full:\n%s", c.log)
		}
	}
	c.kill()
	l.end()
	return l.wrong
}

func (w *world) remount(how string) {
	w.t.Helper()
	at := filepath.Dir(w.home.data)
	if out, err := exec.Command("mount", "-o", "remount,"+how, at).CombinedOutput(); err != nil {
		w.t.Fatalf("remount %s: %v %s", how, err, out)
	}
}

// readOnlyDisk starts a daemon on a disk that cannot be written. It refuses writes and answers,
// and takes writes as soon as the disk does.
func (w *world) readOnlyDisk() []string {
	if w.rounds == 1 {
		w.start("").stop(w.t) // so that there is a data folder
	}
	w.remount("ro")
	c := w.start("")
	l := w.begin(c)
	l.until("a write is refused", func() bool { return l.refusals(memory.CodeReadOnly) > 0 })
	if c.isOver() {
		w.t.Errorf("the daemon ended on a read-only disk:\n%s", c.log)
	}
	w.remount("rw")
	l.more(w.some())
	c.kill()
	l.end()
	return l.wrong
}

func (w *world) slowDisk() []string {
	disk := w.disk.(*powerdisk.Disk)
	defer disk.Slow(0)
	return w.killed("", func(c *child, l *load) {
		disk.Slow(5 * time.Millisecond)
		l.more(50)
		disk.Slow(0)
	})
}

// failingSyncs makes syncs fail: the daemon takes nothing more and ends by itself.
func (w *world) failingSyncs() []string {
	disk := w.disk.(*powerdisk.Disk)
	defer disk.FailSyncs(false)
	c := w.start("")
	l := w.begin(c)
	l.more(w.some())
	disk.FailSyncs(true)
	select {
	case <-c.ended:
	case <-time.After(patience):
		w.t.Errorf("the daemon goes on although syncs fail:\n%s", c.log)
	}
	c.kill()
	l.end()
	if !strings.Contains(c.log.String(), "input/output error") {
		w.t.Errorf("the log does not say why the daemon ended:\n%s", c.log)
	}
	return l.wrong
}

// limitWatches is a shell's command that runs serve with so many watches and connections to
// the system's events: a user namespace has limits of its own.
func limitWatches(watches, connections int) string {
	return fmt.Sprintf("exec unshare --user --map-root-user /bin/sh -c 'echo %d >/proc/sys/user/max_inotify_watches && "+
		"echo %d >/proc/sys/user/max_inotify_instances && exec \"$0\" serve' \"$0\"", watches, connections)
}

// fewWatches is the fault of few watches, if this machine can limit them.
func fewWatches(t *testing.T) []fault {
	t.Helper()
	limit := exec.Command("/bin/sh", "-c", limitWatches(1, 1), "/bin/true") // which ignores its arguments
	if out, err := limit.CombinedOutput(); err != nil {
		t.Logf("left out: few watches: user namespaces and unshare are needed: %v %s", err, out)
		return nil
	}
	return []fault{{"few watches of files, then killed", (*world).fewWatches}}
}

// fewWatches lets the daemon watch fewer folders than the repository has. It looks for changes
// from time to time, finds them, and says so.
func (w *world) fewWatches() []string {
	for i := range 20 {
		dir := filepath.Join(w.repo, fmt.Sprintf("folder%d", i))
		w.must(os.MkdirAll(dir, 0o700))
		w.must(os.WriteFile(filepath.Join(dir, "first.go"), []byte("package folder\n"), 0o600))
	}
	watches, connections := w.random.IntN(8), w.random.IntN(3)
	return w.killed(limitWatches(watches, connections), func(c *child, l *load) {
		ctx, cancel := l.ctx()
		defer cancel()
		if _, err := service.IndexRepo.Do(ctx, c, memory.IndexRequest{Path: w.repo, Wait: true}); err != nil {
			l.answered("indexing with %d watches: %v", watches, err)
			return
		}
		l.until("changes are noticed without watches", func() bool { return strings.HasPrefix(w.watched(c), "polling: ") })
		out, err := w.home.command("doctor").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "polling: ") {
			l.answered("doctor does not say that changes are noticed by polling: %v\n%s", err, out)
		}
		for range 3 {
			name := fmt.Sprintf("unasked%d.go", w.random.Uint32())
			w.must(os.WriteFile(filepath.Join(w.repo, fmt.Sprintf("folder%d", w.random.IntN(20)), name), []byte("package folder\n\nfunc unasked() {}\n"), 0o600))
			l.until("a change is indexed that nobody asked for", func() bool {
				found, err := service.Files.Do(context.Background(), c, memory.FilesRequest{Pattern: name, Project: w.repo})
				return err == nil && len(found.Files) > 0
			})
		}
	})
}

// watched is how changes of the repository are noticed.
func (w *world) watched(c *child) string {
	list, err := service.Repos.Do(context.Background(), c, service.None{})
	if err != nil {
		return ""
	}
	for _, r := range list.Repos {
		if r.Root == w.repo {
			return r.Watch
		}
	}
	return ""
}

// resident is what a process has in memory, in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
