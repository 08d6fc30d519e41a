package files

import (
	"fmt"
	"github.com/recalld/recalld/index/indextest"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// benchTree is a source tree of n files: names and folders from a vocabulary of
// 3,000 words, as repositories have them, and heads of which a third are one license.
func benchTree(n int) tree {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		var b strings.Builder
		for range 2 + rng.IntN(3) {
			b.WriteByte("bcdfghklmnprstvw"[rng.IntN(16)])
			b.WriteByte("aeiou"[rng.IntN(5)])
			if rng.IntN(3) == 0 {
				b.WriteByte("nrst"[rng.IntN(4)])
			}
		}
		words[i] = b.String()
	}
	// Few words are frequent, as in language.
	word := func() string { return words[int(float64(len(words))*rng.Float64()*rng.Float64()*rng.Float64())] }
	tr := tree{}
	for i := range n {
		head := "// Copyright 2014 The Authors. All rights reserved.\n// Use of this source code is governed by a BSD-"
		if i%3 > 0 {
			head = "package " + word() + "\n\nimport (\n"
			for len(head) < 100 {
				head += word() + "/" + word() + "\"\n"
			}
			head = head[:100]
		}
		tr[uint32(i)] = [2]string{fmt.Sprintf("src/%s/%s/%s_%s.go", word(), word(), word(), word()), head}
	}
	return tr
}

// The queries that take longest, and usual ones.
var benchPatterns = map[string]string{
	"letter": "e", "extension": "*.go", "license": "copyright authors rights reserved", "none": "xylophone",
	"stars": "*a*e*i*o*", "folders": "src/**/*a?o*.go", "rare": "_sun",
}

// BenchmarkSearch tells what patterns cost, and what a file takes in memory.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		tr := benchTree(n)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := tr.index()
		runtime.GC()
		runtime.ReadMemStats(&after)
		perFile := float64(after.HeapAlloc-before.HeapAlloc) / float64(n)
		for name, pattern := range benchPatterns {
			b.Run(fmt.Sprintf("files=%d/%s", n, name), func(b *testing.B) {
				total, start := 0, indextest.CPUTime()
				for b.Loop() {
					_, total = x.Search(pattern, nil, 20)
				}
				reportCPU(b, start)
				b.ReportMetric(float64(total), "found")
				b.ReportMetric(perFile, "B/file")
			})
		}
		runtime.KeepAlive(tr)
	}
}

// BenchmarkAsk tells what questions cost.
func BenchmarkAsk(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		tr := benchTree(n)
		x := tr.index()
		for name, question := range map[string]string{
			"common":  "copyright authors rights reserved source code governed package import",
			"one":     "how are sources governed",
			"rare":    "where is " + tr[17][0] + " tested",
			"nothing": "which kubernetes operators reconcile xylophones",
			"long":    strings.Repeat("why is go the source of package errors when authors import ", 100),
		} {
			b.Run(fmt.Sprintf("files=%d/%s", n, name), func(b *testing.B) {
				start := indextest.CPUTime()
				for b.Loop() {
					x.Ask(question, nil, 20)
				}
				reportCPU(b, start)
			})
		}
	}
}

func BenchmarkPut(b *testing.B) {
	tr := benchTree(10_000)
	var x Index
	i := uint32(0)
	for b.Loop() {
		f := tr[i%10_000]
		x.Put(i%10_000, f[0], f[1])
		i++
	}
}

// reportCPU tells the processor time of an operation, which other programs do not
// change.
func reportCPU(b *testing.B, start time.Duration) {
	b.ReportMetric(float64((indextest.CPUTime()-start).Microseconds())/float64(b.N), "cpu-µs/op")
}
