package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// Exclude adds a pattern to the file info/exclude of a git folder, unless it is there already,
// or was taken back ("!" before it).
func Exclude(commonDir, pattern string) error {
	at, err := fsx.OpenRoot(commonDir) // a link in it does not lead out
	if err != nil {
		return err
	}
	defer at.Close()
	const name = "info/exclude"
	text, err := readExclude(at, name)
	if err != nil {
		return err
	}
	known := func(line string) bool {
		line = strings.TrimSuffix(strings.TrimSpace(line), "/")
		return line == pattern || line == "!"+pattern
	}
	if slices.ContainsFunc(strings.Split(string(text), "\n"), known) {
		return nil
	}
	if err := at.MkdirAll("info", 0o777); err != nil {
		return err
	}
	return fsx.Append(at, name, []byte(pattern+"\n"))
}

// maxExclude bounds what is read of a file info/exclude, in bytes.
const maxExclude = 1 << 20

func readExclude(at *os.Root, name string) ([]byte, error) {
	f, _, err := fsx.OpenFile(at, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxExclude))
}
