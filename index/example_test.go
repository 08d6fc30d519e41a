package index_test

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/index/vector"
)

// texts are the documents of the example, by number, and vectors what a model made
// of them.
var (
	texts   = []string{"npm install fails with EACCES", "delete node_modules and install again", "the queue drops its oldest job"}
	vectors = [][]float32{{.9, .1, 0}, {.8, .3, .1}, {0, .1, .9}}
)

// Two retrievers search the documents that a filter allows, and Fuse joins their
// results.
func Example() {
	words, err := lexical.New(lexical.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	meaning, err := vector.NewCollection(vector.Options{Name: "example", Dim: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	var attributes index.Attributes
	for doc, text := range texts {
		words.Upsert(uint32(doc), lexical.Analyze(text))
		if err := meaning.Upsert(uint32(doc), vectors[doc]); err != nil {
			fmt.Println(err)
			return
		}
		attributes.Set(uint32(doc), []index.Attr{{Key: "kind", Value: "lesson"}})
	}
	// The model that embeds queries. This one knows one query.
	embed := func(context.Context, string) ([]float32, error) { return []float32{1, .2, 0}, nil }

	query := index.Query{
		Text:  "npm permission error",
		Allow: attributes.Match(index.Clause{Key: "kind", Values: []string{"lesson"}}),
		Limit: 10,
	}
	var rankings []index.Ranking
	for _, r := range []struct {
		index.Retriever
		form   index.Form
		weight float64
	}{{words, index.Lexical, 1}, {meaning.Retriever(embed), index.ZScore, index.ZScoreWeight}} {
		result, err := r.Retrieve(context.Background(), query)
		if err != nil {
			fmt.Println(err)
			return
		}
		rankings = append(rankings, index.Ranking{Name: r.Name(), Result: result, Form: r.form, Weight: r.weight})
	}
	for _, hit := range index.Fuse(rankings, 2) {
		fmt.Println(texts[hit.Doc])
	}
	// Output:
	// npm install fails with EACCES
	// delete node_modules and install again
}

// A query returns only documents that its filter allows.
func ExampleAttributes() {
	var attributes index.Attributes
	attributes.Set(0, []index.Attr{{Key: "project", Value: "shop"}, {Key: "kind", Value: "lesson"}})
	attributes.Set(1, []index.Attr{{Key: "project", Value: "shop"}, {Key: "kind", Value: "chunk"}})
	attributes.Set(2, []index.Attr{{Key: "project", Value: "blog"}, {Key: "kind", Value: "lesson"}})
	fmt.Println(attributes.Match(
		index.Clause{Key: "project", Values: []string{"shop"}},
		index.Clause{Key: "kind", Values: []string{"lesson", "step"}},
	).ToArray())
	// Output: [0]
}
