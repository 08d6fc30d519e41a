package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFilesAndFolders(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a.go", "package a\n")
	write(t, root, "deep/er/b.go", "package b\n")
	write(t, root, "node_modules/m/index.js", "1\n")
	w := start(t, Options{}, Root{Path: root, Rules: skipping("node_modules")})
	needEvents(t, w, root)
	if n := w.system.watches(); n != 3 {
		t.Errorf("%d folders are watched, want 3: a skipped one costs none", n)
	}
	step := func(what string, do func(), want ...string) {
		t.Helper()
		do()
		t.Log(what)
		expect(t, w, want...)
	}
	step("a file is written", func() { write(t, root, "a.go", "package a\n\nfunc A() {}\n") }, "a.go")
	step("a file deep down", func() { write(t, root, "deep/er/b.go", "package bb\n") }, "deep/er/b.go")
	step("a file is saved by a rename", func() {
		write(t, root, ".goutputstream-X1", "package a2\n")
		must(t, os.Rename(filepath.Join(root, ".goutputstream-X1"), filepath.Join(root, "a.go")))
	}, "a.go")
	step("a file is removed", func() { must(t, os.Remove(filepath.Join(root, "deep/er/b.go"))) }, "deep/er/b.go")
	step("a file is renamed", func() { must(t, os.Rename(filepath.Join(root, "a.go"), filepath.Join(root, "c.go"))) }, "a.go", "c.go")
	step("folders are made with files", func() { write(t, root, "new/one/two/d.go", "package d\n") }, "new")
	step("a file in a new folder", func() { write(t, root, "new/one/two/d.go", "package dd\n") }, "new/one/two/d.go")
	step("a folder is renamed", func() { must(t, os.Rename(filepath.Join(root, "new"), filepath.Join(root, "old"))) }, "new", "old")
	step("a file in a renamed folder", func() { write(t, root, "old/one/two/d.go", "package d3\n") }, "old/one/two/d.go")
	step("a folder is removed", func() { must(t, os.RemoveAll(filepath.Join(root, "deep"))) }, "deep")
	step("it comes back as a file", func() { write(t, root, "deep", "text\n") }, "deep")
	if n := w.system.watches(); n != 4 {
		t.Errorf("%d folders are watched, want 4: the root and three below old", n)
	}

	write(t, root, "node_modules/m/index.js", "2\n")
	write(t, root, "node_modules/n/index.js", "2\n")
	for _, name := range []string{"4913", ".a.go.swp", "a.go~", ".#a.go", "#a.go#", "a.go___jb_tmp___"} {
		write(t, root, name, "x")
		must(t, os.Remove(filepath.Join(root, name)))
	}
	must(t, os.Chmod(filepath.Join(root, "c.go"), 0o600))
	silent(t, w, root)
}

// TestFolderNamedLikeASkippedFile: a folder that is moved away or removed is reported,
// although a file of its name would not be.
func TestFolderNamedLikeASkippedFile(t *testing.T) {
	for name, notify := range map[string]func() (Notifier, error){
		"events": nil, "polling": func() (Notifier, error) { return nil, errors.New("no notices") },
	} {
		t.Run(name, func(t *testing.T) {
			root := tempDir(t)
			write(t, root, "moved.zip/a.go", "a")
			write(t, root, "file.zip", "a")
			w := start(t, Options{Notify: notify, PollEvery: 20 * time.Millisecond}, Root{Path: root, Rules: func(context.Context) Rules {
				return Rules{Skip: func(path string, dir bool) bool { return !dir && filepath.Ext(path) == ".zip" }}
			}})
			must(t, os.Remove(filepath.Join(root, "file.zip")))
			must(t, os.Rename(filepath.Join(root, "moved.zip"), filepath.Join(tempDir(t), "moved.zip")))
			expect(t, w, "moved.zip")
		})
	}
}

// TestFolderNamedLikeATemporaryFile: a copy of a folder beside it is a folder like others.
func TestFolderNamedLikeATemporaryFile(t *testing.T) {
	for name, notify := range map[string]func() (Notifier, error){
		"events": nil, "polling": func() (Notifier, error) { return nil, errors.New("no notices") },
	} {
		t.Run(name, func(t *testing.T) {
			root := tempDir(t)
			w := start(t, Options{Notify: notify, PollEvery: 20 * time.Millisecond}, Root{Path: root})
			write(t, root, "b.go~", "b")
			must(t, os.Mkdir(filepath.Join(root, "src~"), 0o755))
			expect(t, w, "src~")
			write(t, root, "src~/a.go", "a")
			expect(t, w, "src~/a.go")
			must(t, os.Rename(filepath.Join(root, "src~"), filepath.Join(tempDir(t), "src~")))
			expect(t, w, "src~")
		})
	}
}

// TestFilesMadeAtOnceWithTheirFolders: nothing that is put into a folder before it
// is watched may be missed.
func TestFilesMadeAtOnceWithTheirFolders(t *testing.T) {
	root := tempDir(t)
	w := start(t, Options{}, Root{Path: root})
	needEvents(t, w, root)
	for i := range 15 {
		dir := fmt.Sprintf("d%02d", i)
		write(t, root, dir+"/x/y/z.go", "package z\n")
		expect(t, w, dir)
		write(t, root, dir+"/x/y/z.go", "package zz\n")
		expect(t, w, dir+"/x/y/z.go")
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	root, outside := tempDir(t), tempDir(t)
	write(t, outside, "far/a.go", "package a\n")
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	w := start(t, Options{}, Root{Path: root})
	must(t, os.Symlink(outside, filepath.Join(root, "later")))
	expect(t, w, "later")
	write(t, outside, "far/a.go", "package aa\n")
	write(t, outside, "b.go", "package b\n")
	silent(t, w, root)
}

func TestRulesChange(t *testing.T) {
	root := tempDir(t)
	write(t, root, "gen/a.go", "package a\n")
	w := start(t, Options{}, Root{Path: root, Rules: func(context.Context) Rules {
		_, err := os.Stat(filepath.Join(root, ".gitignore"))
		return Rules{Skip: func(path string, _ bool) bool { return path == "gen" && err == nil }}
	}})
	whole := func(what string) {
		t.Helper()
		if b := next(t, w); !b.All {
			t.Fatalf("%s the batch is %+v, want everything", what, b)
		}
	}
	write(t, root, ".gitignore", "gen/\n")
	whole("after the rules changed")
	write(t, root, "gen/a.go", "package b\n")
	silent(t, w, root)
	must(t, os.Remove(filepath.Join(root, ".gitignore")))
	whole("after the rules went")
	write(t, root, "gen/a.go", "package c\n")
	expect(t, w, "gen/a.go")
	must(t, os.Mkdir(filepath.Join(root, "gen", ".git"), 0o755))
	whole("after a folder became a repository")
}

// TestNestedRepositoryTakenIn: a separate repository becomes a part of the root when its .git is
// removed, which is noticed although nothing in it was watched.
func TestNestedRepositoryTakenIn(t *testing.T) {
	root := tempDir(t)
	write(t, root, "before/.git/HEAD", "ref: refs/heads/main\n")
	w := start(t, Options{LookEvery: 20 * time.Millisecond}, Root{Path: root, Rules: func(context.Context) Rules {
		return Rules{Skip: func(path string, dir bool) bool {
			_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path), ".git"))
			return dir && err == nil
		}}
	}})
	needEvents(t, w, root)
	outside := tempDir(t)
	write(t, outside, "later/.git/HEAD", "ref: refs/heads/main\n")
	must(t, os.Rename(filepath.Join(outside, "later"), filepath.Join(root, "later")))
	for _, name := range []string{"before", "later"} {
		silent(t, w, root)
		must(t, os.RemoveAll(filepath.Join(root, name, ".git")))
		if b := next(t, w); !b.All {
			t.Fatalf("the batch is %+v, want everything", b)
		}
		write(t, root, name+"/a.go", "package a\n")
		expect(t, w, name+"/a.go")
	}
}

// TestRootGoesAndComesBack: also when another folder takes its place at once.
func TestRootGoesAndComesBack(t *testing.T) {
	above := tempDir(t)
	root, away := filepath.Join(above, "root"), filepath.Join(above, "away")
	write(t, root, "sub/a.go", "package a\n")
	w := start(t, Options{LookEvery: 20 * time.Millisecond}, Root{Path: root})
	gone := func(what string) {
		t.Helper()
		if b := next(t, w); !b.Gone {
			t.Fatalf("%s the batch is %+v, want that it is gone", what, b)
		}
		if s := w.State(root); s.Mode != Missing || s.Live() || s.String() != "" {
			t.Errorf("%s the state is %+v", what, s)
		}
		if n := w.system.watches(); n != 0 {
			t.Errorf("%s %d folders are watched", what, n)
		}
	}
	back := func(what string) {
		t.Helper()
		if b := next(t, w); !b.All {
			t.Fatalf("%s the batch is %+v, want everything", what, b)
		}
		write(t, root, "sub/a.go", what)
		expect(t, w, "sub/a.go")
	}
	must(t, os.Rename(root, away))
	gone("moved away")
	must(t, os.Rename(away, root))
	back("moved back")
	must(t, os.RemoveAll(root))
	for b := next(t, w); !b.Gone; b = next(t, w) { // what was removed first
	}
	write(t, root, "sub/a.go", "package a\n")
	back("made anew")
	must(t, os.Rename(root, away))
	write(t, root, "sub/a.go", "package other\n")
	for b := next(t, w); !b.All; b = next(t, w) { // it may have been missed meanwhile
	}
	write(t, root, "sub/a.go", "package third\n")
	expect(t, w, "sub/a.go")
	must(t, os.RemoveAll(above))
}

func TestRootThatIsMissing(t *testing.T) {
	root := filepath.Join(tempDir(t), "later")
	w, err := New(Options{LookEvery: 20 * time.Millisecond})
	must(t, err)
	defer w.Close()
	must(t, w.Add(Root{Path: root}))
	if b := next(t, w); !b.Gone || b.Root != root {
		t.Fatalf("the first batch is %+v, want that it is gone", b)
	}
	must(t, os.Mkdir(root, 0o755))
	if b := next(t, w); !b.All {
		t.Fatalf("the batch is %+v, want everything", b)
	}
}

// TestNestedRoots: a folder that several roots want is watched once, and for those
// that still want it when one ends.
func TestNestedRoots(t *testing.T) {
	outer := tempDir(t)
	inner := filepath.Join(outer, "inner")
	write(t, inner, "a.go", "package a\n")
	w := start(t, Options{}, Root{Path: outer})
	needEvents(t, w, outer)
	must(t, w.Add(Root{Path: inner}))
	if b := next(t, w); !b.All || b.Root != inner {
		t.Fatalf("the first batch is %+v, want all of %s", b, inner)
	}
	write(t, inner, "a.go", "package aa\n")
	told := map[string]string{}
	for range 2 {
		b := next(t, w)
		told[b.Root] = fmt.Sprint(b.Paths)
	}
	if told[outer] != "[inner/a.go]" || told[inner] != "[a.go]" {
		t.Errorf("reported %v", told)
	}
	w.Remove(outer)
	w.Remove(outer)
	write(t, inner, "a.go", "package a3\n")
	expect(t, w, "a.go")
	if n := w.system.watches(); n != 1 {
		t.Errorf("%d folders are watched, want the inner one", n)
	}
	if s := w.State(outer); s != (State{}) {
		t.Errorf("a root that was taken off is %+v", s)
	}
}

func TestManyPathsAreEverything(t *testing.T) {
	root := tempDir(t)
	w := start(t, Options{Quiet: 300 * time.Millisecond, MaxDelay: time.Minute, MaxPaths: 20}, Root{Path: root})
	for i := range 21 {
		write(t, root, fmt.Sprintf("f%d.go", i), "package f\n")
	}
	if b := next(t, w); !b.All || len(b.Paths) > 0 {
		t.Fatalf("the batch is %+v, want everything", b)
	}
}

// TestBatchesAreJoined: batches that are not received are joined, and no change is lost.
func TestBatchesAreJoined(t *testing.T) {
	for _, test := range []struct {
		name         string
		older, newer *Batch
		want         Batch
	}{
		{"none waits", nil, &Batch{Root: "r", Paths: []string{"a"}}, Batch{Root: "r", Paths: []string{"a"}}},
		{"paths", &Batch{Root: "r", Paths: []string{"b", "c/d"}}, &Batch{Root: "r", Paths: []string{"a", "c"}}, Batch{Root: "r", Paths: []string{"a", "b", "c"}}},
		{"too many", &Batch{Root: "r", Paths: []string{"a", "b"}}, &Batch{Root: "r", Paths: []string{"c", "d"}}, Batch{Root: "r", All: true}},
		{"everything before", &Batch{Root: "r", All: true}, &Batch{Root: "r", Paths: []string{"a"}}, Batch{Root: "r", All: true}},
		{"it came back", &Batch{Root: "r", Gone: true}, &Batch{Root: "r", All: true}, Batch{Root: "r", All: true}},
	} {
		if got := joined(test.older, test.newer, 3); fmt.Sprint(*got) != fmt.Sprint(test.want) {
			t.Errorf("%s: joined into %+v, want %+v", test.name, *got, test.want)
		}
	}
}

func TestClose(t *testing.T) {
	w, err := New(Options{})
	must(t, err)
	root := tempDir(t)
	must(t, w.Add(Root{Path: root}))
	must(t, w.Close())
	must(t, w.Close())
	if _, open := <-w.Batches(); open {
		t.Error("a closed watcher hands over batches")
	}
	if err := w.Add(Root{Path: root}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed watcher takes a root: %v", err)
	}
	if err := w.Add(Root{Path: "relative"}); err == nil {
		t.Error("a relative root is taken")
	}
	w.Remove(root)
	for _, bad := range []Options{{Quiet: -1}, {GitHold: -1}, {MaxPaths: -1}} {
		if _, err := New(bad); err == nil {
			t.Errorf("the options %+v are taken", bad)
		}
	}
}
