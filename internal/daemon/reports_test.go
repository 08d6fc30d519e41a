package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/source/code"
)

// report is a bug report of a public repository and the files that its fix changed.
type report struct {
	half string // "tuned" or "apart"
	repo string
	id   string
	// parent is the commit before the fix, which is indexed.
	parent string
	files  []string
	text   string
}

// TestBugReports asks for the files that the fixes of bug reports changed, and prints the
// share of reports whose right file is first, among five and among ten, beside a plain
// BM25 over whole files. testdata/reports.tsv lists the reports, by the ids of SWE-bench
// and Rust-SWE-bench. Their texts and repositories are not part of the project:
// RECALLD_REPORTS names a file of lines {"instance_id", "problem_statement"}, and
// RECALLD_CLONES a folder of clones named owner+name, whose worktrees are changed.
//
//	RECALLD_REPORTS=reports.jsonl RECALLD_CLONES=clones RECALLD_HALF=tuned \
//	  go test ./internal/daemon -run BugReports -v -timeout 60m
func TestBugReports(t *testing.T) {
	texts, clones, half := os.Getenv("RECALLD_REPORTS"), os.Getenv("RECALLD_CLONES"), os.Getenv("RECALLD_HALF")
	if texts == "" || clones == "" {
		t.Skip("RECALLD_REPORTS and RECALLD_CLONES are not set")
	}
	byRepo := map[string][]report{}
	var repos []string
	for _, r := range readReports(t, texts) {
		if half != "" && r.half != half {
			continue
		}
		if byRepo[r.repo] == nil {
			repos = append(repos, r.repo)
		}
		byRepo[r.repo] = append(byRepo[r.repo], r)
	}
	all := map[string]*found{}
	silent := 0
	for _, repo := range repos {
		own := map[string]*found{}
		silent += askReports(t, filepath.Join(clones, strings.ReplaceAll(repo, "/", "+")), byRepo[repo], func(way string, rank int) {
			for _, f := range []map[string]*found{own, all} {
				if f[way] == nil {
					f[way] = new(found)
				}
				f[way].add(rank)
			}
		})
		logFound(t, repo, own)
	}
	logFound(t, "all", all)
	t.Logf("titles answered with silence at defaults: %d", silent)
}

// found counts the ranks of right files.
type found struct{ n, first, five, ten int }

func (f *found) add(rank int) {
	f.n++
	if rank == 0 {
		return
	}
	if rank <= 1 {
		f.first++
	}
	if rank <= 5 {
		f.five++
	}
	if rank <= 10 {
		f.ten++
	}
}

func logFound(t *testing.T, name string, ways map[string]*found) {
	t.Helper()
	var keys []string
	for k := range ways {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		f := ways[k]
		n := float64(f.n)
		t.Logf("%-28s %-24s n %3d  first %.3f  five %.3f  ten %.3f", name, k, f.n, float64(f.first)/n, float64(f.five)/n, float64(f.ten)/n)
	}
}

// readReports reads the list and the texts.
func readReports(t *testing.T, texts string) []report {
	t.Helper()
	said := map[string]string{}
	eachLine(t, texts, func(line string) {
		var r struct {
			ID   string `json:"instance_id"`
			Text string `json:"problem_statement"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("read %s: %v", texts, err)
		}
		said[r.ID] = r.Text
	})
	var all []report
	eachLine(t, filepath.Join("testdata", "reports.tsv"), func(line string) {
		f := strings.Split(line, "\t")
		if len(f) != 5 || f[0] == "half" {
			return
		}
		if said[f[2]] == "" {
			t.Fatalf("%s has no text of %s", texts, f[2])
		}
		all = append(all, report{f[0], f[1], f[2], f[3], strings.Fields(f[4]), said[f[2]]})
	})
	return all
}

func eachLine(t *testing.T, path string, do func(line string)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if lines.Text() != "" {
			do(lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
}

// askReports indexes the parent of each fix of one repository, one after the other, and asks.
// It returns how many titles are answered with silence.
func askReports(t *testing.T, clone string, reports []report, rank func(way string, rank int)) (silent int) {
	t.Helper()
	core := openCore(t, CoreOptions{Dir: t.TempDir(), NoSync: true, Config: config.Default()})
	p, _, err := core.Projects.Resolve(t.Context(), "", memory.Caller{Dir: clone})
	if err != nil {
		t.Fatalf("resolve %s: %v", clone, err)
	}
	box := memory.Sandbox{ID: "box-reports", Project: p.ID, Root: clone, RequestedAt: time.Now()}
	if err := core.Ingest.PutSandbox(t.Context(), p, box); err != nil {
		t.Fatal(err)
	}
	without := core.recallOptions(CoreOptions{Config: config.Default()})
	without.History = nil
	bare, err := recall.New(without)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		checkout := exec.CommandContext(t.Context(), "git", "-C", clone, "checkout", "-q", "-f", "--detach", r.parent)
		if out, err := checkout.CombinedOutput(); err != nil {
			t.Fatalf("check out %s: %v\n%s", r.parent, err, out)
		}
		reindex(t, core, box)
		<-core.History.Refresh(box.ID, box.Root)
		title, _, _ := strings.Cut(strings.TrimSpace(r.text), "\n")
		for name, service := range map[string]*recall.Service{"recalld": core.Recall, "without history": bare} {
			for way, text := range map[string]string{"text": r.text, "title": title} {
				files, err := service.RankFiles(t.Context(), memory.RecallRequest{
					Query: text, Kinds: []memory.Kind{memory.Chunk}, MinRelevance: new(.0), Caller: memory.Caller{Dir: clone},
				}, recall.AskOptions{})
				if err != nil {
					t.Fatalf("%s: %v", r.id, err)
				}
				rank(name+", "+way, rankOf(files, r.files))
			}
		}
		words := bm25(t, core, box)
		rank("BM25 of files, text", rankOf(words(t, r.text), r.files))
		rank("BM25 of files, title", rankOf(words(t, title), r.files))
		a, err := core.Recall.Recall(t.Context(), memory.RecallRequest{Query: title, Caller: memory.Caller{Dir: clone}})
		if err != nil {
			t.Fatalf("%s: %v", r.id, err)
		}
		if len(a.Items) == 0 {
			silent++
		}
	}
	return silent
}

// reindex brings the index of a folder up to date.
func reindex(t *testing.T, core *Core, box memory.Sandbox) {
	t.Helper()
	opts := codeOptions(config.Default().Index)
	opts.TimeLimit, opts.Workers, opts.Git = 30*time.Minute, 2, "none"
	if _, err := code.Index(t.Context(), box, indexedFiles(t, core, box), nil, core.Ingest, opts); err != nil {
		t.Fatalf("index: %v", err)
	}
}

func indexedFiles(t *testing.T, core *Core, box memory.Sandbox) code.KnownFiles {
	t.Helper()
	metadata, err := core.Store.FileMetadata(box.ID)
	if err != nil {
		t.Fatal(err)
	}
	known := code.KnownFiles{}
	for path := range metadata {
		if known[path], err = core.Store.File(box.ID, path); err != nil {
			t.Fatal(err)
		}
	}
	return known
}

// bm25 returns a search over the words of whole files, the same files that are indexed.
func bm25(t *testing.T, core *Core, box memory.Sandbox) func(t *testing.T, query string) []string {
	t.Helper()
	words, err := lexical.New(lexical.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for path := range indexedFiles(t, core, box) {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for i, path := range paths {
		text, err := os.ReadFile(filepath.Join(box.Root, path))
		if err != nil {
			t.Fatal(err)
		}
		words.Upsert(uint32(i), lexical.Analyze(string(text)))
	}
	return func(t *testing.T, query string) []string {
		t.Helper()
		result, err := words.Retrieve(context.WithoutCancel(t.Context()), index.Query{Text: query, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		files := make([]string, len(result.Hits))
		for i, h := range result.Hits {
			files[i] = paths[h.Doc]
		}
		return files
	}
}

// rankOf is the rank of the first right file, from 1; 0 if none was found.
func rankOf(files, right []string) int {
	return 1 + slices.IndexFunc(files, func(f string) bool { return slices.Contains(right, f) })
}
