// Command rivals asks recalld and the code search tools of this machine the same questions
// about the same tree of Go code, in turns, and prints their results and costs as Markdown
// tables.
//
//	go run ./rivals -recalld PROGRAM -tree $(go env GOROOT)/src
//
// Vocabulary. A rival is a tool with certain flags; one that is not installed is reported
// and skipped. A question has one correct answer, the lines of a declaration. A hit is a
// correct first result, or one among the first five. A tool's results are the lines, or
// ranges of lines, in the order in which it prints them.
//
// Questions are made from the tree itself. Definitions are the bare names of functions and
// methods that are declared once in code that is neither a test nor generated (by default
// recalld skips generated code). Sentences are the first sentences of doc comments without
// the function's name, as in CodeSearchNet (Husain et al., 2019); the comments they were
// made from are blanked in the copy that all rivals search, since otherwise the sentence
// itself would be found. A pattern tool searches for all lines with any of the sentence's
// words, and its results are sorted by the number of different words, which it does not do
// itself.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	tree := flag.String("tree", "", "the tree of Go code, which is copied")
	recalld := flag.String("recalld", "bin/recalld", "the recalld program")
	count := flag.Int("n", 200, "how many questions of each kind")
	seed := flag.Uint64("seed", 1, "which questions are drawn")
	only := flag.String("only", "", "leave out the rivals whose name does not begin so")
	misses := flag.Bool("misses", false, "print the questions that were not answered by the first five results")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, *tree, *recalld, *only, *misses, *count, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tree, recalld, only string, misses bool, count int, seed uint64) error {
	scratch, err := os.MkdirTemp("", "rivals")
	if err != nil {
		return fmt.Errorf("make scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	program, err := filepath.Abs(recalld)
	if err != nil {
		return fmt.Errorf("find recalld: %w", err)
	}
	root := filepath.Join(scratch, "tree")
	size, err := copyTree(tree, root)
	if err != nil {
		return err
	}
	asked, err := collect(root, count, seed)
	if err != nil {
		return err
	}
	fmt.Printf("%d definitions and %d sentences about %.1f MB of code\n\n", len(asked.definitions), len(asked.sentences), float64(size)/1e6)
	fmt.Println("| tool | index | CPU | index size | definitions, first | first 5 | sentences, first | first 5 | first answer | p50 | p95 |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range rivals(program) {
		if !strings.HasPrefix(r.name, only) {
			continue
		}
		r.root, r.scratch = root, filepath.Join(scratch, cmp.Or(r.sharing, r.name))
		if misses {
			r.missed = func(q question) {
				fmt.Fprintf(os.Stderr, "%s misses %q at %s:%d\n", r.name, q.text, q.right.path, q.right.first)
			}
		}
		row, err := r.measure(ctx, asked)
		if err != nil {
			fmt.Printf("| %s | left out: %v |\n", r.name, err)
			continue
		}
		fmt.Println(row)
	}
	return ctx.Err()
}

// milliseconds formats a time for the tables.
func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }
