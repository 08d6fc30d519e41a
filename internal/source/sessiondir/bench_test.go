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

// BenchmarkPollUnchanged looks at 4,000 sessions of 50 steps each in which
// nothing has changed, as the daemon does every few seconds: in an hour, and in
// some minutes.
func BenchmarkPollUnchanged(b *testing.B) {
	dir := b.TempDir()
	b.Run("dormant", func(b *testing.B) { pollUnchanged(b, filepath.Join(dir, "dormant"), 2*time.Hour) })
	b.Run("recent", func(b *testing.B) { pollUnchanged(b, filepath.Join(dir, "recent"), 10*time.Minute) })
}

func pollUnchanged(b *testing.B, dir string, age time.Duration) {
	const sessions, steps = 4000, 50
	old := time.Now().Add(-age)
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
	f, err := sessiondir.New(sessiondir.Options{})
	if err != nil {
		b.Fatal(err)
	}
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
	b.ReportAllocs()
	for b.Loop() {
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
