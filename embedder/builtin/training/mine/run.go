package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/embedder/builtin/training/mine/clean"
	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

// run mines every source of the list and writes pairs and counts. It reports each source to
// progress.
func run(ctx context.Context, o options, progress io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	list, err := readSources(o.List)
	if err != nil {
		return err
	}
	held := new(clean.Held)
	if o.Without != "" {
		if held, err = clean.ReadHeld(o.Without); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("make output folder: %w", err)
	}
	var seen clean.Seen
	var total report
	for result := range mineAll(ctx, o, held, list) {
		if result.err != nil {
			return fmt.Errorf("mine %s: %w", result.source.name, result.err)
		}
		entry, err := write(o, &seen, result.source, result.mined)
		if err != nil {
			return fmt.Errorf("write %s: %w", result.source.name, err)
		}
		total.add(entry)
		fmt.Fprintf(progress, "%s: %d pairs of %d found\n", entry.source.name, entry.kept, entry.found)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("mine: %w", err)
	}
	if o.Only != "" {
		return nil
	}
	return total.write(filepath.Join(o.Out, "README"))
}

// result is the outcome of one source.
type result struct {
	source source
	mined  mined
	err    error
}

// mineAll mines the sources, some at a time, and yields the results in the order of the
// list. It stops its goroutines when the loop ends.
func mineAll(ctx context.Context, o options, held *clean.Held, list []source) func(yield func(result) bool) {
	return func(yield func(result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		slots := make(chan struct{}, o.Workers)
		waiting := make(chan chan result, o.Workers)
		go func() {
			defer close(waiting)
			for _, s := range list {
				if o.Only != "" && o.Only != s.name {
					continue
				}
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				done := make(chan result, 1)
				go func() {
					m, err := mineSource(ctx, o, held, s)
					done <- result{s, m, err}
					<-slots
				}()
				waiting <- done
			}
		}()
		going := true
		for done := range waiting {
			if r := <-done; going && !yield(r) {
				going = false
				cancel()
			}
		}
		cancel()
	}
}

// line is the written form of a pair.
type line struct {
	Kind scan.Kind `json:"k"`
	Repo string    `json:"r"`
	A    string    `json:"a"`
	B    string    `json:"b"`
}

// write writes the pairs of a source that no source before it had.
func write(o options, seen *clean.Seen, s source, m mined) (entry, error) {
	e := entry{source: s, kinds: map[scan.Kind]int{}, dropped: m.dropped, held: m.held}
	for _, n := range m.sample.found {
		e.found += n
	}
	name := filepath.Join(o.Out, strings.Replace(s.name, "/", "+", 1)+".jsonl")
	f, err := os.Create(name + ".part")
	if err != nil {
		return e, fmt.Errorf("create file: %w", err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, p := range m.sample.pairs(o.PerSource) {
		if reason, drop := seen.Check(p.A, p.B); drop {
			e.dropped[reason]++
			continue
		}
		if err := encoder.Encode(line{p.Kind, s.name, p.A, p.B}); err != nil {
			return e, fmt.Errorf("encode pair: %w", err)
		}
		e.kept++
		e.kinds[p.Kind]++
	}
	if err := out.Flush(); err != nil {
		return e, fmt.Errorf("write file: %w", err)
	}
	if err := f.Close(); err != nil {
		return e, fmt.Errorf("close file: %w", err)
	}
	if err := os.Rename(name+".part", name); err != nil {
		return e, fmt.Errorf("rename file: %w", err)
	}
	return e, nil
}
