package main

import (
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"

	"github.com/recalld/recalld/embedder/builtin/internal/token"
	"github.com/recalld/recalld/embedder/builtin/training/contrast"
)

// corpus is pairs as tokens. It is prepared once and trained on many times.
type corpus struct {
	vocabulary *token.Vocabulary
	stored
}

// stored is what a corpus's file holds, as gob.
type stored struct {
	// Pieces are those of the vocabulary, as it writes them.
	Pieces         []byte
	Count, Buckets int
	Pairs          contrast.Pairs
	Kinds, Sources []string
	KindOf         []uint8
	SourceOf       []uint32
}

// maxKinds bounds the kinds of pairs.
const maxKinds = 256

// tokenize makes the corpus of the pairs in files.
func tokenize(files []string, v *token.Vocabulary) (*corpus, error) {
	c := &corpus{vocabulary: v}
	tokenizer := token.NewTokenizer(v)
	var tokens []uint32
	collect := func(t uint32) { tokens = append(tokens, t) }
	kinds, sources := map[string]uint8{}, map[string]uint32{}
	err := readPairs(files, func(p pair) error {
		kind, known := kinds[p.Kind]
		if !known {
			kind = uint8(len(c.Kinds))
			kinds[p.Kind], c.Kinds = kind, append(c.Kinds, p.Kind)
		}
		source, known := sources[p.Source]
		if !known {
			source = uint32(len(c.Sources))
			sources[p.Source], c.Sources = source, append(c.Sources, p.Source)
		}
		c.KindOf, c.SourceOf = append(c.KindOf, kind), append(c.SourceOf, source)
		for side, text := range map[*contrast.Bags]string{&c.Pairs.A: p.A, &c.Pairs.B: p.B} {
			tokens = tokens[:0]
			tokenizer.Tokens(text, collect)
			side.Add(tokens)
		}
		return nil
	})
	return c, err
}

// save writes the corpus to a file.
func (c *corpus) save(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("create corpus: %w", err)
	}
	c.Pieces, c.Count, c.Buckets = c.vocabulary.AppendTo(nil), c.vocabulary.Pieces(), c.vocabulary.Buckets()
	if err := errors.Join(gob.NewEncoder(f).Encode(&c.stored), f.Close()); err != nil {
		return fmt.Errorf("write corpus: %w", err)
	}
	return nil
}

// loadCorpus reads what save wrote.
func loadCorpus(name string) (*corpus, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open corpus: %w", err)
	}
	defer f.Close()
	c := &corpus{}
	if err := gob.NewDecoder(f).Decode(&c.stored); err != nil {
		return nil, fmt.Errorf("read corpus: %w", err)
	}
	if c.vocabulary, err = token.ParseVocabulary(c.Pieces, c.Count, c.Buckets); err != nil {
		return nil, fmt.Errorf("read corpus: %w", err)
	}
	return c, nil
}

// split divides the places of the pairs into those to train on and those that
// are held out. Of a kind with many sources, whole sources are held out, so that
// what is learned is held against what others write; of a kind with few, pairs.
func (c *corpus) split() (train, held []int) {
	sources := make([]map[uint32]bool, len(c.Kinds))
	for i := range sources {
		sources[i] = map[uint32]bool{}
	}
	for i, k := range c.KindOf {
		sources[k][c.SourceOf[i]] = true
	}
	for i, k := range c.KindOf {
		source := c.Sources[c.SourceOf[i]]
		name, share := source, sourceShare
		if len(sources[k]) < manySources {
			name, share = fmt.Sprint(source, i), pairShare
		}
		if hashShare(name) < share {
			held = append(held, i)
		} else {
			train = append(train, i)
		}
	}
	return train, held
}

const (
	manySources = 20
	sourceShare = .04 // of the sources
	pairShare   = .01 // of the pairs
)

// hashShare maps a name to 0…1, evenly.
func hashShare(name string) float64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return float64(h.Sum32()*2654435769) / (1 << 32) // Knuth's multiplier: FNV's upper bits are poor for short names
}

// byKind divides places by the kind of their pairs.
func (c *corpus) byKind(at []int) [][]int {
	kinds := make([][]int, len(c.Kinds))
	for _, i := range at {
		kinds[c.KindOf[i]] = append(kinds[c.KindOf[i]], i)
	}
	return kinds
}

// bySource divides places by the source of their pairs.
func (c *corpus) bySource(at []int) [][]int {
	sources := make([][]int, len(c.Sources))
	for _, i := range at {
		sources[c.SourceOf[i]] = append(sources[c.SourceOf[i]], i)
	}
	return slices.DeleteFunc(sources, func(s []int) bool { return len(s) == 0 })
}
