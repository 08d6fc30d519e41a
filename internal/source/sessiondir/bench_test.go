package sessiondir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// BenchmarkPollUnchanged looks at trees of sessions in which nothing has changed, as
// the daemon does every two seconds. The reference is a tree of 200 sessions: x-200 is
// how many times its time a poll of 4,000 takes.
func BenchmarkPollUnchanged(b *testing.B) {
	dir := b.TempDir()
	small, large := pollUnchanged(b, filepath.Join(dir, "small"), 200), pollUnchanged(b, filepath.Join(dir, "large"), 4000)
	var reference, took time.Duration
	for b.Loop() {
		began := time.Now()
		small()
		between := time.Now()
		large()
		reference += between.Sub(began)
		took += time.Since(between)
	}
	b.ReportMetric(float64(took)/float64(reference), "x-200")
	b.ReportMetric(float64(took.Microseconds())/float64(b.N), "µs/4000")
}

// pollUnchanged returns a poll of a tree that was polled before and has not changed
// for two hours.
func pollUnchanged(b *testing.B, dir string, sessions int) (poll func()) {
	const steps = 5
	old := time.Now().Add(-2 * time.Hour)
	for i := range sessions {
		folder := filepath.Join(dir, fmt.Sprintf("mm-20260501-%05d", i))
		inner := filepath.Join(folder, "steps")
		if err := os.MkdirAll(inner, 0o777); err != nil {
			b.Fatal(err)
		}
		for j := range steps {
			name := filepath.Join(inner, fmt.Sprintf("2026-05-01T10-%02d-00.000Z-read.json", j))
			if err := os.WriteFile(name, []byte(`{"tool":{"name":"read"}}`), 0o666); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "session.json"), []byte(`{}`), 0o666); err != nil {
			b.Fatal(err)
		}
		for _, path := range []string{inner, filepath.Join(folder, "session.json"), folder} {
			if err := os.Chtimes(path, old, old); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := os.Chtimes(dir, old, old); err != nil {
		b.Fatal(err)
	}
	f := sessiondir.New()
	found := 0
	for p, err := range f.Poll("", dir) {
		if err != nil || len(p.Problems) > 0 {
			b.Fatalf("first poll: %v, %v", err, p.Problems)
		}
		found += len(p.Steps)
	}
	if found != sessions*steps {
		b.Fatalf("the first poll found %d steps, want %d", found, sessions*steps)
	}
	return func() {
		for p, err := range f.Poll("", dir) {
			b.Fatalf("an unchanged tree gave %v, %v", p, err)
		}
	}
}

// BenchmarkWriteStep writes steps of one session, each synced to disk.
func BenchmarkWriteStep(b *testing.B) {
	dir := b.TempDir()
	s := testSession("run-0001")
	at := now
	if _, err := sessiondir.WriteSession("", dir, s); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		at = at.Add(time.Millisecond)
		if _, err := sessiondir.WriteStep("", dir, s, testStep("read", at)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadTree reads steps for an import.
func BenchmarkReadTree(b *testing.B) {
	const steps = 2000
	dir := filepath.Join(b.TempDir(), "tree")
	var records []memory.Record
	for i := range steps {
		records = append(records, testStep("read", now.Add(time.Duration(i)*time.Second)))
	}
	if _, err := sessiondir.Export(dir, sequence(records, testSession("run-0001"))); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		for p, err := range sessiondir.ReadTree(dir) {
			if err != nil {
				b.Fatal(err)
			}
			n += len(p.Steps)
		}
		if n != steps {
			b.Fatalf("read %d steps, want %d", n, steps)
		}
	}
	b.ReportMetric(float64(steps)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
