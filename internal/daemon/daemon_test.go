package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// TestServe: what is stored and indexed is found, also by the next daemon.
func TestServe(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	first := serve(t, cfg)
	lesson := first.keep(dir, "Freeze the clock before the coupon expires")
	if first.indexed(first.index(dir)).Files != 2 {
		t.Error("not both files were indexed")
	}
	expect := func(s *served) {
		t.Helper()
		if a := s.ask(dir, "freeze the clock coupon", memory.Lesson); len(a.Items) != 1 || a.Items[0].ID != lesson.ID {
			t.Errorf("the lesson is not found: %+v", a)
		}
		a := s.ask(dir, "send the customer an e-mail that confirms the order", memory.Chunk)
		if len(a.Items) != 1 || a.Items[0].Source.Path != "mail/mail.go" || a.Stale || len(a.Degraded) > 0 {
			t.Errorf("the code is not found: %+v", a)
		}
	}
	expect(first)
	st := first.until("ready", func(s *memory.Status) bool { return s.State == stateReady })
	if st.Records[memory.Lesson] != 1 || st.Records[memory.Chunk] != 2 || st.PID != os.Getpid() || len(st.Projects) != 1 || len(st.Errors) != 0 {
		t.Errorf("status %+v", st)
	}

	var stops sync.WaitGroup
	for range 4 { // at once, and one may come too late
		stops.Go(func() { _, _ = service.Stop.Do(context.Background(), first, service.None{}) })
	}
	stops.Wait()
	must(t, first.wait())
	if _, err := os.Stat(cfg.Paths().Socket); !os.IsNotExist(err) {
		t.Errorf("after the end the socket is still there: %v", err)
	}
	expect(serve(t, cfg))
}

func TestSecondDaemonIsRefused(t *testing.T) {
	s := serve(t, newConfig(t))
	err := Serve(t.Context(), Options{Config: s.cfg, Version: "second"})
	if memory.CodeOf(err) != memory.CodeConflict || !strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid())) {
		t.Errorf("a second daemon on the folder: %v, want a conflict that names process %d", err, os.Getpid())
	}
	s.keep(t.TempDir(), "The first one works on")
}

// TestRequestsWhileLoading: until the indexes are loaded, writes work and recall
// says that it is loading; a question that waits is answered while the daemon
// drains.
func TestRequestsWhileLoading(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	before := serve(t, cfg)
	before.keep(dir, "Pin the compiler before the release")
	before.end()
	must(t, before.wait())

	paths := cfg.Paths()
	lock, err := lockFolder(t.Context(), paths, "test", 0)
	must(t, err)
	log, file, err := logging.Open(logging.Options{Path: paths.Log, MaxSize: 1e6, Level: "info"})
	must(t, err)
	d := newDaemon(Options{Config: cfg, pauses: pauses{load: time.Millisecond}}, log)
	must(t, d.build(t.Context(), paths))
	must(t, d.listen(paths))
	c, err := client.Connect(t.Context(), client.Options{Socket: paths.Socket})
	must(t, err)
	s := &served{Client: c, t: t, cfg: cfg}

	kept := s.keep(dir, "Warm the cache before the load test")
	s.index(dir)
	a := s.ask(dir, "warm the cache")
	if len(a.Items) != 0 || len(a.Degraded) == 0 || a.Degraded[0].Reason != stateLoading || a.NothingRelevant {
		t.Errorf("while loading recall answers %+v", a)
	}
	if st, err := service.Status.Do(t.Context(), s, service.None{}); err != nil || st.State != stateLoading {
		t.Errorf("status while loading: %+v, %v", st, err)
	}

	short, giveUp := context.WithTimeout(t.Context(), 200*time.Millisecond)
	if r, err := d.Check(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a check does not wait for the load: %+v, %v", r, err)
	}
	giveUp()

	d.opts.pauses.load = patience
	answer := make(chan *memory.RecallResponse, 1)
	go func() { answer <- s.ask(dir, "warm the cache") }()
	for d.server.Running() == 0 { // until the question has arrived
		runtime.Gosched()
	}
	stopped := make(chan error, 1)
	go func() { stopped <- d.server.Stop(t.Context()) }()
	work, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := d.work(work); err != nil {
			t.Errorf("work: %v", err)
		}
	})
	answered := <-answer
	inFull := slices.DeleteFunc(slices.Clone(answered.Items), func(i memory.Item) bool { return i.Strength == memory.Maybe })
	if len(inFull) != 1 || inFull[0].ID != kept.ID {
		t.Errorf("a question that waited for the load while the daemon drained is answered with %+v", answered)
	}
	must(t, <-stopped)
	cancel()
	working.Wait()
	must(t, d.pool.Stop(t.Context()))
	must(t, errors.Join(d.close(), file.Close(), lock.Release()))
}

// stopAt ends a daemon when it writes a text to its log.
type stopAt struct {
	text string
	stop context.CancelFunc
}

func (w stopAt) Write(line []byte) (int, error) {
	if strings.Contains(string(line), w.text) {
		w.stop()
	}
	return len(line), nil
}

// TestStopAtAnyTime: a daemon that is stopped before, while and right after it
// loads leaves nothing running.
func TestStopAtAnyTime(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	s := serve(t, cfg)
	s.keep(dir, "Something to load")
	s.indexed(s.index(dir))
	s.end()
	must(t, s.wait())
	for _, text := range []string{"daemon started", "indexes loaded"} {
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			if err := Serve(ctx, Options{Config: cfg, Console: stopAt{text, cancel}}); err != nil {
				t.Fatalf("stopped at %q: %v", text, err)
			}
			cancel()
			stacks := make([]byte, 1<<20)
			if all := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(all, "worker.(*Pool)") || strings.Contains(all, "store.(*Store)") {
				t.Fatalf("stopped at %q, goroutines are left:\n%s", text, all)
			}
		}
	}
}

func TestCancelledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, Options{Config: newConfig(t)}); err != nil {
		t.Errorf("serve: %v", err)
	}
}

// TestDataFolderVanishes: a daemon that nobody can reach any more ends; one that
// a service manager started says so, to be started again.
func TestDataFolderVanishes(t *testing.T) {
	for _, autostarted := range []bool{true, false} {
		ticks := make(chan time.Time)
		s := serve(t, newConfig(t), func(o *Options) { o.Autostarted, o.pauses.vanish = autostarted, ticks })
		s.keep(t.TempDir(), "Something is stored")
		ticks <- time.Time{}
		ticks <- time.Time{} // the first look is over
		must(t, os.Remove(s.cfg.Paths().Socket))
		go func() { // the second look may have seen it already, and nobody take another tick
			select {
			case ticks <- time.Time{}:
			case <-t.Context().Done():
			}
		}()
		err := s.wait()
		if autostarted && err != nil || !autostarted && memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("autostarted %v: the daemon ended with %v", autostarted, err)
		}
	}
}

// TestListenerBreaks: what broke is returned, and all else comes to its end.
func TestListenerBreaks(t *testing.T) {
	cfg := newConfig(t)
	log := newLines()
	d := newDaemon(Options{Config: cfg, Console: log}, testLogger(log))
	must(t, cfg.Paths().Prepare())
	must(t, os.WriteFile(cfg.Paths().Lock, nil, 0o600))
	ended := make(chan error, 1)
	go func() { ended <- d.serve(t.Context(), cfg.Paths()) }()
	<-log.await("daemon started")
	must(t, d.socket.Close()) // as if the system had
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("the daemon ended with %v, want the listener's error", err)
		}
	case <-time.After(patience):
		t.Fatal("the daemon runs on without its listener")
	}
}

// TestStoreDoesNotLoad: a store that cannot be read ends the daemon with the
// reason.
func TestStoreDoesNotLoad(t *testing.T) {
	cfg := newConfig(t)
	must(t, cfg.Paths().Prepare())
	core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	must(t, err)
	must(t, core.Store.OpenCollection(t.Context(), "ollama/odd@wide-0000", nil))
	must(t, core.Close())
	cfg.Embedding.Ollama.Enabled, cfg.Embedding.Ollama.Model, cfg.Embedding.Ollama.URL = "auto", "odd", "http://127.0.0.1:1"
	if err := Serve(t.Context(), Options{Config: cfg}); memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("serve: %v, want %s", err, memory.CodeCorrupt)
	}
}

// TestJobSurvivesStop: a run that does not end in time is given back, waits in
// the store, and runs again by itself.
func TestJobSurvivesStop(t *testing.T) {
	testlong.Only(t)
	cfg := newConfig(t)
	const files = 3000
	dir := large(t, files)
	s := serve(t, cfg, func(o *Options) { o.pauses.drain = time.Millisecond })
	q := s.index(dir)
	s.until("indexing", func(st *memory.Status) bool {
		p := st.Projects[0].Progress
		return p != nil && p.Phase == "indexing" && p.FilesDone > 0
	})
	s.end()
	must(t, s.wait())
	if log := s.log.String(); !strings.Contains(log, "jobs in progress were given back") {
		t.Fatalf("the run was not in progress:\n%s", log)
	}
	core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	must(t, err)
	if n := core.Store.Queue().Stats().ByKind[indexJob].Waiting; n != 1 {
		t.Errorf("%d runs wait in the store, want the one that was given back", n)
	}
	must(t, core.Close())
	if got := serve(t, cfg).indexed(q).Files; got != files {
		t.Errorf("after a restart %d files are indexed, want %d", got, files)
	}
}

// TestForgetProject: a project that is forgotten while it is indexed leaves
// nothing behind.
func TestForgetProject(t *testing.T) {
	s := serve(t, newConfig(t))
	dir := large(t, 1000)
	s.keep(dir, "Something of the project")
	q := s.index(dir)
	s.until("indexing", func(st *memory.Status) bool {
		p := st.Projects[0].Progress
		return p != nil && p.FilesDone > 0
	})
	gone, err := service.Forget.Do(t.Context(), s, memory.ForgetRequest{Project: q.Project})
	must(t, err)
	st := s.until("done", func(st *memory.Status) bool { return st.Queue.Waiting+st.Queue.Running == 0 })
	if len(st.Projects) != 0 || st.Documents != 0 || len(st.Records) != 0 || st.Queue.Dead != 0 || gone.Records != 1 {
		t.Errorf("after %+v was forgotten there is %+v", gone, st)
	}
	if a := s.ask(t.TempDir(), "Something of the project"); len(a.Items) != 0 {
		t.Errorf("it is still found: %+v", a.Items)
	}
}
