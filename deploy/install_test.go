// Package deploy_test runs the scripts of this folder against a server on loopback.
package deploy_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// downloads is a page of releases: files by path.
type downloads map[string][]byte

// newDownloads has version 0.9.0, whose program is a script that says its name.
func newDownloads(t *testing.T) (downloads, string) {
	t.Helper()
	var packed bytes.Buffer
	squeeze := gzip.NewWriter(&packed)
	files := tar.NewWriter(squeeze)
	text := []byte("#!/bin/sh\necho \"recalld of the test: $*\"\n")
	if err := files.WriteHeader(&tar.Header{Name: "recalld", Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := squeeze.Close(); err != nil {
		t.Fatal(err)
	}
	d := downloads{}
	var sums string
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		name := "recalld_0.9.0_" + platform + ".tar.gz"
		d["/latest/download/"+name], d["/download/v0.9.0/"+name] = packed.Bytes(), packed.Bytes()
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(packed.Bytes()), name)
	}
	d["/latest/download/checksums.txt"], d["/download/v0.9.0/checksums.txt"] = []byte(sums), []byte(sums)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := d[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return d, server.URL
}

// installation is one run of install.sh.
type installation struct {
	home, programs string // programs come first in PATH
	env            []string
}

func newInstallation(t *testing.T, base string) installation {
	t.Helper()
	for _, program := range []string{"sh", "curl", "tar"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
			t.Skipf("not run: it needs %s", program)
		}
	}
	i := installation{home: t.TempDir(), programs: t.TempDir()}
	i.env = []string{"HOME=" + i.home, "TMPDIR=" + t.TempDir(), "RECALLD_BASE_URL=" + base, "NO_PROXY=127.0.0.1",
		"PATH=" + i.programs + string(os.PathListSeparator) + os.Getenv("PATH")}
	return i
}

// program puts a script into PATH.
func (i installation) program(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(i.programs, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (i installation) run(t *testing.T, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "install.sh")
	cmd.Env = append(i.env, env...)
	out, err := cmd.CombinedOutput()
	for _, entry := range cmd.Env {
		if dir, ok := strings.CutPrefix(entry, "TMPDIR="); ok {
			if left, readErr := os.ReadDir(dir); readErr != nil || len(left) > 0 {
				t.Errorf("%v is left in the temporary folder, %v", left, readErr)
			}
		}
	}
	return string(out), err
}

func TestInstall(t *testing.T) {
	_, base := newDownloads(t)
	i := newInstallation(t, base)
	dir := filepath.Join(i.home, ".local", "bin")
	for _, env := range [][]string{nil, {"RECALLD_VERSION=0.9.0"}, {"RECALLD_VERSION=v0.9.0"}} {
		out, err := i.run(t, env...)
		if err != nil || !strings.Contains(out, "Installed "+filepath.Join(dir, "recalld")) || !strings.Contains(out, "not in PATH yet") || !strings.Contains(out, "for want of cosign") {
			t.Fatalf("install %q: %v\n%s", env, err, out)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%s has %v, %v, want the program alone", dir, left, err)
	}
	// In another folder, which is in PATH.
	out, err := i.run(t, "RECALLD_INSTALL_DIR="+i.programs)
	if err != nil || strings.Contains(out, "not in PATH") {
		t.Errorf("install into PATH: %v\n%s", err, out)
	}
}

// TestInstallRefuses: every failure says what is wrong and leaves nothing, and the program
// that was installed before as it was.
func TestInstallRefuses(t *testing.T) {
	d, base := newDownloads(t)
	sums := string(d["/latest/download/checksums.txt"])
	blocked := func(i installation) string { return filepath.Join(i.home, "file", "bin") }
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, i installation)
		env   func(i installation) []string
		want  string
	}{
		{name: "another archive than was released", want: "the checksum of recalld_0.9.0_", spoil: func(*testing.T, installation) {
			d["/latest/download/checksums.txt"] = []byte(strings.NewReplacer("a", "b", "b", "a", "1", "2", "2", "1").Replace(sums[:64]) + sums[64:])
		}},
		{name: "no checksum for this platform", want: "this release has no archive for linux/amd64", spoil: func(*testing.T, installation) {
			d["/latest/download/checksums.txt"] = []byte("no line of it")
		}},
		{name: "an archive that is missing", want: "cannot be downloaded", spoil: func(*testing.T, installation) {
			d["/latest/download/checksums.txt"] = []byte(strings.ReplaceAll(sums, "0.9.0", "0.8.0"))
		}},
		{name: "no network", want: "cannot be downloaded", env: func(installation) []string { return []string{"RECALLD_BASE_URL=http://127.0.0.1:1"} }},
		{name: "a version that does not exist", want: "and that this version exists", env: func(installation) []string { return []string{"RECALLD_VERSION=7.7.7"} }},
		{name: "another system", want: "Plan9 is not supported", spoil: func(t *testing.T, i installation) { i.program(t, "uname", "echo Plan9") }},
		{name: "another processor", want: "no release is built for the processor riscv64", spoil: func(t *testing.T, i installation) {
			i.program(t, "uname", `[ "$1" = -s ] && echo Linux || echo riscv64`)
		}},
		{name: "a folder that cannot be made", want: "cannot be made", spoil: func(t *testing.T, i installation) {
			if err := os.WriteFile(filepath.Join(i.home, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, env: func(i installation) []string { return []string{"RECALLD_INSTALL_DIR=" + blocked(i)} }},
		{name: "a folder that cannot be written to", want: "cannot be written to", spoil: func(t *testing.T, i installation) { i.program(t, "cp", "exit 1") }},
		{name: "a signature of another", want: "is not signed by the project", spoil: func(t *testing.T, i installation) {
			d["/latest/download/checksums.txt.sigstore.json"] = []byte("{}")
			i.program(t, "cosign", "exit 1")
		}},
		{name: "no home", want: "HOME is not set", env: func(installation) []string { return []string{"HOME="} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			d["/latest/download/checksums.txt"] = []byte(sums)
			delete(d, "/latest/download/checksums.txt.sigstore.json")
			i := newInstallation(t, base)
			i.program(t, "uname", `[ "$1" = -s ] && echo Linux || echo x86_64`)
			former := filepath.Join(i.home, ".local", "bin", "recalld")
			if err := os.MkdirAll(filepath.Dir(former), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(former, []byte("former"), 0o755); err != nil {
				t.Fatal(err)
			}
			if test.spoil != nil {
				test.spoil(t, i)
			}
			var env []string
			if test.env != nil {
				env = test.env(i)
			}
			out, err := i.run(t, env...)
			if err == nil || !strings.Contains(out, test.want) {
				t.Errorf("%v, want a failure that says %q:\n%s", err, test.want, out)
			}
			if text, err := os.ReadFile(former); err != nil || string(text) != "former" {
				t.Errorf("the former program is %q, %v", text, err)
			}
			if left, err := os.ReadDir(filepath.Dir(former)); err != nil || len(left) != 1 {
				t.Errorf("the folder has %v, %v, want the former program alone", left, err)
			}
		})
	}
}
