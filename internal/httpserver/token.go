package httpserver

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// minToken is the shortest token accepted, in bytes: shorter ones were typed.
const minToken = 16

// LoadToken reads the token of the TCP listener from its file, and makes one
// where there is no file. A file that others can read, or whose token is too
// short, is CodeForbidden. The caller holds the data folder's lock.
func LoadToken(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("check token file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", &memory.Error{Code: memory.CodeForbidden, Field: "tcp.token_file", Limit: "mode 0600",
			Message: fmt.Sprintf("others can read %s", path), Hint: "chmod 600 it, or remove it: a new token is made"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read token file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", &memory.Error{Code: memory.CodeForbidden, Field: "tcp.token_file", Limit: fmt.Sprintf("one word of at least %d bytes", minToken),
			Message: fmt.Sprintf("%s holds no token", path), Hint: "remove it: a new token is made"}
	}
	return token, nil
}

// makeToken writes a new token of 128 random bits or more.
func makeToken(path string) (string, error) {
	token := rand.Text()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = fsx.WriteFile(path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, token+"\n")
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("write token file: %w", err)
	}
	return token, nil
}
