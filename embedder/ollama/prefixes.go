package ollama

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Prefix is the text that a model was trained to see before a text, for each purpose.
type Prefix struct {
	Query    string
	Document string
}

// Prefixes maps families of models to their prefixes. A family is a prefix of a model's
// name, in any case, without namespace and tag; the longest match counts. Of families that
// differ only in case the first in byte order counts, so that an added "Bge-m3" replaces
// "bge-m3" of DefaultPrefixes.
type Prefixes map[string]Prefix

// Prompts as their model cards print them.
const (
	bgeQuery   = "Represent this sentence for searching relevant passages: "
	qwen3Query = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

// DefaultPrefixes returns the table of models that need prefixes, from their model cards.
// Other models get none.
//
//   - nomic-embed-text: https://huggingface.co/nomic-ai/nomic-embed-text-v1.5 ("Task instruction prefixes")
//   - nomic-embed-code: https://huggingface.co/nomic-ai/nomic-embed-code ("Represent this query for searching relevant code")
//   - mxbai-embed-large: https://huggingface.co/mixedbread-ai/mxbai-embed-large-v1
//   - snowflake-arctic-embed: https://huggingface.co/Snowflake/snowflake-arctic-embed-m
//   - snowflake-arctic-embed2: https://huggingface.co/Snowflake/snowflake-arctic-embed-l-v2.0
//   - embeddinggemma: https://ai.google.dev/gemma/docs/embeddinggemma/model_card ("Prompt instructions")
//   - qwen3-embedding: https://huggingface.co/Qwen/Qwen3-Embedding-0.6B (its default web-search task)
//   - bge-m3: https://huggingface.co/BAAI/bge-m3 (needs none); the others: https://huggingface.co/BAAI/bge-large-en-v1.5
//   - e5: https://huggingface.co/intfloat/e5-base-v2 and multilingual-e5-large
//   - all-minilm: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (trained without)
func DefaultPrefixes() Prefixes {
	e5 := Prefix{Query: "query: ", Document: "passage: "}
	return Prefixes{
		"nomic-embed-text":              {Query: "search_query: ", Document: "search_document: "},
		"nomic-embed-code":              {Query: "Represent this query for searching relevant code: "},
		"mxbai-embed-large":             {Query: bgeQuery},
		"snowflake-arctic-embed":        {Query: bgeQuery},
		"snowflake-arctic-embed2":       {Query: "query: "},
		"snowflake-arctic-embed-m-v2.0": {Query: "query: "},
		"snowflake-arctic-embed-l-v2.0": {Query: "query: "},
		"embeddinggemma":                {Query: "task: search result | query: ", Document: "title: none | text: "},
		"qwen3-embedding":               {Query: qwen3Query},
		"bge-m3":                        {},
		"bge-large":                     {Query: bgeQuery},
		"bge-base":                      {Query: bgeQuery},
		"bge-small":                     {Query: bgeQuery},
		"e5-":                           e5,
		"multilingual-e5-":              e5,
		"all-minilm":                    {},
	}
}

// For returns the prefixes of a model, empty if its family is not in the table.
func (p Prefixes) For(model string) Prefix {
	name, _, _ := strings.Cut(path.Base(strings.ToLower(model)), ":")
	best := ""
	for _, family := range slices.Sorted(maps.Keys(p)) {
		if strings.HasPrefix(name, strings.ToLower(family)) && len(family) > len(best) {
			best = family
		}
	}
	return p[best]
}
