//go:build unix

package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/testlong"
)

// changed compares what Changed says with what git status says.
func changed(t *testing.T, what string, r *gittest.Repo, wantKnown bool) {
	t.Helper()
	head, err := r.Try("rev-parse", "-q", "--verify", "HEAD")
	if err != nil {
		head = ""
	}
	w := git.Worktree{Root: r.Dir, GitDir: filepath.Join(r.Dir, ".git"), CommonDir: filepath.Join(r.Dir, ".git"), Head: strings.TrimSpace(head)}
	got, known := w.Changed(context.Background())
	want := r.Git("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
	if known != wantKnown || known && got != (want != "") {
		t.Errorf("%s: changed %t (known %t), want known %t; git says %q", what, got, known, wantKnown, want)
	}
}

// TestChanged compares Changed with git, over versions of the index and kinds of
// changes.
func TestChanged(t *testing.T) {
	versions := []string{"2", "3", "4"}
	for _, version := range versions[:testlong.Steps(1, len(versions))] {
		for name, test := range map[string]struct {
			do      func(r *gittest.Repo)
			unknown bool
		}{
			"nothing":   {do: func(r *gittest.Repo) {}},
			"same size": {do: func(r *gittest.Repo) { r.Write("a.txt", "OTHER\n") }},
			"same size, behind a large file": {do: func(r *gittest.Repo) {
				r.Write("LARGE", strings.Repeat("x", 17<<20)) // is not compared
				r.Git("add", "-A")
				r.Git("commit", "-q", "-m", "large")
				old := time.Now().Add(-time.Minute)
				os.Chtimes(filepath.Join(r.Dir, "LARGE"), old, old)
				r.Write("a.txt", "OTHER\n")
			}},
			"other size":     {do: func(r *gittest.Repo) { r.Write("a.txt", "more text\n") }},
			"deleted":        {do: func(r *gittest.Repo) { os.Remove(filepath.Join(r.Dir, "a.txt")) }},
			"folder instead": {do: func(r *gittest.Repo) { os.Remove(filepath.Join(r.Dir, "a.txt")); r.Write("a.txt/x", "") }},
			"executable":     {do: func(r *gittest.Repo) { os.Chmod(filepath.Join(r.Dir, "a.txt"), 0o755) }},
			"executable, not told": {do: func(r *gittest.Repo) {
				r.Git("config", "core.fileMode", "false")
				os.Chmod(filepath.Join(r.Dir, "a.txt"), 0o755)
			}},
			"link instead": {do: func(r *gittest.Repo) {
				os.Remove(filepath.Join(r.Dir, "a.txt"))
				os.Symlink("sub", filepath.Join(r.Dir, "a.txt"))
			}},
			"link": {do: func(r *gittest.Repo) {
				os.Symlink("a.txt", filepath.Join(r.Dir, "link"))
				r.Git("add", "-A")
				r.Git("commit", "-q", "-m", "link")
			}},
			"folder behind a link": {do: func(r *gittest.Repo) {
				os.Rename(filepath.Join(r.Dir, "sub"), filepath.Join(r.Dir, "../sub"))
				os.Symlink("../sub", filepath.Join(r.Dir, "sub"))
			}},
			"staged":          {do: func(r *gittest.Repo) { r.Write("a.txt", "staged\n"); r.Git("add", "-A") }},
			"staged and back": {do: func(r *gittest.Repo) { r.Write("n", ""); r.Git("add", "-A"); r.Git("reset", "-q") }},
			"new folders": {do: func(r *gittest.Repo) {
				for _, n := range []string{"a", "a-b/x", "a/y.txt", "a0", "z/z/z", "ä/ö"} {
					r.Write("new/"+n+".f", n)
				}
				r.Git("add", "-A")
				r.Git("commit", "-q", "-m", "folders")
			}},
			"untracked":     {do: func(r *gittest.Repo) { r.Write("u", "") }},
			"intent to add": {do: func(r *gittest.Repo) { r.Write("u", ""); r.Git("add", "-N", "u") }},
			"assumed valid": {do: func(r *gittest.Repo) { r.Git("update-index", "--assume-unchanged", "a.txt"); r.Write("a.txt", "x") }},
			"sparse":        {do: func(r *gittest.Repo) { r.Git("sparse-checkout", "set", "--cone", "--sparse-index", "other") }},
			"line ends": {do: func(r *gittest.Repo) {
				r.Git("config", "core.autocrlf", "true")
				os.Remove(filepath.Join(r.Dir, "a.txt"))
				r.Git("checkout", "-q", "-f", "HEAD", "--", "a.txt")
				old := time.Now().Add(-time.Minute)
				os.Chtimes(filepath.Join(r.Dir, "a.txt"), old, old)
			}},
			"filter": {unknown: true, do: func(r *gittest.Repo) {
				r.Write(".gitattributes", "a.txt filter=up\n")
				r.Git("config", "filter.up.clean", "tr A-Z a-z")
				r.Git("add", "-A")
				r.Git("commit", "-q", "-m", "filter")
				r.Write("a.txt", "OTHER\n")
			}},
			"filter by attributes that are not tracked": {unknown: true, do: func(r *gittest.Repo) {
				r.Git("config", "filter.up.clean", "sed s/PACKAGE/package/")
				r.Write("sub/.gitattributes", "*.go filter=up\n")
				r.Write("sub/b.go", "PACKAGE sub\n\nfunc B() {}\n")
			}},
			"split":           {unknown: true, do: func(r *gittest.Repo) { r.Git("update-index", "--split-index") }},
			"damaged index":   {unknown: true, do: func(r *gittest.Repo) { r.Write("../keep", ""); os.Truncate(filepath.Join(r.Dir, ".git/index"), 50) }},
			"packed":          {do: func(r *gittest.Repo) { r.Git("gc", "-q") }},
			"worktree others": {unknown: true, do: func(r *gittest.Repo) { r.Git("config", "core.worktree", "../../home") }},
		} {
			r := gittest.New(t, nil)
			r.Git("update-index", "--index-version", version)
			test.do(r)
			if name == "damaged index" || name == "worktree others" {
				w := git.Worktree{Root: r.Dir, GitDir: filepath.Join(r.Dir, ".git"), CommonDir: filepath.Join(r.Dir, ".git"), Head: strings.TrimSpace(string(must(os.ReadFile(filepath.Join(r.Dir, ".git/refs/heads/main")))))}
				if _, known := w.Changed(context.Background()); known {
					t.Errorf("version %s, %s: it is known what has changed", version, name)
				}
				continue
			}
			changed(t, fmt.Sprintf("version %s, %s", version, name), r, !test.unknown)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestChangedWithSHA256: a repository with longer names.
func TestChangedWithSHA256(t *testing.T) {
	r := gittest.New(t, nil)
	if err := os.RemoveAll(filepath.Join(r.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Try("init", "-q", "--object-format=sha256"); err != nil {
		t.Skipf("this git has no SHA-256: %s", out)
	}
	changed(t, "nothing added", r, true)
	r.Git("add", "-A")
	changed(t, "before the first commit", r, true)
	r.Git("commit", "-q", "-m", "first")
	changed(t, "committed", r, true)
	r.Write("a.txt", "Other\n")
	changed(t, "edited", r, true)
}

// TestCommits reads commits as git keeps them: by themselves, in packs, as deltas.
func TestCommits(t *testing.T) {
	r := gittest.New(t, nil)
	long := strings.Repeat("a line of the message that stays the same\n", 200)
	for i := range 30 {
		r.Git("commit", "-q", "--allow-empty", "-m", fmt.Sprintf("commit %d\n\n%s", i, long))
	}
	ids := strings.Fields(r.Git("rev-list", "HEAD"))
	check := func(what string) {
		t.Helper()
		o, err := git.OpenObjects(filepath.Join(r.Dir, ".git"))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		for i, id := range ids {
			c, err := o.Commit(id)
			if err != nil || c.Tree != r.Git("rev-parse", id+"^{tree}") || i+1 < len(ids) && (len(c.Parents) != 1 || c.Parents[0] != ids[i+1]) || i+1 == len(ids) && len(c.Parents) > 0 {
				t.Fatalf("%s: commit %d is %+v, %v", what, i, c, err)
			}
		}
		for _, none := range []string{strings.Repeat("0", 40), "x", "", strings.Repeat("z", 40), r.Git("rev-parse", "HEAD^{tree}")} {
			if c, err := o.Commit(none); err == nil {
				t.Errorf("%s: there is a commit %q: %+v", what, none, c)
			}
		}
	}
	check("loose")
	r.Git("repack", "-adfq", "--depth=40", "--window=40")
	check("packed")
	if out := r.Git("verify-pack", "-v", strings.TrimSpace(string(must(filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.idx")))[0]))); !strings.Contains(out, "chain length") {
		t.Error("no commit is a delta: the test proves little")
	}
	r.Git("commit", "-q", "--allow-empty", "-m", "last")
	ids = strings.Fields(r.Git("rev-list", "HEAD"))
	check("both")
}

// TestCommitsOfOthers: objects that only another folder has are not this one's, and
// a text that does not have the commit's hash is not the commit.
func TestCommitsOfOthers(t *testing.T) {
	mine, theirs := gittest.New(t, nil), gittest.New(t, nil)
	theirs.Git("commit", "-q", "--allow-empty", "-m", "secret")
	secret := theirs.Git("rev-parse", "HEAD")
	has := func() error {
		o, err := git.OpenObjects(filepath.Join(mine.Dir, ".git"))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		_, err = o.Commit(secret)
		return err
	}
	objects := filepath.Join(theirs.Dir, ".git", "objects")
	mine.Write(".git/objects/info/alternates", objects+"\n")
	if mine.Git("cat-file", "-t", secret) != "commit" || has() == nil {
		t.Error("a commit of an alternate counts as one of this folder")
	}
	if err := os.Remove(filepath.Join(mine.Dir, ".git/objects/info/alternates")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(mine.Dir, ".git/objects", secret[:2])
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(objects, secret[:2]), dir); err != nil {
		t.Fatal(err)
	}
	if mine.Git("cat-file", "-t", secret) != "commit" || has() == nil {
		t.Error("a commit behind a link counts as one of this folder")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	own := mine.Git("rev-parse", "HEAD")
	mine.Write(".git/objects/"+secret[:2]+"/"+secret[2:], string(must(os.ReadFile(filepath.Join(mine.Dir, ".git/objects", own[:2], own[2:])))))
	if has() == nil {
		t.Error("another text under the name of a commit counts as the commit")
	}
}
