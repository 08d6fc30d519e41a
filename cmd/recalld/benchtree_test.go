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
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/recalld/recalld/internal/testkit/gosource"
)

// treesVariable sets how many times Go's source is in the folder that [makeTree] writes;
// 18 times are a million chunks.
const treesVariable = "RECALLD_BENCH_TREES"

// makeTree writes a folder of some 100,000 chunks: Go's own source, and beside
// it the same with half of its words replaced, as of another project in the
// same language: keywords and customs agree, names and comments do not. It writes
// more such projects, each with other words, where [treesVariable] says so.
func makeTree(b *testing.B) string {
	b.Helper()
	trees := 2
	if set := os.Getenv(treesVariable); set != "" {
		n, err := strconv.Atoi(set)
		if err != nil {
			b.Fatalf("%s: %v", treesVariable, err)
		}
		trees = n
	}
	source, root := gosource.Dir(b), b.TempDir()
	for tree := range trees {
		renames, files := newRenames(tree), 0
		err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			// A fifth of the second tree is left out, which leaves 100,000.
			if files++; tree == 1 && files%5 == 0 {
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
			to := filepath.Join(root, "tree"+strconv.Itoa(tree), rel)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, renames.apply(text), 0o644)
		})
		if err != nil {
			b.Fatalf("make tree: %v", err)
		}
	}
	return root
}

// renames replaces words by others, each always by the same.
type renames struct {
	tree int
	word *regexp.Regexp
	to   map[string]string
}

func newRenames(tree int) *renames {
	return &renames{tree: tree, word: regexp.MustCompile(`\\?[a-z]{4,}`), to: map[string]string{}}
}

// apply writes every other word backwards, and from the third tree on with other
// letters, too; the first tree stays as it is. Keywords, and what may be an escape
// within a string, stay as they are, so that code is still code.
func (r *renames) apply(text []byte) []byte {
	if r.tree == 0 {
		return text
	}
	return r.word.ReplaceAllFunc(text, func(found []byte) []byte {
		if found[0] == '\\' || token.IsKeyword(string(found)) {
			return found
		}
		to, known := r.to[string(found)]
		if !known {
			to = string(found)
			if odd(found) {
				other := slices.Clone(found)
				slices.Reverse(other)
				for i := range other {
					other[i] = 'a' + (other[i]-'a'+byte(r.tree-1))%26
				}
				to = string(other)
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
