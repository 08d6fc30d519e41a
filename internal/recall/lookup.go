package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// A question about an existing name or place is about that code, whatever its other words
// are. The values are below 1 because a name may mean other code: it may be written in
// another style, or declared in another place than the question says.
const (
	placeRelevance = 0.98
	exactRelevance = 0.97
	styleRelevance = 0.93
	elsewhere      = 0.9
	fileRelevance  = 0.85 // a file named without a line
	severalPlaces  = 0.85 // a line of one of several files with that name
)

const (
	// maxLeading is how many chunks of one mention rank first.
	maxLeading = 3
	// maxUnsure is how many definitions in other places than the question says may match.
	// If there are more, none does.
	maxUnsure = 3
	// maxNamedFiles is how many files a name without a line may match.
	maxNamedFiles = 8
)

// mentionMatch says how a question mentions a candidate.
type mentionMatch struct {
	// rank orders the mentioned candidates, from 1; 0 for all others.
	rank int
	name memory.Name         // declared by the candidate
	at   memory.CodeLocation // location of the candidate
}

// lookUp marks the candidates that a question asks for by a declared name or by a place,
// and adds those that the retrievers did not find. rank puts them first, after exact error
// matches. They pass the same gates as all others.
func (r *run) lookUp() {
	if r.nothing || len(r.searched.Kinds) > 0 && !slices.Contains(r.searched.Kinds, memory.Chunk) {
		return
	}
	q := mentions(r.query)
	if len(q.mentions) == 0 {
		return
	}
	l := &lookup{s: r.s, dir: r.req.Caller.Dir, sel: r.searched, all: r.candidates, roots: map[string]string{}}
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

// lookup collects the mentioned candidates of one question.
type lookup struct {
	s     *Service
	dir   string // the caller's
	sel   memory.Selection
	all   []*candidate
	byDoc map[memory.DocID]*candidate
	roots map[string]string // of sandboxes
}

// candidate returns the candidate of a document, created if no retriever found it. It
// orders the candidate's places as given.
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

// name returns the declarations of a name, best first.
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
		found = append(found, ranked{d, l.known(d.Places[0].Doc), kindOf(d.Places[0].File.Path) != implementation})
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
	// Few enough to look up the repository of each.
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

// known returns the candidate of a document if a retriever found it.
func (l *lookup) known(doc memory.DocID) *candidate {
	if l.byDoc == nil {
		l.byDoc = make(map[memory.DocID]*candidate, len(l.all))
		for _, c := range l.all {
			l.byDoc[c.Doc] = c
		}
	}
	return l.byDoc[doc]
}

// own says whether one of the places is in the caller's repository.
func (l *lookup) own(places []memory.Candidate) bool {
	return slices.ContainsFunc(places, func(p memory.Candidate) bool {
		root, known := l.roots[p.File.Sandbox]
		if !known {
			at, err := l.s.opts.Corpus.Location(p)
			if err != nil {
				return false
			}
			root = at.Root
			l.roots[p.File.Sandbox] = root
		}
		return within(l.dir, root)
	})
}

// place returns the chunks at a place. For a file without a line it returns the chunks that
// match the other words, or the file's beginning if there are no other words.
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
			worth = severalPlaces // the first is nearest to the named place
		}
		c.relevance, c.match = max(c.relevance, worth), 1
		c.mention.at = at
		if out = append(out, c); len(out) == maxLeading {
			break
		}
	}
	return out
}

// askedOrder sorts candidates that are asked for by name or place first.
func askedOrder(a, b *candidate) int {
	return cmp.Or(boolOrder(a.mention.rank > 0, b.mention.rank > 0), cmp.Compare(a.mention.rank, b.mention.rank))
}
