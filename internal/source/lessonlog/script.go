package lessonlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// ScriptPath is the path of the script in a repository, with slashes (contract 2).
const ScriptPath = "agent-knowledge/scripts/log_memory.sh"

// scriptMark is in every version of the script.
const scriptMark = "log_memory.sh: part of recalld"

// InstallScript writes the script into a repository, over an older version of it, and
// reports whether that changed anything. It returns CodeConflict, and changes nothing, if
// the file there is not the script.
func InstallScript(root string) (file string, changed bool, err error) {
	file = filepath.Join(root, filepath.FromSlash(ScriptPath))
	repo, err := fsx.OpenRoot(root)
	if err != nil {
		return "", false, fmt.Errorf("open repository: %w", err)
	}
	defer repo.Close() // only its handle
	switch old, err := readScript(repo); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", false, fmt.Errorf("read script: %w", err)
	case !bytes.Contains(old, []byte(scriptMark)):
		return "", false, &memory.Error{Code: memory.CodeConflict, Field: "path", Message: file + " belongs to another program",
			Hint: "move it away and try again"}
	case bytes.Equal(old, configs.LogScript):
		changed, err := makeExecutable(repo)
		if err != nil {
			return "", false, fmt.Errorf("make script executable: %w", err)
		}
		return file, changed, nil
	}
	if err := fsx.MkdirAll(repo, path.Dir(ScriptPath)); err != nil {
		return "", false, fmt.Errorf("create folder of script: %w", err)
	}
	if err := fsx.Replace(repo, filepath.FromSlash(ScriptPath), configs.LogScript, 0o777); err != nil {
		return "", false, fmt.Errorf("write script: %w", err)
	}
	return file, true, nil
}

// maxScript bounds the existing file that is read, in bytes.
const maxScript = 1 << 20

func readScript(repo *os.Root) ([]byte, error) {
	return fsx.ReadBeginning(repo, ScriptPath, maxScript)
}

// makeExecutable restores the mode of the script, which an archive may have lost. Windows
// has no such mode.
func makeExecutable(folder *os.Root) (changed bool, err error) {
	if runtime.GOOS == "windows" {
		return false, nil
	}
	info, err := folder.Stat(ScriptPath)
	if err != nil || info.Mode()&0o100 != 0 {
		return false, err
	}
	return true, folder.Chmod(ScriptPath, 0o755)
}
