package httpserver

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// minToken is the shortest token accepted, in bytes: shorter ones were typed.
const minToken = 16

// maxTokenFile is the size of the largest token file, in bytes.
const maxTokenFile = 4 << 10

// loadToken reads the token of the TCP listener from its file, and makes one
// where there is no file. A file that others can read, or whose token is too
// short, is CodeForbidden. The caller holds the data folder's lock.
func loadToken(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("check token file: %w", err)
	}
	if fsx.OpenToOthers(info) {
		return "", &memory.Error{Code: memory.CodeForbidden, Field: "tcp.token_file", Limit: "mode 0600",
			Message: fmt.Sprintf("others can read %s", path), Hint: "chmod 600 it, or remove it: a new token is made"}
	}
	text, err := fsx.ReadFile(path, maxTokenFile)
	if err != nil {
		return "", fmt.Errorf("read token file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", &memory.Error{Code: memory.CodeForbidden, Field: "tcp.token_file", Limit: fmt.Sprintf("one word of at least %d letters, digits and signs of ASCII", minToken),
			Message: fmt.Sprintf("%s holds no token", path), Hint: "remove it: a new token is made"}
	}
	return token, nil
}

// makeToken writes a new token of 128 random bits or more.
func makeToken(path string) (string, error) {
	token := rand.Text()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = fsx.WriteBytes(path, 0o600, []byte(token+"\n"))
	}
	if err != nil {
		return "", fmt.Errorf("write token file: %w", err)
	}
	return token, nil
}

// formerSuffix names the file of the token before the last rotation: the token and, behind
// a space, until when it is accepted.
const formerSuffix = ".former"

// TokenFile is the token of a file, with the one before it as long as that is accepted. It
// takes note of a rotation without a restart. It is safe for concurrent use.
type TokenFile struct {
	path string
	now  func() time.Time

	mu     sync.Mutex // guards what follows
	stamp  [2]string  // of both files when they were read
	token  string
	former string
	until  time.Time
}

// OpenToken reads the token of a file, as loadToken does.
func OpenToken(path string) (*TokenFile, error) {
	token, err := loadToken(path)
	if err != nil {
		return nil, err
	}
	return &TokenFile{path: path, now: time.Now, token: token}, nil
}

// Tokens returns the tokens that are accepted now. That of a file that others can reach, or
// that was removed, is not. A file that cannot be read, or holds no token, changes nothing.
func (f *TokenFile) Tokens() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if stamp := [2]string{fsx.Stamp(f.path), fsx.Stamp(f.path + formerSuffix)}; stamp != f.stamp || stamp[0] == "" {
		f.stamp = stamp
		info, err := os.Stat(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			f.token = ""
		}
		if err == nil { // else loadToken would make one
			token, err := loadToken(f.path)
			switch {
			case err == nil:
				f.token = token
			case fsx.OpenToOthers(info):
				f.token = ""
			}
			if err != nil {
				f.stamp = [2]string{} // it may be read the next time
			}
		}
		f.former, f.until = readFormer(f.path + formerSuffix)
	}
	tokens := []string{}
	if f.token != "" {
		tokens = append(tokens, f.token)
	}
	if f.former != "" && f.now().Before(f.until) {
		tokens = append(tokens, f.former)
	}
	return tokens
}

func readFormer(path string) (token string, until time.Time) {
	info, err := os.Stat(path)
	if err != nil || fsx.OpenToOthers(info) {
		return "", time.Time{}
	}
	text, err := fsx.ReadFile(path, maxTokenFile)
	if err != nil {
		return "", time.Time{}
	}
	token, end, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	until, err = time.Parse(time.RFC3339, end)
	if err != nil || len(token) < minToken {
		return "", time.Time{}
	}
	return token, until
}

// RotateToken makes a new token. The former one is accepted for the time that is given; a
// daemon that runs takes note at the next request.
func RotateToken(path string, now time.Time, keep time.Duration) error {
	former, err := loadToken(path)
	if err != nil {
		return err
	}
	name := path + formerSuffix
	if keep > 0 {
		err = fsx.WriteBytes(name, 0o600, fmt.Appendln(nil, former, now.Add(keep).UTC().Format(time.RFC3339)))
	} else if err = os.Remove(name); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("keep former token: %w", err)
	}
	_, err = makeToken(path)
	return err
}
