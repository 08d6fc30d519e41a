package indexer

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

// called are the names of records that are not code: of the file, tool or page that the
// title names, and of what the text declares. Names are folded, see memory.FoldName. They
// are kept in memory only. The caller locks.
type called struct {
	docs  map[calledName][]calledDoc // ordered by document and record
	names map[uint32][]calledName    // of a record, by its number
}

// calledDoc is the document of a record with a name. Records of several projects may have
// the same document.
type calledDoc struct {
	memory.NamedDoc
	record uint32
}

func compareCalledDocs(a, b calledDoc) int {
	return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.record, b.record))
}

type calledName struct {
	project name
	folded  string
}

const (
	// maxDeclared bounds the declared names of one record.
	maxDeclared = 100
	// maxTitleWords is how many words a title may have to be a name; longer ones are
	// sentences.
	maxTitleWords = 4
	leastCalled   = 4 // bytes, folded
)

func newCalled() called {
	return called{docs: map[calledName][]calledDoc{}, names: map[uint32][]calledName{}}
}

// put adds the names of a record with a number and a document.
func (c *called) put(n, doc uint32, r *memory.Record) {
	title, further := "", false
	switch {
	case r.Reference != nil:
		title, further = r.Reference.Title, r.Reference.Part > 0
	case r.Entry != nil:
		title = r.Entry.Name
	default:
		return
	}
	add := func(text string, inTitle bool) {
		folded := memory.FoldName(text)
		key := calledName{nameOf(r.Project), folded}
		if len(folded) < leastCalled || slices.Contains(c.names[n], key) {
			return
		}
		c.names[n] = append(c.names[n], key)
		d := calledDoc{memory.NamedDoc{Doc: doc, Title: inTitle, Further: further}, n}
		at, _ := slices.BinarySearchFunc(c.docs[key], d, compareCalledDocs)
		c.docs[key] = slices.Insert(c.docs[key], at, d)
	}
	for _, text := range titleNames(title) {
		add(text, true)
	}
	if r.Reference != nil {
		for _, text := range declaredNames(r.Text) {
			add(text, false)
		}
	}
}

// drop removes the names of a record with a number and a document.
func (c *called) drop(n, doc uint32) {
	d := calledDoc{memory.NamedDoc{Doc: doc}, n}
	for _, key := range c.names[n] {
		left := c.docs[key]
		if at, found := slices.BinarySearchFunc(left, d, compareCalledDocs); found {
			left = slices.Delete(left, at, at+1)
		}
		if c.docs[key] = left; len(left) == 0 {
			delete(c.docs, key)
		}
	}
	delete(c.names, n)
}

// Called returns the documents of a project that have a name, given folded, each once. Code
// has Definitions.
func (x *Indexer) Called(folded, project string) []memory.NamedDoc {
	x.mu.RLock()
	defer x.mu.RUnlock()
	held := x.called.docs[calledName{nameOf(project), folded}]
	docs := make([]memory.NamedDoc, 0, len(held))
	for _, d := range held {
		if last := len(docs) - 1; last >= 0 && docs[last].Doc == d.Doc {
			docs[last].Title = docs[last].Title || d.Title
			docs[last].Further = docs[last].Further && d.Further
		} else {
			docs = append(docs, d.NamedDoc)
		}
	}
	return docs
}

// titleNames returns the names in a title: of a short one all its words together, of a path
// also the file's name, with its extension, without it, and with its folder.
func titleNames(title string) []string {
	if title == "" || len(strings.Fields(title)) > maxTitleWords {
		return nil
	}
	names := []string{title}
	if strings.ContainsAny(title, " \n") {
		return names
	}
	slashed := strings.ReplaceAll(title, `\`, "/")
	base := path.Base(slashed)
	stem := strings.TrimSuffix(base, path.Ext(base))
	names = append(names, base, stem)
	if dir := path.Base(path.Dir(slashed)); dir != "." && dir != "/" {
		names = append(names, dir+"/"+stem)
	}
	return names
}

var (
	declares  = setOf("def func class function fn type struct interface trait enum module")
	modifiers = setOf("export default public private protected static async pub final abstract unsafe const")
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// declaredNames returns the names that the lines of a text declare, in whatever language:
// what stands behind "def", "func" or "class". Chunks of code are parsed with more care.
func declaredNames(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " \t")
		for range 4 { // modifiers, then the keyword
			word, after, found := strings.Cut(rest, " ")
			if !found {
				break
			}
			rest = strings.TrimLeft(after, " ")
			if declares[word] {
				if n := firstName(rest); n != "" {
					names = append(names, n)
				}
				break
			}
			if !modifiers[word] && !strings.HasPrefix(word, "pub(") {
				break
			}
		}
		if len(names) == maxDeclared {
			break
		}
	}
	return names
}

// firstName returns the identifier that a text begins with, behind a receiver in brackets.
func firstName(text string) string {
	if strings.HasPrefix(text, "(") {
		_, behind, found := strings.Cut(text, ")")
		if !found {
			return ""
		}
		text = strings.TrimLeft(behind, " ")
	}
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end]
}

// compareCalled reports names that differ from those of indexes that were just loaded.
func (x *Indexer) compareCalled(fresh *Indexer, bad func(string, ...any)) {
	if a, b := len(x.called.names), len(fresh.called.names); a != b {
		bad("%d records have names, should be %d", a, b)
	}
	for theirs, want := range fresh.called.names {
		id := fresh.owners.all[theirs].id
		ours, held := x.owners.record(id)
		if !held || !slices.Equal(x.called.names[ours], want) {
			bad("record %s: its names differ", id)
		}
	}
}
