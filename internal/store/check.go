package store

import (
	"errors"
	"fmt"
	"maps"

	"github.com/recalld/recalld/internal/memory"
)

// Check reads the whole store and returns all its errors: values with a wrong checksum or
// payload, references to missing documents, documents and chunk sets without a reference,
// vectors without terms, sessions under a wrong key, states, turns and times of use without
// their session, receipt or file, steps without a session, and differences between memory
// and disk. No update may run at the same time.
func (s *Store) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	refs, chunkSets := map[memory.DocID]int32{}, map[chunkSetID]int32{}
	stored, logs := totals{}, logSizes{}
	sizes := sandboxSizes{}
	sessions := map[memory.SessionKey]memory.Session{}
	err := s.View(func(v View) error {
		checkSessions(v, sessions, bad)
		checkStates(v, sessions, bad)
		checkReceipts(v, bad)
		stored[totalSessions] = len(sessions)
		for r, err := range v.Records() {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if r.Doc != memory.DocumentID(r.Text) {
				bad("record %s: its document is not the hash of its text", r.ID)
			}
			if _, ok := sessions[memory.SessionKey{Project: r.Project, ID: r.Session}]; !ok && r.Kind == memory.Step {
				bad("step %s: its session %q is not stored", r.ID, r.Session)
			}
			refs[r.Doc]++
			stored[string(r.Kind)]++
			logs.add(&r, 1)
		}
		for f, err := range v.files("", v.chunkSet) {
			if f.chunkSet != (chunkSetID{}) {
				chunkSets[f.chunkSet]++
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			for _, c := range f.Chunks {
				refs[c.Doc]++
			}
			stored[totalFiles]++
			stored[string(memory.Chunk)] += len(f.Chunks)
			sizes.change(memory.FileChange{New: &f.File})
		}
		s.checkChunkSets(v, chunkSets, bad)
		s.checkUsed(v, bad)
		terms := map[memory.DocID]bool{}
		for k := range v.keys(prefixTerms) {
			doc := memory.DocID(k[len(prefixTerms):])
			terms[doc] = true
			if refs[doc] == 0 {
				bad("document %s: nothing references it", doc)
			}
		}
		for doc := range refs {
			if !terms[doc] {
				bad("document %s: it is referenced and has no terms", doc)
			}
		}
		s.checkVectors(v, terms, bad)
		s.checkSandboxes(v, bad)
		for _, err := range v.damagedValues() {
			errs = append(errs, err)
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	if s.isLoaded() {
		s.checkCounts(refs, stored, logs, bad)
		s.checkSizes(sizes, bad)
	}
	s.checkCurrent(sessions, bad)
	return errors.Join(errs...)
}

// checkVectors checks the vectors of all collections, including unknown ones.
func (s *Store) checkVectors(v View, terms map[memory.DocID]bool, bad func(string, ...any)) {
	names := map[collectionKey]string{}
	for _, name := range s.Collections() {
		names[collectionKeyOf(name)] = name
	}
	for k := range v.keys(prefixVector) {
		at := len(prefixVector) + len(collectionKey{})
		if len(k) != at+len(memory.DocID{}) {
			bad("stored value %q: the key has the wrong length", k)
			continue
		}
		name, known := names[collectionKey(k[len(prefixVector):at])]
		doc := memory.DocID(k[at:])
		if !known {
			bad("document %s: it has a vector in a collection that was dropped", doc)
		} else if !terms[doc] {
			bad("document %s: it has a vector in %s and no terms", doc, name)
		}
	}
}

func (s *Store) checkCounts(refs map[memory.DocID]int32, stored totals, logs logSizes, bad func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for doc, n := range refs {
		if s.refs[doc] != n {
			bad("document %s: %d references are stored, %d are counted", doc, n, s.refs[doc])
		}
	}
	for doc, n := range s.refs {
		if refs[doc] == 0 {
			bad("document %s: %d references are counted, none is stored", doc, n)
		}
	}
	for kind, n := range s.totals.minus(stored) {
		bad("%ss: %d are stored, %d more are counted", kind, stored[kind], n)
	}
	if !maps.Equal(logs, s.logSizes) {
		bad("lesson logs: %v bytes are stored, %v are counted", logs, s.logSizes)
	}
}
