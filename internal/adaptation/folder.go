package adaptation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// The folder contains a table, named after its model, and the report that names it. The
// report is written last and removed first: a table without a report is ignored.
const (
	reportName = "adapted.json"
	tableExt   = ".bin"
	provider   = "builtin/"
)

// ErrDamaged is returned when the adapted model cannot be read.
var ErrDamaged = errors.New("the adapted model is damaged")

// ErrOtherBase is returned when the adapted model was made from another table than this
// program's.
var ErrOtherBase = errors.New("the adapted model was made from another built-in model than this program has")

// maxReport is the size of the largest report, in bytes.
const maxReport = 1 << 20

// maxLonger is by how much an adapted table may be longer than its base, in bytes: only its
// name is.
const maxLonger = 255

// Load reads the adapted model of a folder; it returns nil if there is none. After
// ErrDamaged and ErrOtherBase the base stays in use.
func Load(dir string, base []byte) (*builtin.Embedder, error) {
	report, err := readReport(dir)
	if err != nil || report == nil {
		return nil, err
	}
	if report.BaseSum != checksum(base) {
		return nil, ErrOtherBase
	}
	file, err := fsx.ReadFile(tablePath(dir, report.Model), int64(len(base))+maxLonger)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	e, err := builtin.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return e, nil
}

// readReport reads the report of a folder; nil if there is none.
func readReport(dir string) (*memory.Adaptation, error) {
	text, err := fsx.ReadFile(filepath.Join(dir, reportName), maxReport)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r := new(memory.Adaptation)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, reportName, err)
	}
	if !isTable(strings.TrimPrefix(r.Model, provider) + tableExt) { // the name becomes a path
		return nil, fmt.Errorf("%w: %s names no adapted model", ErrDamaged, reportName)
	}
	return r, nil
}

func tablePath(dir, model string) string {
	return filepath.Join(dir, strings.TrimPrefix(model, provider)+tableExt)
}

// isTable reports whether a file of the folder is an adapted table.
func isTable(name string) bool {
	return strings.Contains(name, nameInfix) && strings.HasSuffix(name, tableExt) && !strings.ContainsAny(name, `/\`)
}

// keep writes a table and its report, which makes the table the current one. Afterwards the
// caller sweeps the former table.
func keep(dir string, file []byte, report *memory.Adaptation) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder of models: %w", err)
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if err := fsx.WriteBytes(tablePath(dir, report.Model), 0o600, file); err != nil {
		return fmt.Errorf("write adapted model: %w", err)
	}
	if err := fsx.WriteBytes(filepath.Join(dir, reportName), 0o600, append(text, '\n')); err != nil {
		return fmt.Errorf("write report of adapted model: %w", err)
	}
	return nil
}

// discard removes the adapted model.
func discard(dir string) error {
	if err := os.Remove(filepath.Join(dir, reportName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove report of adapted model: %w", err)
	}
	return sweep(dir, "")
}

// sweep removes all tables but the model's, and temporary files of a killed process.
func sweep(dir, model string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list models: %w", err)
	}
	var all error
	for _, e := range entries {
		name := e.Name()
		half := strings.HasSuffix(name, ".tmp") && (strings.Contains(name, nameInfix) || strings.HasPrefix(name, reportName))
		if half || isTable(name) && name != filepath.Base(tablePath(dir, model)) {
			all = errors.Join(all, os.Remove(filepath.Join(dir, name)))
		}
	}
	return all
}
