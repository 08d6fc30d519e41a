package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/builtin/training/mine/mirror"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/language"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

// pool is what a source has of one kind, analysed and embedded once, with questions that
// its documents answer. Collections are drawn from it.
type pool struct {
	source    string
	kind      memory.Kind
	questions []question
	terms     []index.Terms
	vectors   [][]float32
}

// question is a text, and the documents of its own pool that answer it. A report is a whole
// commit message: it only asks other sources.
type question struct {
	text  string
	form  string
	right map[int]bool
}

const report = "report"

// kinds says what a pair of the miner stands for: notes about a change for lessons,
// sections of documentation for references, functions for code.
var kinds = map[string]memory.Kind{
	"commit": memory.Lesson, "changelog": memory.Lesson,
	"heading": memory.Reference, "question": memory.Reference, "passage": memory.Reference, "example": memory.Reference, "option": memory.Reference,
	"ask": memory.Chunk, "doc": memory.Chunk,
}

// asking are the kinds of pairs whose shorter text is a question. A heading ("Usage") only
// asks its own pool: it fits the documentation of everything.
var asking = map[string]bool{"commit": true, "heading": true, "question": true, "ask": true, "doc": true}

const (
	// longReport is the least length of a commit message that stands for a report.
	longReport = 250
	// fewest is the least size of a pool.
	fewest = 20
	// fileBytes and sourceBytes bound the code that is read.
	fileBytes, sourceBytes = 200_000, 6_000_000
)

// builder collects a pool's documents, each text once.
type builder struct {
	pool
	texts []string
	names [][]string
	seen  map[string]int
}

func newBuilder(source string, kind memory.Kind) *builder {
	return &builder{pool: pool{source: source, kind: kind}, seen: map[string]int{}}
}

func (b *builder) add(text string, names []string) int {
	at, known := b.seen[text]
	if !known {
		at = len(b.texts)
		b.seen[text] = at
		b.texts, b.names = append(b.texts, text), append(b.names, names)
	}
	return at
}

// build analyses and embeds the documents. It returns nil for a pool that is too small.
func (b *builder) build(ctx context.Context) (*pool, error) {
	if len(b.texts) < fewest {
		return nil, nil
	}
	model := builtin.New()
	for i, text := range b.texts {
		vectors, err := model.Embed(ctx, embedder.Document, []string{text})
		if err != nil {
			return nil, fmt.Errorf("embed a %s of %s: %w", b.kind, b.source, err)
		}
		b.terms = append(b.terms, lexical.WithNames(lexical.Analyze(text), b.names[i]))
		b.vectors = append(b.vectors, vectors[0])
	}
	return &b.pool, nil
}

// pair is a line of the miner.
type pair struct {
	Kind string `json:"k"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// loadSource returns the pools of a source: of its pairs and, split as recalld does, of the
// code of a commit.
func loadSource(ctx context.Context, pairs, mirrors, name, commit string) ([]*pool, error) {
	of := map[memory.Kind]*builder{}
	for _, kind := range []memory.Kind{memory.Lesson, memory.Reference, memory.Chunk} {
		of[kind] = newBuilder(name, kind)
	}
	if err := addCode(ctx, of[memory.Chunk], mirrors, name, commit); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(pairs, strings.Replace(name, "/", "+", 1)+".jsonl"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("read pairs of %s: %w", name, err)
		}
		if b := of[kinds[p.Kind]]; b != nil {
			b.take(p)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read pairs of %s: %w", name, err)
	}
	var list []*pool
	for _, kind := range []memory.Kind{memory.Lesson, memory.Reference, memory.Chunk} {
		p, err := of[kind].build(ctx)
		if err != nil {
			return nil, err
		}
		if p != nil {
			list = append(list, p)
		}
	}
	return list, nil
}

// take adds a pair's document and question. Code has its documents already: the right ones
// hold a line of the function.
func (b *builder) take(p pair) {
	right := map[int]bool{}
	if b.kind == memory.Chunk {
		if line := tellingLine(p.B); line != "" {
			for i, text := range b.texts {
				if strings.Contains(text, line) {
					right[i] = true
				}
			}
		}
	} else {
		right[b.add(p.B, nil)] = true
	}
	if asking[p.Kind] {
		b.questions = append(b.questions, question{p.A, p.Kind, right})
	}
	if p.Kind == "commit" && len(p.B) > longReport {
		b.questions = append(b.questions, question{p.A + "\n" + p.B, report, nil})
	}
}

// tellingLine is the first line of 20 bytes or more.
func tellingLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= 20 {
			return line
		}
	}
	return ""
}

func addCode(ctx context.Context, b *builder, mirrors, name, commit string) error {
	repo, err := mirror.Open(ctx, mirrors, name, commit)
	if err != nil {
		return err
	}
	files, err := repo.Files(ctx)
	if err != nil {
		return err
	}
	read := files[:0]
	total := int64(0)
	for _, f := range files {
		if f.Size == 0 || f.Size > fileBytes || total > sourceBytes {
			continue
		}
		read, total = append(read, f), total+f.Size
	}
	return repo.Read(ctx, read, func(f mirror.File, src []byte) {
		switch language.Of(f.Path, src) {
		case language.Binary, language.Data, "json":
			return
		}
		for _, c := range chunk.Split(f.Path, "", src) {
			if len(lexical.Analyze(c.Doc)) > 0 {
				b.add(c.Doc, c.Defines)
			}
		}
	})
}
