// Package release installs what a release consists of, as people do: the .deb into an
// empty root folder where there is only busybox, the archives, and the packages of npm. It
// measures the way from nothing to a first answer, upgrades beside writers, and compares
// what removing leaves behind.
//
// It builds two versions by deploy/artefacts. It needs root and Linux, dpkg, busybox
// (busybox-static) and, for the packages of npm, npm. Nothing is fetched but by go.
package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// env turns the tests on.
const env = "RECALLD_TEST_RELEASE"

// The two versions: the second one replaces the first.
const former, next = "v0.1.0", "v0.1.1"

// artefacts returns the folder with the artefacts of a version for this platform, which are
// built once.
func artefacts(t *testing.T, version string) string {
	t.Helper()
	if os.Getenv(env) == "" {
		t.Skip("not run: it builds and installs a release; make release-test runs it")
	}
	if runtime.GOOS != "linux" {
		t.Skip("not run: it installs the packages of Linux")
	}
	out, err := built(version)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	building sync.Mutex // guards what follows
	folders  = map[string]string{}
)

func built(version string) (string, error) {
	building.Lock()
	defer building.Unlock()
	if dir := folders[version]; dir != "" {
		return dir, nil
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".build", "release", version)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	commands := [][]string{{"build"}, {"pack"}}
	if version == next { // it upgrades the .deb
		commands = [][]string{{"build", "-only", "deb"}}
	}
	for _, command := range commands {
		cmd := exec.Command("go", slices.Concat([]string{"run", "./deploy/artefacts"}, command, []string{"-version", version, "-out", dir, "-targets", "linux/" + runtime.GOARCH})...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("artefacts %v: %w\n%s", command, err, out)
		}
	}
	folders[version] = dir
	return dir, nil
}

// one returns the only file of a pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s has %v for %s, %v; want one file", dir, files, pattern, err)
	}
	return files[0]
}

// machine is a root folder with busybox and a repository, and without Go, git or a library.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("not run: only root can enter another root folder")
	}
	for program, pkg := range map[string]string{"busybox": "busybox-static", "dpkg": "dpkg", "rpm2cpio": "rpm2cpio", "cpio": "cpio"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("not run: it needs %s (package %s)", program, pkg)
		}
	}
	m := machine{t, t.TempDir()}
	for _, dir := range []string{"bin", "dev", "proc", "tmp", "root", "usr/bin", "usr/sbin", "etc", "var/lib/dpkg/info", "var/lib/dpkg/updates", "src/shop/client"} {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	busybox, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"bin/busybox": string(busybox), "var/lib/dpkg/status": "", "dev/null": "",
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
		"src/shop/client/retry.go": `package client

import "time"

// parseRetryAfter returns how long the server asks us to wait, at most a minute.
func parseRetryAfter(seconds int) time.Duration {
	return min(time.Duration(seconds)*time.Second, time.Minute)
}
`,
	} {
		if err := os.WriteFile(filepath.Join(m.root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, applet := range []string{"sh", "readlink", "kill", "ls", "cat"} {
		if err := os.Symlink("busybox", filepath.Join(m.root, "bin", applet)); err != nil {
			t.Fatal(err)
		}
	}
	// preremove.sh looks for daemons there.
	if err := exec.Command("mount", "-t", "proc", "proc", filepath.Join(m.root, "proc")).Run(); err != nil {
		t.Skipf("not run: proc cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		m.stopAll()
		if err := exec.Command("umount", filepath.Join(m.root, "proc")).Run(); err != nil {
			t.Errorf("umount: %v", err)
		}
	})
	return m
}

// stopAll ends what still runs in the machine: processes whose root folder it is.
func (m machine) stopAll() {
	roots, _ := filepath.Glob("/proc/[0-9]*/root")
	for _, link := range roots {
		if at, err := os.Readlink(link); err == nil && at == m.root {
			_ = exec.Command("kill", "-KILL", filepath.Base(filepath.Dir(link))).Run()
		}
	}
}

// run runs a command line in the machine, in the repository.
func (m machine) run(line string) (string, error) {
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chroot", m.root, "/bin/sh", "-c", "cd /src/shop && "+line)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/root", "TERM=dumb"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w\n%s", line, err, out)
	}
	return string(out), nil
}

// ok runs a command line that must succeed.
func (m machine) ok(line string) string {
	m.t.Helper()
	out, err := m.run(line)
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// dpkg runs dpkg over the machine's packages.
func (m machine) dpkg(args ...string) {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), "dpkg", append([]string{"--root=" + m.root, "--log=/dev/null", "--force-not-root", "--force-bad-path"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("dpkg %v: %v\n%s", args, err, out)
	}
}

// files lists the files of the machine, without those of proc and dpkg.
func (m machine) files() []string {
	m.t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(m.root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "proc" || name == "var/lib/dpkg":
			return fs.SkipDir
		case !entry.IsDir():
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

// TestInstallUpgradeRemove installs the .deb on a machine without anything, asks by the
// commands of the README, upgrades beside writers, and removes.
func TestInstallUpgradeRemove(t *testing.T) {
	t.Parallel()
	first, second := artefacts(t, former), artefacts(t, next)
	m := newMachine(t)
	before := m.files()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	m.dpkg("--install", one(t, first, "*.deb"))
	installed := time.Since(began)
	for _, step := range []struct{ command, want string }{
		{"recalld up .", "Indexed /src/shop"},
		{"recalld recall parseRetryAfter", "returns how long the server asks us to wait"},
	} {
		if !strings.Contains(string(readme), step.command) {
			t.Errorf("the README does not have the command %q", step.command)
		}
		if out := m.ok(step.command); !strings.Contains(out, step.want) {
			t.Errorf("%s answers without %q:\n%s", step.command, step.want, out)
		}
	}
	t.Logf("from nothing to a right answer: %v, of it %v for the package", time.Since(began).Round(10*time.Millisecond), installed.Round(10*time.Millisecond))
	if out := m.ok("recalld version"); strings.Count(out, former) != 2 {
		t.Errorf("version does not say twice %s:\n%s", former, out)
	}

	if pages, err := filepath.Glob(filepath.Join(m.root, "usr/share/man/man1/recalld*.1.gz")); err != nil || len(pages) < 50 {
		t.Errorf("the package has %d manual pages, %v; want one a command", len(pages), err)
	}

	kept := m.upgrade(one(t, second, "*.deb"))
	if out := m.ok("recalld version"); strings.Count(out, next) != 2 || strings.Contains(out, "note") {
		t.Errorf("after the upgrade, version does not say twice %s:\n%s", next, out)
	}
	t.Logf("%d lessons were acknowledged during the upgrade", len(kept))
	if len(kept) < 20 {
		t.Errorf("only %d lessons were acknowledged: the upgrade was not beside writers", len(kept))
	}
	for ids := range slices.Chunk(kept, 20) {
		if _, err := m.run("recalld show " + strings.Join(ids, " ")); err != nil {
			t.Errorf("an acknowledged lesson is lost: %v", err)
		}
	}

	// As docs/install.md says.
	m.ok("recalld connect codex")
	m.ok("recalld connect --all --remove")
	m.dpkg("--purge", "recalld")
	// The package told the daemon to end; it has 25 s.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, link := range m.processes() {
		pid := filepath.Base(filepath.Dir(link))
		if err := exec.CommandContext(ctx, "tail", "--pid", pid, "-f", "/dev/null").Run(); err != nil {
			t.Errorf("the daemon outlives the package: process %s: %v", pid, err)
		}
	}
	for _, name := range m.files() {
		if !slices.Contains(before, name) && !strings.HasPrefix(name, "root/.local/share/recalld/") {
			t.Errorf("removing leaves %s behind", name)
		}
	}
}

// upgrade installs a package while four writers store lessons, and returns the ids of what
// was acknowledged.
func (m machine) upgrade(path string) []string {
	m.t.Helper()
	var mu sync.Mutex // guards kept
	var kept []string
	stop := make(chan struct{})
	var writers sync.WaitGroup
	written := make(chan struct{}, 1000)
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				out, err := m.run(fmt.Sprintf("recalld remember --json --type pattern --context 'writer %d' 'lesson %d of writer %d is kept'", w, n, w))
				if err != nil { // nothing was promised; while dpkg replaces the file there may be no program
					continue
				}
				var answer struct {
					ID string `json:"id"`
				}
				if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.ID == "" {
					m.t.Errorf("remember answers %q, %v", out, err)
					return
				}
				mu.Lock()
				kept = append(kept, answer.ID)
				mu.Unlock()
				written <- struct{}{}
			}
		})
	}
	for range 12 {
		<-written
	}
	m.dpkg("--install", path)
	m.ok("recalld recall parseRetryAfter") // the first command of the new version
	for range 12 {
		<-written
	}
	close(stop)
	writers.Wait()
	return kept
}

// processes lists the programs of the package that run in the machine.
func (m machine) processes() []string {
	var all []string
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if program, err := os.Readlink(link); err == nil && strings.HasPrefix(program, filepath.Join(m.root, "usr/bin/recalld")) {
			all = append(all, link)
		}
	}
	return all
}

// TestImage runs what the container image has, as its user, on a machine like its base image:
// that has the user's home, and nothing else that the user may write to.
func TestImage(t *testing.T) {
	t.Parallel()
	dir := artefacts(t, former)
	m := newMachine(t)
	dockerfile, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(m.root, "home/nonroot")
	if err := errors.Join(os.Mkdir(filepath.Dir(home), 0o755), os.Mkdir(home, 0o700), os.Chown(home, 65532, 65532)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", one(t, dir, "*.tar.gz"), "-C", filepath.Join(m.root, "usr/bin"), "recalld").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env := []string{"PATH=/usr/bin:/bin"}
	for line := range strings.Lines(string(dockerfile)) {
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "ENV":
			env = append(env, words[1:]...)
		case words[0] == "VOLUME": // Docker makes a folder that is missing, for root
			if err := os.MkdirAll(filepath.Join(m.root, words[1]), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "chroot", append([]string{"--userspec=65532:65532", m.root, "/usr/bin/recalld"}, args...)...)
		cmd.Env = env
		return cmd
	}
	daemon := run("serve")
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = daemon.Process.Kill(), daemon.Wait() })
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"remember", "--type", "pattern", "the image answers"}, "Remembered l-"},
		{[]string{"recall", "does the image answer"}, "the image answers"},
		{[]string{"doctor"}, "data folder"},
	} {
		if out, err := run(step.args...).CombinedOutput(); err != nil || !strings.Contains(string(out), step.want) {
			t.Errorf("%v: %v, want %q\n%s", step.args, err, step.want, out)
		}
	}
}

// TestArchives unpacks what is not installed above, and runs the program in it.
func TestArchives(t *testing.T) {
	t.Parallel()
	dir := artefacts(t, former)
	checked, err := exec.Command("sh", "-c", "cd '"+dir+"' && sha256sum -c checksums.txt").CombinedOutput()
	if err != nil {
		t.Errorf("checksums: %v\n%s", err, checked)
	}
	for _, unpack := range []struct{ pattern, command, program string }{
		{"*.tar.gz", "tar -xzf '%s'", "recalld"},
		{"*.rpm", "rpm2cpio '%s' | cpio -idm --quiet --no-absolute-filenames", "usr/bin/recalld"},
		{"*.mcpb", "cp '%s' a.zip && python3 -m zipfile -e a.zip . && chmod +x server/recalld", "server/recalld"},
	} {
		into := t.TempDir()
		cmd := exec.Command("sh", "-c", fmt.Sprintf(unpack.command, one(t, dir, unpack.pattern)))
		cmd.Dir = into
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", unpack.pattern, err, out)
			continue
		}
		cmd = exec.Command(filepath.Join(into, unpack.program), "version", "--json")
		cmd.Env = []string{"HOME=" + t.TempDir()}
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), former) {
			t.Errorf("%s: the program says %q, %v", unpack.pattern, out, err)
		}
	}
}

// TestLinters has the checkers of workflows and shell scripts read those of a release, where
// they are.
func TestLinters(t *testing.T) {
	if os.Getenv(env) == "" {
		t.Skip("not run: it needs programs; make release-test runs it")
	}
	for _, line := range [][]string{
		{"actionlint", ".github/workflows/ci.yml", ".github/workflows/release.yml"}, // go install github.com/rhysd/actionlint/cmd/actionlint@latest
		{"shellcheck", "--severity=warning", "deploy/install.sh", "deploy/package/preremove.sh", ".ci/run"},
	} {
		t.Run(line[0], func(t *testing.T) {
			if _, err := exec.LookPath(line[0]); err != nil {
				t.Skipf("not run: it needs %s", line[0])
			}
			cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
			cmd.Dir = "../.."
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestNPM installs the packages of npm from their tarballs into an empty home, without the
// network, and runs the program as npx does.
func TestNPM(t *testing.T) {
	t.Parallel()
	dir := artefacts(t, former)
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("not run: it needs npm (of Node.js: https://nodejs.org, or apt-get install npm)")
	}
	home := t.TempDir()
	environment := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false"}
	npm := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "npm", args...)
		cmd.Dir, cmd.Env = in, environment
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("npm %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	tarballs := t.TempDir()
	packages, err := os.ReadDir(filepath.Join(dir, "npm"))
	if err != nil || len(packages) != 2 {
		t.Fatalf("the folder npm has %v, %v; want the launcher and one program", packages, err)
	}
	install := []string{"install", "--no-save"}
	for _, p := range packages {
		npm(filepath.Join(dir, "npm", p.Name()), "pack", "--pack-destination", tarballs)
	}
	files, err := filepath.Glob(filepath.Join(tarballs, "*.tgz"))
	if err != nil || len(files) != 2 {
		t.Fatalf("npm pack made %v, %v", files, err)
	}
	project := t.TempDir()
	npm(project, append(install, files...)...)
	if out := npm(project, "exec", "--no", "--", "recalld", "version"); !strings.Contains(out, former) {
		t.Errorf("npx recalld version: %s", out)
	}
	// Exit codes and the input pass through.
	cmd := exec.CommandContext(t.Context(), filepath.Join(project, "node_modules", ".bin", "recalld"), "recall", "--limit", "0")
	cmd.Dir, cmd.Env = project, environment
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("a wrong flag ends with %v, want exit code 2\n%s", err, out)
	}
	// Without the package of the platform it says what is missing.
	if err := os.RemoveAll(filepath.Join(project, "node_modules", "@recalld")); err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), filepath.Join(project, "node_modules", ".bin", "recalld"), "version")
	cmd.Dir, cmd.Env = project, environment
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "is not installed") {
		t.Errorf("without its program: %v\n%s", err, out)
	}
}
