package cli

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// editors are looked for where the environment names none.
var editors = []string{"nano", "vim", "vi"}

// edit opens a file in the user's editor, at a line where the editor can, and returns
// when it is closed. A line of 0 is none.
func (a *App) edit(file string, line int) error {
	words := strings.Fields(cmp.Or(a.opts.Getenv("VISUAL"), a.opts.Getenv("EDITOR")))
	for i := 0; len(words) == 0 && i < len(editors); i++ {
		if _, err := a.opts.LookPath(editors[i]); err == nil {
			words = editors[i : i+1]
		}
	}
	if len(words) == 0 && runtime.GOOS == "windows" {
		words = []string{"notepad"}
	}
	if len(words) == 0 {
		return &memory.Error{Code: memory.CodeNotFound, Message: "no editor was found", Hint: "name one in EDITOR"}
	}
	program, err := a.opts.LookPath(words[0])
	if err != nil {
		return &memory.Error{Code: memory.CodeNotFound, Message: "the editor " + memory.Quote(words[0]) + " was not found", Hint: "name another one in EDITOR", Cause: err}
	}
	arguments := append(slices.Clone(words[1:]), editorArguments(words[0], file, line)...)
	command := exec.Command(program, arguments...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("run editor %s: %w", words[0], err)
	}
	return nil
}

// editorArguments name a file and a line as an editor takes them.
func editorArguments(editor, file string, line int) []string {
	if line == 0 {
		return []string{file}
	}
	at := strconv.Itoa(line)
	switch strings.TrimSuffix(filepath.Base(editor), ".exe") {
	case "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg":
		return []string{"+" + at, file}
	case "code", "code-insiders", "codium", "cursor", "windsurf":
		return []string{"--goto", file + ":" + at}
	case "hx", "helix", "subl", "zed":
		return []string{file + ":" + at}
	}
	return []string{file}
}
