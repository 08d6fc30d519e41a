package project

import (
	"context"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/memory"
)

const (
	// changedTimeout bounds the search for changed files. If it takes longer, dirty stays
	// unset.
	changedTimeout = 300 * time.Millisecond
	// maxPackedRefs bounds the file of packed references, in bytes.
	maxPackedRefs = 64 << 20
	// maxSymrefs bounds a chain of symbolic references.
	maxSymrefs = 5
	branches   = "refs/heads/"
)

// Head returns the state of the repository that contains a folder: its branch, empty if
// HEAD is detached; its commit, empty before the first; and whether tracked files have
// changed since. It reads git's files and does not run git, which would run filters that
// the repository configures. Untracked files do not count: our own would make every
// repository dirty. If dirty cannot be determined it stays unset. Head returns nil
// outside of git and if git's files cannot be read.
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
	case ref == branches+".invalid": // the placeholder of a repository with another store of references
		return g
	case !isRefName(ref): // a text in place of a name
	default:
		g.Branch = strings.TrimPrefix(ref, branches)
		g.Commit = readRef(gitDir, common, ref)
	}
	ctx, cancel := context.WithTimeout(context.Background(), changedTimeout)
	defer cancel()
	w := git.Worktree{Root: root, GitDir: gitDir, CommonDir: common, Head: g.Commit}
	g.Dirty, _ = w.Changed(ctx)
	return g
}

// symref returns the target of a symbolic reference.
func symref(text string) (string, bool) {
	ref, ok := strings.CutPrefix(text, "ref:")
	return strings.TrimSpace(ref), ok
}

// isRefName reports whether git could have made a reference of this name, and memory keeps
// it whole.
func isRefName(ref string) bool {
	return len(ref) <= memory.MaxPathText && utf8.ValidString(ref) &&
		!strings.ContainsFunc(ref, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// readRef returns the commit of a reference, empty if there is none. A worktree has its own
// references besides the shared ones.
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

// packedRef looks up a reference in git's file of packed references: lines of "<object>
// <reference>".
func packedRef(path, ref string) string {
	text, err := fsx.ReadFile(path, maxPackedRefs)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if object, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return objectName(object)
		}
	}
	return ""
}

// objectName returns the name of an object, 40 or 64 hexadecimal digits, or "".
func objectName(text string) string {
	if n := len(text); n != 40 && n != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}
