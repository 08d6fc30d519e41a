package recall

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// What was asked for by its name or place and is there has to do with the question,
// whatever its words are. What is left of 1 is for a name that means another thing:
// written in another style, or declared elsewhere than was said.
const (
	placeRelevance = 0.98
	exactRelevance = 0.97
	styleRelevance = 0.93
	elsewhere      = 0.9
	fileRelevance  = 0.85 // a file that was named without a line
	severalPlaces  = 0.85 // a line of one of several files of that name
)

const (
	// maxLeading is how many chunks come first for one mention.
	maxLeading = 3
	// maxUnsure is how many definitions there may be elsewhere than was said; of
	// more, none is meant.
	maxUnsure = 3
	// maxNamedFiles is how many files a name without a line may mean.
	maxNamedFiles = 8
)

// mentionMatch is what a candidate was asked for as.
type mentionMatch struct {
	// rank orders those that were asked for, from 1; 0 for all others.
	rank int
	name memory.Name         // that it declares
	at   memory.CodeLocation // that it is at
}

// lookUp marks the candidates that a question asks for by a name that they declare or
// a place that they are at, and adds those that the retrievers did not find. rank
// gives them the first places, after what tells of a quoted error; the gates decide
// about them as about all others.
func (r *run) lookUp() {
	if r.nothing || len(r.searched.Kinds) > 0 && !slices.Contains(r.searched.Kinds, memory.Chunk) {
		return
	}
	q := mentions(r.query)
	if len(q.mentions) == 0 {
		return
	}
	l := &lookup{s: r.s, dir: r.req.Caller.Dir, sel: r.searched, all: r.candidates}
	var lists [][]*candidate
	for _, m := range q.mentions {
		list := l.place(m.place, q.alone)
		if len(list) == 0 {
			list = l.name(m.name)
		}
		lists = append(lists, list)
	}
	// The first of every mention before the second of any.
	rank := 1
	for i := range maxLeading {
		for _, list := range lists {
			if i < len(list) && list[i].mention.rank == 0 {
				list[i].mention.rank = rank
				rank++
			}
		}
	}
	r.candidates = l.all
}

// lookup gathers what one question asks for.
type lookup struct {
	s     *Service
	dir   string // the caller's
	sel   memory.Selection
	all   []*candidate
	byDoc map[memory.DocID]*candidate
	roots map[string]string // of sandboxes
}

// candidate returns the one of a document, made if no retriever found it. Its places
// are brought into the order given.
func (l *lookup) candidate(places []memory.Candidate) *candidate {
	doc := places[0].Doc
	c := l.known(doc)
	if c == nil {
		c = new(candidate)
		l.all = append(l.all, c)
		l.byDoc[doc] = c
	}
	if c.Kind == "" || c.Kind == memory.Chunk {
		c.Candidate, c.others = places[0], places[1:]
	}
	return c
}

// name returns what declares a name, the best first.
func (l *lookup) name(name memory.Name) []*candidate {
	if name.Name == "" {
		return nil
	}
	type ranked struct {
		memory.Definition
		c    *candidate
		test bool
	}
	defs := l.s.opts.Corpus.Definitions(name, l.sel)
	if len(defs) > maxUnsure && !defs[0].Within {
		defs = slices.DeleteFunc(defs, func(d memory.Definition) bool { return !d.Exact })
		if len(defs) > maxUnsure {
			return nil
		}
	}
	found := make([]ranked, 0, len(defs))
	for _, d := range defs {
		found = append(found, ranked{d, l.known(d.Places[0].Doc), isTest(d.Places[0].File.Path)})
	}
	match := func(r ranked) float64 {
		if r.c == nil {
			return -1
		}
		return r.c.match
	}
	slices.SortStableFunc(found, func(a, b ranked) int {
		return cmp.Or(
			boolOrder(a.Exact, b.Exact), boolOrder(!a.test, !b.test),
			cmp.Compare(match(b), match(a)), strings.Compare(a.Places[0].File.Path, b.Places[0].File.Path),
		)
	})
	// Few enough to ask where each one lies.
	found = found[:min(len(found), 4*maxLeading)]
	if len(found) > 1 && l.dir != "" {
		slices.SortStableFunc(found, func(a, b ranked) int {
			return cmp.Or(boolOrder(a.Exact, b.Exact), boolOrder(l.own(a.Places), l.own(b.Places)))
		})
	}
	var out []*candidate
	for _, r := range found[:min(len(found), maxLeading)] {
		c := l.candidate(r.Places)
		worth := exactRelevance
		switch {
		case !r.Within:
			worth = elsewhere
		case !r.Exact:
			worth = styleRelevance
		}
		c.relevance, c.match = max(c.relevance, worth), 1
		if c.mention.rank == 0 && c.mention.name.Name == "" {
			c.mention.name = name
		}
		out = append(out, c)
	}
	return out
}

// known returns the candidate of a document, if a retriever found it.
func (l *lookup) known(doc memory.DocID) *candidate {
	if l.byDoc == nil {
		l.byDoc = make(map[memory.DocID]*candidate, len(l.all))
		for _, c := range l.all {
			l.byDoc[c.Doc] = c
		}
	}
	return l.byDoc[doc]
}

// own says whether one of the places lies in the repository that the caller is in.
func (l *lookup) own(places []memory.Candidate) bool {
	return slices.ContainsFunc(places, func(p memory.Candidate) bool {
		root, known := l.roots[p.File.Sandbox]
		if !known {
			at, err := l.s.opts.Corpus.Location(p)
			if err != nil {
				return false
			}
			if l.roots == nil {
				l.roots = map[string]string{}
			}
			root = at.Root
			l.roots[p.File.Sandbox] = root
		}
		return within(l.dir, root)
	})
}

// place returns the chunks at a place. Of a file that is named without a line they
// are those that fit the other words, or its beginning where there are none.
func (l *lookup) place(at memory.CodeLocation, alone bool) []*candidate {
	if at.Path == "" {
		return nil
	}
	found := l.s.opts.Corpus.At(at, l.sel)
	if len(found) == 0 {
		return nil
	}
	files := map[string]bool{}
	for _, f := range found {
		files[f.File.Path] = true
	}
	worth := placeRelevance
	switch {
	case at.Line > 0 && len(files) > 1 && found[0].File.Path != at.Path:
		worth = severalPlaces
	case at.Line == 0 && len(files) > maxNamedFiles:
		return nil
	case at.Line == 0:
		worth = fileRelevance
		if fitting := slices.DeleteFunc(slices.Clone(found), func(f memory.Candidate) bool { return l.known(f.Doc) == nil }); !alone && len(fitting) > 0 {
			found = fitting
			slices.SortStableFunc(found, func(a, b memory.Candidate) int { return cmp.Compare(l.known(b.Doc).match, l.known(a.Doc).match) })
		}
	}
	if l.dir != "" && len(found) > 1 {
		slices.SortStableFunc(found, func(a, b memory.Candidate) int {
			return boolOrder(l.own([]memory.Candidate{a}), l.own([]memory.Candidate{b}))
		})
	}
	var out []*candidate
	seen := map[memory.DocID]bool{}
	for _, f := range found {
		if seen[f.Doc] {
			continue
		}
		seen[f.Doc] = true
		same := slices.DeleteFunc(slices.Clone(found), func(o memory.Candidate) bool { return o.Doc != f.Doc })
		c := l.candidate(same)
		if at.Line > 0 && f.File.Path != found[0].File.Path {
			worth = severalPlaces // the first is nearest to what was named
		}
		c.relevance, c.match = max(c.relevance, worth), 1
		c.mention.at = at
		if out = append(out, c); len(out) == maxLeading {
			break
		}
	}
	return out
}

// askedOrder sorts what was asked for by its name or place first.
func askedOrder(a, b *candidate) int {
	if order := boolOrder(a.mention.rank > 0, b.mention.rank > 0); order != 0 {
		return order
	}
	return cmp.Compare(a.mention.rank, b.mention.rank)
}

// isTest says whether a path is that of a test or of what tests need, as the
// languages name them.
func isTest(p string) bool {
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		switch strings.ToLower(dir) {
		case "test", "tests", "testdata", "__tests__", "spec", "specs", "fixtures", "mocks", "__mocks__", "e2e", "testing", "examples", "example":
			return true
		}
	}
	base := strings.ToLower(path.Base(p))
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") ||
		strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") || strings.HasSuffix(stem, "_tests") || stem == "conftest"
}
