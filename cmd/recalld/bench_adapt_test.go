package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// BenchmarkAdapt adapts the built-in model to each folder that RECALLD_BENCH_REPOS
// names, and to all of them together, on one core. Nothing is kept of one for the next.
// It reports what the pairs held out gain, what general ones lose, the time and the
// largest memory that the daemon ever had, indexing included.
func BenchmarkAdapt(b *testing.B) {
	bases := codeBases(b)
	if len(bases) == 0 {
		b.Skip("set RECALLD_BENCH_REPOS to folders, or use make bench-adapt REPOS=dir:dir")
	}
	for _, base := range bases {
		b.Run(filepath.Base(base), func(b *testing.B) { benchAdapt(b, base) })
	}
	if len(bases) > 1 {
		b.Run("all", func(b *testing.B) { benchAdapt(b, bases...) })
	}
}

func benchAdapt(b *testing.B, folders ...string) {
	d := newDaemon(b)
	for _, folder := range folders {
		root, err := filepath.Abs(folder)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := service.IndexRepo.Do(b.Context(), d.client, memory.IndexRequest{Path: root}); err != nil {
			b.Fatal(err)
		}
	}
	for indexed := 0; indexed < len(folders); {
		indexed = 0
		for _, p := range d.status(b).Projects {
			if p.Progress == nil && !p.IndexedAt.IsZero() {
				indexed++
			}
		}
	}
	for b.Loop() {
		indexed, before := megabytes(d.memory(b, "VmHWM")), d.cpu()
		m, err := service.AdaptModel.Do(b.Context(), d.client, memory.AdaptRequest{Threads: 1, TimeLimit: memory.Millis(time.Hour)}, nil)
		if err != nil {
			b.Fatal(err)
		}
		kept := 0.0
		if m.Kept {
			kept = 1
		}
		b.ReportMetric(kept, "kept")
		b.ReportMetric(float64(m.Pairs), "pairs")
		b.ReportMetric(float64(m.Judged), "judged")
		b.ReportMetric(m.Before.R1, "R1-before")
		b.ReportMetric(m.After.R1, "R1-after")
		b.ReportMetric(m.Before.R10, "R10-before")
		b.ReportMetric(m.After.R10, "R10-after")
		b.ReportMetric(m.Before.MRR, "MRR-before")
		b.ReportMetric(m.After.MRR, "MRR-after")
		b.ReportMetric(m.Error, "MRR-error")
		b.ReportMetric(m.GeneralBefore.MRR, "general-before")
		b.ReportMetric(m.GeneralAfter.MRR, "general-after")
		b.ReportMetric(m.Share, "share")
		b.ReportMetric((d.cpu() - before).Seconds(), "cpu-s")
		b.ReportMetric(indexed, "MB-peak-indexed")
		b.ReportMetric(megabytes(d.memory(b, "VmHWM")), "MB-peak")
	}
}
