package lexical

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/recalld/recalld/index"
)

// Limits of the analysis.
const (
	// maxTerm is the longest term, in runes. Nobody types a longer word, and a
	// compound that is longer is still found by its parts.
	maxTerm = 64
	// maxRun is the longest run that is looked into, in bytes. Longer ones are
	// data (base64, key material), not words.
	maxRun = 512
	// maxMemory is how many distinct runs and terms an analyzer remembers
	// between texts: some 5 MB.
	maxMemory = 1 << 15
)

// Analyze turns text, a document or a query, into its terms. Terms are stored: who
// changes what it gives must have those of before made anew.
//
// Runs of letters, digits and underscores are lower-cased and split into parts:
// at underscores, at changes of case (HTTPServer: http, server) and between
// letters and digits. Each part of two characters or more is a term, and so is
// the whole run without its underscores, so that read_file, readFile and readfile
// share one. What consists of ASCII letters is stemmed (English Snowball, also
// called Porter2). Everything else separates, dots and slashes of paths included.
// Scripts that are written without spaces give overlapping pairs of characters.
// Terms longer than 64 characters and runs longer than 512 bytes are left out.
// Bytes that are not UTF-8 separate.
//
// The terms' texts are shared with other results: they cost no memory of their
// own as long as the analysis is in use.
func Analyze(text string) index.Terms {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	return a.analyze(text)
}

var analyzers = sync.Pool{New: func() any { return newAnalyzer() }}

// analyzer remembers what it made of every run it has met, for texts repeat
// themselves; stemming costs twenty times a look-up.
type analyzer struct {
	runs  map[string][]uint32 // run as written to its terms
	ids   map[string]uint32   // term to its place in terms
	terms []string
	stem  *snowballstem.Env

	// The text at hand.
	counts []uint32 // by term
	seen   []uint32 // terms with a count
	lower  []byte   // scratch
	parts  []span   // scratch
}

// span is a stretch of bytes.
type span struct{ start, end int }

func newAnalyzer() *analyzer {
	return &analyzer{
		runs: make(map[string][]uint32),
		ids:  make(map[string]uint32),
		stem: snowballstem.NewEnv(""),
	}
}

func (a *analyzer) analyze(text string) index.Terms {
	a.gather(text)
	terms := make(index.Terms, len(a.seen))
	for i, id := range a.seen {
		terms[i] = index.Term{Text: a.terms[id], Count: a.counts[id]}
	}
	a.forget()
	slices.SortFunc(terms, func(x, y index.Term) int { return cmp.Compare(x.Text, y.Text) })
	return terms
}

// gather counts the terms of a text; forget comes after it.
func (a *analyzer) gather(text string) {
	if len(a.terms) > maxMemory || len(a.runs) > maxMemory {
		*a = *newAnalyzer()
	}
	for start := 0; start < len(text); {
		begin, end, paired := nextRun(text, start)
		start = end
		switch {
		case paired:
			a.addPairs(text[begin:end])
		case end-begin <= maxRun:
			a.addRun(text[begin:end])
		}
	}
}

// forget makes the analyzer ready for another text.
func (a *analyzer) forget() {
	for _, id := range a.seen {
		a.counts[id] = 0
	}
	a.seen = a.seen[:0]
}

// addRun counts the terms of a run.
func (a *analyzer) addRun(run string) {
	ids, known := a.runs[run]
	if !known {
		ids = a.learn(run)
		a.runs[strings.Clone(run)] = ids
	}
	for _, id := range ids {
		a.count(id)
	}
}

// addPairs counts each two neighbouring characters of a run of a script without
// spaces, or the only one.
func (a *analyzer) addPairs(run string) {
	_, width := utf8.DecodeRuneInString(run)
	if width == len(run) {
		a.count(a.id(run))
		return
	}
	for start, next := 0, width; next < len(run); {
		_, width := utf8.DecodeRuneInString(run[next:])
		a.count(a.id(run[start : next+width]))
		start, next = next, next+width
	}
}

func (a *analyzer) count(id uint32) {
	if a.counts[id] == 0 {
		a.seen = append(a.seen, id)
	}
	a.counts[id]++
}

// id finds or makes the number of a term.
func (a *analyzer) id(term string) uint32 {
	id, ok := a.ids[term]
	if !ok {
		kept := strings.Clone(term) // a variable of its own, so that what asks stays off the heap
		id = uint32(len(a.terms))
		a.ids[kept] = id
		a.terms = append(a.terms, kept)
		a.counts = append(a.counts, 0)
	}
	return id
}

// learn works out the terms of a run.
func (a *analyzer) learn(run string) []uint32 {
	a.split(run)
	if len(a.parts) == 0 {
		return nil
	}
	whole := string(a.lower)
	ids := make([]uint32, 0, len(a.parts)+1)
	add := func(word string) {
		if utf8.RuneCountInString(word) <= maxTerm {
			ids = append(ids, a.id(a.stemmed(word)))
		}
	}
	add(whole)
	if len(a.parts) == 1 {
		return ids
	}
	for _, p := range a.parts {
		// One letter or digit out of a compound (the x of x1) says nothing.
		if part := whole[p.start:p.end]; utf8.RuneCountInString(part) > 1 {
			add(part)
		}
	}
	return ids
}

// stemmed is the stem of a lower-case word of ASCII letters, and any other word
// as it is.
func (a *analyzer) stemmed(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	a.stem.SetCurrent(word)
	english.Stem(a.stem)
	return a.stem.Current()
}
