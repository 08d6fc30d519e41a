package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/viterin/vek/vek32"

	"github.com/recalld/recalld/embedder/builtin/contrast"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// set is a retrieval set to report on: documents, questions and judgements, in the format
// of internal/eval, which a package outside of internal must not import. It is never used
// for training.
type set struct {
	name               string
	documents, queries contrast.Bags
	documentIDs        []string
	// groups are the documents to search for a question, by its group; "" is all of them.
	groups     map[string][]int
	queryGroup []string
	// grades are the judgements of each question, by document.
	grades []map[int]float64
}

// loadSets reads every set of a folder of sets.
func loadSets(dir string, v *table.Vocabulary) ([]*set, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "qrels.tsv.gz"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no sets in %s", dir), err)
	}
	var sets []*set
	for _, f := range files {
		s, err := loadSet(filepath.Dir(f), v)
		if err != nil {
			return nil, fmt.Errorf("load set %s: %w", filepath.Dir(f), err)
		}
		sets = append(sets, s)
	}
	return sets, nil
}

func loadSet(dir string, v *table.Vocabulary) (*set, error) {
	s := &set{name: filepath.Base(dir), groups: map[string][]int{}}
	tokenizer := table.NewTokenizer(v)
	var tokens []uint32
	add := func(bags *contrast.Bags, text string) {
		tokens = tokens[:0]
		tokenizer.Tokens(text, func(t uint32) { tokens = append(tokens, t) })
		bags.Add(tokens)
	}
	type line struct{ ID, Title, Text, Group string }
	decode := func(text string, take func(line)) error {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return err
		}
		take(l)
		return nil
	}
	documents, queries := map[string]int{}, map[string]int{}
	err := readLines(filepath.Join(dir, "corpus.jsonl.gz"), func(text string) error {
		return decode(text, func(l line) {
			n := len(s.documentIDs)
			documents[l.ID] = n
			s.documentIDs = append(s.documentIDs, l.ID)
			s.groups[""] = append(s.groups[""], n)
			if l.Group != "" {
				s.groups[l.Group] = append(s.groups[l.Group], n)
			}
			add(&s.documents, strings.TrimSpace(l.Title+"\n"+l.Text))
		})
	})
	if err != nil {
		return nil, err
	}
	err = readLines(filepath.Join(dir, "queries.jsonl.gz"), func(text string) error {
		return decode(text, func(l line) {
			queries[l.ID] = len(s.queryGroup)
			s.queryGroup = append(s.queryGroup, l.Group)
			s.grades = append(s.grades, map[int]float64{})
			add(&s.queries, l.Text)
		})
	})
	if err != nil {
		return nil, err
	}
	return s, readLines(filepath.Join(dir, "qrels.tsv.gz"), func(text string) error {
		fields := strings.Split(text, "\t")
		if len(fields) != 3 {
			return fmt.Errorf("judgement of %d fields, want 3", len(fields))
		}
		q, asked := queries[fields[0]]
		d, there := documents[fields[1]]
		grade, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || !asked || !there {
			return fmt.Errorf("judgement %q cannot be used", text)
		}
		s.grades[q][d] = max(grade, 0)
		return nil
	})
}

// readLines calls take for each line of a compressed file.
func readLines(name string, take func(string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(z)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			if err := take(line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// ndcg returns the mean nDCG@10 (Järvelin and Kekäläinen, 2002; linear gain) of the ranking
// by cosine at a width, ties by document.
func (s *set) ndcg(m *contrast.Model, width int) float64 {
	documents := cut(m.Vectors(&s.documents, 0, s.documents.Len()), m.Width, width)
	queries := cut(m.Vectors(&s.queries, 0, s.queries.Len()), m.Width, width)
	var sum float64
	for q, grades := range s.grades {
		v := queries[q*width : (q+1)*width]
		type hit struct {
			document int
			score    float32
		}
		var best []hit // the first ten, in order
		before := func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(s.documentIDs[a.document], s.documentIDs[b.document]))
		}
		for _, d := range s.groups[s.queryGroup[q]] {
			h := hit{d, vek32.Dot(v, documents[d*width:(d+1)*width])}
			if len(best) == depth && before(best[depth-1], h) < 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, h, before)
			best = slices.Insert(best, at, h)[:min(len(best)+1, depth)]
		}
		var gain float64
		for rank, h := range best {
			gain += grades[h.document] / math.Log2(float64(rank+2))
		}
		if most := idealGain(grades); most > 0 {
			sum += gain / most
		}
	}
	return sum / float64(len(s.grades))
}

// depth is how many documents of a ranking count.
const depth = 10

// idealGain is the gain of the best ranking.
func idealGain(grades map[int]float64) float64 {
	var list []float64
	for _, g := range grades {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
	var gain float64
	for rank, g := range list[:min(depth, len(list))] {
		gain += g / math.Log2(float64(rank+2))
	}
	return gain
}

// cut returns the first width components of vectors, as unit vectors.
func cut(vectors []float32, full, width int) []float32 {
	n := len(vectors) / full
	short := make([]float32, n*width)
	for i := range n {
		v := short[i*width : (i+1)*width]
		copy(v, vectors[i*full:])
		if length := vek32.Norm(v); length > 0 {
			vek32.MulNumber_Inplace(v, 1/length)
		}
	}
	return short
}
