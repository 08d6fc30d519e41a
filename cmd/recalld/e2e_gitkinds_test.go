package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// indexedPaths indexes a folder and returns the files of it that are then found, of
// those that are asked for by a word of their own.
func (m *machine) indexedPaths(dir string, words map[string]string) []string {
	m.t.Helper()
	m.run(dir, "index", "--wait")
	found := []string{}
	for path, word := range words {
		a := m.recall(dir, word+" melody", "--kinds", "chunk", "--min-relevance", "0", "--limit", "20")
		if slices.ContainsFunc(a.Items, func(i memory.Item) bool {
			return i.Source.Sandbox == dir && i.Source.Path == path && strings.Contains(i.Text, word)
		}) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return found
}

// skippedReasons are the reasons for which files of a folder are left out.
func (m *machine) skippedReasons(dir string) map[string]string {
	m.t.Helper()
	var list memory.SkippedList
	m.ask(&list, "", "repos", "--skipped", dir)
	reasons := map[string]string{}
	for _, f := range list.Files {
		reasons[f.Path] = f.Reason
	}
	return reasons
}

func song(t *testing.T, dir, path, word string) {
	t.Helper()
	write(t, filepath.Join(dir, filepath.FromSlash(path)), "# The "+word+"\n\nThe "+word+" plays the melody of the evening.\n")
}

// TestE2EKindsOfRepositories: what git has besides a plain repository with one
// worktree is indexed as what it is, each file once, in the repository that it is of.
func TestE2EKindsOfRepositories(t *testing.T) {
	m := newMachine(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	git := gitIn(t, top)
	git("init", "-q", "-b", "main", "lib")
	song(t, at("lib"), "violin.md", "violin")
	git("-C", "lib", "add", "-A")
	git("-C", "lib", "commit", "-q", "-m", "one")
	song(t, at("lib"), "sub/cello.md", "cello")
	git("-C", "lib", "add", "-A")
	git("-C", "lib", "commit", "-q", "-m", "two")

	t.Run("submodule", func(t *testing.T) {
		git("init", "-q", "-b", "main", "app")
		song(t, at("app"), "trumpet.md", "trumpet")
		git("-C", "app", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at("lib"), "deps/lib")
		git("-C", "app", "add", "-A")
		git("-C", "app", "commit", "-q", "-m", "one")
		got := m.indexedPaths(at("app"), map[string]string{"trumpet.md": "trumpet", "deps/lib/violin.md": "violin"})
		if !slices.Equal(got, []string{"trumpet.md"}) {
			t.Errorf("of a repository with a submodule %q are found, want trumpet.md alone", got)
		}
		if reasons := m.skippedReasons(at("app")); reasons["deps/lib"] != "nested_repository" {
			t.Errorf("the submodule is left out for %q, want nested_repository: %v", reasons["deps/lib"], reasons)
		}
		// It is a repository like any other, of the project that it was cloned from.
		got = m.indexedPaths(at("app/deps/lib"), map[string]string{"violin.md": "violin", "sub/cello.md": "cello"})
		if len(got) != 2 {
			t.Errorf("of the submodule %q are found, want both files", got)
		}
		own, lib := m.recall(at("app/deps/lib"), "violin"), m.recall(at("lib"), "violin")
		if own.Project != lib.Project {
			t.Errorf("the submodule is of project %s, its origin of %s", own.Project, lib.Project)
		}
	})
	t.Run("nested repository", func(t *testing.T) {
		git("init", "-q", "-b", "main", "outer")
		song(t, at("outer"), "flute.md", "flute")
		git("init", "-q", "-b", "main", "outer/inner")
		song(t, at("outer/inner"), "oboe.md", "oboe")
		got := m.indexedPaths(at("outer"), map[string]string{"flute.md": "flute", "inner/oboe.md": "oboe"})
		if !slices.Equal(got, []string{"flute.md"}) {
			t.Errorf("around a nested repository %q are found, want flute.md alone", got)
		}
		if got := m.indexedPaths(at("outer/inner"), map[string]string{"oboe.md": "oboe"}); len(got) != 1 {
			t.Errorf("in the nested repository %q are found, want oboe.md", got)
		}
	})
	t.Run("bare", func(t *testing.T) {
		git("clone", "-q", "--bare", "lib", "lib.git")
		out, err := m.command(at("lib.git"), "index", "--wait").CombinedOutput()
		if err == nil {
			t.Errorf("a bare repository is indexed, which has no files:\n%s", out)
		}
		if _, ended := errors.AsType[*exec.ExitError](err); !ended || !strings.Contains(string(out), "bare") {
			t.Errorf("of a bare repository is said %q, want that it is bare", out)
		}
		git("-C", "lib.git", "worktree", "add", "-q", "../ofbare", "main")
		if got := m.indexedPaths(at("ofbare"), map[string]string{"violin.md": "violin"}); len(got) != 1 {
			t.Errorf("of a worktree of a bare repository %q are found, want violin.md", got)
		}
	})
	t.Run("shallow", func(t *testing.T) {
		git("clone", "-q", "--depth", "1", "file://"+filepath.ToSlash(at("lib")), "shallow")
		if got := m.indexedPaths(at("shallow"), map[string]string{"violin.md": "violin", "sub/cello.md": "cello"}); len(got) != 2 {
			t.Errorf("of a shallow clone %q are found, want both files", got)
		}
	})
	t.Run("sparse", func(t *testing.T) {
		git("clone", "-q", "--sparse", "lib", "sparse") // files at the top only
		got := m.indexedPaths(at("sparse"), map[string]string{"violin.md": "violin", "sub/cello.md": "cello"})
		if !slices.Equal(got, []string{"violin.md"}) {
			t.Errorf("of a sparse checkout %q are found, want violin.md alone", got)
		}
		git("-C", "sparse", "sparse-checkout", "disable")
		if got := m.indexedPaths(at("sparse"), map[string]string{"violin.md": "violin", "sub/cello.md": "cello"}); len(got) != 2 {
			t.Errorf("once it is whole %q are found, want both files", got)
		}
	})
	t.Run("large file storage", func(t *testing.T) {
		git("init", "-q", "-b", "main", "media")
		song(t, at("media"), "harp.md", "harp")
		write(t, filepath.Join(at("media"), "harp.psd"), "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")
		got := m.indexedPaths(at("media"), map[string]string{"harp.md": "harp", "harp.psd": "git-lfs"})
		if !slices.Equal(got, []string{"harp.md"}) {
			t.Errorf("beside a pointer to a large file %q are found, want harp.md alone", got)
		}
	})
	t.Run("of another owner", func(t *testing.T) {
		if runtime.GOOS == "windows" || os.Getuid() != 0 {
			t.Skip("only root can give a folder away: run it as root")
		}
		git("clone", "-q", "lib", "foreign")
		write(t, filepath.Join(at("foreign"), ".gitignore"), "ignored.md\n")
		song(t, at("foreign"), "ignored.md", "bassoon")
		for _, name := range []string{"foreign", "foreign/.git"} {
			if err := os.Chown(at(name), 4242, 4242); err != nil {
				t.Fatal(err)
			}
		}
		// Git refuses it (safe.directory); its ignore files are honoured all the same.
		got := m.indexedPaths(at("foreign"), map[string]string{"violin.md": "violin", "ignored.md": "bassoon"})
		if !slices.Equal(got, []string{"violin.md"}) {
			t.Errorf("of a repository that git refuses %q are found, want violin.md alone", got)
		}
	})
}
