package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxPairLine is the longest line of a file of pairs, in bytes.
const maxPairLine = 1 << 20

// pair is one line of a file of pairs: two texts that belong together.
type pair struct {
	// Kind is how the pair was made: "commit", "docfunc", "heading".
	Kind string `json:"k"`
	// Source is its repository or data set.
	Source string `json:"r"`
	// A is the shorter text, B the longer one that it is about.
	A string `json:"a"`
	B string `json:"b"`
}

// pairFiles are the files of pairs in a folder, in a fixed order.
func pairFiles(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("list pairs: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("list pairs: no .jsonl file in %s", dir)
	}
	return files, nil
}

// eachFile calls do for every file, some of them in parallel, and returns the errors of
// all.
func eachFile(files []string, do func(i int, name string) error) error {
	errs := make([]error, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				errs[i] = do(i, files[i])
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// readPairs calls take for every pair of a file. An error of take ends the reading and is
// returned.
func readPairs(name string, take func(pair) error) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open pairs: %w", err)
	}
	if err := errors.Join(scanPairs(f, take), f.Close()); err != nil {
		return fmt.Errorf("read pairs of %s: %w", name, err)
	}
	return nil
}

func scanPairs(r io.Reader, take func(pair) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), maxPairLine)
	for n := 1; lines.Scan(); n++ {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := take(p); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (p *pair) check() error {
	switch {
	case p.Kind == "" || p.Source == "":
		return errors.New("kind or source is missing")
	case strings.TrimSpace(p.A) == "" || strings.TrimSpace(p.B) == "":
		return errors.New("a text is blank")
	case !utf8.ValidString(p.A) || !utf8.ValidString(p.B):
		return errors.New("a text is not UTF-8")
	}
	return nil
}
