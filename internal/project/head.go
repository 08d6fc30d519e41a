package project

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// statusTimeout is how long git may look for changed files. In a repository
	// where that takes longer nothing is said of them.
	statusTimeout = 300 * time.Millisecond
	// maxSymrefs bounds how many references that name one another are followed.
	maxSymrefs = 5
	branches   = "refs/heads/"
)

// Head says where the repository stands that a folder lies in: its branch, empty
// when HEAD is detached, its commit, empty before the first, and whether files
// that git knows have changed since, which it asks git, where git is installed.
// Files that git does not know do not count: our own would make every repository
// dirty. It returns nil outside of git, and where git's files cannot be read.
func Head(dir string) *memory.Git {
	real, err := realFolder(dir)
	if err != nil {
		return nil
	}
	root, gitDir, err := findGit(real)
	if err != nil || gitDir == "" {
		return nil
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil
	}
	head, err := readSmall(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return nil
	}
	g := &memory.Git{}
	ref, symbolic := symref(head)
	switch {
	case !symbolic:
		g.Commit = objectName(head)
	case ref != branches+".invalid": // what a repository with another store of references says
		g.Branch = strings.TrimPrefix(ref, branches)
		g.Commit = readRef(gitDir, common, ref)
	}
	askGit(root, g)
	return g
}

// symref returns what a reference names when it names another one.
func symref(text string) (string, bool) {
	ref, ok := strings.CutPrefix(text, "ref:")
	return strings.TrimSpace(ref), ok
}

// readRef returns the commit that a reference names, empty if there is none. A
// worktree has references of its own beside those that all share.
func readRef(gitDir, common, ref string) string {
	for range maxSymrefs {
		if !strings.HasPrefix(ref, "refs/") || !filepath.IsLocal(filepath.FromSlash(ref)) {
			return ""
		}
		text, err := readSmall(filepath.Join(gitDir, filepath.FromSlash(ref)))
		if err != nil && gitDir != common {
			text, err = readSmall(filepath.Join(common, filepath.FromSlash(ref)))
		}
		if err != nil {
			return packedRef(filepath.Join(common, "packed-refs"), ref)
		}
		next, symbolic := symref(text)
		if !symbolic {
			return objectName(text)
		}
		ref = next
	}
	return ""
}

// packedRef looks a reference up in the file that git packs them into: lines of
// "<object> <reference>".
func packedRef(path, ref string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if object, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref {
			return objectName(object)
		}
	}
	return ""
}

// objectName returns the name of an object, 40 or 64 hexadecimal digits, or
// nothing for what is none.
func objectName(text string) string {
	if n := len(text); n != 40 && n != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}

// askGit has git say whether files have changed, and what its files did not.
func askGit(root string, g *memory.Git) {
	git, err := exec.LookPath("git")
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	// A repository's config may name a program that watches it (fsmonitor); asking
	// where it stands is no reason to run what a repository brings along.
	cmd := exec.CommandContext(ctx, git, "-c", "core.fsmonitor=false",
		"status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=all")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = root, GitEnv(), noWindow()
	cmd.WaitDelay = statusTimeout
	out, err := cmd.Output()
	if err != nil {
		return
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\r\n")
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "# "), " ")
		switch {
		case !strings.HasPrefix(line, "# "):
			g.Dirty = true
		case key == "branch.oid" && g.Commit == "":
			g.Commit = objectName(value)
		case key == "branch.head" && g.Branch == "" && value != "(detached)":
			g.Branch = value
		}
	}
}

// GitEnv is our environment without what points git elsewhere, as it does in a
// hook, and with messages in the language of this code.
func GitEnv() []string {
	env := []string{}
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE":
		default:
			env = append(env, kv)
		}
	}
	// Without optional locks git does not write to a repository that it reads.
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}
