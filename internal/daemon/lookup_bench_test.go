package daemon

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/testkit/gosource"
)

// declared is a function of Go's tree.
type declared struct {
	name, receiver, pkg, path string
	line                      int // of its name
}

// form is a way to ask for a function.
type form struct {
	name  string
	least int // hits of 200
	query func(declared) string
}

// forms are how a function is asked for.
var forms = []form{
	{"name", 180, func(d declared) string { return d.name }},
	{"where", 180, func(d declared) string { return "where is " + d.name + " defined" }},
	{"what", 180, func(d declared) string { return "what does " + d.name + " do" }},
	{"case", 180, func(d declared) string { return swapCase(d.name) }},
	{"qualified", 180, func(d declared) string { return cmp.Or(d.receiver, d.pkg) + "." + d.name }},
	{"call", 180, func(d declared) string { return "who calls " + d.name + "() and why" }},
}

func swapCase(s string) string {
	if lower := strings.ToLower(s); lower != s {
		return lower
	}
	return strings.ToUpper(s)
}

// BenchmarkGoNames indexes Go's own tree and asks for 200 functions and methods of it
// by name, each declared once outside of tests, drawn by a fixed seed. It fails when
// the first result shows the line of the definition for fewer than 180 of them. An
// operation is one question.
//
//	go test ./internal/daemon -run '^$' -bench GoNames -benchtime 200x -timeout 30m
func BenchmarkGoNames(b *testing.B) {
	askGoNames(b, config.Default(), forms, func(guarded bool) bool { return guarded })
}

// BenchmarkAllGoNames is BenchmarkGoNames with the guards off: what is generated,
// large or kept for others is indexed, and names are drawn from it as well.
func BenchmarkAllGoNames(b *testing.B) {
	cfg := config.Default()
	cfg.Index.SkipGenerated, cfg.Index.SkipDirs, cfg.Index.MaxFileSize = false, []string{".git", "testdata"}, 20e6
	askGoNames(b, cfg, forms[:1], func(bool) bool { return false })
}

// askGoNames asks for names in some forms. skip says whether none is drawn from files
// that guards leave out, or from others.
func askGoNames(b *testing.B, cfg config.Config, forms []form, skip func(guarded bool) bool) {
	root := gosource.Dir(b)
	names := drawNames(b, root, 200, skip)
	core := openCore(b, CoreOptions{Dir: b.TempDir(), NoSync: true, Config: cfg})
	b.Logf("%d chunks", indexTree(b, core, root, cfg.Index))
	for _, form := range forms {
		b.Run(form.name, func(b *testing.B) {
			hits, asked := 0, 0
			for b.Loop() {
				if asked < len(names) && first(b, core, root, form.query(names[asked]), names[asked]) {
					hits++
				} else if asked < len(names) {
					b.Logf("missed: %s, %s:%d", form.query(names[asked]), names[asked].path, names[asked].line)
				}
				asked++
			}
			if asked >= len(names) {
				b.ReportMetric(float64(hits), "hits/200")
				if hits < form.least {
					b.Errorf("%d of %d definitions come first, want %d", hits, len(names), form.least)
				}
			}
		})
	}
}

// first asks and says whether the first result shows the definition.
func first(tb testing.TB, core *Core, root, query string, d declared) bool {
	tb.Helper()
	a, err := core.Recall.Recall(tb.Context(), memory.RecallRequest{Query: query, Kinds: []memory.Kind{memory.Chunk}, Caller: memory.Caller{Dir: root}})
	if err != nil {
		tb.Fatalf("recall %q: %v", query, err)
	}
	if len(a.Items) == 0 {
		return false
	}
	s := a.Items[0].Source
	return s.Path == d.path && s.Lines[0] <= d.line && d.line <= s.Lines[1]
}

// indexTree brings a folder into the store and returns the number of its chunks.
func indexTree(tb testing.TB, core *Core, root string, x config.Index) int {
	tb.Helper()
	p, _, err := core.Projects.Resolve(tb.Context(), "", memory.Caller{Dir: root})
	if err != nil {
		tb.Fatalf("resolve %s: %v", root, err)
	}
	box := memory.Sandbox{ID: "box-" + filepath.Base(root), Project: p.ID, Root: root, RequestedAt: time.Now()}
	if err := core.Ingest.PutSandbox(tb.Context(), p, box); err != nil {
		tb.Fatalf("put sandbox: %v", err)
	}
	opts := codeOptions(x)
	opts.TimeLimit, opts.Workers, opts.Git = 30*time.Minute, 2, "none"
	report, err := code.Index(tb.Context(), box, code.KnownFiles{}, nil, core.Ingest, opts)
	if err != nil {
		tb.Fatalf("index: %v", err)
	}
	return report.Chunks
}

// drawNames returns functions and methods whose name, of six characters or more, is
// declared once below root in files that are not tests, the same ones every time. Skip
// says of files that guards leave out, and of others, whether none is drawn from them;
// what they declare counts.
func drawNames(tb testing.TB, root string, n int, skip func(guarded bool) bool) []declared {
	tb.Helper()
	var funcs []declared
	count := map[string]int{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == "vendor" && skip(true) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil // the tree holds some on purpose
		}
		left := skip(ast.IsGenerated(f) || fset.File(f.FileStart).Size() > int(config.Default().Index.MaxFileSize))
		rel, _ := filepath.Rel(root, path)
		ast.Inspect(f, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				fn := declared{name: node.Name.Name, pkg: f.Name.Name, path: filepath.ToSlash(rel), line: fset.PositionFor(node.Name.Pos(), false).Line}
				if node.Recv != nil && len(node.Recv.List) > 0 {
					fn.receiver = receiverName(node.Recv.List[0].Type)
				}
				if !left && node.Body != nil { // else it is defined in assembly
					funcs = append(funcs, fn)
				}
				count[fn.name]++
				return false
			case *ast.TypeSpec:
				count[node.Name.Name]++
				if it, ok := node.Type.(*ast.InterfaceType); ok {
					for _, m := range it.Methods.List {
						for _, name := range m.Names {
							count[name.Name]++
						}
					}
				}
			case *ast.ValueSpec:
				for _, name := range node.Names {
					count[name.Name]++
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		tb.Fatalf("read %s: %v", root, err)
	}
	const least = 6
	funcs = slices.DeleteFunc(funcs, func(d declared) bool { return count[d.name] != 1 || len(d.name) < least })
	if len(funcs) < n {
		tb.Fatalf("%d functions have a name of their own, want %d", len(funcs), n)
	}
	slices.SortFunc(funcs, func(a, b declared) int { return cmp.Compare(a.name, b.name) })
	random := rand.New(rand.NewPCG(4, 200))
	random.Shuffle(len(funcs), func(i, j int) { funcs[i], funcs[j] = funcs[j], funcs[i] })
	return funcs[:n]
}

// receiverName is the name of a receiver's type.
func receiverName(x ast.Expr) string {
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
