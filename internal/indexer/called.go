package indexer

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

// called are the names of documents that are not code: of the file, tool or page that the
// title names, and of what the text declares. Names are folded, see memory.FoldName. They
// are derived from records and kept in memory only.
type called struct {
	mu    sync.RWMutex // guards the fields below
	docs  map[calledName][]memory.NamedDoc
	names map[uint32][]calledName // of a document
}

type calledName struct {
	project name
	folded  string
}

const (
	// maxDeclared bounds the declared names of one document.
	maxDeclared = 100
	// maxTitleWords is how many words a title may have to be a name; longer ones are
	// sentences.
	maxTitleWords = 4
	leastCalled   = 4 // bytes, folded
)

func newCalled() called {
	return called{docs: map[calledName][]memory.NamedDoc{}, names: map[uint32][]calledName{}}
}

// put replaces the names of a record's document.
func (c *called) put(doc uint32, r *memory.Record) {
	title, further := "", false
	switch {
	case r.Reference != nil:
		title, further = r.Reference.Title, r.Reference.Part > 0
	case r.Entry != nil:
		title = r.Entry.Name
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(doc)
	add := func(text string, inTitle bool) {
		folded := memory.FoldName(text)
		key := calledName{nameOf(r.Project), folded}
		if len(folded) < leastCalled || slices.Contains(c.names[doc], key) {
			return
		}
		c.names[doc] = append(c.names[doc], key)
		c.docs[key] = append(c.docs[key], memory.NamedDoc{Doc: doc, Title: inTitle, Further: further})
	}
	for _, n := range titleNames(title) {
		add(n, true)
	}
	if r.Reference != nil {
		for _, n := range declaredNames(r.Text) {
			add(n, false)
		}
	}
}

func (c *called) drop(doc uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(doc)
}

func (c *called) dropLocked(doc uint32) {
	for _, key := range c.names[doc] {
		left := slices.DeleteFunc(c.docs[key], func(n memory.NamedDoc) bool { return n.Doc == doc })
		if c.docs[key] = left; len(left) == 0 {
			delete(c.docs, key)
		}
	}
	delete(c.names, doc)
}

// Called returns the documents of a project that have a name, given folded. Code has
// Definitions.
func (x *Indexer) Called(folded, project string) []memory.NamedDoc {
	x.called.mu.RLock()
	defer x.called.mu.RUnlock()
	return slices.Clone(x.called.docs[calledName{nameOf(project), folded}])
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

// compare reports names that differ from those of indexes that were just loaded.
func (x *Indexer) compareCalled(fresh *Indexer, bad func(string, ...any)) {
	for theirs, want := range fresh.called.names {
		id, _ := fresh.numbers.ID(theirs)
		ours, _ := x.numbers.Lookup(id)
		order := func(a, b calledName) int {
			return cmp.Or(cmp.Compare(a.project.Value(), b.project.Value()), cmp.Compare(a.folded, b.folded))
		}
		if have := x.called.names[ours]; !slices.Equal(slices.SortedFunc(slices.Values(have), order), slices.SortedFunc(slices.Values(want), order)) {
			bad("document %s: its names differ", memory.DocID(id))
		}
	}
}
