package builtin

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/embedder/builtin/internal/static"
	"github.com/recalld/recalld/embedder/builtin/internal/table"
)

// File returns the bytes of the program's own table, which must not be written to:
// what package adapt starts from.
func File() []byte { return file }

// Open returns an embedder over the bytes of another table, as package adapt makes
// them, which must not be written to afterwards. Its vectors have Dim components; it
// fails for bytes that are no table, or of one without that width.
func Open(file []byte) (*Embedder, error) {
	t, err := table.Read(file)
	if err != nil {
		return nil, fmt.Errorf("open table: %w", err)
	}
	e := static.New(func() (*table.Model, error) { return t, nil }, Dim)
	if _, err := e.Model(context.Background()); err != nil { // has the width checked
		return nil, fmt.Errorf("open table: %w", err)
	}
	return e, nil
}
