package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPlatformFolders(t *testing.T) {
	for name, tc := range map[string]struct {
		goos string
		env  map[string]string
		want folders
	}{
		"linux": {"linux", map[string]string{"HOME": "/home/u"},
			folders{config: "/home/u/.config/recalld", data: "/home/u/.local/share/recalld"}},
		"linux with XDG": {"linux", map[string]string{"HOME": "/home/u", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"},
			folders{config: "/c/recalld", data: "/d/recalld"}},
		"linux with relative XDG": {"linux", map[string]string{"HOME": "/home/u", "XDG_DATA_HOME": "d"},
			folders{config: "/home/u/.config/recalld", data: "/home/u/.local/share/recalld"}},
		"linux with XDG and no home": {"linux", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"},
			folders{config: "/c/recalld", data: "/d/recalld"}},
		"macOS": {"darwin", map[string]string{"HOME": "/Users/u", "XDG_DATA_HOME": "/d"},
			folders{config: "/Users/u/Library/Application Support/recalld", data: "/Users/u/Library/Application Support/recalld"}},
		"windows": {"windows", map[string]string{"USERPROFILE": "/Users/u", "LOCALAPPDATA": "/local"},
			folders{config: "/Users/u/AppData/Roaming/recalld", data: "/local/recalld"}},
		"no home":         {"linux", nil, folders{}},
		"a relative home": {"linux", map[string]string{"HOME": "u"}, folders{}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("the paths are written as on Unix: run it on Linux or macOS")
			}
			got, err := platformFolders(tc.goos, func(name string) string { return tc.env[name] })
			if (err != nil) != (tc.want == folders{}) {
				t.Errorf("error %v", err)
			}
			if got != tc.want {
				t.Errorf("folders %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestSocketPath(t *testing.T) {
	const short = "/data/recalld"
	long := "/data/" + strings.Repeat("x", 120)
	if got, want := socketPath(short), filepath.FromSlash(short+"/run/recalld.sock"); got != want {
		t.Errorf("short: %q, want %q", got, want)
	}
	got := socketPath(long)
	if len(got) > maxSocketPath || !filepath.IsAbs(got) && runtime.GOOS != "windows" {
		t.Errorf("long: %q (%d bytes), want a short one", got, len(got))
	}
	if other := socketPath(long + "y"); other == got {
		t.Errorf("two data folders share the socket %q", got)
	}
}

// A daemon that a login shell started is reached from a hook or a service, whose
// environment names other folders or none.
func TestSocketDoesNotDependOnTheEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has one temporary folder for a user: run it on Linux or macOS")
	}
	cfg := Default()
	cfg.Data = "/data/" + strings.Repeat("x", 120)
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/7")
	first := cfg.Paths().Socket
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", t.TempDir())
	if second := cfg.Paths().Socket; second != first {
		t.Errorf("the socket is %q in one environment and %q in another", first, second)
	}
}

func TestPrepare(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits: run it on Linux or macOS")
	}
	cfg := Default()
	cfg.Data = filepath.Join(t.TempDir(), "data")
	paths := cfg.Paths()
	for range 2 { // an existing folder is as good
		if err := paths.Prepare(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{paths.Data, filepath.Dir(paths.Socket), filepath.Dir(paths.Log)} {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o700 {
			t.Errorf("%s has mode %o, want 700", dir, mode)
		}
	}

	for _, dir := range []string{paths.Data, paths.Store} {
		if err := os.MkdirAll(paths.Store, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o720); err != nil {
			t.Fatal(err)
		}
		if err := paths.Prepare(); err == nil || !strings.Contains(err.Error(), "chmod go-w '"+dir+"'") {
			t.Errorf("%s, which others may write to: error %v, want one that says chmod go-w", dir, err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	cfg.Socket = filepath.Join(open, "s")
	if err := cfg.Paths().Prepare(); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("a socket in a folder open to others: error %v, want one that says chmod 700", err)
	}
	// One for all users, as /tmp, is not to be closed to them.
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	shared := cfg
	shared.Data, shared.Socket = open, ""
	for _, cfg := range []Config{cfg, shared} {
		if err := cfg.Paths().Prepare(); err == nil || strings.Contains(err.Error(), "chmod") || !strings.Contains(err.Error(), "for all users") {
			t.Errorf("data %q, socket %q in a folder for all users: error %v, want one that names no chmod", cfg.Data, cfg.Socket, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(paths.Socket), link); err != nil {
		t.Fatal(err)
	}
	cfg.Socket = filepath.Join(link, "s")
	if err := cfg.Paths().Prepare(); err == nil {
		t.Error("a socket folder that is a link was accepted: another user may turn it elsewhere")
	}
}

// TestDataFolderThatCannotBeMade: the error is of the setting data, so that it gets the hint of
// that.
func TestDataFolderThatCannotBeMade(t *testing.T) {
	cfg := Default()
	cfg.Data = filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cfg.Data+".gone", cfg.Data); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	err := cfg.Paths().Prepare()
	if e, ok := errors.AsType[*Error](err); !ok || e.Field != "data" || !strings.Contains(e.Message, cfg.Data) {
		t.Errorf("the error is %v, want one of the setting data that names the folder", err)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "12": 12, "12B": 12, "500KB": 500_000, "500 kb": 500_000, "2KiB": 2048, "3 MiB": 3 << 20, "1GB": 1e9,
	} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
		if again, err := ParseSize(got.String()); err != nil || again != got {
			t.Errorf("%q is written %q and read again as %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "KB", "-1", "1.5MB", "1TB", "99999999999GB", "0x10"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestOllamaURL(t *testing.T) {
	for host, want := range map[string]string{
		"": "http://127.0.0.1:11434", "0.0.0.0": "http://127.0.0.1:11434", "gpu": "http://gpu:11434",
		"gpu:80": "http://gpu:80", "https://gpu": "https://gpu:443", "http://gpu:1/": "http://gpu:1",
		"[::1]": "http://[::1]:11434", "[::1]:5": "http://[::1]:5", ":5": "http://127.0.0.1:5",
	} {
		if got := ollamaURL(host); got != want {
			t.Errorf("OLLAMA_HOST=%q is %q, want %q", host, got, want)
		}
	}
}
