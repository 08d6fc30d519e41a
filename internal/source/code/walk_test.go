package code

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/testlong"
)

// tree writes files, given as path and text, below a new folder without
// symbolic links in its path.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for name, text := range files {
		put(t, root, name, text)
	}
	return root
}

func put(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// gitInit makes root a repository with everything in it committed.
func gitInit(t *testing.T, root string) {
	t.Helper()
	gittest.Need(t)
	gittest.Run(t, root, "init", "-q")
	gittest.Run(t, root, "add", "-A")
	gittest.Run(t, root, "commit", "-q", "-m", "first", "--allow-empty")
}

// walkAll returns the paths of a walk, sorted, and the reasons of what it skipped.
func walkAll(t *testing.T, root string, opts Options) ([]string, map[string]SkipReason, Walked) {
	t.Helper()
	var paths []string
	skipped := map[string]SkipReason{}
	opts.Skipped = func(s Skip) { skipped[s.Path] = s.Reason }
	must(t, opts.validate())
	walked, err := walk(t.Context(), root, nil, &opts, func(e Entry) error {
		paths = append(paths, e.Path)
		return nil
	})
	must(t, err)
	slices.Sort(paths)
	return paths, skipped, walked
}

func guardedTree(t *testing.T) string {
	root := tree(t, map[string]string{
		"main.go": "package main\n", "a/b.py": "x = 1\n", "README.md": "# hi\n", "script": "#!/bin/sh\n",
		"node_modules/dep/index.js": "x\n", "a/vendor/v.go": "package v\n", "big.txt": strings.Repeat("x ", 300_000),
		"logo.png": "\x89PNG", "go.sum": "x\n", "package-lock.json": "{}\n", "app.min.js": "x\n", "data.csv": "a,b\n",
		"empty.go": "", ".gitignore": "*.tmp\n/ignored/\n!keep.tmp\n", "x.tmp": "x\n", "keep.tmp": "x\n",
		"ignored/deep/x.go": "package x\n", "a/.gitignore": "secret.py\n", "a/secret.py": "x\n",
		".recalldignore": "docs/\n*.sql\n!a/keep.sql\n", "docs/d.md": "# d\n", "a/drop.sql": "select 1;\n", "a/keep.sql": "select 2;\n",
		"nested/.git/HEAD": "ref: refs/heads/main\n", "nested/n.go": "package n\n",
		"ünï cödé/wör ld.go": "package w\n",
	})
	for link, target := range map[string]string{"link.go": "main.go", "a/up": "..", "outside": os.TempDir()} {
		if err := os.Symlink(target, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Logf("no symbolic links here: %v", err)
		}
	}
	return root
}

func TestWalk(t *testing.T) {
	want := []string{".gitignore", ".recalldignore", "README.md", "a/.gitignore", "a/b.py", "a/keep.sql", "keep.tmp", "main.go", "script", "ünï cödé/wör ld.go"}
	wantSkipped := map[string]SkipReason{
		"big.txt": SkipLarge, "logo.png": SkipBinary, "go.sum": SkipName, "package-lock.json": SkipName, "app.min.js": SkipName,
		"data.csv": SkipData, "empty.go": SkipEmpty, "a/drop.sql": SkipIgnored, "nested": SkipNested,
	}
	check := func(t *testing.T, root string, opts Options, view string) {
		paths, skipped, walked := walkAll(t, root, opts)
		if !slices.Equal(paths, want) {
			t.Errorf("walked %q\nwant   %q", paths, want)
		}
		if walked.View != view || walked.Files != len(want) || walked.Incomplete {
			t.Errorf("Walked = %+v", walked)
		}
		for name, reason := range wantSkipped {
			if skipped[name] != reason {
				t.Errorf("%s was skipped for %q, want %q", name, skipped[name], reason)
			}
		}
		if _, err := os.Lstat(filepath.Join(root, "link.go")); err == nil && skipped["link.go"] != SkipLink {
			t.Errorf("link.go was skipped for %q", skipped["link.go"])
		}
		n := 0
		for _, count := range walked.Skipped {
			n += count
		}
		if n != len(skipped) {
			t.Errorf("%d skips counted, %d told: %v", n, len(skipped), skipped)
		}
	}
	t.Run("ignore files", func(t *testing.T) {
		check(t, guardedTree(t), settings(Options{Git: "none"}), "ignore files")
	})
	t.Run("git", func(t *testing.T) {
		root := guardedTree(t)
		must(t, os.Rename(filepath.Join(root, "nested"), filepath.Join(root, "aside")))
		gitInit(t, root) // a fake nested repository cannot be added
		must(t, os.Rename(filepath.Join(root, "aside"), filepath.Join(root, "nested")))
		gitInitNested(t, filepath.Join(root, "nested"))
		check(t, root, settings(Options{}), "git")
	})
}

func gitInitNested(t *testing.T, dir string) {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(dir, ".git")))
	gitInit(t, dir)
}

// TestIgnoreRulesLikeGit holds our reading of ignore files against git's, with
// patterns and paths put together at random but the same every time.
func TestIgnoreRulesLikeGit(t *testing.T) {
	gittest.Need(t)
	lines := []string{
		"*.o", "!keep.o", "/top", "dir/", "a/b", "a/*/c", "**/deep", "a/**", "a/**/z", "**/x/y", "x/**/y/**/z", "[ab].txt", "[!ab].md",
		"[^0-9]x", "foo*bar", "f?o", `\#hash`, `\!bang`, "#comment", "trail   ", `space\ `, "*", "!*/", "!/keep", "a**b", "**", "/*", "!a",
		"*.{js}", "[]-]q", "b/", "!b/c", "*/c", "x", "y/", "!x/y", "z*", "/a/b/", "[a-c]/x", "q[", `a\*b`, "c/../b", "./a", "a//b",
	}
	parts := []string{"a", "b", "c", "x", "y", "z", "dir", "deep", "top", "foo", "foobar", "keep", "keep.o", "m.o", "a.txt", "c.md", "a.md", "#hash", "!bang", "trail", "1x", "]q", "a*b", "zz"}
	if runtime.GOOS == "windows" {
		t.Skip("names with * do not exist here: run it on Linux or macOS")
	}
	seed := uint64(7)
	pick := func(n int) int { // a generator of our own keeps the cases the same
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
	for round := range testlong.Steps(6, 25) {
		files := map[string]string{}
		for range 60 {
			name := parts[pick(len(parts))]
			for range pick(4) {
				name += "/" + parts[pick(len(parts))]
			}
			files[name] = "x\n"
		}
		for name := range files { // a name cannot be a file and a folder
			for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
				delete(files, dir)
			}
		}
		var rules []string
		for range 1 + pick(6) {
			rules = append(rules, lines[pick(len(lines))])
		}
		files[".gitignore"] = strings.Join(rules, "\n") + "\n"
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if dir := filepath.Dir(name); dir != "." && pick(12) == 0 {
				files[dir+"/.gitignore"] = lines[pick(len(lines))] + "\n" + lines[pick(len(lines))] + "\n"
			}
		}
		root := tree(t, files)
		gittest.Run(t, root, "init", "-q")
		var want []string
		for name := range strings.SplitSeq(gittest.Run(t, root, "ls-files", "-z", "--others", "--exclude-standard"), "\x00") {
			if name != "" {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		got, _, _ := walkAll(t, root, settings(Options{Git: "none"}))
		// .o files are binaries by name for us.
		want = slices.DeleteFunc(want, func(n string) bool { return strings.HasSuffix(n, ".o") })
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: rules %q and\n%v\n got %q\nwant %q", round, rules, nestedRules(files), got, want)
		}
	}
}

// TestIgnoreClassesLikeGit: classes of characters with a name mean what they mean to git.
func TestIgnoreClassesLikeGit(t *testing.T) {
	gittest.Need(t)
	if runtime.GOOS == "windows" {
		t.Skip("names with * and : do not exist here: run it on Linux or macOS")
	}
	files := map[string]string{}
	for _, c := range "Az5g _-\t\x01:[]!*~" {
		files["x"+string(c)] = "x\n"
	}
	for _, pattern := range []string{
		"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit", "none", "",
		":]", ":digit]", ":digit", "[:digit:]-z", "[:digit:][:upper:]", "![:digit:]", "a[:digit:]", "[:]", "z-[",
	} {
		if !strings.ContainsAny(pattern, ":[") {
			pattern = "[:" + pattern + ":]"
		}
		files[".gitignore"] = "x[" + pattern + "]\n"
		root := tree(t, files)
		gittest.Run(t, root, "init", "-q")
		want := strings.Split(strings.Trim(gittest.Run(t, root, "ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
		slices.Sort(want)
		if got, _, _ := walkAll(t, root, settings(Options{Git: "none"})); !slices.Equal(got, want) {
			t.Errorf("x[%s]:\n got %q\nwant %q", pattern, got, want)
		}
	}
}

func nestedRules(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "/.gitignore") {
			fmt.Fprintf(&b, "%s: %q\n", name, files[name])
		}
	}
	return b.String()
}

func TestWalkLimits(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("d%d/f%02d.txt", i%3, i)] = "x\n"
	}
	root := tree(t, files)
	paths, _, walked := walkAll(t, root, settings(Options{MaxFiles: 7}))
	if len(paths) != 7 || walked.Skipped[SkipMany] != 13 {
		t.Errorf("%d files walked, %v skipped", len(paths), walked.Skipped)
	}
	again, _, _ := walkAll(t, root, settings(Options{MaxFiles: 7}))
	if !slices.Equal(paths, again) {
		t.Errorf("first %q, then %q", paths, again)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n, opts := 0, settings(Options{})
	must(t, opts.validate())
	_, err := walk(ctx, root, nil, &opts, func(Entry) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("a cancelled walk went on to file %d: %v", n, err)
	}
	stop := errors.New("stop")
	if _, err := walk(t.Context(), root, nil, &opts, func(Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("visit's error became %v", err)
	}
	if _, err := walk(t.Context(), filepath.Join(root, "missing"), nil, &opts, nil); err == nil {
		t.Error("a missing folder is walked")
	}
}

func TestWalkGitRefusing(t *testing.T) {
	root := tree(t, map[string]string{"a.go": "package a\n"})
	gitInit(t, root)
	put(t, root, ".git/config", "[core]\n\trepositoryformatversion = 99\n")
	paths, _, walked := walkAll(t, root, settings(Options{}))
	if !slices.Equal(paths, []string{"a.go"}) || walked.View != "ignore files" || !strings.Contains(walked.Note, "99") {
		t.Errorf("walked %q, %+v", paths, walked)
	}
}

func TestSkipText(t *testing.T) {
	opts := settings(Options{})
	for name, test := range map[string]struct {
		text string
		want SkipReason
	}{
		"code":               {"package a\n", ""},
		"blank":              {" \n\t\r\n", SkipEmpty},
		"NUL":                {"a\x00b\n", SkipBinary},
		"latin-1":            {"caf\xe9\n", SkipBinary},
		"late NUL":           {strings.Repeat("x\n", 10000) + "\x00", SkipBinary},
		"go generated":       {"// Code generated by stringer; DO NOT EDIT.\npackage a\n", SkipGenerated},
		"@generated":         {"/**\n * @generated SignedSource\n */\n", SkipGenerated},
		"speaks of it":       {"package a\n\n// isGenerated finds \"Code generated\" marks.\nvar m = \"// @generated\"\n", ""},
		"minified":           {"/*! lib */\n" + strings.Repeat("a=b;", 3000), SkipMinified},
		"with a picture":     {strings.Repeat("a = b\n", 40) + strings.Repeat("A", 20000) + "\n", ""},
		"with a licence":     {strings.Repeat("// a\n", 25) + strings.Repeat("a=b;", 3000), SkipMinified},
		"long line in prose": {strings.Repeat("word\n", 3000) + strings.Repeat("x ", 3000), ""},
	} {
		if got := opts.skipText([]byte(test.text)); got != test.want {
			t.Errorf("%s: skipText = %q, want %q", name, got, test.want)
		}
	}
}

// TestTrackedOutputs: sources that git tracks in folders called build, dist, out or target
// are walked and watched; what tools wrote beside them is not, nor what is vendored.
func TestTrackedOutputs(t *testing.T) {
	const source = "package x\n\nfunc X() {}\n"
	root := tree(t, map[string]string{
		"main.go": source, "build/rules.go": source, "pkg/dist/sub/send.go": source, "target/target.go": source,
		"build/node_modules/dep/dep.go": source, "vendor/dist/v.go": source,
		".gitignore": "*.made.go\n",
	})
	gitInit(t, root)
	for _, name := range []string{"build/other.go", "build/cache/c.go", "pkg/dist/bundle.go", "out/o.go", "dist/d.go", "build/x.made.go", "new.go"} {
		put(t, root, name, source)
	}
	want := []string{".gitignore", "build/rules.go", "main.go", "new.go", "pkg/dist/sub/send.go", "target/target.go"}
	walked := func(opts Options, only []string) (names []string, skipped map[string]SkipReason) {
		t.Helper()
		skipped = map[string]SkipReason{}
		opts = settings(opts)
		must(t, opts.validate())
		opts.Skipped = func(s Skip) { skipped[s.Path] = s.Reason }
		_, err := walk(t.Context(), root, only, &opts, func(e Entry) error { names = append(names, e.Path); return nil })
		must(t, err)
		slices.Sort(names)
		return names, skipped
	}
	names, skipped := walked(Options{}, nil)
	if !slices.Equal(names, want) {
		t.Errorf("walked are %v, want %v", names, want)
	}
	for _, name := range []string{"build/other.go", "build/cache/c.go", "pkg/dist/bundle.go", "out/o.go", "dist/d.go"} {
		if skipped[name] != SkipDir {
			t.Errorf("%s is skipped for %q", name, skipped[name])
		}
	}
	some, _ := walked(Options{}, []string{"build/rules.go", "build/other.go", "main.go"})
	if want := []string{"build/rules.go", "main.go"}; !slices.Equal(some, want) {
		t.Errorf("of changed files walked are %v, want %v", some, want)
	}
	if names, _ := walked(Options{Git: "none"}, nil); slices.Contains(names, "build/rules.go") {
		t.Errorf("without git walked are %v", names)
	}
	opts := settings(Options{})
	must(t, opts.validate())
	s := &Sandboxes{opts: SandboxesOptions{Run: opts}}
	rules := s.rulesOf(root)(t.Context())
	for name, want := range map[string]bool{"build": false, "pkg/dist": false, "pkg/dist/sub": false, "target": false, "dist": true, "out": true, "vendor": true, "build/node_modules": true} {
		if got := rules.Skip(name, true); got != want {
			t.Errorf("skip of the folder %s: %t", name, got)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
