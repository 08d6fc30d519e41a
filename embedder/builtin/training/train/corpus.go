package main

import (
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"

	"github.com/recalld/recalld/embedder/builtin/contrast"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// corpus is the pairs as tokens. It is prepared once and trained on many times.
type corpus struct {
	vocabulary *table.Vocabulary
	stored
}

// stored is the content of a corpus file, as gob.
type stored struct {
	// Pieces is the vocabulary in the form of AppendTo.
	Pieces         []byte
	Count, Buckets int
	Pairs          contrast.Pairs
	Kinds, Sources []string
	KindOf         []uint8
	SourceOf       []uint32
}

// maxKinds bounds the kinds of pairs.
const maxKinds = 256

// tokenize makes the corpus of the pairs in files, in their order.
func tokenize(files []string, v *table.Vocabulary) (*corpus, error) {
	parts := make([]*corpus, len(files))
	err := eachFile(files, func(i int, name string) (err error) {
		parts[i], err = tokenizeFile(name, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := &corpus{vocabulary: v}
	kinds, sources := map[string]int{}, map[string]int{}
	for i, part := range parts {
		for j := range part.Pairs.Len() {
			kind := number(kinds, &c.Kinds, part.Kinds[part.KindOf[j]])
			if kind == maxKinds {
				return nil, fmt.Errorf("tokenize pairs: more than %d kinds", maxKinds)
			}
			c.KindOf = append(c.KindOf, uint8(kind))
			c.SourceOf = append(c.SourceOf, uint32(number(sources, &c.Sources, part.Sources[part.SourceOf[j]])))
			c.Pairs.A.Append(part.Pairs.A.At(j))
			c.Pairs.B.Append(part.Pairs.B.At(j))
		}
		parts[i] = nil // free the part: the whole is large enough
	}
	return c, nil
}

// tokenizeFile makes the corpus of one file.
func tokenizeFile(name string, v *table.Vocabulary) (*corpus, error) {
	c := &corpus{vocabulary: v}
	tokenizer := table.NewTokenizer(v)
	var tokens []uint32
	collect := func(t uint32) { tokens = append(tokens, t) }
	kinds, sources := map[string]int{}, map[string]int{}
	names := newSpeakers()
	err := readPairs(name, func(p pair) error {
		names.rename(&p)
		kind := number(kinds, &c.Kinds, p.Kind)
		if kind == maxKinds {
			return fmt.Errorf("more than %d kinds", maxKinds)
		}
		c.KindOf = append(c.KindOf, uint8(kind))
		c.SourceOf = append(c.SourceOf, uint32(number(sources, &c.Sources, p.Source)))
		tokens = tokens[:0]
		tokenizer.Tokens(p.A, collect)
		c.Pairs.A.Add(tokens)
		tokens = tokens[:0]
		tokenizer.Tokens(p.B, collect)
		c.Pairs.B.Add(tokens)
		return nil
	})
	return c, err
}

// number returns the index of a name in names, adding it if it is new.
func number(places map[string]int, names *[]string, name string) int {
	n, known := places[name]
	if !known {
		n = len(*names)
		places[name], *names = n, append(*names, name)
	}
	return n
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

// loadCorpus reads a corpus written by save.
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
	if c.vocabulary, err = table.ParseVocabulary(c.Pieces, c.Count, c.Buckets); err != nil {
		return nil, fmt.Errorf("read corpus: %w", err)
	}
	return c, nil
}

// split divides the indices of the pairs into training and held-out pairs. Of a kind with
// many sources it holds out whole sources, so that the test is on texts by other authors;
// of a kind with few, pairs.
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

// byKind groups indices by the kind of their pairs.
func (c *corpus) byKind(at []int) [][]int {
	kinds := make([][]int, len(c.Kinds))
	for _, i := range at {
		kinds[c.KindOf[i]] = append(kinds[c.KindOf[i]], i)
	}
	return kinds
}

// bySource groups indices by the source of their pairs.
func (c *corpus) bySource(at []int) [][]int {
	sources := make([][]int, len(c.Sources))
	for _, i := range at {
		sources[c.SourceOf[i]] = append(sources[c.SourceOf[i]], i)
	}
	return slices.DeleteFunc(sources, func(s []int) bool { return len(s) == 0 })
}
