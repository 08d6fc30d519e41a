package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// question is a question to all rivals, with the correct answer.
type question struct {
	text  string
	words []string // of a sentence; none for a definition
	right place
}

// place is a range of lines, from 1, of a file relative to the root.
type place struct {
	path        string
	first, last int
}

// overlaps says that two places share a line.
func (p place) overlaps(q place) bool {
	return p.path == q.path && p.first <= q.last && q.first <= p.last
}

// questions are the questions of both kinds.
type questions struct{ definitions, sentences []question }

// declared is a function of the tree.
type declared struct {
	name     string
	head     place // the line with the name
	body     place // from the head to the last brace
	doc      *ast.CommentGroup
	from, to int // bytes of the doc comment
}

// shortName is the least length of names in questions: shorter ones are often plain words.
const shortName = 6

// collect draws the questions from a tree and blanks the comments from which
// sentences were made.
func collect(root string, count int, seed uint64) (questions, error) {
	all, err := functions(root)
	if err != nil {
		return questions{}, fmt.Errorf("collect questions: %w", err)
	}
	times := map[string]int{}
	for _, f := range all {
		times[f.name]++
	}
	draw := rand.New(rand.NewPCG(seed, 0))
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var q questions
	for _, f := range all {
		if len(q.definitions) < count && times[f.name] == 1 && len(f.name) >= shortName {
			q.definitions = append(q.definitions, question{text: f.name, right: f.head})
			continue // no function is used twice
		}
		text, words := sentence(f)
		if len(q.sentences) == count || len(words) < 4 {
			continue
		}
		if err := blank(root, f); err != nil {
			return questions{}, fmt.Errorf("collect questions: %w", err)
		}
		q.sentences = append(q.sentences, question{text: text, words: words, right: f.body})
	}
	if len(q.definitions) < count || len(q.sentences) < count {
		return questions{}, fmt.Errorf("collect questions: the tree has %d definitions and %d sentences, %d of each are wanted",
			len(q.definitions), len(q.sentences), count)
	}
	return q, nil
}

// functions lists what is declared outside of tests, in the order of the walk.
func functions(root string) ([]declared, error) {
	var all []declared
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "vendor", "test"}, d.Name()):
			return filepath.SkipDir // test cases of compilers and vendored code declare many things twice
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil // some files that end in .go are not valid Go
		}
		if ast.IsGenerated(file) {
			return nil // generated code is not read to learn something
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		line := func(at token.Pos) int { return set.PositionFor(at, false).Line }
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name == "_" {
				continue
			}
			head := line(f.Name.Pos())
			found := declared{name: f.Name.Name, head: place{rel, head, head}, body: place{rel, line(f.Pos()), line(f.End())}, doc: f.Doc}
			if f.Doc != nil {
				found.from, found.to = set.Position(f.Doc.Pos()).Offset, set.Position(f.Doc.End()).Offset
			}
			all = append(all, found)
		}
		return nil
	})
	return all, err
}

// common are words that say nothing about a function.
var common = strings.Fields("about after also and any are been before but can does each for from given has have if in into is it its may must not of on one only or other set such that the their then there these they this those to used was when where which will with")

// sentence is the first sentence of a function's doc comment without the name before it,
// with its informative words. Sentences that quote the name are skipped, because a person
// does not know the name.
func sentence(f declared) (text string, words []string) {
	if f.doc == nil {
		return "", nil
	}
	doc := strings.Join(strings.Fields(f.doc.Text()), " ")
	text, ok := strings.CutPrefix(doc, f.name+" ")
	if !ok {
		return "", nil
	}
	if end := strings.Index(text, ". "); end >= 0 {
		text = text[:end]
	}
	text = strings.TrimSuffix(text, ".")
	if len(text) > 200 || strings.Contains(text, f.name) {
		return "", nil
	}
	for _, word := range regexp.MustCompile(`[A-Za-z]{3,}`).FindAllString(text, -1) {
		word = strings.ToLower(word)
		if !slices.Contains(common, word) && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return text, words
}

// blank overwrites a doc comment, line by line, so that all lines keep their
// numbers.
func blank(root string, f declared) error {
	name := filepath.Join(root, f.body.path)
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for i, c := range src[f.from:f.to] {
		if c != '\n' {
			src[f.from+i] = ' '
		}
	}
	return os.WriteFile(name, src, 0o644)
}

// mostWords sorts the places by the number of different words of a question in their lines,
// the most first; ties keep their order.
func mostWords(found []line, words []string) []place {
	count := func(l line) (n int) {
		text := strings.ToLower(l.text)
		for _, word := range words {
			if strings.Contains(text, word) {
				n++
			}
		}
		return n
	}
	if len(words) > 0 {
		scores := make(map[line]int, len(found))
		for _, l := range found {
			scores[l] = count(l)
		}
		slices.SortStableFunc(found, func(a, b line) int { return cmp.Compare(scores[b], scores[a]) })
	}
	places := make([]place, 0, len(found))
	for _, l := range found {
		places = append(places, place{l.path, l.number, l.number})
	}
	return places
}
