package recalld_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// source is one Go file of the module, for whichever system it is built.
type source struct {
	name    string // its path, with slashes
	pkg     string // its folder, relative to the module
	test    bool
	imports []string
	syntax  *ast.File
}

// offence is a breach of one rule.
type offence struct{ file, what, why string }

func (o offence) String() string { return fmt.Sprintf("%s %s\n\twhy not: %s", o.file, o.what, o.why) }

func TestImports(t *testing.T) {
	module, files := readModule(t)
	for _, f := range files {
		for _, o := range checkImports(module, f) {
			t.Error(o)
		}
	}
	for _, l := range layers {
		if !slices.ContainsFunc(files, func(f source) bool { return f.pkg == l.path }) {
			t.Errorf("layers: %s is not a package any more: take it out", l.path)
		}
	}
	for _, h := range homes {
		used := func(f source) bool {
			return slices.ContainsFunc(f.imports, func(i string) bool { return within(i, h.module+"/...") })
		}
		if !slices.ContainsFunc(files, used) {
			t.Errorf("homes: %s is imported nowhere any more: take it out", h.module)
		}
	}
}

func TestNothingRunsBeforeMain(t *testing.T) {
	_, files := readModule(t)
	for _, f := range files {
		for _, o := range checkStart(f) {
			t.Error(o)
		}
	}
}

// TestProgramsAreStartedInFewPlaces: a repository must not have recalld run a
// program, so whoever starts one is listed. Nor must it keep recalld waiting.
func TestProgramsAreStartedInFewPlaces(t *testing.T) {
	_, files := readModule(t)
	for _, f := range files {
		for _, o := range slices.Concat(checkPrograms(f), checkRoots(f)) {
			t.Error(o)
		}
	}
	for _, place := range starters {
		starts := func(f source) bool { return anyWithin(f.name, []string{place.path}) && len(programCalls(f)) > 0 }
		if !slices.ContainsFunc(files, starts) {
			t.Errorf("starters: %s starts no program any more: take it out", place.path)
		}
	}
}

// TestRulesFindOffences holds the rules against files that break them: a test of
// architecture that cannot fail is worth nothing.
func TestRulesFindOffences(t *testing.T) {
	const module = "example.org/m"
	for _, test := range []struct {
		name, file, code string
		want             string // part of the offence; empty for none
	}{
		{"domain imports a library", "internal/memory/x.go", `import _ "github.com/google/uuid"`, "uuid"},
		{"domain imports the standard library", "internal/memory/x.go", `import _ "time"`, ""},
		{"library imports internal", "index/lexical/x.go", `import _ "example.org/m/internal/memory"`, "internal/memory"},
		{"a library's test imports internal", "index/lexical/x_test.go", `import _ "example.org/m/internal/memory"`, "internal/memory"},
		{"transport imports transport", "internal/mcp/x.go", `import _ "example.org/m/internal/api"`, "internal/api"},
		{"a transport's test imports transport", "internal/mcp/x_test.go", `import _ "example.org/m/internal/api"`, "internal/api"},
		{"a client's test imports the api", "internal/client/x_test.go", `import _ "example.org/m/internal/api"`, ""},
		{"retriever imports retriever", "index/vector/x.go", `import _ "example.org/m/index/lexical"`, "index/lexical"},
		{"composition root imports all", "internal/daemon/x.go", `import _ "example.org/m/index/vector"`, ""},
		{"package imports the composition root", "internal/recall/x.go", `import _ "example.org/m/internal/daemon"`, "internal/daemon"},
		{"test imports the composition root", "internal/recall/x_test.go", `import _ "example.org/m/internal/daemon"`, "internal/daemon"},
		{"serve imports the composition root", "internal/cli/serve.go", `import _ "example.org/m/internal/daemon"`, ""},
		{"recall command imports the composition root", "internal/cli/recall.go", `import _ "example.org/m/internal/daemon"`, "internal/daemon"},
		{"suite in production code", "internal/indexer/x.go", `import _ "example.org/m/index/indextest"`, "indextest"},
		{"suite in the composition root", "internal/daemon/x.go", `import _ "example.org/m/index/indextest"`, "indextest"},
		{"test kit in production code", "internal/indexer/x.go", `import _ "example.org/m/internal/testkit/golden"`, "testkit"},
		{"test kit in a test", "internal/indexer/x_test.go", `import _ "example.org/m/internal/testkit/golden"`, ""},
		{"suite in a test", "index/vector/x_test.go", `import _ "example.org/m/index/indextest"`, ""},
		{"badger outside the store", "internal/indexer/x.go", `import _ "github.com/dgraph-io/badger/v4"`, "badger"},
		{"badger in the store", "internal/store/x.go", `import _ "github.com/dgraph-io/badger/v4/options"`, ""},
		{"a name that begins like a module's", "internal/store/x.go", `import _ "github.com/dgraph-io/badger/v4x"`, "badger/v4x"},
		{"new library", "internal/store/x.go", `import _ "example.com/new"`, "example.com/new"},
		{"new package", "internal/new/x.go", `import _ "time"`, "internal/new"},
		{"cgo", "index/vector/x.go", `import "C"`, "cgo"},
		{"program", "internal/project/x.go", `import "os/exec"; var _ = exec.Command("git")`, "exec.Command"},
		{"program under another name", "internal/project/x.go", `import run "os/exec"; var _ = run.CommandContext`, "exec.CommandContext"},
		{"program without its package", "internal/project/x.go", `import . "os/exec"; var _ = Command("git")`, "os/exec"},
		{"program by hand", "internal/project/x.go", `import "os/exec"; var _ = &exec.Cmd{Path: "git"}`, "exec.Cmd"},
		{"process", "internal/project/x.go", `import "os"; var _ = os.StartProcess`, "os.StartProcess"},
		{"system call", "internal/project/x.go", `import "syscall"; var _ = syscall.ForkExec`, "syscall.ForkExec"},
		{"program in a test", "internal/project/x_test.go", `import "os/exec"; var _ = exec.Command("git")`, ""},
		{"looking for a program", "internal/cli/x.go", `import "os/exec"; var _, _ = exec.LookPath("git")`, ""},
		{"git where it belongs", "internal/git/x.go", `import "os/exec"; var _ = exec.Command("git")`, ""},
		{"folder", "internal/git/x.go", `import "os"; var _ = os.OpenRoot`, "OpenRoot"},
		{"folder below another", "internal/git/x.go", `import "os"; func f(r *os.Root) { r.OpenRoot("x") }`, "OpenRoot"},
		{"folder by fsx", "internal/git/x.go", `import "example.org/m/internal/fsx"; var _ = fsx.OpenRoot`, ""},
		{"folder in a test", "internal/git/x_test.go", `import "os"; var _ = os.OpenRoot`, ""},
		{"init", "index/vector/x.go", `func init() {}`, "init"},
		{"method named init", "index/vector/x.go", `type t int; func (t) init() {}`, ""},
		{"regexp at start", "index/vector/x.go", `import "regexp"; var r = regexp.MustCompile("a")`, "regexp"},
		{"regexp when needed", "index/vector/x.go", `import "regexp"; func f() { regexp.MustCompile("a") }`, ""},
		{"regexp once", "index/vector/x.go", `import ("regexp"; "sync"); var r = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("a") })`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := readSource(token.NewFileSet(), test.file, "package p; "+test.code)
			if err != nil {
				t.Fatalf("read %s: %v", test.file, err)
			}
			found := slices.Concat(checkImports(module, f), checkStart(f), checkPrograms(f), checkRoots(f))
			switch {
			case test.want == "" && len(found) > 0:
				t.Errorf("%s is allowed, but was found to break a rule: %v", test.code, found)
			case test.want != "" && len(found) == 0:
				t.Errorf("%s in %s breaks a rule, but none was found", test.code, test.file)
			case test.want != "" && !strings.Contains(found[0].what, test.want):
				t.Errorf("offence %q does not name %q", found[0].what, test.want)
			}
		})
	}
}

// checkImports holds a file's imports against layers and homes.
func checkImports(module string, f source) []offence {
	at := slices.IndexFunc(layers, func(l layer) bool { return l.path == f.pkg })
	if at < 0 && f.pkg != "." {
		return []offence{{f.name, "is in " + f.pkg + ", which is not in layers of imports_test.go", "every package is placed on purpose, with a reason"}}
	}
	var found []offence
	add := func(imported, why string) {
		found = append(found, offence{f.name, "imports " + imported, why})
	}
	for _, imported := range f.imports {
		inside, own := strings.CutPrefix(imported, module+"/")
		switch {
		case imported == "C":
			add("C (cgo)", "one static binary is built for every platform from every other")
		case !own && !strings.Contains(strings.Split(imported, "/")[0], "."):
			// The standard library.
		case !own:
			if why, ok := libraryOffence(f, imported); ok {
				add(imported, why)
			}
		case f.pkg == "." && !isSuite(inside):
			add(inside, "the root holds the rules and no code")
		case f.pkg != ".":
			if why, ok := layerOffence(layers[at], f, inside); ok {
				add(inside, why)
			}
		}
	}
	return found
}

// layerOffence says why a file must not import a package of this module.
func layerOffence(l layer, f source, imported string) (why string, breaks bool) {
	isCLI := f.pkg == "internal/cli" && imported == "internal/daemon"
	switch {
	case isCLI && !f.test && !slices.Contains(cliDaemonFiles, path.Base(f.name)):
		return "only " + strings.Join(cliDaemonFiles, ", ") + " run a daemon in their own process; other commands ask the one that runs", true
	case isSuite(imported) && !f.test && !isSuite(f.pkg):
		return "it is for tests, and would be built into the program", true
	case imported == f.pkg || anyWithin(imported, l.may):
		return "", false
	case f.test:
		return testOffence(f, imported)
	}
	return l.why, true
}

// testOffence says why a test must not import a package that the code it tests
// does not import either. Tests run real components, so they may import most.
func testOffence(f source, imported string) (why string, breaks bool) {
	isLibrary := slices.ContainsFunc(libraries, func(l string) bool { return within(f.pkg, l+"/...") })
	switch {
	case isLibrary && strings.HasPrefix(imported, "internal/"):
		return "a library is tested without recalld, or it cannot be used without it", true
	case slices.Contains(transports, f.pkg) && slices.Contains(transports, imported):
		return "transports never import one another: each could be taken away", true
	case imported == "internal/daemon" && f.pkg != "cmd/recalld":
		return "tests of the whole sit with the composition root or the command; a part is tested without it", true
	}
	return "", false
}

// libraryOffence says why a file must not import a library.
func libraryOffence(f source, imported string) (why string, breaks bool) {
	at := slices.IndexFunc(homes, func(h home) bool { return within(imported, h.module+"/...") })
	switch {
	case at < 0:
		return "it is not in homes of imports_test.go: every dependency is taken on purpose, with a reason", true
	case f.test && slices.Contains(testLibraries, homes[at].module), anyWithin(f.pkg, homes[at].in):
		return "", false
	}
	return homes[at].why, true
}

// checkStart finds what would run before main, in every command, hook and
// bridge: all of it together is to take less than 5 ms.
func checkStart(f source) []offence {
	var found []offence
	for _, declared := range f.syntax.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				found = append(found, offence{f.name, "has an init function", "registration is an explicit list in the composition root; work at start is paid by every command"})
			}
		case *ast.GenDecl:
			if !f.test && compilesRegexp(d) {
				found = append(found, offence{f.name, "compiles a regexp into a package variable", "every command would pay for it: wrap it in sync.OnceValue"})
			}
		}
	}
	return found
}

// checkPrograms finds what starts programs where that is not listed.
func checkPrograms(f source) []offence {
	if f.test || slices.ContainsFunc(starters, func(s starter) bool { return anyWithin(f.name, []string{s.path}) }) {
		return nil
	}
	var found []offence
	for _, call := range programCalls(f) {
		found = append(found, offence{f.name, "uses " + call,
			"a repository must not have a program run: git is started by internal/git alone, other programs by the starters of imports_test.go"})
	}
	return found
}

// programCalls names what a file uses that starts programs.
func programCalls(f source) []string {
	return uses(f, map[string][]string{
		"os/exec": {"Command", "CommandContext", "Cmd"},
		"os":      {"StartProcess"},
		"syscall": {"StartProcess", "ForkExec", "Exec", "CreateProcess", "CreateProcessAsUser"},
	})
}

// checkRoots finds calls of os.OpenRoot and of the method of that name, which wait where
// a named pipe is in the place of the folder.
func checkRoots(f source) []offence {
	if f.test || anyWithin(f.name, []string{"internal/fsx/..."}) {
		return nil
	}
	var found []offence
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		use, ok := n.(*ast.SelectorExpr)
		if !ok || use.Sel.Name != "OpenRoot" {
			return true
		}
		if by, ok := use.X.(*ast.Ident); !ok || by.Name != "fsx" {
			found = append(found, offence{f.name, "uses OpenRoot",
				"opening a named pipe waits for its writer, and a repository can have one anywhere: internal/fsx opens folders"})
		}
		return true
	})
	return found
}

// uses names what a file uses of some packages.
func uses(f source, dangerous map[string][]string) []string {
	names := map[string]string{} // by which the file knows the packages
	var found []string
	for _, spec := range f.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || dangerous[imported] == nil {
			continue
		}
		switch {
		case spec.Name == nil:
			names[path.Base(imported)] = imported
		case spec.Name.Name == ".":
			found = append(found, imported+" without its name")
		default:
			names[spec.Name.Name] = imported
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		use, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := use.X.(*ast.Ident)
		if ok && slices.Contains(dangerous[names[pkg.Name]], use.Sel.Name) {
			found = append(found, path.Base(names[pkg.Name])+"."+use.Sel.Name)
		}
		return true
	})
	return found
}

// compilesRegexp says whether a declaration calls regexp outside of functions.
func compilesRegexp(d *ast.GenDecl) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if call, ok := n.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == "regexp" && strings.Contains(call.Sel.Name, "Compile") {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// isSuite says whether a package exists for tests: it may then be imported by
// tests and by other such packages only.
func isSuite(pkg string) bool {
	return strings.HasSuffix(path.Base(pkg), "test") || within(pkg, "internal/testkit/...")
}

func anyWithin(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return within(pkg, p) })
}

// within says whether pkg is the package of a pattern, or lies below it where
// the pattern ends in "/...".
func within(pkg, pattern string) bool {
	below, ok := strings.CutSuffix(pattern, "/...")
	return pkg == below || ok && strings.HasPrefix(pkg, below+"/")
}

// readModule returns every Go file below the working folder, which is the
// module's root in a test of its root package. Tests share them, so they only read.
func readModule(t *testing.T) (name string, files []source) {
	t.Helper()
	m, err := parsedModule()
	if err != nil {
		t.Fatal(err)
	}
	return m.path, slices.Clone(m.files)
}

var parsedModule = sync.OnceValues(parseModule)

// module is its path and its Go files.
type module struct {
	path  string
	files []source
}

func parseModule() (m module, err error) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return m, fmt.Errorf("read go.mod: %w", err)
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	name, ok := strings.CutPrefix(first, "module ")
	if !ok {
		return m, fmt.Errorf("go.mod begins with %q, not with the module's path", first)
	}
	set := token.NewFileSet()
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir // as the go command does
		case entry.IsDir() || path.Ext(base) != ".go":
			return nil
		}
		f, err := readSource(set, filepath.ToSlash(name), nil)
		m.files = append(m.files, f)
		return err
	})
	if err != nil {
		return m, fmt.Errorf("read the module: %w", err)
	}
	if len(m.files) < 100 {
		return m, fmt.Errorf("only %d Go files were found: the rules would hold of nothing", len(m.files))
	}
	m.path = strings.TrimSpace(name)
	return m, nil
}

// readSource parses a file, from code unless that is nil.
func readSource(set *token.FileSet, name string, code any) (source, error) {
	syntax, err := parser.ParseFile(set, name, code, parser.SkipObjectResolution)
	if err != nil {
		return source{}, fmt.Errorf("parse file: %w", err)
	}
	f := source{name: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), syntax: syntax}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, fmt.Errorf("read import of %s: %w", name, err)
		}
		f.imports = append(f.imports, imported)
	}
	return f, nil
}
