package lexical

import (
	"sync"

	"github.com/recalld/recalld/index"
)

// Compaction needs a minimum of dead slots and a minimum share of them.
const (
	compactMinDead = 1024
	compactShare   = 4 // dead slots are at least a quarter of all
)

// Index ranks documents for a query with BM25. It is safe for concurrent use:
// searches copy what they need under a short lock and score outside it.
type Index struct {
	options Options

	// writing serialises changes. Only its holder changes state, so it may read
	// state without mu.
	writing sync.Mutex

	// mu guards state. A search holds it while it takes its snapshot, a change
	// while it is applied.
	mu    sync.RWMutex
	state state
}

// state is the index's data. Its slices are appended to and its posting lists
// grow at their end; only dead, slotOf, the tails of lists and the dictionary change in
// place.
type state struct {
	dictionary dictionary
	postings   postings // by term number
	docs       []uint32 // slot to document
	lengths    []uint16 // slot to length, in terms of the body
	dead       bitset   // slots that no longer stand for a document
	deadCount  int
	slotOf     index.Table[uint32] // document to its live slot
	total      uint64              // sum of the lengths of all slots, also dead ones
	sets       *sets               // what is known of sets of slots
	scratch    []frequency         // of the document being added
	folded     []byte              // scratch of a name being added
}

// live is the number of documents held.
func (s *state) live() int { return len(s.docs) - s.deadCount }

// New returns an empty index, or an error that names the option out of range.
func New(options Options) (*Index, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	return &Index{options: options, state: newState(0, 0)}, nil
}

func newState(slots, terms int) state {
	return state{
		dictionary: newDictionary(terms),
		postings:   postings{lists: make([]list, 0, terms)},
		docs:       make([]uint32, 0, slots),
		lengths:    make([]uint16, 0, slots),
		sets:       new(sets),
	}
}

// Name implements index.Retriever.
func (x *Index) Name() string { return Name }

// Len is the number of documents held.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.state.live()
}

// Upsert adds the document or replaces it. The index keeps no reference to terms.
func (x *Index) Upsert(doc uint32, terms index.Terms) { x.UpsertFields(doc, terms, nil) }

// UpsertFields adds the document or replaces it, with a second field of low weight, such as
// the words of the paths of a chunk of code.
//
// It is the simple form of BM25F (Robertson, Zaragoza and Taylor, 2004): an occurrence in
// extra counts Options.ExtraWeight of one in body, both are summed before saturation, and
// only the body has a length. So a document with many paths is neither penalised for its
// length nor raised beyond the saturation of one term.
//
// The body may begin with names (see WithNames), which Named finds.
func (x *Index) UpsertFields(doc uint32, body, extra index.Terms) {
	extraUnits := uint32(x.options.ExtraWeight * tfUnit)
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	x.state.kill(doc)
	x.state.append(doc, body, extra, extraUnits)
	x.mu.Unlock()
	x.compactIfWorthwhile()
}

// Delete removes the document. Deleting an unknown document is a no-op.
func (x *Index) Delete(doc uint32) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	x.state.kill(doc)
	x.mu.Unlock()
	x.compactIfWorthwhile()
}

// append gives the document the next slot and adds its postings.
func (s *state) append(doc uint32, body, extra index.Terms, extraUnits uint32) {
	slot := uint32(len(s.docs))
	names, body := SplitNames(body)
	length := uint16(min(body.Length(), maxLength))
	s.docs = append(s.docs, doc)
	s.lengths = append(s.lengths, length)
	s.dead = s.dead.grown(len(s.docs))
	s.slotOf.Set(doc, slot)
	s.total += uint64(length)
	s.merge(body, extra, extraUnits)
	s.mergeNames(names)
	for len(s.postings.lists) < s.dictionary.size {
		s.postings.lists = append(s.postings.lists, list{})
	}
	// A separate loop from the look-ups, so that the processor overlaps the cache misses.
	for _, f := range s.scratch {
		s.postings.add(f.term, slot, f.units, s.lengths)
	}
}

// frequency is how often a document contains a term.
type frequency struct{ term, units uint32 }

// merge fills scratch with the frequencies of both fields.
func (s *state) merge(body, extra index.Terms, extraUnits uint32) {
	s.scratch = s.scratch[:0]
	for len(body) > 0 || len(extra) > 0 {
		var text string
		var sum uint32
		fromBody := len(extra) == 0 || len(body) > 0 && body[0].Text <= extra[0].Text
		fromExtra := len(body) == 0 || len(extra) > 0 && extra[0].Text <= body[0].Text
		if fromBody {
			text, sum = body[0].Text, units(body[0].Count, tfUnit)
			body = body[1:]
		}
		if fromExtra {
			text, sum = extra[0].Text, sum+units(extra[0].Count, extraUnits)
			extra = extra[1:]
		}
		s.scratch = append(s.scratch, frequency{s.dictionary.add(s.dictionary.hash(text)), sum})
	}
}

// mergeNames adds names to scratch. A name has no frequency; one occurrence is the shortest
// to store.
func (s *state) mergeNames(names []string) {
	for _, name := range names {
		var hash uint64
		hash, s.folded = s.dictionary.nameHash(name, s.folded)
		s.scratch = append(s.scratch, frequency{s.dictionary.add(hash), tfUnit})
	}
}

// Longer texts, and more frequent terms, count as of this length and frequency. They are far
// beyond what affects an order, and sums fit 32 bits.
const (
	maxLength    = saturated
	maxFrequency = 1 << 20
)

func units(count, weight uint32) uint32 { return min(count, maxFrequency) * weight }

// kill marks the document's slot dead, if it has one.
func (s *state) kill(doc uint32) {
	slot, ok := s.slotOf.Get(doc)
	if !ok {
		return
	}
	s.slotOf.Delete(doc)
	s.dead.set(slot)
	s.deadCount++
}

// compactIfWorthwhile rewrites the lists without dead slots when there are many. The cost,
// some milliseconds for a million postings, is spread over the changes that made the dead
// slots. Searches continue meanwhile: the new state is built beside the old one, under
// writing alone.
func (x *Index) compactIfWorthwhile() {
	s := &x.state
	if s.deadCount < compactMinDead || s.deadCount*compactShare < len(s.docs) {
		return
	}
	fresh := s.compacted()
	x.mu.Lock()
	x.state = fresh
	x.mu.Unlock()
}

// compacted returns a state with only the live slots, renumbered in order.
func (s *state) compacted() state {
	fresh := newState(s.live(), len(s.postings.lists))
	renumbered := make([]uint32, len(s.docs))
	for slot, doc := range s.docs {
		if s.dead.has(uint32(slot)) {
			continue
		}
		renumbered[slot] = uint32(len(fresh.docs))
		fresh.slotOf.Set(doc, renumbered[slot])
		fresh.docs = append(fresh.docs, doc)
		fresh.lengths = append(fresh.lengths, s.lengths[slot])
		fresh.total += uint64(s.lengths[slot])
	}
	fresh.dead = fresh.dead.grown(len(fresh.docs))
	for _, term := range s.dictionary.slots {
		if term.number > 0 {
			s.keep(&fresh, term, renumbered)
		}
	}
	return fresh
}

// keep adds the live postings of a term to a fresh state, and the term if it has any.
func (s *state) keep(fresh *state, term dictionarySlot, renumbered []uint32) {
	added, number := false, uint32(0)
	r, _ := s.postings.read(term.number-1, nil)
	for slots, tfs := range r.all() {
		for i, slot := range slots {
			if s.dead.has(slot) {
				continue
			}
			if !added {
				added, number = true, fresh.dictionary.add(term.hash)
				fresh.postings.lists = append(fresh.postings.lists, list{})
			}
			fresh.postings.add(number, renumbered[slot], tfs[i], fresh.lengths)
		}
	}
}
