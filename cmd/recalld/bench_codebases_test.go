package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// codeBases are the folders that RECALLD_BENCH_REPOS names, in the manner of
// PATH, or else those given.
func codeBases(b *testing.B, otherwise ...string) []string {
	b.Helper()
	if list := os.Getenv("RECALLD_BENCH_REPOS"); list != "" {
		return filepath.SplitList(list)
	}
	return otherwise
}

// BenchmarkCodeBases lives through a day with each git repository that
// RECALLD_BENCH_REPOS names, in a separate clone: the first run over it, one
// without changes, saved files, a second worktree, a switch to another commit.
// The daemon is a separate process with default settings, but
// for Ollama.
func BenchmarkCodeBases(b *testing.B) {
	bases := codeBases(b)
	if len(bases) == 0 {
		b.Skip("set RECALLD_BENCH_REPOS to folders of git repositories, or use make bench-code REPOS=dir:dir")
	}
	for _, base := range bases {
		b.Run(filepath.Base(base), func(b *testing.B) {
			c := newCodeBase(b, base)
			b.Run("index", c.first)
			b.Run("again", c.again)
			b.Run("save", c.save)
			b.Run("worktree", c.worktree)
			b.Run("switch", c.switched)
		})
	}
}

// codeBase is a clone of a repository, and a daemon for it.
type codeBase struct {
	*benchDaemon
	root string
	// box is the state of the clone after its first run; it is known once there
	// was one.
	box memory.SandboxState
	// disk is what the data folder took then.
	disk int64
}

func newCodeBase(b *testing.B, origin string) *codeBase {
	b.Helper()
	origin, err := filepath.Abs(origin)
	if err != nil {
		b.Fatal(err)
	}
	c := &codeBase{root: filepath.Join(b.TempDir(), filepath.Base(origin))}
	// What the origin has checked out, without the remote that would make the
	// clone another project's.
	git(b, "", "clone", "--quiet", "--no-checkout", origin, c.root)
	git(b, c.root, "checkout", "--quiet", "--detach", git(b, origin, "rev-parse", "HEAD"))
	c.benchDaemon = newDaemon(b)
	return c
}

// git runs git in a folder and returns what it printed.
func git(b *testing.B, dir string, args ...string) string {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// first measures a run of which nothing is known. Peak is the largest memory
// that the daemon ever had, resting what it has after some rest.
func (c *codeBase) first(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c.stop(b)
		if err := os.RemoveAll(c.data); err != nil {
			b.Fatal(err)
		}
		c.start(b)
		b.StartTimer()
		began := time.Now()
		c.box = c.bring(b, c.root)
		took := time.Since(began)
		cpu := c.cpu()
		b.StopTimer()
		b.ReportMetric(float64(c.box.Files)/took.Seconds(), "files/s")
		b.ReportMetric(megabytes(c.box.Bytes)/took.Seconds(), "MB/s")
		b.ReportMetric(float64(c.box.Files), "files")
		b.ReportMetric(float64(c.box.Chunks), "chunks")
		b.ReportMetric(megabytes(c.box.Bytes), "MB-source")
		b.ReportMetric(cpu.Seconds(), "cpu-s")
		b.ReportMetric(megabytes(c.box.Bytes)/cpu.Seconds(), "MB/cpu-s")
		b.ReportMetric(megabytes(c.memory(b, "VmHWM")), "MB-peak")
		<-time.After(rest)
		b.ReportMetric(megabytes(c.memory(b, "VmRSS")), "MB-resting")
		// The rest of it is of files, which the system takes back when it needs to.
		b.ReportMetric(megabytes(c.memory(b, "RssAnon")), "MB-own")
		// A stopped daemon has written everything to its files.
		c.stop(b)
		c.disk = diskUsage(b, c.data)
		b.ReportMetric(float64(c.disk)/float64(c.box.Bytes), "MB-disk/MB")
		c.startLoaded(b)
		b.StartTimer()
	}
}

// rest is how long a daemon may rest before its memory is looked at: garbage
// goes back to the system in the background.
const rest = 10 * time.Second

// startLoaded starts the daemon and waits until it has loaded its indexes and
// looked at the clone, which it does at every start.
func (c *codeBase) startLoaded(b *testing.B) {
	b.Helper()
	c.start(b)
	c.bring(b, c.root)
	for tick := time.Tick(5 * time.Millisecond); ; <-tick {
		if status := c.status(b); status.State == "ready" && status.Queue.Waiting+status.Queue.Running == 0 {
			return
		}
	}
}

// ready makes sure that there was a first run.
func (c *codeBase) ready(b *testing.B) {
	b.Helper()
	if c.box.ID == "" {
		c.box = c.bring(b, c.root)
	}
}

// again measures a run over everything when nothing has changed.
func (c *codeBase) again(b *testing.B) {
	c.ready(b)
	var took []time.Duration
	cpu := c.cpu()
	for b.Loop() {
		began := time.Now()
		c.bring(b, c.root)
		took = append(took, time.Since(began))
	}
	b.ReportMetric(median(took).Seconds(), "p50-s")
	b.ReportMetric((c.cpu()-cpu).Seconds()/float64(len(took)), "cpu-s")
}

// save measures from the moment a file is written until recall shows what is new
// in it: the watcher finds it without a request to the daemon.
func (c *codeBase) save(b *testing.B) {
	c.ready(b)
	var took []time.Duration
	for b.Loop() {
		// A name that no file holds yet, in a file that may exist already.
		name := fmt.Sprintf("quokka%d", time.Now().UnixNano())
		path := filepath.Join(c.root, "saved.py")
		text := fmt.Sprintf("def %s(basket):\n    \"\"\"Weighs the basket of %s.\"\"\"\n    return len(basket)\n", name, name)
		began := time.Now()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		c.awaitRecall(b, name, began)
		took = append(took, time.Since(began))
	}
	b.ReportMetric(median(took).Seconds()*1e3, "p50-ms")
	b.ReportMetric(slices.Max(took).Seconds()*1e3, "max-ms")
}

// awaitRecall asks for a word until an answer shows it.
func (c *codeBase) awaitRecall(b *testing.B, word string, began time.Time) {
	b.Helper()
	for tick := time.Tick(10 * time.Millisecond); ; <-tick {
		answer := c.recall(b, memory.RecallRequest{Query: word, Kinds: []memory.Kind{memory.Chunk}, Caller: memory.Caller{Dir: c.root}})
		for _, item := range answer.Items {
			if strings.Contains(item.Text, word) {
				return
			}
		}
		if time.Since(began) > longWait {
			b.Fatalf("%s was written and is not found after %v", word, longWait)
		}
	}
}

// longWait is how long a benchmark waits for what should take a second.
const longWait = 5 * time.Minute

// worktree measures from git worktree add until the second worktree is indexed,
// git's own part shown beside it, and what it adds to the data folder.
func (c *codeBase) worktree(b *testing.B) {
	c.ready(b)
	n := 0
	for b.Loop() {
		n++
		dir := filepath.Join(filepath.Dir(c.root), "worktree"+strconv.Itoa(n))
		cpu, began := c.cpu(), time.Now()
		git(b, c.root, "worktree", "add", "--quiet", "--detach", dir, "HEAD")
		checkedOut := time.Since(began)
		c.bring(b, dir)
		b.ReportMetric(time.Since(began).Seconds(), "s")
		b.ReportMetric(checkedOut.Seconds(), "git-s")
		b.ReportMetric((c.cpu() - cpu).Seconds(), "cpu-s")
		b.StopTimer()
		if c.disk > 0 {
			c.stop(b)
			b.ReportMetric(100*float64(diskUsage(b, c.data)-c.disk)/float64(c.disk), "%-disk")
			c.startLoaded(b)
		}
		git(b, c.root, "worktree", "remove", "--force", dir)
		b.StartTimer()
	}
}

// switchFiles is by how many files the commit differs to which is switched.
const switchFiles = 200

// switched measures from the end of git checkout until the index has followed.
func (c *codeBase) switched(b *testing.B) {
	c.ready(b)
	here := git(b, c.root, "rev-parse", "HEAD")
	there, differ := c.earlier(b)
	var took []time.Duration
	cpu := c.cpu()
	for b.Loop() {
		git(b, c.root, "checkout", "--quiet", "--detach", there)
		began := time.Now()
		c.bring(b, c.root)
		took = append(took, time.Since(began))
		here, there = there, here
	}
	b.ReportMetric(float64(differ), "files")
	b.ReportMetric(median(took).Seconds(), "p50-s")
	b.ReportMetric((c.cpu()-cpu).Seconds()/float64(len(took)), "cpu-s")
}

// earlier finds the first commit of 1, 2, 4 and so on before this one that
// differs from it by at least switchFiles files, or else the oldest of them.
func (c *codeBase) earlier(b *testing.B) (commit string, files int) {
	b.Helper()
	history := strings.Fields(git(b, c.root, "rev-list", "--first-parent", "--max-count", "4096", "HEAD"))
	for n := 1; n < len(history); n *= 2 {
		commit = history[n]
		files = len(strings.Fields(git(b, c.root, "diff", "--name-only", commit, "HEAD")))
		if files >= switchFiles {
			break
		}
	}
	if commit == "" {
		b.Skip("the repository has one commit only: clone it with its history")
	}
	return commit, files
}

// bring asks for a folder to be indexed and returns its state when that is done.
func (d *benchDaemon) bring(b *testing.B, root string) memory.SandboxState {
	b.Helper()
	asked := time.Now().UTC()
	queued, err := service.IndexRepo.Do(b.Context(), d.client, memory.IndexRequest{Path: root})
	if err != nil {
		b.Fatal(err)
	}
	for tick := time.Tick(5 * time.Millisecond); ; <-tick {
		list, err := service.Repos.Do(b.Context(), d.client, service.None{})
		if err != nil {
			b.Fatal(err)
		}
		repos := list.Repos
		i := slices.IndexFunc(repos, func(s memory.SandboxState) bool { return s.ID == queued.Sandbox })
		switch {
		case i < 0:
			b.Fatalf("%s is not among the repositories", root)
		case repos[i].LastErrorAt.After(asked):
			b.Fatalf("index %s: %s", root, repos[i].LastError)
		case repos[i].IndexedAt.After(asked) && repos[i].Progress == nil:
			return repos[i]
		case time.Since(asked) > longWait:
			b.Fatalf("%s is not indexed after %v: %+v", root, longWait, repos[i])
		}
	}
}

// memory is a figure of /proc/PID/status in bytes (proc_pid_status(5)); 0 where
// the system has none.
func (d *benchDaemon) memory(b *testing.B, field string) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(field+":")); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(string(bytes.TrimSpace(rest)), " kB"), 10, 64)
			if err != nil {
				b.Fatalf("read %s: %v", field, err)
			}
			return n << 10
		}
	}
	return 0
}
