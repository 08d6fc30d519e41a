package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// What a daemon in a process of its own serves, and the Ollama server that it uses,
// none if that is empty.
const (
	servedProcessEnv = "RECALLD_TEST_SERVE"
	servedOllamaEnv  = "RECALLD_TEST_SERVE_OLLAMA"
)

// TestServedProcess is no test: run as a process of its own, it serves a data
// folder until it is killed.
func TestServedProcess(t *testing.T) {
	data := os.Getenv(servedProcessEnv)
	if data == "" {
		t.Skip("runs as the child of other tests only")
	}
	cfg := config.Default()
	cfg.Data, cfg.Embedding.Ollama.Enabled = data, config.OllamaOff
	if url := os.Getenv(servedOllamaEnv); url != "" {
		useOllama(&cfg, url)
	}
	must(t, Serve(t.Context(), Options{Config: cfg, Version: "child", Console: os.Stdout, builtin: servedBuiltin(t)}))
}

// TestKilled kills a daemon while many write and a repository is indexed: what
// was acknowledged is there, the store is sound, and the run goes on by itself.
func TestKilled(t *testing.T) {
	testlong.Only(t)
	const files, writers, enough = 3000, 8, 300
	cfg := newConfig(t)
	must(t, cfg.Paths().Prepare())
	dir := large(t, 0)
	acked := map[string]bool{}
	for round := range 2 { // the second one finds what the first has left
		child := startChild(t, cfg)
		fill(t, dir, files, round) // so that there is work to do
		mu, stop := sync.Mutex{}, make(chan struct{})
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := 0; ; i++ {
					kept, err := service.Remember.Do(t.Context(), child, memory.RememberRequest{
						Lesson: fmt.Sprintf("Writer %d of process %d learns %d", w, child.cmd.Process.Pid, i), Project: dir,
					})
					if err != nil {
						return // killed: it never said that it has this one
					}
					mu.Lock()
					acked[kept.ID] = true
					if len(acked)%enough == 0 {
						select {
						case stop <- struct{}{}:
						default:
						}
					}
					mu.Unlock()
				}
			})
		}
		<-stop
		child.index(dir)
		child.until("indexing", func(st *memory.Status) bool {
			p := st.Projects[0].Progress
			return p != nil && p.FilesDone > 0
		})
		must(t, child.cmd.Process.Kill())
		_ = child.cmd.Wait() // it was killed
		writing.Wait()

		found, err := CheckStore(t.Context(), cfg, "test")
		must(t, err)
		if found != nil {
			t.Fatalf("after the kill the store is not sound: %v", found)
		}
		core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
		must(t, err)
		for id := range acked {
			if _, err := core.Store.Record(id); err != nil {
				t.Errorf("a lesson was acknowledged and is lost: %v", err)
			}
		}
		if n := core.Store.Queue().Stats().ByKind[indexJob].Waiting; n != 1 {
			t.Errorf("%d runs wait after the kill, want the interrupted one", n)
		}
		must(t, core.Close())
	}
	s := serve(t, cfg)
	st := s.until("indexed", func(st *memory.Status) bool {
		return len(st.Projects) == 1 && st.Projects[0].Progress == nil && !st.Projects[0].IndexedAt.IsZero()
	})
	if st.Projects[0].Files != files || st.Records[memory.Lesson] < len(acked) || st.Queue.Dead != 0 {
		t.Errorf("by itself %d files are indexed, want %d; %d lessons, at least %d were acknowledged", st.Projects[0].Files, files, st.Records[memory.Lesson], len(acked))
	}
	t.Logf("%d lessons acknowledged, %d found", len(acked), st.Records[memory.Lesson])
}

// child is a daemon in a process of its own.
type child struct {
	served
	cmd *exec.Cmd
}

// startChild starts one and waits until it listens.
func startChild(t *testing.T, cfg config.Config) *child {
	t.Helper()
	out := newLines()
	cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^TestServedProcess$", "-test.v")
	cmd.Env = append(os.Environ(), servedProcessEnv+"="+cfg.Data)
	if cfg.Embedding.Ollama.Enabled != config.OllamaOff {
		cmd.Env = append(cmd.Env, servedOllamaEnv+"="+cfg.Embedding.Ollama.URL)
	}
	cmd.Stdout, cmd.Stderr = out, out
	listens := out.await("daemon started")
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test ends early
	select {
	case <-listens:
	case <-time.After(patience):
		t.Fatalf("the child does not listen:\n%s", out)
	}
	c, err := client.Connect(t.Context(), client.Options{Socket: cfg.Paths().Socket})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	g, err := c.Hello(t.Context())
	must(t, err)
	if want := (service.Greeting{Protocol: service.Protocol, Version: "child", PID: cmd.Process.Pid, Data: cfg.Data}); g != want {
		t.Fatalf("who answers is %+v, want %+v", g, want)
	}
	return &child{served: served{Client: c, t: t, cfg: cfg, log: out}, cmd: cmd}
}
