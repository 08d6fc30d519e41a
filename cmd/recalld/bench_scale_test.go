package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// manyFiles is the size of the repository that must neither block nor exhaust the
// daemon.
const manyFiles = 100_000

// BenchmarkManyFiles indexes a generated repository of 100,000 files while one
// caller recalls and another remembers, with a short thought between two calls. One
// operation is the whole repository.
func BenchmarkManyFiles(b *testing.B) {
	root := filepath.Join(b.TempDir(), "many")
	written := writeMany(b, root, manyFiles)
	for b.Loop() {
		b.Setenv("RECALLD_INDEX_MAX_FILES", strconv.Itoa(2*manyFiles))
		d := newDaemon(b)
		began := time.Now()
		asking := d.meanwhile(b, root)
		box := d.bring(b, root)
		took := time.Since(began)
		recalls, remembers := asking.end(b)
		if box.Files != manyFiles {
			b.Errorf("%d files are indexed, want %d", box.Files, manyFiles)
		}
		ms := func(times []time.Duration, percent int) float64 { return percentile(times, percent).Seconds() * 1e3 }
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric(float64(box.Files)/took.Seconds(), "files/s")
		b.ReportMetric(float64(box.Chunks), "chunks")
		b.ReportMetric(megabytes(written), "MB-source")
		b.ReportMetric(d.cpu().Seconds(), "cpu-s")
		b.ReportMetric(megabytes(d.memory(b, "VmHWM")), "MB-peak")
		// The rest is of files, which the system takes back when it needs to.
		b.ReportMetric(megabytes(d.memory(b, "RssAnon")), "MB-own")
		b.ReportMetric(ms(recalls, 50), "recall-p50-ms")
		b.ReportMetric(ms(recalls, 99), "recall-p99-ms")
		b.ReportMetric(ms(remembers, 50), "remember-p50-ms")
		b.ReportMetric(ms(remembers, 99), "remember-p99-ms")
		again := time.Now()
		d.bring(b, root)
		b.ReportMetric(time.Since(again).Seconds(), "again-s")
		d.stop(b)
		b.ReportMetric(megabytes(diskUsage(b, d.data)), "MB-disk")
	}
}

// callers ask a daemon until they are told to end.
type callers struct {
	quit                chan struct{}
	recalls, remembers  chan []time.Duration
	recallErr, writeErr chan error
}

// thought is what a caller waits between two calls. Beside callers that hardly wait, the
// gate lets a first index take minutes.
const thought = 200 * time.Millisecond

// meanwhile has two callers ask: one for code, which grows as it is indexed, one
// to have lessons kept.
func (d *benchDaemon) meanwhile(b *testing.B, root string) *callers {
	c := &callers{
		quit: make(chan struct{}), recalls: make(chan []time.Duration, 1), remembers: make(chan []time.Duration, 1),
		recallErr: make(chan error, 1), writeErr: make(chan error, 1),
	}
	ctx, who := b.Context(), memory.Caller{Dir: root}
	go c.call(c.recalls, c.recallErr, func(n int) error {
		_, err := service.Recall.Do(ctx, d.client, memory.RecallRequest{Query: nouns[n%len(nouns)] + " of the " + nouns[(n/7)%len(nouns)], Caller: who})
		return err
	})
	go c.call(c.remembers, c.writeErr, func(n int) error {
		_, err := service.Remember.Do(ctx, d.client, memory.RememberRequest{Lesson: fmt.Sprintf("Lesson %d: check the %s before the %s", n, nouns[n%len(nouns)], nouns[(n/5)%len(nouns)]), Caller: who})
		return err
	})
	return c
}

// call calls until it is stopped, and reports the duration of each call.
func (c *callers) call(took chan<- []time.Duration, failed chan<- error, do func(n int) error) {
	var times []time.Duration
	var err error
	tick := time.NewTicker(thought)
	defer tick.Stop()
	for n := 0; err == nil; n++ {
		select {
		case <-c.quit:
			took <- times
			failed <- nil
			return
		case <-tick.C:
		}
		began := time.Now()
		err = do(n)
		times = append(times, time.Since(began))
	}
	took <- times
	failed <- err
}

// end waits for the callers and returns what their calls took.
func (c *callers) end(b *testing.B) (recalls, remembers []time.Duration) {
	b.Helper()
	close(c.quit)
	recalls, remembers = <-c.recalls, <-c.remembers
	if err := <-c.recallErr; err != nil {
		b.Fatalf("recall while indexing: %v", err)
	}
	if err := <-c.writeErr; err != nil {
		b.Fatalf("remember while indexing: %v", err)
	}
	return recalls, remembers
}

// nouns are what the generated code is about.
var nouns = []string{
	"account", "address", "archive", "basket", "batch", "buffer", "cache", "carrier", "catalog", "channel", "cluster", "contract", "counter", "courier",
	"cursor", "customer", "delivery", "deposit", "device", "document", "event", "exchange", "filter", "folder", "gateway", "grant", "header", "invoice",
	"journal", "kernel", "ledger", "license", "manifest", "message", "meter", "module", "network", "notice", "order", "packet", "parcel", "partner",
	"payment", "permit", "policy", "printer", "profile", "quota", "receipt", "record", "refund", "region", "report", "route", "schedule", "sensor",
	"session", "shipment", "signal", "snapshot", "station", "storage", "tariff", "ticket", "token", "tracker", "transfer", "vehicle", "voucher", "warehouse",
}

var verbs = []string{
	"archive", "balance", "cancel", "check", "close", "collect", "compare", "confirm", "count", "create", "delete", "deliver", "estimate", "export",
	"filter", "find", "import", "join", "list", "lock", "merge", "move", "notify", "open", "parse", "price", "print", "queue", "read", "refuse",
	"release", "rename", "reserve", "resolve", "restore", "retry", "round", "send", "sort", "split", "store", "sum", "track", "update", "verify", "write",
}

// writeMany writes a repository of so many files, of three languages and 20 to a
// folder, always the same, and returns its size in bytes.
func writeMany(b *testing.B, root string, files int) int64 {
	b.Helper()
	draw := rand.New(rand.NewPCG(4, 2))
	noun := func() string { return nouns[draw.IntN(len(nouns))] }
	var size int64
	for n := range files {
		dir := filepath.Join(root, nouns[n/20%len(nouns)], fmt.Sprintf("part%d", n/20))
		if n%20 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		var text bytes.Buffer
		ext := []string{".go", ".py", ".ts"}[n%3]
		for f := range 2 {
			verb, what, other := verbs[draw.IntN(len(verbs))], noun(), noun()
			writeFunction(&text, ext, fmt.Sprintf("%s_%s_%d_%d", verb, what, n, f), verb, what, other, draw.IntN(1000))
		}
		size += int64(text.Len())
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s%d%s", noun(), n, ext)), text.Bytes(), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return size
}

// writeFunction writes a function in the language of an extension.
func writeFunction(to *bytes.Buffer, ext, name, verb, what, other string, limit int) {
	switch ext {
	case ".go":
		if to.Len() == 0 {
			fmt.Fprintf(to, "package %s\n", what)
		}
		fmt.Fprintf(to, `
// %[1]s is to %[2]s every %[3]s that belongs to a %[4]s, up to %[5]d of them.
func %[1]s(%[3]ss []string, %[4]s int) int {
	total := 0
	for i, %[3]s := range %[3]ss {
		if i > %[5]d || %[3]s == "" {
			break
		}
		total += len(%[3]s) * %[4]s
	}
	return total
}
`, name, verb, what, other, limit)
	case ".py":
		fmt.Fprintf(to, `
def %[1]s(%[3]ss, %[4]s):
    """To %[2]s every %[3]s that belongs to a %[4]s, up to %[5]d of them."""
    total = 0
    for i, %[3]s in enumerate(%[3]ss):
        if i > %[5]d or not %[3]s:
            break
        total += len(%[3]s) * %[4]s
    return total
`, name, verb, what, other, limit)
	default:
		fmt.Fprintf(to, `
/** To %[2]s every %[3]s that belongs to a %[4]s, up to %[5]d of them. */
export function %[1]s(%[3]ss: string[], %[4]s: number): number {
  let total = 0;
  for (const [i, %[3]s] of %[3]ss.entries()) {
    if (i > %[5]d || %[3]s === "") {
      break;
    }
    total += %[3]s.length * %[4]s;
  }
  return total;
}
`, name, verb, what, other, limit)
	}
}
