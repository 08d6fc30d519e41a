package lexical

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/unicode/norm"

	"github.com/recalld/recalld/index"
)

// Limits of the analysis.
const (
	// maxTerm is the longest term, in runes. Longer words are not typed, and the parts of a
	// longer compound are still found.
	maxTerm = 64
	// maxRun is the longest run that is analyzed, in bytes. Longer ones are data (base64,
	// key material), not words.
	maxRun = 512
	// maxMemory is how many distinct runs and terms an analyzer remembers
	// between texts: some 5 MB.
	maxMemory = 1 << 15
)

// Analyze turns text, a document or a query, into its terms. Terms are stored: a change of
// the result requires analyzing all documents again.
//
// Runs of letters, digits and underscores are lower-cased and split into parts: at
// underscores, at changes of case (HTTPServer: http, server) and between letters and
// digits. Each part of two characters or more is a term, and so is the whole run without
// its underscores, so that read_file, readFile and readfile share one. Terms of ASCII
// letters are stemmed (English Snowball, also called Porter2). All other characters
// separate, including the dots and slashes of paths. Scripts without spaces give
// overlapping pairs of characters. Terms longer than 64 characters and runs longer than 512
// bytes are left out. Bytes that are not UTF-8 separate. Characters are composed first (NFC),
// so that "é" is found however it was typed; file names of macOS are decomposed.
//
// The terms' strings are shared with other results.
func Analyze(text string) index.Terms {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	return a.analyze(text)
}

var analyzers = sync.Pool{New: func() any { return newAnalyzer() }}

// analyzer caches the terms of every run, because runs repeat and stemming costs twenty
// times a look-up.
type analyzer struct {
	runs  map[string][]uint32 // run, as written, to its terms
	ids   map[string]uint32   // term to its index in terms
	terms []string
	stem  *snowballstem.Env

	// State of the current text.
	counts []uint32 // by term
	seen   []uint32 // terms with a count
	lower  []byte   // scratch
	parts  []span   // scratch
}

// span is a range of bytes.
type span struct{ start, end int }

func newAnalyzer() *analyzer {
	return &analyzer{
		runs: make(map[string][]uint32),
		ids:  make(map[string]uint32),
		stem: snowballstem.NewEnv(""),
	}
}

func (a *analyzer) analyze(text string) index.Terms {
	a.gather(norm.NFC.String(text)) // no copy where it is composed already
	terms := make(index.Terms, len(a.seen))
	for i, id := range a.seen {
		terms[i] = index.Term{Text: a.terms[id], Count: a.counts[id]}
	}
	a.forget()
	slices.SortFunc(terms, func(x, y index.Term) int { return cmp.Compare(x.Text, y.Text) })
	return terms
}

// gather counts the terms of a text of composed characters. The caller must call forget afterwards.
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

// forget resets the counts for the next text.
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

// addPairs counts each pair of neighbouring characters in a run of a script without spaces,
// or its only character.
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

// id returns the number of a term, adding it if needed.
func (a *analyzer) id(term string) uint32 {
	id, ok := a.ids[term]
	if !ok {
		kept := strings.Clone(term) // a separate variable, so that the argument stays off the heap
		id = uint32(len(a.terms))
		a.ids[kept] = id
		a.terms = append(a.terms, kept)
		a.counts = append(a.counts, 0)
	}
	return id
}

// learn computes the terms of a run.
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
		// Single characters of a compound (the x of x1) are not terms.
		if part := whole[p.start:p.end]; utf8.RuneCountInString(part) > 1 {
			add(part)
		}
	}
	return ids
}

// stemmed returns the stem of a lower-case word of ASCII letters, and any other word
// unchanged.
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
