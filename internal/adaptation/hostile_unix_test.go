//go:build unix

package adaptation

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/badfile"
)

// TestHostileTable: whatever lies where the adapted table is expected, the adapted model is
// damaged, which is noticed at once and without reading more than a table.
func TestHostileTable(t *testing.T) {
	dir := t.TempDir()
	must(t, keep(dir, nil, adapted(firstModel)))
	table := tablePath(dir, firstModel)
	for bad, put := range badfile.All {
		must(t, errors.Join(os.Remove(table), put(table, "a table")))
		took := badfile.Bounded(t, bad, func() {
			if _, err := Load(dir, builtin.File()); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s in the place of %s: %v, want ErrDamaged", bad, filepath.Base(table), err)
			}
		})
		if took > 64<<20 {
			t.Errorf("%s: %d MB were allocated", bad, took>>20)
		}
	}
}

// TestNotKept: a full disk is no fault of the program.
func TestNotKept(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	var got *memory.Error
	if err := notKept("/models", full); !errors.As(err, &got) || got.Code != memory.CodeReadOnly || got.Hint == "" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk gives %v", err)
	}
	if err := notKept("/models", io.ErrUnexpectedEOF); err != io.ErrUnexpectedEOF {
		t.Errorf("another error became %v", err)
	}
}
