package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/gosource"
)

// BenchmarkIndexGoTree indexes Go's own source tree into an empty data folder
// and reports what that took of time, processor, memory and disk. One operation
// is the whole tree.
func BenchmarkIndexGoTree(b *testing.B) {
	tree := gosource.Dir(b)
	for b.Loop() {
		d := newDaemon(b)
		start := time.Now()
		box := d.index(b, tree)
		took := time.Since(start)
		status := d.status(b)
		b.ReportMetric(float64(box.Files)/took.Seconds(), "files/s")
		b.ReportMetric(float64(box.Files), "files")
		b.ReportMetric(float64(box.Chunks), "chunks")
		b.ReportMetric(megabytes(box.Bytes), "MB-indexed")
		b.ReportMetric(d.cpu().Seconds(), "cpu-s")
		b.ReportMetric(megabytes(status.RSSBytes), "MB-resident")
		d.stop(b)
		b.ReportMetric(megabytes(diskUsage(b, d.data)), "MB-disk")
	}
}

// Benchmark100k asks a daemon that holds some 100,000 chunks, over its socket,
// as the command line does.
func Benchmark100k(b *testing.B) {
	tree := makeTree(b)
	asked := questions(b, 200)
	b.Setenv("RECALLD_INDEX_MAX_FILES", "1000000")
	d := newDaemon(b)
	began := time.Now()
	box := d.index(b, tree)
	b.Logf("%d files indexed in %.0f s, %.0f s of the processor; memory at its peak %.0f MB, own %.0f MB",
		box.Files, time.Since(began).Seconds(), d.cpu().Seconds(), megabytes(d.memory(b, "VmHWM")), megabytes(d.memory(b, "RssAnon")))
	d.stop(b)
	b.Logf("%.0f MB on disk", megabytes(diskUsage(b, d.data)))
	ask := func(i int) memory.RecallRequest {
		return memory.RecallRequest{Query: asked[i%len(asked)], Caller: memory.Caller{Dir: tree}}
	}

	// From no process to an answer in which nothing is missing. The
	// daemon keeps a question waiting while it loads; on a slow machine it has to
	// be asked again.
	b.Run("start", func(b *testing.B) {
		var took []time.Duration
		var cpu time.Duration
		for b.Loop() {
			start := time.Now()
			d.start(b)
			for len(d.recall(b, ask(0)).Degraded) > 0 {
			}
			took = append(took, time.Since(start))
			b.StopTimer()
			cpu += d.cpu()
			d.stop(b)
			b.StartTimer()
		}
		b.ReportMetric(milliseconds(median(took)), "p50-ms")
		b.ReportMetric(cpu.Seconds()/float64(len(took)), "cpu-s/op")
		b.ReportMetric(float64(box.Chunks), "chunks")
	})

	// Recalls in turns with status, which goes the same way and finds nothing.
	b.Run("recall", func(b *testing.B) {
		d.start(b)
		defer d.stop(b)
		d.recall(b, ask(0))
		const turn = 200
		var resident int64
		var recalls, statuses []time.Duration
		var cpu time.Duration
		items := 0
		for b.Loop() {
			before := d.cpu()
			for range turn {
				start := time.Now()
				answer := d.recall(b, ask(len(recalls)))
				recalls = append(recalls, time.Since(start))
				items += len(answer.Items)
			}
			cpu += d.cpu() - before
			if resident == 0 {
				resident = d.status(b).RSSBytes
			}
			for range turn {
				start := time.Now()
				d.status(b)
				statuses = append(statuses, time.Since(start))
			}
		}
		if items == 0 {
			b.Fatalf("%d questions found nothing", len(recalls))
		}
		b.ReportMetric(milliseconds(median(recalls)), "p50-ms")
		b.ReportMetric(milliseconds(percentile(recalls, 99)), "p99-ms")
		b.ReportMetric(milliseconds(median(statuses)), "status-p50-ms")
		b.ReportMetric(float64(median(recalls))/float64(median(statuses)), "x_status")
		b.ReportMetric(milliseconds(cpu)/float64(len(recalls)), "cpu-ms/recall")
		b.ReportMetric(float64(items)/float64(len(recalls)), "items/recall")
		b.ReportMetric(megabytes(resident), "MB-after-200")
		b.ReportMetric(megabytes(d.memory(b, "RssAnon")), "MB-own")
	})
}

// benchDaemon is a data folder with, between start and stop, a daemon over it
// that is a separate process.
type benchDaemon struct {
	data   string
	client *client.Client
	pid    int
}

// newDaemon starts a daemon over an empty data folder.
func newDaemon(b *testing.B) *benchDaemon {
	b.Helper()
	d := &benchDaemon{data: filepath.Join(b.TempDir(), "data")}
	// The daemon is this test binary, started with this process's environment.
	b.Setenv(asProgram, "1")
	b.Setenv("RECALLD_DATA", d.data)
	b.Setenv("RECALLD_EMBEDDING_OLLAMA_ENABLED", "off")
	b.Setenv("RECALLD_INDEX_TIME_LIMIT", "1h")
	b.Cleanup(func() { d.stop(b) })
	d.start(b)
	return d
}

// start starts the daemon and returns when it answers.
func (d *benchDaemon) start(b *testing.B) {
	b.Helper()
	cfg := config.Default()
	cfg.Data = d.data
	paths := cfg.Paths()
	c, err := client.Connect(b.Context(), client.Options{
		Socket: paths.Socket, StartLock: paths.StartLock, Log: paths.Log, Command: []string{os.Args[0], "serve"},
	})
	if err != nil {
		b.Fatal(err)
	}
	greeting, err := c.Hello(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	d.client, d.pid = c, greeting.PID
}

// stop ends the daemon, if it runs, and returns when it is gone.
func (d *benchDaemon) stop(b *testing.B) {
	b.Helper()
	if d.client == nil {
		return
	}
	ctx := context.WithoutCancel(b.Context()) // the benchmark's has ended at its cleanup
	_, err := service.Stop.Do(ctx, d.client, service.None{})
	if err == nil {
		err = d.client.WaitGone(ctx)
	}
	if err != nil {
		b.Fatalf("stop: %v", err)
	}
	_ = d.client.Close()
	d.client = nil
}

func (d *benchDaemon) recall(b *testing.B, req memory.RecallRequest) *memory.RecallResponse {
	b.Helper()
	answer, err := service.Recall.Do(b.Context(), d.client, req)
	if err != nil {
		b.Fatal(err)
	}
	return answer
}

func (d *benchDaemon) status(b *testing.B) *memory.Status {
	b.Helper()
	status, err := service.Status.Do(b.Context(), d.client, service.None{})
	if err != nil {
		b.Fatal(err)
	}
	return status
}

// index has a folder indexed and returns its state when that is done.
func (d *benchDaemon) index(b *testing.B, tree string) memory.SandboxState {
	b.Helper()
	if _, err := service.IndexRepo.Do(b.Context(), d.client, memory.IndexRequest{Path: tree}); err != nil {
		b.Fatal(err)
	}
	// Only looking again tells: a run has no end that a client could wait for.
	for tick := time.Tick(100 * time.Millisecond); ; <-tick {
		status := d.status(b)
		if len(status.Projects) != 1 {
			b.Fatalf("%d sandboxes are known, want 1", len(status.Projects))
		}
		switch box := status.Projects[0]; {
		case box.LastError != "":
			b.Fatalf("index %s: %s", tree, box.LastError)
		case !box.IndexedAt.IsZero() && status.Queue.Waiting+status.Queue.Running == 0:
			return box
		}
	}
}

// cpu is the processor time that the daemon has used.
func (d *benchDaemon) cpu() time.Duration { return cpuOf(d.pid) }

// cpuOf is the processor time that a process has used; 0 where the system does
// not tell in Linux's way.
func cpuOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold blanks; utime and stime are the 12th and
	// 13th field behind it, in hundredths of a second (proc_pid_stat(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// diskUsage is the size of all files below a folder.
func diskUsage(b *testing.B, dir string) int64 {
	b.Helper()
	var size int64
	for _, pattern := range []string{"*", "*/*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(path, ".sock") {
				size += info.Size()
			}
		}
	}
	return size
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

func median(times []time.Duration) time.Duration { return percentile(times, 50) }

func percentile(times []time.Duration, percent int) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[min(len(times)*percent/100, len(times)-1)]
}
