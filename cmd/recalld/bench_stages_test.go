package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/daemon"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/testkit/gosource"
)

// BenchmarkIndexStages tells where the processor time of a first run goes. The
// run is done again and again over the same files, in this process, each time
// with one stage more behind it; a stage costs what the pass with it takes over
// the pass without it, its share of collecting garbage included. One operation
// is all passes.
func BenchmarkIndexStages(b *testing.B) {
	for _, base := range codeBases(b, gosource.Dir(b)) {
		b.Run(filepath.Base(base), func(b *testing.B) {
			for b.Loop() {
				walk := usedBy(b, func() { walkOnly(b, base) })
				cut := usedBy(b, func() { indexInto(b, base, discard{}) })
				model := usedBy(b, func() { indexInto(b, base, analyse{}) })
				files := 0
				store := usedBy(b, func() { files = indexInto(b, base, openStore(b)) })
				for _, stage := range []struct {
					name string
					cost time.Duration
				}{
					{"walk", walk}, {"read+cut", cut - walk}, {"analyse+embed", model - cut}, {"commit", store - model}, {"all", store},
				} {
					b.ReportMetric(stage.cost.Seconds(), stage.name+"-cpu-s")
				}
				b.ReportMetric(float64(files), "files")
			}
		})
	}
}

// usedBy is the processor time that this process takes for something.
func usedBy(b *testing.B, f func()) time.Duration {
	b.Helper()
	before := cpuOf(os.Getpid())
	f()
	return cpuOf(os.Getpid()) - before
}

// codeOptions are the settings that a daemon runs with, but for the time limit.
func codeOptions() code.Options {
	c := config.Default().Index
	return code.Options{
		MaxFileSize: int64(c.MaxFileSize), MaxFiles: c.MaxFiles, TimeLimit: time.Hour, SkipDirs: c.SkipDirs, SkipFiles: c.SkipFiles,
		KeepGenerated: !c.SkipGenerated, NoChunks: !c.Full, NoHeads: !c.Light,
	}
}

// walkOnly ends a run over a folder when it has walked.
func walkOnly(b *testing.B, root string) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	opts := codeOptions()
	opts.Progress = func(p memory.Progress) {
		if p.Phase != "walking" {
			cancel()
		}
	}
	if _, err := code.Index(ctx, memory.Sandbox{ID: "box", Project: "project", Root: root}, code.KnownFiles(nil), nil, discard{}, opts); !errors.Is(err, context.Canceled) {
		b.Fatalf("a run that was cancelled after it walked: %v", err)
	}
}

// indexInto runs over a folder of which nothing is known and returns how many
// files it gave to the sink.
func indexInto(b *testing.B, root string, sink code.Sink) int {
	b.Helper()
	box := memory.Sandbox{ID: "box", Project: "project", Root: root}
	report, err := code.Index(b.Context(), box, code.KnownFiles(nil), nil, sink, codeOptions())
	if err != nil {
		b.Fatal(err)
	}
	return report.Files
}

// discard is where files go that are only read and cut.
type discard struct{}

func (discard) PutFile(context.Context, memory.File, []memory.Document) error { return nil }
func (discard) PutFiles(context.Context, []memory.File) error                 { return nil }
func (discard) DropFile(context.Context, string, string) error                { return nil }

// analyse makes of documents what would be stored of them, and keeps nothing.
// Unlike the write path it does not know a document that came before.
type analyse struct{ discard }

func (analyse) PutFile(ctx context.Context, _ memory.File, docs []memory.Document) error {
	if len(docs) == 0 {
		return nil
	}
	texts := make([]string, len(docs))
	for i, d := range docs {
		indexer.Analyze(d)
		texts[i] = d.Text
	}
	_, err := builtin.New().Embed(ctx, embedder.Document, texts)
	if _, blank := errors.AsType[*embedder.PartialError](err); blank {
		return nil // what is left of a text without its secrets may be nothing
	}
	return err
}

// openStore is the write path over an empty store, with the indexes behind it.
func openStore(b *testing.B) code.Sink {
	b.Helper()
	core, err := daemon.OpenCore(b.Context(), daemon.CoreOptions{Dir: b.TempDir(), Config: config.Default()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := core.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
	if err := core.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	return core.Ingest
}
