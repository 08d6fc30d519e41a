//go:build unix

package torture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// A Go program reads the clock without the C library, and Linux has no time namespace for
// the time of day. So the daemon of the rounds with a turned clock is built with another
// package time: the toolchain's own, whose Now adds an offset. The monotonic clock goes on as
// it does when the system's clock is set. Files have the system's times.

// The change of package time: what Now reads is turned.
const (
	readsClock  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	turnsClock  = "\tsec, nsec = turned(sec, nsec)\n"
	timeTurning = `package time

import "sync/atomic"

var turnedBy atomic.Int64

// Turn has Now add an offset.
func Turn(d Duration) { turnedBy.Store(int64(d)) }

func turned(sec int64, nsec int32) (int64, int32) {
	d := turnedBy.Load()
	sec, at := sec+d/1e9, int64(nsec)+d%1e9
	if at < 0 {
		sec, at = sec-1, at+1e9
	} else if at >= 1e9 {
		sec, at = sec+1, at-1e9
	}
	return sec, int32(at)
}
`
	mainTurning = `package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The offset is in the file that ` + turnEnv + ` names. It is read at the start and again at each
// SIGUSR2; then the time is written beside it.
func init() {
	path := os.Getenv("` + turnEnv + `")
	if path == "" {
		return
	}
	turn := func() {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		d, err := time.ParseDuration(string(text))
		if err != nil {
			panic(err)
		}
		time.Turn(d)
		now := string(text) + " " + time.Now().Format(time.RFC3339)
		if err := os.WriteFile(path+".new", []byte(now), 0o600); err != nil {
			panic(err)
		}
		if err := os.Rename(path+".new", path+".is"); err != nil {
			panic(err)
		}
	}
	turn()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	go func() {
		for range asked {
			turn()
		}
	}()
}
`
)

const turnEnv = "RECALLD_TORTURE_CLOCK"

// buildTurning builds the program whose clock can be turned, as dir/recalld.
func buildTurning(dir string) error {
	ask := func(args ...string) (string, error) {
		out, err := exec.Command("go", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	root, err := ask("env", "GOROOT")
	if err != nil {
		return fmt.Errorf("find the toolchain: %w", err)
	}
	command, err := ask("list", "-f", "{{.Dir}}", "github.com/recalld/recalld/cmd/recalld")
	if err != nil {
		return fmt.Errorf("find the command: %w", err)
	}
	source := filepath.Join(root, "src", "time", "time.go")
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), readsClock); n != 1 {
		return fmt.Errorf("%s reads the clock in %d places in the known way, want one: the toolchain has changed, and readsClock must follow it", source, n)
	}
	turned := strings.Replace(string(text), readsClock, readsClock+turnsClock, 1)
	overlay := map[string]string{}
	for at, text := range map[string]string{
		source: turned, filepath.Join(root, "src", "time", "turning.go"): timeTurning, filepath.Join(command, "turning.go"): mainTurning,
	} {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay)))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return err
		}
		overlay[at] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-overlay", filepath.Join(dir, "overlay.json"), "-o", filepath.Join(dir, "recalld"), "github.com/recalld/recalld/cmd/recalld")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build with a clock that can be turned: %w\n%s", err, out)
	}
	return nil
}

// turns are how far the clock jumps, forward or back: what people, time servers, machines that
// wake up and batteries that are empty do.
var turns = []time.Duration{
	time.Second, 10 * time.Minute, time.Hour, 13 * time.Hour, 25 * time.Hour, 8 * 24 * time.Hour, 45 * 24 * time.Hour, 400 * 24 * time.Hour,
}

// clock is the clock of a daemon that turning built.
type clock struct {
	path   string
	offset time.Duration
}

// turn sets the offset, in the file and, if there is one, in a daemon.
func (k *clock) turn(t *testing.T, c *child, to time.Duration) {
	t.Helper()
	k.offset = to
	next := k.path + ".next"
	if err := os.WriteFile(next, []byte(to.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, k.path); err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return
	}
	if err := c.signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); !k.isTurned(t) && !c.isOver(); {
		if time.Since(began) > patience {
			t.Fatalf("the clock does not turn by %v:\n%s", to, c.log)
		}
		select { // no system tells when a file changes
		case <-c.ended:
		case <-time.After(time.Millisecond):
		}
	}
}

// isTurned reports whether the daemon's clock has the offset.
func (k *clock) isTurned(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile(k.path + ".is")
	if err != nil {
		return false
	}
	offset, text2, _ := strings.Cut(string(text), " ")
	now, err := time.Parse(time.RFC3339, text2)
	if err != nil {
		t.Fatalf("the daemon's time: %v", err)
	}
	if offset != k.offset.String() {
		return false
	}
	if d := time.Until(now) - k.offset; d < -patience || d > time.Minute {
		t.Fatalf("turned by %v, the daemon's clock says %v", k.offset, now)
	}
	return true
}

// by chooses a jump.
func by(random *rand.Rand) time.Duration {
	d := turns[random.IntN(len(turns))]
	if random.IntN(2) == 0 {
		d = -d
	}
	return d
}

// turnedClock lets the clock jump while clients write, and kills the daemon. What the daemon
// keeps by the clock may be gone: receipts, and backups but for the newest.
func (w *world) turnedClock(program string) []string {
	ordinary := w.home.program
	w.home.program = program
	defer func() { w.home.program = ordinary }()
	k := &clock{path: filepath.Join(w.home.dir, "clock")}
	_ = os.Remove(k.path + ".is") // of the round before
	k.turn(w.t, nil, time.Duration(w.random.IntN(2))*by(w.random))
	c := w.start("", turnEnv+"="+k.path)
	if !k.isTurned(w.t) {
		w.t.Fatal("the program was not built with a clock that can be turned")
	}
	l := w.begin(c)
	indexed := func() {}
	if w.random.IntN(3) == 0 { // it waits for clients, and so takes long
		indexed = l.indexAcross(w)
	}
	for range 2 + w.random.IntN(4) {
		l.more(1 + w.random.IntN(100))
		k.turn(w.t, c, k.offset+by(w.random))
	}
	indexed()
	if w.random.IntN(3) == 0 { // it waits for clients, too
		w.turnedBackup(l)
	}
	l.more(w.random.IntN(500))
	if c.isOver() {
		w.t.Errorf("the daemon ended by itself:\n%s", c.log)
	}
	c.kill()
	l.end()
	w.o.expired()
	return l.wrong
}

// indexAcross asks for the repository to be indexed and waits, while the clock jumps; the
// answer must be that it is.
func (l *load) indexAcross(w *world) (wait func()) {
	path := filepath.Join(l.repo, "turned.go")
	w.must(os.WriteFile(path, fmt.Appendf(nil, "package repo\n\nfunc Turned() int { return %d }\n", w.random.Uint32()), 0o600))
	done := make(chan error, 1)
	ctx, cancel := l.ctx()
	go func() {
		_, err := service.IndexRepo.Do(ctx, l.c, memory.IndexRequest{Path: l.repo, Wait: true})
		done <- err
	}()
	return func() {
		defer cancel()
		if err := <-done; err != nil && !l.c.isOver() {
			l.answered("indexing while the clock jumps: %v", err)
		}
	}
}

// turnedBackup makes a backup, unless one is being made: it must be the newest, and whole.
func (w *world) turnedBackup(l *load) {
	ctx, cancel := l.ctx()
	defer cancel()
	b, err := service.Backup.Do(ctx, l.c, memory.BackupRequest{}, nil)
	if memory.CodeOf(err) == memory.CodeConflict || l.c.isOver() {
		return
	}
	if err != nil {
		l.answered("a backup after the clock jumped: %v", err)
		return
	}
	w.o.backedUp(b.Name)
	newest, err := backup.Find(filepath.Join(w.home.data, "backups"), "", "")
	if err != nil || newest.Seq < b.Seq { // another client may have made a newer one
		l.answered("after the backup %s (update %d) the newest is %+v, %v", b.Name, b.Seq, newest, err)
	}
}
