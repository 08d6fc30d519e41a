//go:build unix

package gittest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// Hostile is a kind of repository that attacks its reader.
type Hostile struct {
	Name string
	// Arm makes the repository of r hostile. r.Trap is a program that leaves a trace.
	Arm func(r *Repo)
	// Trigger is a git command that springs the trap in an unprotected git: it proves that
	// the repository is armed. It is empty for repositories that only keep git waiting.
	Trigger []string
	// Slow reports whether git itself waits, so that its time limit must end it.
	Slow bool
	// Endless reports whether git reads on and on, and fills memory, until its time limit.
	Endless bool
}

// Repo is a repository with two commits, a subfolder and a file whose times changed
// since git last looked.
type Repo struct {
	testing.TB
	// Dir is the worktree, Trap the program, Home an empty home folder.
	Dir, Trap, Home string
	trace           string
}

// Traces lists what the trap left behind: how it was called.
func (r *Repo) Traces() string {
	text, err := os.ReadFile(r.trace)
	if err != nil {
		return ""
	}
	return string(text)
}

// unarmed is the repository before it is armed. It is made once: git takes much longer than
// writing its files.
var unarmed struct {
	once  sync.Once
	files fstest.MapFS
}

// read reads the files below a folder.
func read(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files, from := fstest.MapFS{}, os.DirFS(dir)
	err := fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !entry.IsDir() {
			file.Data, err = fs.ReadFile(from, path)
		}
		files[path] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// New makes a repository, armed if h is given. It skips the test without git.
func New(t testing.TB, h *Hostile) *Repo {
	t.Helper()
	Need(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{TB: t, Dir: filepath.Join(base, "repo"), Trap: filepath.Join(base, "trap"), Home: filepath.Join(base, "home"), trace: filepath.Join(base, "trace")}
	r.WriteMode("../trap", fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >> '%s'\nexit 1\n", r.trace), 0o755)
	r.Write("../home/keep", "")
	unarmed.once.Do(func() {
		r.Write("a.txt", "first\n")
		r.Write("sub/b.go", "package sub\n\nfunc B() {}\n")
		r.Git("init", "-q", "--template=", "-b", "main") // without the samples of hooks
		r.Git("add", "-A")
		r.Git("commit", "-q", "-m", "first")
		r.Write("a.txt", "other\n")
		r.Git("commit", "-q", "-am", "second")
		unarmed.files = read(t, r.Dir)
		if err := os.RemoveAll(r.Dir); err != nil {
			t.Fatal(err)
		}
	})
	if unarmed.files == nil {
		t.Fatal("an earlier test could not make the repository")
	}
	if err := os.CopyFS(r.Dir, unarmed.files); err != nil {
		t.Fatal(err)
	}
	if h != nil {
		h.Arm(r)
	}
	// A reader that looks for changes has to compare its content.
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(r.Dir, "a.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	return r
}

// Git runs git without any protection, and returns what it printed.
func (r *Repo) Git(args ...string) string {
	r.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// Try is Git for a command that may fail.
func (r *Repo) Try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "HOME="+r.Home, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Config adds lines to the repository's config.
func (r *Repo) Config(lines ...string) {
	r.Helper()
	path := filepath.Join(r.Dir, ".git", "config")
	old, err := os.ReadFile(path)
	if err != nil {
		r.Fatal(err)
	}
	r.Write(".git/config", string(old)+strings.Join(lines, "\n")+"\n")
}

// Write writes a file below the worktree.
func (r *Repo) Write(name, text string) { r.Helper(); r.WriteMode(name, text, 0o644) }

// WriteMode is Write with permissions.
func (r *Repo) WriteMode(name, text string, mode os.FileMode) {
	r.Helper()
	path := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.Fatal(err)
	}
}

// Fifo puts a named pipe in place of a file.
func (r *Repo) Fifo(name string) {
	r.Helper()
	path := filepath.Join(r.Dir, name)
	if err := os.RemoveAll(path); err != nil {
		r.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r *Repo) rename(from, to string) {
	r.Helper()
	if err := os.Rename(filepath.Join(r.Dir, from), filepath.Join(r.Dir, to)); err != nil {
		r.Fatal(err)
	}
}

func fifo(name string, slow bool) Hostile {
	return Hostile{Name: "named pipe as " + name, Slow: slow, Arm: func(r *Repo) { r.Fifo(name) }}
}

// fifos puts named pipes in place of files that git does not read but for their content.
func fifos(what string, names ...string) Hostile {
	return Hostile{Name: "named pipes as " + what, Arm: func(r *Repo) {
		for _, name := range names {
			r.Fifo(name)
		}
	}}
}

// All lists the hostile repositories.
func All() []Hostile {
	list := []Hostile{
		{Name: "fsmonitor", Trigger: []string{"status"}, Arm: func(r *Repo) { r.Config("[core]", "fsmonitor = "+r.Trap) }},
		{Name: "fsmonitor, old protocol", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Config("[core]", "fsmonitor = "+r.Trap, "fsmonitorHookVersion = 1")
		}},
		{Name: "hooks", Trigger: []string{"update-index", "--refresh"}, Arm: func(r *Repo) {
			trap, err := os.ReadFile(r.Trap)
			if err != nil {
				r.Fatal(err)
			}
			for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction", "pre-auto-gc", "sendemail-validate"} {
				r.WriteMode(".git/hooks/"+hook, string(trap), 0o755)
			}
		}},
		{Name: "hooks elsewhere", Trigger: []string{"update-index", "--refresh"}, Arm: func(r *Repo) {
			trap, err := os.ReadFile(r.Trap)
			if err != nil {
				r.Fatal(err)
			}
			r.WriteMode("my-hooks/post-index-change", string(trap), 0o755)
			r.Config("[core]", "hooksPath = my-hooks")
		}},
		{Name: "filter clean", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Write(".gitattributes", "* filter=evil\n")
			r.Config("[filter \"evil\"]", "clean = "+r.Trap, "smudge = "+r.Trap, "required = true")
		}},
		{Name: "filter process", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Write(".git/info/attributes", "* filter=evil\n")
			r.Config("[filter \"evil\"]", "process = "+r.Trap, "required = true")
		}},
		{Name: "textconv", Trigger: []string{"diff", "HEAD~"}, Arm: func(r *Repo) {
			r.Write(".gitattributes", "* diff=evil\n")
			r.Config("[diff \"evil\"]", "textconv = "+r.Trap)
		}},
		{Name: "external diff", Trigger: []string{"diff", "HEAD~"}, Arm: func(r *Repo) {
			r.Write(".gitattributes", "* diff=evil merge=evil\n")
			r.Config("[diff]", "external = "+r.Trap, "[diff \"evil\"]", "command = "+r.Trap, "[merge \"evil\"]", "driver = "+r.Trap)
		}},
		{Name: "ssh, proxy, helpers", Trigger: []string{"fetch", "origin"}, Arm: func(r *Repo) {
			r.Config("[core]", "sshCommand = "+r.Trap, "gitProxy = "+r.Trap, "askPass = "+r.Trap, "alternateRefsCommand = "+r.Trap,
				"[credential]", "helper = "+r.Trap, "[remote \"origin\"]", "url = ssh://git.invalid/x", "uploadpack = "+r.Trap)
		}},
		{Name: "pager and editor", Trigger: []string{"commit", "--allow-empty"}, Arm: func(r *Repo) {
			r.Config("[core]", "pager = "+r.Trap, "editor = "+r.Trap, "[pager]", "ls-files = "+r.Trap, "status = "+r.Trap)
		}},
		{Name: "signatures", Trigger: []string{"log", "--show-signature", "-1"}, Arm: func(r *Repo) {
			r.Config("[gpg]", "program = "+r.Trap, "[log]", "showSignature = true")
			commit := strings.Replace(r.Git("cat-file", "commit", "HEAD")+"\n", "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1)
			r.Write("../commit", commit)
			r.Git("update-ref", "HEAD", r.Git("hash-object", "-t", "commit", "-w", "../commit"))
		}},
		{Name: "include", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Write("innocent.txt", "[core]\nfsmonitor = "+r.Trap+"\n")
			r.Config("[include]", "path = ../innocent.txt")
		}},
		{Name: "conditional include", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Write("innocent.txt", "[core]\nfsmonitor = "+r.Trap+"\n")
			r.Config("[includeIf \"gitdir:**\"]", "path = ../innocent.txt")
		}},
		{Name: "config of the worktree", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Write(".git/config.worktree", "[core]\nfsmonitor = "+r.Trap+"\n")
			r.Config("[extensions]", "worktreeConfig = true")
		}},
		{Name: "alias", Trigger: []string{"evil"}, Arm: func(r *Repo) {
			r.Config("[alias]", "evil = !"+r.Trap, "ls-files = !"+r.Trap, "status = !"+r.Trap, "rev-parse = !"+r.Trap)
		}},
		{Name: "partial clone", Trigger: []string{"ls-files", "-c", "-o", "--exclude-standard"}, Arm: func(r *Repo) {
			// A sparse index names a folder by its tree, which git has to fetch in order to
			// list its files.
			r.Write("far/c.txt", "c\n")
			r.Git("add", "far")
			r.Git("commit", "-q", "-m", "third")
			tree := r.Git("rev-parse", "HEAD:far")
			r.Git("sparse-checkout", "set", "--cone", "--sparse-index", "sub")
			if err := os.Remove(filepath.Join(r.Dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
				r.Fatal(err)
			}
			r.Config("[core]", "repositoryFormatVersion = 1", "[extensions]", "partialClone = evil",
				"[remote \"evil\"]", "url = ext::"+r.Trap, "promisor = true", "[protocol \"ext\"]", "allow = always", "[protocol]", "allow = always")
		}},
		{Name: "git file that leads elsewhere", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Config("[core]", "fsmonitor = "+r.Trap)
			r.rename(".git", "../elsewhere")
			r.Write(".git", "gitdir: ../elsewhere\n")
		}},
		{Name: "git folder behind a link", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Config("[core]", "fsmonitor = "+r.Trap)
			r.rename(".git", "../elsewhere")
			if err := os.Symlink("../elsewhere", filepath.Join(r.Dir, ".git")); err != nil {
				r.Fatal(err)
			}
		}},
		{Name: "common folder elsewhere", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Config("[core]", "fsmonitor = "+r.Trap)
			r.rename(".git", "../elsewhere")
			index, err := os.ReadFile(filepath.Join(r.Dir, "../elsewhere/index"))
			if err != nil {
				r.Fatal(err)
			}
			r.Write(".git/HEAD", "ref: refs/heads/main\n")
			r.Write(".git/index", string(index))
			r.Write(".git/commondir", "../../elsewhere\n")
		}},
		{Name: "worktree elsewhere", Trigger: []string{"status"}, Arm: func(r *Repo) {
			r.Config("[core]", "fsmonitor = "+r.Trap, "worktree = "+filepath.Dir(r.Dir))
		}},
		{Name: "bare repository in the tree", Trigger: []string{"-C", "bare", "status"}, Arm: func(r *Repo) {
			for _, dir := range []string{"objects", "refs"} {
				r.Write("bare/"+dir+"/keep", "")
			}
			r.Write("bare/HEAD", "ref: refs/heads/main\n")
			r.Write("bare/config", "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = "+r.Trap+"\n")
		}},
		{Name: "bare repository as the top", Trigger: []string{"status"}, Arm: func(r *Repo) {
			// Git does not accept its .git, and uses the folder itself.
			r.rename(".git", "../elsewhere")
			r.Write(".git/HEAD", "ref: refs/heads/main\n")
			for _, dir := range []string{"objects", "refs"} {
				r.Write(dir+"/keep", "")
			}
			r.Write("HEAD", "ref: refs/heads/main\n")
			r.Write("config", "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = "+r.Trap+"\n")
		}},
		{Name: "submodule", Trigger: []string{"status"}, Arm: func(r *Repo) {
			sub := filepath.Join(filepath.Dir(r.Dir), "module")
			r.Git("clone", "-q", r.Dir, sub)
			r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "module")
			r.Git("-C", "module", "config", "core.fsmonitor", r.Trap)
			r.Git("config", "submodule.recurse", "true")
			r.Git("config", "submodule.module.update", "!"+r.Trap)
		}},
		fifo(".git", false), fifo(".git/config", false), fifo(".git/HEAD", false), fifo(".git/index", false),
		fifo(".git/packed-refs", false), fifo(".git/info/exclude", false), fifo(".git/commondir", false),
		fifo(".git/refs/heads/main", false), fifo(".git/objects/pack/pack-x.idx", false), fifo(".gitignore", false),
		fifo(".gitattributes", false), fifo(".recalldignore", false), fifo("a.txt", false), fifo(".git/objects/info/alternates", false),
		fifos("files of recalld", "agent-knowledge/logs/x.jsonl", "test-artifacts/llm-knowledge/mm-1/session.json", ".cursor/rules/x.mdc", "AGENTS.md", ".recalld/context.yaml"),
		fifos("folders of recalld", "agent-knowledge/logs", "test-artifacts/llm-knowledge", ".cursor/rules"), fifo("agent-knowledge", false),
		{Name: "named pipe as the folder of packs", Arm: func(r *Repo) {
			r.Git("gc", "-q") // packs all commits
			r.Fifo(".git/objects/pack")
		}},
		{Name: "named pipe as the common folder", Arm: func(r *Repo) {
			r.Fifo("pipe")
			r.Write(".git/commondir", "../pipe\n")
		}},
		fifo("sub/.gitignore", true),
		{Name: "named pipe in an include", Slow: true, Arm: func(r *Repo) {
			r.Fifo("pipe")
			r.Config("[include]", "path = ../pipe")
		}},
		{Name: "named pipe as the user's ignore file", Slow: true, Arm: func(r *Repo) {
			r.Fifo("pipe")
			r.Config("[core]", "excludesFile = "+filepath.Join(r.Dir, "pipe"))
		}},
		{Name: "git file that leads to a named pipe", Arm: func(r *Repo) {
			r.rename(".git", "../elsewhere")
			r.Fifo("pipe")
			r.Write(".git", "gitdir: pipe\n")
		}},
		{Name: "reference that leads to a device", Endless: true, Arm: func(r *Repo) {
			if err := os.Remove(filepath.Join(r.Dir, ".git/refs/heads/main")); err != nil {
				r.Fatal(err)
			}
			if err := os.Symlink("/dev/zero", filepath.Join(r.Dir, ".git/refs/heads/main")); err != nil {
				r.Fatal(err)
			}
		}},
	}
	return list
}
