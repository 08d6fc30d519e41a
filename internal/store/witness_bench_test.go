package store

import (
	"fmt"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkCommitWithWitness commits one lesson after another, synced, with the
// witness and without: the difference is what it costs.
func BenchmarkCommitWithWitness(b *testing.B) {
	for _, with := range []bool{false, true} {
		b.Run(fmt.Sprintf("witness %v", with), func(b *testing.B) {
			s, err := Open(Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Load(b.Context(), discardLoader()); err != nil {
				b.Fatal(err)
			}
			if !with {
				s.mu.Lock()
				_ = s.witness.close()
				s.witness = nil
				s.mu.Unlock()
			}
			n := 0
			for b.Loop() {
				n++
				r, d := lesson(fmt.Sprintf("l-%d", n), fmt.Sprintf("lesson %d of many", n))
				d.Vectors = nil
				if _, err := s.Commit(b.Context(), memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{d}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExamine reads the files of a store as every start does, beside what the
// start does anyway: opening and loading it.
func BenchmarkExamine(b *testing.B) {
	dir := b.TempDir()
	opts := Options{Dir: dir, NoSync: true}
	s, err := Open(opts)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Load(b.Context(), discardLoader()); err != nil {
		b.Fatal(err)
	}
	if err := s.OpenCollection(b.Context(), testSpace, nil); err != nil {
		b.Fatal(err)
	}
	for n := range 4000 { // 100,000 chunks
		f, docs := fileOf("s-1", fmt.Sprintf("dir/f-%d.go", n), 25)
		if _, err := s.Commit(b.Context(), memory.Batch{Docs: docs, Files: []memory.File{f}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("examine", func(b *testing.B) {
		for b.Loop() {
			if x, err := examine(dir); err != nil || x.damage != nil {
				b.Fatal(x, err)
			}
		}
	})
	b.Run("open and load", func(b *testing.B) {
		for b.Loop() {
			s, err := Open(opts)
			if err == nil {
				_, err = s.Load(b.Context(), discardLoader())
			}
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTestify writes the witness alone.
func BenchmarkTestify(b *testing.B) {
	s, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Load(b.Context(), discardLoader()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.writeWitness()
	}
}
