package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxPairLine is the longest line of a file of pairs, in bytes.
const maxPairLine = 1 << 20

// pair is one line of a file of pairs: two texts that belong together.
type pair struct {
	// Kind is how the pair was made: "commit", "docfunc", "heading".
	Kind string `json:"k"`
	// Source is the repository or data set that it is from.
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

// readPairs calls take for every pair of the files, in their order. An error of
// take ends it and is returned.
func readPairs(files []string, take func(pair) error) error {
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("open pairs: %w", err)
		}
		err = errors.Join(scanPairs(f, take), f.Close())
		if err != nil {
			return fmt.Errorf("read pairs of %s: %w", name, err)
		}
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
