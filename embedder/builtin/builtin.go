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
	"errors"
	"fmt"
	"sync"

	"github.com/recalld/recalld/embedder/builtin/internal/static"
	"github.com/recalld/recalld/embedder/builtin/internal/table"
)

const (
	// Name is the model's name. It changes whenever its vectors do.
	Name = "builtin/static-v1"
	// Dim is the width of its vectors.
	Dim = 256
	// NarrowDim is the width of those that take half the memory and find a little
	// less; docs/model.md has figures.
	NarrowDim = 128
)

// ErrDamaged is returned by an embedder when the table inside the program is not what
// was built into it: the program's file was cut or changed on its way.
var ErrDamaged = errors.New("builtin: the model inside this program is damaged")

// file is the table as the trainer exports it.
//
//go:embed model.bin
var file []byte

// read reads the table when somebody embeds for the first time, so that a process which
// embeds nothing does not pay for it.
var read = sync.OnceValues(func() (*table.Model, error) {
	t, err := table.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return t, nil
})

// Embedder is the built-in embedder.
type Embedder = static.Embedder

// New returns the built-in embedder, of which there is one. Besides what
// embedder.Embedder says, its errors are ErrDamaged.
var New = sync.OnceValue(func() *Embedder { return static.New(read, Dim) })

// NewNarrow returns the built-in embedder with vectors of NarrowDim components, which are
// the beginnings of those of New, scaled to length 1 again. They are a space of their own.
var NewNarrow = sync.OnceValue(func() *Embedder { return static.New(read, NarrowDim) })
