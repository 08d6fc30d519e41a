package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/recalld/recalld/embedder/builtin/training/mine/clean"
	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

// entry counts the pairs of one source.
type entry struct {
	source source
	// found is how many pairs passed the checks, kept how many were written.
	found, kept int
	kinds       map[scan.Kind]int
	dropped     map[clean.Reason]int
	held        map[string]int
}

// report gathers the entries of a run. Its zero value is empty.
type report struct{ entries []entry }

func (r *report) add(e entry) { r.entries = append(r.entries, e) }

// write writes the counts as Markdown: by kind, by source, and dropped pairs.
func (r *report) write(name string) error {
	kinds, dropped, held := map[scan.Kind]int{}, map[clean.Reason]int{}, map[string]int{}
	kept := 0
	for _, e := range r.entries {
		kept += e.kept
		sum(kinds, e.kinds)
		sum(dropped, e.dropped)
		sum(held, e.held)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Pairs\n\n%d pairs of %d sources.\n", kept, len(r.entries))
	table(&b, "kind", "pairs", kinds)
	table(&b, "dropped because", "pairs", dropped)
	table(&b, "evaluation set", "pairs dropped for it", held)
	fmt.Fprint(&b, "\n| source | commit | licence | found | kept | of these |\n|---|---|---|---:|---:|---|\n")
	for _, e := range r.entries {
		fmt.Fprintf(&b, "| %s | %.12s | %s | %d | %d | %s |\n", e.source.name, e.source.commit, e.source.licence, e.found, e.kept, inOrder(e.kinds))
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write counts: %w", err)
	}
	return nil
}

func sum[K comparable](into, from map[K]int) {
	for k, n := range from {
		into[k] += n
	}
}

// table writes counts, the largest first.
func table[K ~string](b *bytes.Buffer, key, value string, counts map[K]int) {
	if len(counts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s | %s |\n|---|---:|\n", key, value)
	for _, k := range largestFirst(counts) {
		fmt.Fprintf(b, "| %s | %d |\n", k, counts[k])
	}
}

// inOrder writes counts on one line, the largest first.
func inOrder[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range largestFirst(counts) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}

func largestFirst[K ~string](counts map[K]int) []K {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b K) int { return counts[b] - counts[a] })
	return keys
}
