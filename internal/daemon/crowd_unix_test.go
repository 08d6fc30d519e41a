//go:build unix

package daemon

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/gosource"
)

const (
	// crowdEnv is how many clients TestCrowd has, and crowdMinutesEnv for how many minutes;
	// make crowd sets them.
	crowdEnv        = "RECALLD_CROWD"
	crowdMinutesEnv = "RECALLD_CROWD_MINUTES"
)

// crowd are clients of one daemon, and what they met.
type crowd struct {
	child *child
	dir   string // of the repository

	mu                sync.Mutex // guards what follows
	recalls, remember []time.Duration
	errors            []string
	nothing           []string // answers that wrongly lack a lesson
	incomplete        int      // answers that lack it and say that the search was not complete
	samples           []crowdSample
}

// crowdSample is what the daemon used at a time.
type crowdSample struct {
	at                        time.Duration
	resident, live            int64
	files, chunks, goroutines int
}

// TestCrowd lets clients remember and ask, each some four times in five seconds, while the
// source of Go is indexed, and, once that is done, indexed again after changes in every
// file. No call may fail, and no answer may lack a lesson that its client has stored,
// unless it says that not all was searched. Times and memory are printed.
func TestCrowd(t *testing.T) {
	if os.Getenv(crowdEnv) == "" {
		t.Skipf("a long test: run make crowd, or set %s to a number of clients", crowdEnv)
	}
	clients, err := strconv.Atoi(os.Getenv(crowdEnv))
	must(t, err)
	minutes, err := strconv.ParseFloat(cmp.Or(os.Getenv(crowdMinutesEnv), "10"), 64)
	must(t, err)
	cfg := newConfig(t)
	must(t, cfg.Paths().Prepare())
	c := &crowd{child: startChild(t, cfg), dir: goSource(t)}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(minutes*float64(time.Minute)))
	defer cancel()
	var working sync.WaitGroup
	for n := range clients {
		working.Go(func() { c.client(ctx, n) })
	}
	runs := 0
	working.Go(func() { runs = c.indexAgain(ctx, t) })
	working.Go(func() { c.sample(ctx, began) })
	working.Wait()

	t.Logf("%d clients, %.1f minutes, %d runs of the index ended", clients, minutes, runs)
	for name, times := range map[string][]time.Duration{"recall": c.recalls, "remember": c.remember} {
		t.Logf("%s: %d calls, median %s, 95 %% %s, 99 %% %s, slowest %s", name, len(times), percentile(times, 50).Round(time.Millisecond),
			percentile(times, 95).Round(time.Millisecond), percentile(times, 99).Round(time.Millisecond), slices.Max(times).Round(time.Millisecond))
	}
	for _, s := range c.samples {
		t.Logf("after %4.0f s: %6.1f MB resident, %6.1f MB live, %d goroutines, %d files, %d chunks", s.at.Seconds(), mb(s.resident), mb(s.live), s.goroutines, s.files, s.chunks)
	}
	t.Logf("%d errors, %d false \"nothing\", %d answers that said they were incomplete", len(c.errors), len(c.nothing), c.incomplete)
	for _, wrong := range [][]string{c.errors, c.nothing} {
		if len(wrong) > 0 {
			t.Errorf("%d went wrong, the first: %s", len(wrong), strings.Join(wrong[:min(len(wrong), 5)], "\n"))
		}
	}
	_, err = service.Stop.Do(context.Background(), c.child, service.None{})
	must(t, err)
	must(t, c.child.cmd.Wait())
	found, err := CheckStore(context.Background(), cfg, "test")
	must(t, err)
	if found != nil {
		t.Errorf("the store is not sound: %v", found)
	}
}

func mb(n int64) float64 { return float64(n) / 1e6 }

// goSource copies the source of Go's standard library and makes a repository of it.
func goSource(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir = filepath.Join(dir, "go")
	must(t, os.CopyFS(dir, os.DirFS(gosource.Dir(t))))
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "copy the source of Go"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	return dir
}

// client stores lessons and asks for them, and for code, until ctx ends.
func (c *crowd) client(ctx context.Context, n int) {
	conn, err := client.Connect(ctx, client.Options{Socket: c.child.cfg.Paths().Socket})
	if err != nil {
		c.failed(ctx, "connect", err)
		return
	}
	defer conn.Close()
	random := rand.New(rand.NewPCG(uint64(n), 1))
	in := memory.Caller{Dir: c.dir, Client: fmt.Sprintf("client-%d", n)}
	var stored []string // ids; the n-th is asked for by its own words
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500*time.Millisecond + time.Duration(random.IntN(1000))*time.Millisecond):
		}
		began := time.Now()
		switch {
		case i%4 == 0:
			kept, err := service.Remember.Do(ctx, conn, memory.RememberRequest{
				Lesson: fmt.Sprintf("The %s relay keeps the journal of customer %s", crowdWord(n, len(stored)), crowdWord(len(stored), n)), Context: "the delivery failed", Caller: in,
			})
			if err != nil {
				c.failed(ctx, "remember", err)
				continue
			}
			stored = append(stored, kept.ID)
			c.took(&c.remember, began)
		case i%4 == 3:
			_, err := service.Recall.Do(ctx, conn, memory.RecallRequest{Query: crowdQuestions[random.IntN(len(crowdQuestions))], Caller: in})
			if err != nil {
				c.failed(ctx, "recall", err)
				continue
			}
			c.took(&c.recalls, began)
		case len(stored) > 0:
			k := random.IntN(len(stored))
			query := fmt.Sprintf("the %s relay and its journal of customer %s", crowdWord(n, k), crowdWord(k, n))
			a, err := service.Recall.Do(ctx, conn, memory.RecallRequest{Query: query, Caller: in})
			if err != nil {
				c.failed(ctx, "recall", err)
				continue
			}
			c.took(&c.recalls, began)
			c.judge(query, stored[k], a)
		}
	}
}

var crowdQuestions = []string{
	"how is a TLS handshake timed out", "parse a duration like 1h30m", "where are goroutines parked", "read a zip archive's directory",
	"which function escapes HTML in templates", "how does the garbage collector pace itself",
}

// crowdWord is a word that only one lesson has in its place.
func crowdWord(a, b int) string {
	word := ""
	for _, n := range []int{a, b} {
		for range 3 {
			word += string(rune('a'+n%19)) + string("aeiou"[n%5])
			n /= 5
		}
	}
	return word
}

// judge looks for a lesson in an answer.
func (c *crowd) judge(query, id string, a *memory.RecallResponse) {
	if slices.ContainsFunc(a.Items, func(i memory.Item) bool { return i.ID == id }) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.Incomplete {
		c.incomplete++
		return
	}
	c.nothing = append(c.nothing, fmt.Sprintf("%q lacks %s: nothing relevant: %t, degraded: %s, withheld: %+v\n%s", query, id, a.NothingRelevant, degraded(a), a.Withheld, a.Text))
}

func (c *crowd) took(times *[]time.Duration, began time.Time) {
	took := time.Since(began)
	c.mu.Lock()
	defer c.mu.Unlock()
	*times = append(*times, took)
}

// failed notes an error, unless it is the end of the test.
func (c *crowd) failed(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors = append(c.errors, what+": "+err.Error())
}

// indexAgain indexes the repository, changes all its Go files, and begins again, until ctx
// ends. It returns how many runs have ended.
func (c *crowd) indexAgain(ctx context.Context, t *testing.T) (runs int) {
	for ; ; runs++ {
		asked := time.Now().Truncate(time.Millisecond)
		if _, err := service.IndexRepo.Do(ctx, c.child, memory.IndexRequest{Path: c.dir}); err != nil {
			c.failed(ctx, "index", err)
			return runs
		}
		for done := false; !done; {
			select {
			case <-ctx.Done():
				return runs
			case <-time.After(time.Second):
			}
			st, err := service.Status.Do(ctx, c.child, service.None{})
			if err != nil {
				c.failed(ctx, "status", err)
				continue
			}
			done = slices.ContainsFunc(st.Projects, func(b memory.SandboxState) bool { return b.Progress == nil && !b.IndexedAt.Before(asked) })
		}
		t.Logf("a run of the index took %s", time.Since(asked).Round(time.Second))
		err := filepath.WalkDir(c.dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || !e.Type().IsRegular() || ctx.Err() != nil {
				return err
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(f, "\n// Changed before run %d.\n", runs+2)
			return cmp.Or(err, f.Close())
		})
		if err != nil {
			c.failed(ctx, "change the files", err)
			return runs
		}
	}
}

// sample notes every ten seconds what the daemon uses, until ctx ends.
func (c *crowd) sample(ctx context.Context, began time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Second):
		}
		st, err := service.Status.Do(ctx, c.child, service.None{})
		if err != nil {
			c.failed(ctx, "status", err)
			continue
		}
		files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.child.cmd.Process.Pid)) // none where there is no /proc
		c.mu.Lock()
		c.samples = append(c.samples, crowdSample{at: time.Since(began), resident: st.RSSBytes, live: st.LiveBytes, files: len(files), goroutines: st.Goroutines, chunks: st.Records[memory.Chunk]})
		c.mu.Unlock()
	}
}
