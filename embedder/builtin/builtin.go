// Package builtin is the embedder that is always there: it needs no server and no
// download, and takes microseconds for a text.
//
// It is a trained table inside the program (see package table and docs/model.md): the
// vector of a text is the weighted sum of the rows of its tokens, so that texts with
// words of similar meaning are near one another. All sums are of integers, so that a
// text has the same vector, bit for bit, on every platform.
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

	// provider comes before the name of a table in the name of its model.
	provider = "builtin/"
)

// ErrDamaged is returned when the table inside the program is not the one that was
// built into it: the program's file was cut or changed on its way.
var ErrDamaged = errors.New("builtin: the model inside this program is damaged")

// file is the table as the trainer exports it.
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

// New returns the built-in embedder, the same one at every call. Besides what
// embedder.Embedder says, its errors are ErrDamaged.
var New = sync.OnceValue(func() *Embedder { return newEmbedder(read, Dim) })

// File returns the bytes of the program's own table, which adapting starts from. They
// must not be written to.
func File() []byte { return file }

// Open returns an embedder over the bytes of another table, such as an adapted one,
// which must not be written to afterwards. Its vectors have Dim components. Bytes that
// are not a table, and a table without that width, are errors.
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
