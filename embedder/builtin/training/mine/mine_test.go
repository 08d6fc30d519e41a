package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/training/mine/mirror"
	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// makeSource makes a mirror of a repository with some files, below a folder of
// mirrors, and returns its line of the list.
func makeSource(t *testing.T, mirrors, name, what string, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed: install it and put it on PATH")
	}
	dir := filepath.Join(mirrors, strings.Replace(name, "/", "+", 1), "repo")
	for file, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "Close what nobody uses any more\n\nThe server ran out of sockets since idle connections were kept for ever.")
	return fmt.Sprintf("%s %s MIT %s\n", name, git(t, dir, "rev-parse", "HEAD"), what)
}

const poolFile = `package pool

// Closes the connections that nobody used for an hour.
func closeIdle(p *Pool) {
	for _, c := range p.idle {
		c.Close()
	}
}

// Counts how many clients wait for a connection to come back.
func waiting(p *Pool) int {
	n := len(p.queue)
	return n
}
`

func testOptions(t *testing.T) options {
	t.Helper()
	o := defaults()
	o.Mirrors, o.Out = t.TempDir(), filepath.Join(t.TempDir(), "pairs")
	o.List = filepath.Join(t.TempDir(), "sources.txt")
	list := makeSource(t, o.Mirrors, "ann/pool", "commits,changes,code,docs", map[string]string{
		"pool.go": poolFile, "vendor/other.go": "// Does what others wrote.\nfunc other() {\n\ta()\n\tb()\n}\n"})
	list += makeSource(t, o.Mirrors, "bob/copy", "code", map[string]string{"copy.go": poolFile})
	list += makeSource(t, o.Mirrors, "eve/words", "wordset", map[string]string{
		"data/a.json": `{"agile":{"meanings":[{"def":"moving quickly and lightly","synonyms":["nimble"]}]}}`})
	if err := os.WriteFile(o.List, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return o
}

// readPairs reads what was written for a source, by the first side.
func readPairs(t *testing.T, o options, name string) map[string]line {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(o.Out, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[string]line{}
	for text := range strings.Lines(string(content)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("decode %q: %v", text, err)
		}
		pairs[l.A] = l
	}
	return pairs
}

func TestRun(t *testing.T) {
	o := testOptions(t)
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Fatalf("run: %v", err)
	}
	pool := readPairs(t, o, "ann+pool")
	for a, kind := range map[string]scan.Kind{
		"Closes the connections that nobody used for an hour.":        scan.Doc,
		"Counts how many clients wait for a connection to come back.": scan.Doc,
		"Close what nobody uses any more":                             scan.Commit,
	} {
		if l, ok := pool[a]; !ok || l.Kind != kind || l.Repo != "ann/pool" {
			t.Errorf("%q is %+v, want a %s", a, l, kind)
		}
	}
	if _, ok := pool["Does what others wrote."]; ok {
		t.Error("a vendored file was mined")
	}
	if copied := readPairs(t, o, "bob+copy"); len(copied) > 0 {
		t.Errorf("pairs of another source were written again: %v", copied)
	}
	if words := readPairs(t, o, "eve+words"); words["agile, nimble"].Kind != scan.Gloss {
		t.Errorf("the data set gave %v", words)
	}
	counts, err := os.ReadFile(filepath.Join(o.Out, "README"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"pairs of 3 sources", "| doc | 2 |", "| seen before | 4 |", "| ann/pool |", "| ask 2, doc 2, commit 1 |"} {
		if !strings.Contains(string(counts), part) {
			t.Errorf("the counts lack %q:\n%s", part, counts)
		}
	}
}

func TestRunWithoutSets(t *testing.T) {
	o := testOptions(t)
	o.Without = t.TempDir()
	dir := filepath.Join(o.Without, "docs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"corpus.jsonl.gz":  `{"id":"1","text":"x"}`,
		"queries.jsonl.gz": `{"id":"1","text":"closes the connections that nobody used for an hour"}`,
	} {
		f, err := os.Create(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		fmt.Fprint(z, text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Fatalf("run: %v", err)
	}
	pool := readPairs(t, o, "ann+pool")
	if _, ok := pool["Closes the connections that nobody used for an hour."]; ok {
		t.Error("a pair of an evaluation set was written")
	}
	if _, ok := pool["Counts how many clients wait for a connection to come back."]; !ok {
		t.Error("a pair of no evaluation set was dropped")
	}
}

func TestRunFails(t *testing.T) {
	for name, spoil := range map[string]func(*options){
		"no mirrors":   func(o *options) { o.Mirrors = "" },
		"no output":    func(o *options) { o.Out = "" },
		"no workers":   func(o *options) { o.Workers = 0 },
		"no pairs":     func(o *options) { o.PerKind = 0 },
		"no list":      func(o *options) { o.List += "x" },
		"no sets":      func(o *options) { o.Without = o.Out },
		"other mirror": func(o *options) { o.Mirrors = o.Out },
	} {
		o := testOptions(t)
		spoil(&o)
		if err := run(t.Context(), o, io.Discard); err == nil {
			t.Errorf("%s: the run did not fail", name)
		}
	}
	o := testOptions(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, o, io.Discard); err == nil {
		t.Error("a cancelled run did not fail")
	}
}

func TestList(t *testing.T) {
	list, err := readSources("sources.txt")
	if err != nil {
		t.Fatalf("read the list: %v", err)
	}
	for _, s := range list {
		if len(s.commit) != 40 {
			t.Errorf("%s has commit %q, which is no whole hash", s.name, s.commit)
		}
		if repository, why := excluded(s.name); repository {
			t.Errorf("%s must not be trained on: %s", s.name, why)
		}
		if !usable(s.licence) {
			t.Errorf("the licence %s of %s does not allow every use", s.licence, s.name)
		}
	}
	for _, bad := range []string{"", "-", "other", "CC-BY-NC", "CC-BY-ND", "BUSL-1.1", "MIT/-", "MIT/CC-BY-NC-SA", "research-only", "Elastic-2.0"} {
		if usable(bad) {
			t.Errorf("the licence %q is taken for one that allows every use", bad)
		}
	}
	for _, bad := range []string{"a/b c MIT", "ab c MIT code", "a/b c MIT tea", "a/b c MIT code\na/b c MIT docs"} {
		if _, err := parseSources(strings.NewReader(bad)); err == nil {
			t.Errorf("the list %q was read", bad)
		}
	}
}

// usable says whether each licence of a source, as the list names them, is one that
// lets anybody use a text for anything, be it on terms. A licence that nobody has
// looked at is none of them.
func usable(licence string) bool {
	for one := range strings.SplitSeq(licence, "/") {
		if !slices.Contains([]string{
			"MIT", "MIT-CMU", "BSD", "ISC", "Apache-2.0", "Artistic-2.0", "ImageMagick", "Vim", "WTFPL", "MPL-2.0", "LGPL", "LGPL-2.1",
			"GPL-2.0", "GPL-3.0", "AGPL-3.0", "SSPL-1.0", "Linux-man-pages", "CC-BY", "CC-BY-SA", "CC0-1.0", "CDLA-Sharing-1.0", "public-domain",
		}, one) {
			return false
		}
	}
	return true
}

// excluded says whether a repository is one that evaluation sets were made of.
func excluded(name string) (bool, string) {
	name = strings.ToLower(name)
	for why, parts := range map[string][]string{
		"SWE-bench is made of it":             {"astropy/", "django/", "pallets/flask", "matplotlib/", "pylint", "pytest-dev/", "psf/requests", "scikit-learn/", "mwaskom/", "sphinx-doc/", "sympy/", "pydata/xarray"},
		"a set of ours is made of it":         {"rust-clippy", "golang/go", "nl2bash", "conala", "cosqa", "codesearchnet", "coclr", "locomo", "realtalk", "scifact", "claimverifier", "opencode-memory", "stackfaq"},
		"it is a benchmark or comes from one": {"longmemeval", "stackoverflow", "stack-overflow", "stackexchange", "beir", "/beam", "sosum", "linkso", "staqc", "squad", "hotpotqa", "nfcorpus", "scidocs", "fiqa", "arguana", "touche", "cqadupstack", "msmarco"},
		"commands with their descriptions":    {"tldr-pages", "cheat"},
		"bug localisation is measured on it":  {"apache/tomcat", "eclipse"},
	} {
		for _, part := range parts {
			if strings.HasSuffix(name, part) || strings.Contains(name, part) && part != "golang/go" {
				return true, why
			}
		}
	}
	return false, ""
}

func TestSample(t *testing.T) {
	pair := func(kind scan.Kind, n int) scan.Pair {
		return scan.Pair{Kind: kind, A: fmt.Sprintf("question number %d", n), B: fmt.Sprintf("answer number %d", n)}
	}
	forward, backward := newSample(10), newSample(10)
	for i := range 100 {
		for _, s := range []struct {
			sample *sample
			pair   scan.Pair
		}{{forward, pair(scan.Doc, i)}, {backward, pair(scan.Doc, 99-i)}} {
			if s.sample.wants(s.pair) {
				s.sample.add(s.pair)
			}
		}
	}
	for i := range 3 {
		forward.add(pair(scan.Name, i))
		backward.add(pair(scan.Name, i))
	}
	a, b := forward.pairs(8), backward.pairs(8)
	if len(a) != 8 || len(b) != 8 {
		t.Fatalf("%d and %d pairs, want 8", len(a), len(b))
	}
	names := 0
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("pair %d depends on the order: %v, %v", i, a[i], b[i])
		}
		if a[i].Kind == scan.Name {
			names++
		}
	}
	if names != 3 {
		t.Errorf("%d pairs are names, want all 3, since there are so few", names)
	}
	if n := len(forward.pairs(1000)); n != 13 {
		t.Errorf("%d pairs, want all 13", n)
	}
}

func TestChange(t *testing.T) {
	const added = "a := 1\nb := 2\n"
	for _, test := range []struct {
		author, message, added string
		want                   bool
	}{
		{"Ann <a@b>", "fix: close idle connections", added, true},
		{"dependabot[bot] <x@y>", "close idle connections", added, false},
		{"Ann <a@b>", "Bump x from 1 to 2", added, false},
		{"Ann <a@b>", "close idle connections", "one line\n", false},
		{"Ann <a@b>", "close idle connections", strings.Repeat(added, 50), false},
	} {
		got := false
		change(mirror.Commit{Author: test.author, Message: test.message, Added: test.added}, func(scan.Pair) { got = true })
		if got != test.want {
			t.Errorf("%s by %s with %d bytes: pair is %t, want %t", test.message, test.author, len(test.added), got, test.want)
		}
	}
}

func FuzzParseSources(f *testing.F) {
	f.Add("# list\na/b c MIT code,docs\n")
	f.Add("a/b c MIT dream")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseSources(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range list {
			if s.dataset == "" && len(s.parts) == 0 {
				t.Errorf("%q has a source of which nothing is mined", text)
			}
		}
	})
}
