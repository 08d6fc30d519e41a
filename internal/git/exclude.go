package git

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// excludeFile is the file of a git folder with the patterns of this clone.
const excludeFile = "info/exclude"

// Exclude adds a pattern to the file info/exclude of a git folder, or with "!" before it
// takes it back, unless one of both is there already.
func Exclude(commonDir, pattern string) error {
	at, err := fsx.OpenRoot(commonDir) // a link in it does not lead out
	if err != nil {
		return err
	}
	defer at.Close()
	if said, err := mentions(at, pattern); err != nil || said {
		return err
	}
	if err := at.MkdirAll("info", 0o777); err != nil {
		return err
	}
	return fsx.Append(at, excludeFile, []byte(pattern+"\n"))
}

// MentionsExclude says that the file info/exclude has a pattern, or takes it back.
func MentionsExclude(commonDir, pattern string) (bool, error) {
	at, err := fsx.OpenRoot(commonDir)
	if err != nil {
		return false, err
	}
	defer at.Close()
	return mentions(at, pattern)
}

func mentions(at *os.Root, pattern string) (bool, error) {
	text, err := fsx.ReadBeginning(at, excludeFile, maxExclude)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	bare := func(line string) string {
		return strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(line), "/"), "!")
	}
	return slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return bare(line) == bare(pattern) }), err
}

// maxExclude bounds what is read of a file info/exclude, in bytes.
const maxExclude = 1 << 20
