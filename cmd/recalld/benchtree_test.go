package main

import (
	"bytes"
	"go/token"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/recalld/recalld/internal/testkit/gosource"
)

// makeTree writes a folder of some 100,000 chunks: Go's own source, and beside
// it the same with half of its words replaced, as of another project in the
// same language: keywords and customs agree, names and comments do not.
func makeTree(b *testing.B) string {
	b.Helper()
	source, root := gosource.Dir(b), b.TempDir()
	renames := newRenames()
	for folder, edit := range map[string]func([]byte) []byte{
		"first":  func(text []byte) []byte { return text },
		"second": renames.apply,
	} {
		files := 0
		err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			// A fifth of the second tree is left out, which leaves 100,000.
			if files++; folder == "second" && files%5 == 0 {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(source, path)
			if err != nil {
				return err
			}
			to := filepath.Join(root, folder, rel)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, edit(text), 0o644)
		})
		if err != nil {
			b.Fatalf("make tree: %v", err)
		}
	}
	return root
}

// renames replaces words by others, each always by the same.
type renames struct {
	word *regexp.Regexp
	to   map[string]string
}

func newRenames() *renames {
	return &renames{word: regexp.MustCompile(`\\?[a-z]{4,}`), to: map[string]string{}}
}

// apply writes every other word backwards. Keywords, and what may be an escape
// within a string, stay as they are, so that code is still code.
func (r *renames) apply(text []byte) []byte {
	return r.word.ReplaceAllFunc(text, func(found []byte) []byte {
		if found[0] == '\\' || token.IsKeyword(string(found)) {
			return found
		}
		to, known := r.to[string(found)]
		if !known {
			to = string(found)
			if odd(found) {
				backwards := slices.Clone(found)
				slices.Reverse(backwards)
				to = string(backwards)
			}
			r.to[string(found)] = to
		}
		return []byte(to)
	})
}

// odd says yes to half of all words, the same half in every run.
func odd(word []byte) bool {
	hash := fnv.New32a()
	_, _ = hash.Write(word) // never fails
	return hash.Sum32()&1 == 1
}

// questions are sentences by which people describe functions of the tree, as
// they would ask for them: the doc comments without the functions' names.
func questions(b *testing.B, n int) []string {
	b.Helper()
	source := gosource.Dir(b)
	comment := regexp.MustCompile(`(?m)^// ([A-Z]\w+) ([^\n]{30,100})\n(?:// [^\n]*\n)*func (?:\([^)]*\) )?([A-Z]\w+)\(`)
	var all []string
	for _, folder := range []string{"net", "os", "encoding", "go", "crypto", "time", "database", "text", "image", "archive"} {
		err := filepath.WalkDir(filepath.Join(source, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range comment.FindAllSubmatch(text, -1) {
				if bytes.Equal(found[1], found[3]) {
					all = append(all, strings.TrimRightFunc(string(found[2]), unicode.IsPunct))
				}
			}
			return err
		})
		if err != nil {
			b.Fatalf("collect questions: %v", err)
		}
	}
	if len(all) < n {
		b.Fatalf("the tree has %d questions, %d are wanted", len(all), n)
	}
	some := make([]string, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}
