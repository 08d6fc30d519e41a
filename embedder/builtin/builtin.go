// Package builtin is the embedder that is always there: it needs no server, no
// download and microseconds for a text.
//
// It is a trained table inside the program (see internal/table and docs/model.md): a
// text's vector is the weighted sum of the vectors of its tokens, so that texts with
// words of like meaning are near one another. All sums are of integers, so that a text
// has the same vector, bit for bit, on every platform.
package builtin

import (
	_ "embed"
	"sync"

	"github.com/recalld/recalld/embedder/builtin/internal/static"
	"github.com/recalld/recalld/embedder/builtin/internal/table"
)

const (
	// Name is the model's name. It changes whenever its vectors do.
	Name = "builtin/static-v1"
	// Dim is the width of its vectors.
	Dim = 256
)

// file is the table as the trainer exports it.
//
//go:embed model.bin
var file []byte

// Embedder is the built-in embedder.
type Embedder = static.Embedder

// New returns the built-in embedder, of which there is one. It reads its table when it
// is first asked for something.
var New = sync.OnceValue(func() *Embedder {
	return static.New(func() (*table.Model, error) { return table.Read(file) }, Dim)
})
