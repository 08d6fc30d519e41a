package embedder_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
)

// The built-in embedder needs no server. Vectors have length 1, so that their dot product
// is their cosine.
func Example() {
	ctx, e := context.Background(), builtin.New()
	texts := []string{
		"func parseHTTPRequest(r io.Reader) (*Request, error)",
		"the migration failed: database is locked",
	}
	documents, err := e.Embed(ctx, embedder.Document, texts)
	if err != nil {
		log.Fatal(err)
	}
	query, err := e.Embed(ctx, embedder.Query, []string{"read a request from a client"})
	if err != nil {
		log.Fatal(err)
	}
	nearest, best := "", -1.0
	for i, d := range documents {
		if c := dot(query[0], d); c > best {
			nearest, best = texts[i], c
		}
	}
	fmt.Println(nearest)
	// Output: func parseHTTPRequest(r io.Reader) (*Request, error)
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// untitled embeds documents without their first line. It has another name than the
// embedder that it wraps, because its vectors are other ones: they must not be compared
// with those of the wrapped embedder.
type untitled struct{ embedder.Embedder }

func (u untitled) Model(ctx context.Context) (embedder.Model, error) {
	m, err := u.Embedder.Model(ctx)
	m.Name += "-untitled"
	return m, err
}

func (u untitled) Embed(ctx context.Context, p embedder.Purpose, texts []string) ([][]float32, error) {
	if p == embedder.Query {
		return u.Embedder.Embed(ctx, p, texts)
	}
	bodies := make([]string, len(texts))
	for i, text := range texts {
		_, bodies[i], _ = strings.Cut(text, "\n")
	}
	return u.Embedder.Embed(ctx, p, bodies)
}

// An embedder can wrap another one.
func ExampleEmbedder() {
	e := untitled{builtin.New()}
	m, err := e.Model(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Name, m.Dim)
	_, err = e.Embed(context.Background(), embedder.Document, []string{"Title\nbody", "a title alone"})
	fmt.Println(err)
	// Output:
	// builtin/static-v1-untitled 256
	// embedder: 1 texts failed, among them text 1: the text is blank
}
