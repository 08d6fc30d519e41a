// Package builtin is the embedder that is always available: it needs no server and no
// download, and takes microseconds for a text.
//
// Its model is a trained table inside the program (see package table and docs/model.md).
// The vector of a text is the weighted sum of the rows of its tokens, so that texts with
// words of similar meaning are near one another. All sums are integer sums, so that a text
// has the same vector, bit for bit, on every platform.
package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/recalld/recalld/embedder/builtin/table"
)

const (
	// Name is the model's name. It changes whenever its vectors do.
	Name = provider + "static-v1"
	// Dim is the width of its vectors.
	Dim = 256

	// provider is the prefix of model names: provider and the name of the table.
	provider = "builtin/"
)

// ErrDamaged is returned when the table inside the program is damaged: the program's file
// was truncated or modified.
var ErrDamaged = errors.New("builtin: the model inside this program is damaged")

// file is the table as exported by the trainer.
//
//go:embed model.bin
var file []byte

// read reads the table at the first embedding, so that a process that embeds nothing
// does not pay for it.
var read = sync.OnceValues(func() (*table.Model, error) {
	t, err := table.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return t, nil
})

// New returns the built-in embedder, the same one at every call. Besides the errors of
// embedder.Embedder, it returns ErrDamaged.
var New = sync.OnceValue(func() *Embedder { return newEmbedder(read, Dim) })

// File returns the bytes of the program's own table, from which adapting starts. They must
// not be written to.
func File() []byte { return file }

// Open returns an embedder over the bytes of another table, such as an adapted one, which
// must not be written to afterwards. Its vectors have Dim components. It returns an error
// if the bytes are not a table or the table does not have this width.
func Open(file []byte) (*Embedder, error) {
	t, err := table.Read(file)
	if err != nil {
		return nil, fmt.Errorf("open table: %w", err)
	}
	e := newEmbedder(func() (*table.Model, error) { return t, nil }, Dim)
	if _, err := e.Model(context.Background()); err != nil { // checks the width
		return nil, fmt.Errorf("open table: %w", err)
	}
	return e, nil
}
