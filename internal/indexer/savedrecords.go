package indexer

import (
	"hash/maphash"
	"iter"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// The bits of a saved record.
const (
	savedWithdrawn = 1 << iota
	savedPinned
	savedFollowed
	savedRate
)

// savedNames is how many names a saved record has.
const savedNames = 5

// stored yields the records. If the value of a record was damaged when the record was
// replaced, its old owner is left over: it is skipped, because the id finds the new one.
func (e *owners) stored() iter.Seq[*owner] {
	return func(yield func(*owner) bool) {
		for n := range e.allRecords() {
			if found, ok := e.record(e.all[n].id); ok && found == n && !yield(&e.all[n]) {
				return
			}
		}
	}
}

// savedNames are the names that are saved, in their order in the file.
func (e *owner) savedNames() [savedNames]*name {
	return [...]*name{&e.kind, &e.project, &e.repo, &e.session, &e.screen}
}

// saveRecords saves the lessons and steps, and the ids of all other records. numberOf returns
// the saved number of a document.
func (x *Indexer) saveRecords(to *index.Saver, numberOf func(doc uint32) (uint32, bool)) {
	numbers, names, records, others := map[name]uint64{}, []name(nil), []*owner(nil), []string(nil)
	for e := range x.owners.stored() {
		if !memory.Kind(e.kind.Value()).Saved() {
			others = append(others, e.id)
			continue
		}
		records = append(records, e)
		for _, name := range e.savedNames() {
			if _, known := numbers[*name]; !known {
				numbers[*name] = uint64(len(names))
				names = append(names, *name)
			}
		}
	}
	to.Uint(uint64(len(names)))
	for _, name := range names {
		to.String(name.Value())
	}
	saveStrings(to, others)
	to.Uint(uint64(len(records)))
	for _, e := range records {
		if to.Err() != nil {
			return
		}
		to.String(e.id)
		doc, _ := numberOf(e.doc) // a record has a document
		to.Uint(uint64(doc))
		to.Word(uint64(e.created))
		to.Uint(uint64(e.logBytes))
		for _, name := range e.savedNames() {
			to.Uint(numbers[*name])
		}
		to.Uint(bit(e.withdrawn, savedWithdrawn) | bit(e.pinned, savedPinned) | bit(e.followed, savedFollowed) | bit(e.rate != nil, savedRate))
		if e.rate != nil {
			to.Uint(uint64(e.rate.Successes))
			to.Uint(uint64(e.rate.Attempts))
		}
		saveStrings(to, e.tags)
		saveStrings(to, e.fingerprints)
	}
}

func saveStrings(to *index.Saver, texts []string) {
	to.Uint(uint64(len(texts)))
	for _, text := range texts {
		to.String(text)
	}
}

func restoreStrings(in *index.Restorer) []string {
	var texts []string
	for range in.Count(1) {
		texts = append(texts, in.String())
	}
	return texts
}

// readRecords reads what saveRecords saved, after the documents.
func (r *restored) readRecords(in *index.Restorer) {
	names := make([]name, in.Count(1))
	for i := range names {
		names[i] = nameOf(in.String())
	}
	r.others = restoreStrings(in)
	r.records = make([]owner, in.Count(1+1+8+1+savedNames+3))
	r.found.Grow(len(r.records), r.hashOf)
	for n := range r.records {
		e := &r.records[n]
		*e = owner{id: in.String(), doc: uint32(in.Below(uint64(len(r.ids)))), created: int64(in.Word()), logBytes: uint32(in.Below(1 << 32)), details: plain}
		for _, name := range e.savedNames() {
			if i := in.Below(uint64(len(names))); in.Err() == nil {
				*name = names[i]
			}
		}
		bits := in.Below(savedRate << 1)
		e.withdrawn, e.pinned, e.followed = bits&savedWithdrawn != 0, bits&savedPinned != 0, bits&savedFollowed != 0
		var more details
		if bits&savedRate != 0 {
			more.rate = &memory.Rate{Successes: int(in.Below(1 << 31)), Attempts: int(in.Below(1 << 31))}
		}
		more.tags, more.fingerprints = restoreStrings(in), restoreStrings(in)
		if more.rate != nil || len(more.tags)+len(more.fingerprints) > 0 {
			e.details = &more
		}
		if _, twice := r.found.Find(r.hashOf(uint32(n)), func(other uint32) bool { return r.records[other].id == e.id }); twice {
			in.Fail("a record is there twice")
		}
		if in.Err() != nil {
			break
		}
		r.found.Add(uint32(n), r.hashOf)
	}
}

func (r *restored) hashOf(n uint32) uint64 { return maphash.String(r.x.owners.seed, r.records[n].id) }

// savedRecords describes the lessons and steps to the store; nil for a nil receiver.
func (r *restored) savedRecords() *memory.SavedRecords {
	if r == nil {
		return nil
	}
	return &memory.SavedRecords{Since: r.saved.Since, Documents: len(r.ids), Others: r.others, Load: r.loadRecords}
}

// loadRecords makes the restored records those of the indexer, which has none yet.
func (r *restored) loadRecords(written func(id string) bool, count func(memory.RecordOutline)) {
	x := r.x
	x.mu.Lock()
	defer x.mu.Unlock()
	x.owners.all, x.owners.records = r.records, r.found
	r.records, r.found = nil, index.Finder{}
	for n := range uint32(len(x.owners.all)) {
		if n%1024 == 1023 { // queries need not wait for all
			x.mu.Unlock()
			x.mu.Lock()
		}
		e := &x.owners.all[n]
		if written(e.id) {
			x.owners.drop(n)
			continue
		}
		x.owners.group(n)
		x.linkRecord(n)
		count(memory.RecordOutline{Kind: memory.Kind(e.kind.Value()), Project: e.project.Value(), Doc: r.ids[e.doc], LogBytes: e.logBytes})
	}
}
