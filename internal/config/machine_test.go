package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
)

// OLLAMA_HOST is set for other programs: it is read as they read it, and what it
// says never keeps recalld from working.
func TestOllamaHost(t *testing.T) {
	for host, want := range map[string]struct{ url, unused string }{
		"":                        {"http://127.0.0.1:11434", ""},
		"127.0.0.1":               {"http://127.0.0.1:11434", ""},
		":1234":                   {"http://127.0.0.1:1234", ""},
		"0.0.0.0":                 {"http://127.0.0.1:11434", ""},
		"0.0.0.0:80":              {"http://127.0.0.1:80", ""},
		"::":                      {"http://127.0.0.1:11434", ""},
		"[::]":                    {"http://127.0.0.1:11434", ""},
		"[::]:11434":              {"http://127.0.0.1:11434", ""},
		"::1":                     {"http://[::1]:11434", ""},
		"[::1]":                   {"http://[::1]:11434", ""},
		"[::1]:5":                 {"http://[::1]:5", ""},
		"http://localhost":        {"http://localhost:80", ""},
		"Localhost":               {"http://Localhost:11434", ""},
		"https://localhost/":      {"https://localhost:443", ""},
		"http://localhost:9/path": {"http://localhost:9/path", ""},
		"localhost:many":          {"http://localhost:11434", ""},
		"gpu.example.com":         {"http://gpu.example.com:11434", "gpu.example.com"},
		"http://10.0.0.9:11434":   {"http://10.0.0.9:11434", "10.0.0.9"},
		"2001:db8::1":             {"http://[2001:db8::1]:11434", "2001:db8::1"},
		"ftp://localhost":         {"", "names no server"},
		"http://%zz":              {"", "names no server"},
	} {
		cfg, err := load(t, "", map[string]string{"OLLAMA_HOST": host}, nil)
		if err != nil {
			t.Errorf("OLLAMA_HOST=%q: %v", host, err)
			continue
		}
		got := cfg.Embedding.Ollama
		if got.URL != want.url || (got.Unused == "") != (want.unused == "") || !strings.Contains(got.Unused, want.unused) {
			t.Errorf("OLLAMA_HOST=%q: URL %q, unused %q; want %q, %q", host, got.URL, got.Unused, want.url, want.unused)
		}
		if got.Used() != (want.unused == "") {
			t.Errorf("OLLAMA_HOST=%q: used %v", host, got.Used())
		}
	}
	allowed, err := load(t, "embedding: {ollama: {allow_remote: true}}\n", map[string]string{"OLLAMA_HOST": "gpu.example.com"}, nil)
	if err != nil || !allowed.Embedding.Ollama.Used() {
		t.Errorf("with allow_remote another machine is not used: %q, %v", allowed.Embedding.Ollama.Unused, err)
	}
}

// What a file says is relative to the file, what flags and variables say to the
// folder of whoever set them; the daemon runs in neither.
func TestRelativePaths(t *testing.T) {
	home, work, files := t.TempDir(), t.TempDir(), t.TempDir()
	file := filepath.Join(files, "mine.yaml")
	text := "socket: run/s\ntcp: {token_file: ~/token}\nsandboxes: [src, ~/work, " + filepath.ToSlash(work) + "]\nlessons: {dir: ~/lessons}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home, "RECALLD_DATA": "data"}
	source := config.Sources{File: file, Dir: work, Getenv: func(name string) string { return env[name] }}
	cfg, err := config.Load(source)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ got, want string }{
		"socket of the file":    {cfg.Socket, filepath.Join(files, "run", "s")},
		"token file, at home":   {cfg.TCP.TokenFile, filepath.Join(home, "token")},
		"sandbox of the file":   {cfg.Sandboxes[0], filepath.Join(files, "src")},
		"sandbox at home":       {cfg.Sandboxes[1], filepath.Join(home, "work")},
		"absolute sandbox":      {cfg.Sandboxes[2], filepath.Clean(work)},
		"data of a variable":    {filepath.Base(cfg.Data), "data"},
		"lessons at home":       {cfg.Lessons.Dir, filepath.Join(home, "lessons")},
		"sessions, as they are": {cfg.Sessions.Dir, config.Default().Sessions.Dir},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", name, tc.got, tc.want)
		}
	}
	if !filepath.IsAbs(cfg.Data) || !strings.HasSuffix(filepath.Dir(cfg.Data), filepath.Base(work)) {
		t.Errorf("RECALLD_DATA=data is %q, want it in %q", cfg.Data, work)
	}

	env["RECALLD_SOCKET"], env["RECALLD_CONFIG"] = "of-env", filepath.Base(file)
	source.File, source.Dir, source.Set = "", files, map[string]string{"sandboxes": "a,b"}
	if cfg, err = config.Load(source); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(files, "of-env"); cfg.Socket != want || cfg.Sandboxes[1] != filepath.Join(files, "b") {
		t.Errorf("socket %q and sandboxes %q, want %q and those in %q", cfg.Socket, cfg.Sandboxes, want, files)
	}
}
