package httpserver

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

func TestSocketModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits: run it on Linux or macOS")
	}
	cfg := config.Default()
	cfg.Data = filepath.Join(t.TempDir(), "d")
	paths := cfg.Paths()
	if err := paths.Prepare(); err != nil {
		t.Fatal(err)
	}
	l, err := ListenSocket(paths.Socket)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{paths.Socket: 0o600, filepath.Dir(paths.Socket): 0o700, paths.Data: 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	if err := errors.Join(l.Close(), l.Remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(paths.Socket); !os.IsNotExist(err) {
		t.Errorf("after removal the socket is still there (%v)", err)
	}
}

// A data folder whose own socket's path the system would refuse.
func TestLongDataPath(t *testing.T) {
	cfg := config.Default()
	cfg.Data = filepath.Join(t.TempDir(), strings.Repeat("x", 100), strings.Repeat("y", 100))
	paths := cfg.Paths()
	if err := paths.Prepare(); err != nil {
		t.Fatal(err)
	}
	l, err := ListenSocket(paths.Socket)
	if err != nil {
		t.Fatalf("listen on %s (%d bytes): %v", paths.Socket, len(paths.Socket), err)
	}
	defer l.Close()
	conn, err := net.Dial("unix", paths.Socket)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	_ = conn.Close()
}

func TestWhatIsNoSocketIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenSocket(path); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("error %v, want a conflict", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestListenTCP(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := ListenTCP(address, nil)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
			t.Errorf("%s listens on %s", address, l.Addr())
		}
		_ = l.Close()
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.168.1.1:0", "example.com:0", "127.0.0.1", ""} {
		l, err := ListenTCP(address, nil)
		if err == nil {
			_ = l.Close()
		}
		if memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("%q: error %v, want invalid input", address, err)
		}
	}
}

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "token")
	made, err := loadToken(path)
	if err != nil || len(made) < minToken {
		t.Fatalf("made %q, %v", made, err)
	}
	if again, err := loadToken(path); err != nil || again != made {
		t.Errorf("read %q, %v, want the one that was made, %q", again, err, made)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v, want the token alone", entries, err)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v, want 600", info.Mode(), err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := loadToken(path); memory.CodeOf(err) != memory.CodeForbidden {
			t.Errorf("readable by others: error %v, want forbidden", err)
		}
	}
	for name, text := range map[string]string{"empty": "", "short": "secret\n", "two words": "aaaaaaaaaaaa bbbbbbbbbbbb"} {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadToken(path); memory.CodeOf(err) != memory.CodeForbidden {
			t.Errorf("%s: error %v, want forbidden", name, err)
		}
	}
}

// TestTokenIsExposed: the token of a file that others can read is not accepted any more, until
// they cannot.
func TestTokenIsExposed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there the folder keeps others out")
	}
	path := filepath.Join(t.TempDir(), "token")
	file, err := OpenToken(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := RotateToken(path, time.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}
	both := file.Tokens()
	for _, step := range []struct {
		path string
		mode os.FileMode
		want []string
	}{
		{path, 0o644, both[1:]}, {path + formerSuffix, 0o640, nil}, {path, 0o600, both[:1]}, {path + formerSuffix, 0o600, both},
	} {
		if err := os.Chmod(step.path, step.mode); err != nil {
			t.Fatal(err)
		}
		if got := file.Tokens(); !slices.Equal(got, step.want) {
			t.Errorf("%s with mode %o: it accepts %d tokens, want %d", filepath.Base(step.path), step.mode, len(got), len(step.want))
		}
	}
}

// TestRotateToken: a new token is accepted at once, the former one for a while, and one that
// is to go at once no more.
func TestRotateToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	file, err := OpenToken(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	file.now = func() time.Time { return now }
	first := file.Tokens()
	rotate := func(keep time.Duration) {
		t.Helper()
		if err := RotateToken(path, now, keep); err != nil {
			t.Fatal(err)
		}
	}
	rotate(time.Hour)
	second := file.Tokens()
	if len(second) != 2 || second[0] == first[0] || second[1] != first[0] {
		t.Errorf("after %v it accepts %v", first, second)
	}
	now = now.Add(time.Hour + time.Second)
	if got := file.Tokens(); len(got) != 1 || got[0] != second[0] {
		t.Errorf("after an hour it accepts %v", got)
	}
	rotate(0)
	if got := file.Tokens(); len(got) != 1 || got[0] == second[0] {
		t.Errorf("the former token is accepted: %v", got)
	}
	third := file.Tokens()[0]
	for _, text := range []string{"short", "", "two words of some length"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := file.Tokens(); len(got) != 1 || got[0] != third {
			t.Errorf("a file with %q: it accepts %v", text, got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := file.Tokens(); len(got) != 0 {
		t.Errorf("without its file it accepts %v", got)
	}
	rotate(0)
	if got := file.Tokens(); len(got) != 1 || got[0] == third {
		t.Errorf("with a new file it accepts %v", got)
	}
	if err := os.WriteFile(path+formerSuffix, []byte("x 9999-01-01T00:00:00Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := file.Tokens(); len(got) != 1 {
		t.Errorf("a short former token: it accepts %v", got)
	}
}

// TestTokenIsReadAgain: a token that could not be read, for lack of file handles for one, is read
// again though its file has not changed since.
func TestTokenIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	file, err := OpenToken(path)
	if err != nil {
		t.Fatal(err)
	}
	former := file.Tokens()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	put := func(text string) { // which does not show in size, mode and time
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	put("no token of one word")
	if got := file.Tokens(); !slices.Equal(got, former) {
		t.Errorf("while it cannot be read: %q, want the one before", got)
	}
	put("the-token-of-one-day")
	if got := file.Tokens(); !slices.Equal(got, []string{"the-token-of-one-day"}) {
		t.Errorf("when it can be read again: %q", got)
	}
}
