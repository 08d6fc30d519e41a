package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/goccy/go-yaml"
)

// prepared is the folder of the files that packages hold besides the program; git
// ignores it.
const prepared = ".build/package"

// nfpm makes .deb and .rpm. goreleaser contains it.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

// prepare writes what packages hold besides the program: the completions and manual pages
// that the program prints, and the user unit with the path of the package.
func prepare(program string) error {
	manual, completions := filepath.Join(prepared, "man1"), filepath.Join(prepared, "completions")
	if err := errors.Join(os.RemoveAll(manual), os.RemoveAll(completions), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	for shell, file := range map[string]string{"bash": "recalld.bash", "zsh": "_recalld", "fish": "recalld.fish", "powershell": "recalld.ps1"} {
		script, err := output(nil, program, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(completions, file), script, 0o644); err != nil {
			return err
		}
	}
	if _, err := output(nil, program, "man", manual); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(manual, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := squeeze(page); err != nil {
			return err
		}
	}
	unit, err := os.ReadFile("configs/systemd/recalld.service")
	if err != nil {
		return err
	}
	const from, to = "# Where go install puts it; change it to where recalld is.\nExecStart=%h/go/bin/recalld", "ExecStart=/usr/bin/recalld"
	if !bytes.Contains(unit, []byte(from)) {
		return fmt.Errorf("configs/systemd/recalld.service has no line %q", from)
	}
	return os.WriteFile(filepath.Join(prepared, "recalld.service"), bytes.Replace(unit, []byte(from), []byte(to), 1), 0o644)
}

// squeeze replaces a file by its compressed form, as distributions want manual pages.
func squeeze(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b) // its head has no time: two builds have the same bytes
	if _, err := w.Write(text); err != nil {
		return err
	}
	return errors.Join(w.Close(), os.WriteFile(path+".gz", b.Bytes(), 0o644), os.Remove(path))
}

// build makes the archives, and the packages of Linux.
func (r release) build() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.compile(t); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
	}
	if err := r.prepare(); err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.wrap(t); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
	}
	return writeChecksums(r.out)
}

// prepare writes the files of packages by the program for this machine.
func (r release) prepare() error {
	own := target{runtime.GOOS, runtime.GOARCH}
	if !slices.Contains(r.targets, own) {
		if err := r.compile(own); err != nil {
			return err
		}
	}
	program, err := filepath.Abs(r.program(own))
	if err != nil {
		return err
	}
	return prepare(program)
}

// program is where the program for a platform is built.
func (r release) program(t target) string {
	return filepath.Join(r.out, "recalld_"+t.os+"_"+t.arch, t.program())
}

// compile builds the program for a platform, with the flags of .goreleaser.yaml.
func (r release) compile(t target) error {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	_, err := output(env, "go", "build", "-trimpath", "-ldflags", "-s -w -X github.com/recalld/recalld/internal/buildinfo.version="+r.version, "-o", r.program(t), "./cmd/recalld")
	return err
}

// wrap makes the archive for a platform, and for Linux the packages.
func (r release) wrap(t target) error {
	config, err := readConfig()
	if err != nil {
		return err
	}
	if r.only != "" {
		return r.linuxPackages(t, config.NFPMs[0])
	}
	text, err := os.ReadFile(r.program(t))
	if err != nil {
		return err
	}
	entries := []entry{{t.program(), 0o755, text}}
	for _, file := range config.Archives[0].Files {
		found, err := filepath.Glob(file.Src)
		if err != nil || len(found) == 0 {
			return fmt.Errorf(".goreleaser.yaml: archives: nothing is at %s: %w", file.Src, err)
		}
		for _, name := range found {
			if text, err = os.ReadFile(name); err != nil {
				return err
			}
			entries = append(entries, entry{path.Join(file.Dst, filepath.Base(name)), 0o644, text})
		}
	}
	archive := filepath.Join(r.out, r.archive(t))
	if t.os == "windows" {
		return writeZip(archive, entries)
	}
	if err := writeTar(archive, entries); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	return r.linuxPackages(t, config.NFPMs[0])
}

// config is what is read of .goreleaser.yaml.
type config struct {
	Archives []struct {
		Files []struct{ Src, Dst string }
	}
	NFPMs []map[string]any `yaml:"nfpms"`
}

func readConfig() (c config, err error) {
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		return c, err
	}
	if err := yaml.Unmarshal(text, &c); err != nil || len(c.Archives) != 1 || len(c.NFPMs) != 1 {
		return c, fmt.Errorf(".goreleaser.yaml: want one entry in archives and one in nfpms: %w", err)
	}
	return c, nil
}

// linuxPackages makes the .deb and the .rpm from a section of nfpms.
func (r release) linuxPackages(t target, section map[string]any) error {
	formats, _ := section["formats"].([]any)
	contents, _ := section["contents"].([]any)
	bindir, _ := section["bindir"].(string)
	section["name"], section["arch"], section["version"], section["platform"] = section["package_name"], t.arch, r.version, "linux"
	section["mtime"] = released.Format(time.RFC3339)
	section["contents"] = append(contents, map[string]any{"src": r.program(t), "dst": bindir + "/recalld", "file_info": map[string]any{"mode": 0o755}})
	for _, own := range []string{"id", "package_name", "formats", "bindir", "file_name_template"} { // goreleaser's
		delete(section, own)
	}
	text, err := yaml.Marshal(section)
	if err != nil {
		return err
	}
	settings := filepath.Join(prepared, "nfpm.yaml")
	if err := os.WriteFile(settings, text, 0o644); err != nil {
		return err
	}
	for _, format := range formats {
		if r.only != "" && format != r.only {
			continue
		}
		target := filepath.Join(r.out, fmt.Sprintf("recalld_%s_linux_%s.%s", r.number(), t.arch, format))
		if _, err := output(nil, "go", "run", nfpm, "package", "--config", settings, "--packager", fmt.Sprint(format), "--target", target); err != nil {
			return err
		}
	}
	return nil
}

// output runs a program and returns what it prints; what it prints of an error is in the
// error.
func output(env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, problems.Bytes())
	}
	return out, nil
}
