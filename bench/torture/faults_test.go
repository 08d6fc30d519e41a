//go:build unix

package torture

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/ollama/ollamatest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// fault is something that happens to a daemon while clients use it. strike starts the daemon,
// ends it, and returns the answers that were wrong.
type fault struct {
	name   string
	strike func(w *world) (wrong []string)
}

// everywhere are the faults of every medium.
func everywhere() []fault {
	return []fault{
		{"killed (SIGKILL)", func(w *world) []string { return w.killed("", nil) }},
		{"killed at once when it starts", (*world).killedAtStart},
	}
}

// faults are those of an ordinary disk.
func faults(t *testing.T) []fault {
	return append(append(everywhere(), fewWatches(t)...),
		fault{"frozen and thawed (SIGSTOP, SIGCONT), then killed", func(w *world) []string {
			return w.killed("", func(c *child, _ *load) {
				for range 3 {
					w.must(c.signal(syscall.SIGSTOP))
					w.must(c.signal(syscall.SIGCONT))
				}
			})
		}},
		fault{"killed during a backup", (*world).killedInBackup},
		fault{"asked to end under load (SIGTERM)", (*world).terminated},
		fault{"slow and half-closed clients, then killed", (*world).slowClients},
		fault{"few open files (ulimit -n), then killed", func(w *world) []string {
			return w.killed(fmt.Sprintf("ulimit -n %d", 48+w.random.IntN(80)), nil)
		}},
		fault{"little memory (ulimit -v)", (*world).littleMemory},
		fault{"Ollama comes and goes, then killed", (*world).flappingOllama},
		fault{"a flipped or torn byte while stopped", (*world).damaged},
	)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// killed kills a daemon under load at a random moment, after meanwhile.
func (w *world) killed(limits string, meanwhile func(*child, *load), env ...string) []string {
	c, err := w.home.start(w.t, limits, env...)
	if err != nil {
		if limits == "" || !strings.Contains(err.Error(), "open files") {
			w.t.Fatal(err)
		}
		return nil // it says which limit kept it from starting
	}
	l := w.begin(c)
	if meanwhile != nil {
		l.more(1 + w.some()/2)
		meanwhile(c, l)
	}
	l.more(w.some())
	select { // an acknowledgement is no random moment
	case <-c.ended:
		w.t.Errorf("the daemon ended by itself:\n%s", c.log)
	case <-time.After(time.Duration(w.random.IntN(300)) * time.Millisecond):
	}
	c.kill()
	l.end()
	return l.wrong
}

// killedAtStart kills a daemon as soon as it answers, while it loads its indexes.
func (w *world) killedAtStart() []string {
	c := w.start("")
	l := begin(w.t, c, w.o, w.repo, w.files, w.medium.usage.with(2), w.random.Uint64())
	c.kill()
	l.end()
	return l.wrong
}

func (w *world) terminated() []string {
	c := w.start("")
	l := w.begin(c)
	l.more(w.some())
	w.must(c.signal(syscall.SIGTERM))
	<-c.ended
	l.end()
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		w.t.Errorf("asked to end, the daemon ends with %d:\n%s", code, c.log)
	}
	return l.wrong
}

func (w *world) killedInBackup() []string {
	c := w.start("")
	l := w.begin(c)
	l.more(w.some())
	begun, once := make(chan struct{}), sync.Once{}
	var asking sync.WaitGroup
	asking.Go(func() {
		b, err := service.Backup.Do(context.Background(), c, memory.BackupRequest{}, func(memory.BackupProgress) { once.Do(func() { close(begun) }) })
		if err == nil {
			w.o.backedUp(b.Name)
		}
		once.Do(func() { close(begun) }) // it had no progress to tell
	})
	<-begun
	c.kill()
	asking.Wait()
	l.end()
	return l.wrong
}

// slowConnections is how many connections slow clients open: as many as this process may have,
// to 4,000. Of so many the daemon closes the oldest.
func slowConnections(t *testing.T) int {
	t.Helper()
	const most, others = 4000, 200
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	return max(1, int(min(most+others, files.Cur))-others) // Go has raised it as far as it goes
}

// maxSlow bounds what the daemon takes for slow clients and the writes beside them.
const maxSlow = 100 << 20

// slowClients opens connections that send half a request or close half of themselves, and
// keeps them: the others are served, and the daemon takes little memory for it.
func (w *world) slowClients() []string {
	connections := slowConnections(w.t)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	return w.killed("", func(c *child, l *load) {
		had, began := resident(w.t, c.cmd.Process.Pid), time.Now()
		for i := range connections {
			conn, err := net.Dial("unix", w.home.socket())
			if err != nil {
				w.t.Errorf("connection %d is refused: %v", i, err)
				return
			}
			open = append(open, conn)
			text := []string{
				"POST /v1/remember HTTP/1.1\r\nHost: rec",
				"POST /v1/remember HTTP/1.1\r\nHost: recalld\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{\"lesson\": \"half",
				"GET /v1/status HTTP/1.1\r\nHost: recalld\r\n\r\n",
				"",
			}[w.random.IntN(4)]
			_, err = conn.Write([]byte(text))
			if err == nil && w.random.IntN(2) == 0 {
				err = conn.(*net.UnixConn).CloseWrite()
			}
			if err != nil {
				w.t.Errorf("connection %d: %v", i, err)
			}
		}
		opened, before := time.Since(began), w.o.writes()
		began = time.Now()
		l.more(100)
		if w.o.writes() < before+100 {
			w.t.Errorf("beside %d slow clients nothing is written", connections)
			return
		}
		grew := resident(w.t, c.cmd.Process.Pid) - had
		w.t.Logf("%d slow clients came in %v; beside them 100 writes took %v, and the daemon grew by %d MB",
			connections, opened.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), grew>>20)
		if grew > maxSlow {
			w.t.Errorf("beside %d slow clients the daemon grew by %d bytes, more than %d", connections, grew, maxSlow)
		}
	})
}

// littleMemory lets the daemon have so little address space that it may end at any time, as
// Go programs do.
func (w *world) littleMemory() []string {
	c, err := w.home.start(w.t, fmt.Sprintf("ulimit -v %d", 1_400_000+w.random.IntN(1_200_000)))
	if err != nil { // it did not start
		return nil
	}
	l := w.begin(c)
	l.more(w.some())
	c.kill()
	l.end()
	return l.wrong
}

// flappingOllama runs beside a server of models that fails, hangs up and is well by turns.
func (w *world) flappingOllama() []string {
	fake, down := ollamatest.NewFake(), atomic.Bool{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		fake.ServeHTTP(rw, r)
	}))
	defer server.Close()
	return w.killed("", func(c *child, l *load) {
		for i := range 6 {
			down.Store(i%2 == 0)
			fake.Fail(ollamatest.Dropped(), ollamatest.Busy(), ollamatest.RunnerKilled())
			l.more(20)
		}
		down.Store(false)
	}, "RECALLD_EMBEDDING_OLLAMA_ENABLED=on", "RECALLD_EMBEDDING_OLLAMA_URL="+server.URL, "RECALLD_EMBEDDING_OLLAMA_MODEL="+ollamatest.Model)
}

// damaged changes one file of a copy of the data. Doctor says so, or the damage did no harm:
// what is known is there.
func (w *world) damaged() (wrong []string) {
	dir, err := os.MkdirTemp("", "torture")
	w.must(err)
	defer os.RemoveAll(dir)
	for n := range 3 {
		data := filepath.Join(dir, fmt.Sprint(n), "d")
		if w.rounds == 1 {
			return nil // nothing is stored yet
		}
		w.must(os.MkdirAll(filepath.Dir(data), 0o700))
		w.must(os.CopyFS(data, os.DirFS(w.home.data)))
		what := w.spoil(filepath.Join(data, "store"))
		h := newHome(w.home.program, filepath.Dir(data), data)
		out, err := h.command("doctor").CombinedOutput()
		if err != nil {
			if !strings.Contains(string(out), "damage") && !strings.Contains(string(out), "lost") && !strings.Contains(string(out), "missing") {
				wrong = append(wrong, fmt.Sprintf("%s: doctor fails without saying that something is damaged: %s", what, out))
			}
			continue
		}
		if v := examine(w.t, filepath.Join(data, "store"), w.o); v.wrong() {
			wrong = append(wrong, fmt.Sprintf("%s: doctor finds nothing, and %s", what, strings.Join(v.tell, "; ")))
		}
	}
	return wrong
}

// spoil flips a bit, or writes zeros over or cuts off the end of one file.
func (w *world) spoil(dir string) (what string) {
	var names []string
	w.must(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil && info.Size() > 0 {
				names = append(names, path)
			}
		}
		return err
	}))
	name := names[w.random.IntN(len(names))]
	b, err := os.ReadFile(name)
	w.must(err)
	end := len(b)
	for end > 1 && b[end-1] == 0 { // a log has room at its end
		end--
	}
	at := w.random.IntN(end)
	switch w.random.IntN(3) {
	case 0:
		b[at] ^= 1 << w.random.IntN(8)
		what = fmt.Sprintf("a bit of byte %d of %d of %s", at, len(b), filepath.Base(name))
	case 1:
		clear(b[at/512*512 : min(len(b), at/512*512+512)])
		what = fmt.Sprintf("zeros in the sector of byte %d of %d of %s", at, len(b), filepath.Base(name))
	default:
		b = b[:at]
		what = fmt.Sprintf("%s cut at byte %d", filepath.Base(name), at)
	}
	w.must(os.WriteFile(name, b, 0o600))
	return what
}

// turnedClockName is the only fault that needs another build of the program, which takes minutes.
const turnedClockName = "the clock jumps, then killed"

// media are the disks that this machine can have. TestTorture says which it cannot. A short
// run has no fault that needs another build, unless it is named.
func media(t *testing.T, short bool) []medium {
	t.Helper()
	only := os.Getenv(faultEnv)
	ordinary := func(*testing.T, *world) (string, func(), error) {
		dir, err := os.MkdirTemp("", "torture")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	all := []medium{{name: "an ordinary disk", mount: ordinary, usage: mixed, faults: faults(t)}}
	if !short || only != "" && strings.Contains(turnedClockName, only) {
		dir := t.TempDir()
		program := sync.OnceValues(func() (string, error) { return filepath.Join(dir, "recalld"), buildTurning(dir) })
		all[0].faults = append(all[0].faults, fault{turnedClockName, func(w *world) []string {
			path, err := program()
			w.must(err)
			return w.turnedClock(path)
		}})
	}
	if runtime.GOOS == "linux" {
		all = append(all, smallMedia()...)
	}
	all = append(all, medium{name: "an ordinary disk, with much written", mount: ordinary, usage: bulk, faults: []fault{
		{"killed under 64 writers and imports (SIGKILL)", func(w *world) []string { return w.killed("", nil) }},
	}})
	if only != "" {
		for i := range all {
			all[i].faults = slices.DeleteFunc(all[i].faults, func(f fault) bool { return !strings.Contains(f.name, only) })
		}
		all = slices.DeleteFunc(all, func(m medium) bool { return len(m.faults) == 0 })
		if len(all) == 0 {
			t.Fatalf("%s=%q is part of no fault's name", faultEnv, only)
		}
	}
	return all
}
