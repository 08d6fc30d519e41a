package chunk

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/language"
)

// declarations are patterns of the lines that declare functions, and of those that declare what
// has members, by language: simple ones, which miss some and take some in texts for
// declarations, and know nothing of brackets and strings.
var declarations = map[string][2]string{
	"ruby":       {`(?:private |protected |memoize )?def (?:self\.)?(\w+[?!=]?)`, `(?:class|module) (?:\w+::)*([A-Z]\w*)`},
	"crystal":    {`(?:private |protected )?def (?:self\.)?(\w+[?!=]?)`, `(?:abstract )?(?:class|module|struct) (?:\w+::)*([A-Z]\w*)`},
	"elixir":     {`(?:def|defp|defmacro|defmacrop) (\w+[?!]?)`, `defmodule (?:\w+\.)*(\w+)`},
	"python":     {`(?:async )?def (\w+)`, `class (\w+)`},
	"php":        {`(?:(?:abstract|final|public|private|protected|static) )*function &?(\w+)\(`, `(?:(?:abstract|final|readonly) )*(?:class|interface|trait|enum) (\w+)`},
	"javascript": {`(?:export )?(?:default )?(?:async )?function\*? (\w+)\(`, `(?:export )?(?:default )?class (\w+)`},
	"typescript": {`(?:export )?(?:default )?(?:declare )?(?:async )?function\*? (\w+)[(<]`, `(?:export )?(?:default )?(?:abstract )?(?:class|interface|enum) (\w+)`},
	"rust":       {`(?:pub(?:\([^)]*\))? )?(?:const )?(?:async )?(?:unsafe )?fn (\w+)`, `(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) (\w+)`},
	"swift":      {`(?:@\w+ )*(?:(?:public|private|internal|open|static|override|mutating) )*func (\w+)`, `(?:(?:public|private|internal|open|final) )*(?:class|struct|enum|protocol|actor) (\w+)`},
	"kotlin":     {`(?:(?:public|private|internal|protected|open|override|suspend|inline|operator) )*fun (?:<[^>]*> )?(?:[\w<>?*, ]+\.)?(\w+)\(`, `(?:(?:public|private|internal|open|data|sealed|abstract|inner|enum) )*(?:class|interface) (\w+)`},
	"java":       {`(?:(?:public|private|protected|static|final|synchronized) )+(?:<[^>]+> )?[\w<>\[\], .?]+ (\w+)\([^;=]*\{$`, `(?:(?:public|private|protected|static|final|abstract) )*(?:class|interface|enum) (\w+)`},
	"csharp":     {`(?:(?:public|private|protected|internal|static|override|virtual|async) )+[\w<>\[\], .?]+ (\w+)(?:<[^>]*>)?\([^;=]*\)$`, `(?:(?:public|private|internal|static|sealed|abstract|partial) )*(?:class|interface|struct|enum) (\w+)`},
	"scala":      {`(?:(?:private|protected|override|implicit|final)(?:\[\w+\])? )*def (\w+)`, `(?:(?:private|sealed|abstract|final|case|implicit)(?:\[\w+\])? )*(?:class|trait|object) (\w+)`},
	"lua":        {`(?:local )?function (?:\w+[.:])*(\w+)\s*\(`, ``},
	"perl":       {`sub (\w+)`, ``},
	"shell":      {`(?:function )?([\w-]+)\s*\(\)\s*\{?$`, ``},
	"powershell": {`[Ff]unction ([\w-]+)`, ``},
	"haskell":    {`([a-z]\w*)\s*::`, `(?:data|newtype|class) (?:[^=]*=> )?([A-Z]\w*)`},
	"julia":      {`(?:@\w+ )*function (?:\w+\.)*(\w+!?)[({]`, `(?:mutable )?struct (\w+)`},
	"erlang":     {`([a-z]\w*)\(.*\) ?->`, ``},
	"clojure":    {`\((?:defn-?|defmacro|def) ([a-zA-Z][\w?!*-]*)`, ``},
	"lisp":       {`\((?:defun|defmacro|defvar|defcustom|define) \(?([^\s()]+)`, ``},
	"ocaml":      {`let (?:rec )?([a-z]\w+) `, `module ([A-Z]\w*)`},
	"fsharp":     {"let (?:(?:rec|inline|private|internal|mutable) )*(``[^`]+``|[a-z]\\w*)", `(?:module|type) (?:(?:rec|private|internal) )*(?:\w+\.)*([A-Z]\w*)`},
	"nim":        {`(?:proc|func|template|macro|iterator) (\w+)`, ``},
	"r":          {`([\w.]+) ?<- ?function\(`, ``},
	"vim":        {`fu(?:nction)?!? (?:s:)?([\w#]+)\(`, ``},
	"verilog":    {``, `module (\w+)`},
	"dart":       {``, `(?:abstract )?class (\w+)`},
	"solidity":   {`function (\w+)`, `(?:abstract )?(?:contract|interface|library) (\w+)`},
	"zig":        {`(?:pub )?(?:inline )?fn (\w+)`, ``},
}

// TestDeclarations counts the declarations in a folder of repositories that the chunk with their
// line defines; those within functions are left out. docs/quality.md has the figures.
func TestDeclarations(t *testing.T) {
	root := os.Getenv("RECALLD_BENCH_DECLARATIONS")
	if root == "" {
		t.Skip("set RECALLD_BENCH_DECLARATIONS to a folder of repositories")
	}
	type count struct{ declared, defined int }
	counts := map[string]*count{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil || len(src) > 1<<20 {
			return err
		}
		lang := language.Of(path, src)
		if declarations[lang] == [2]string{} {
			return nil
		}
		src = []byte(strings.ReplaceAll(strings.ToValidUTF8(string(src), "?"), "\r\n", "\n"))
		chunks := Split(path, lang, src)
		c := counts[lang]
		if c == nil {
			c = &count{}
			counts[lang] = c
		}
		for _, d := range declaredIn(lang, string(src)) {
			c.declared++
			if slices.ContainsFunc(chunks, func(x Chunk) bool {
				return x.StartLine <= d.line && d.line <= x.EndLine && slices.ContainsFunc(x.Defines, func(name string) bool { return strings.HasSuffix(name, strings.Trim(d.name, "`")) })
			}) {
				c.defined++
			} else if testing.Verbose() {
				t.Logf("%s:%d %s", strings.TrimPrefix(path, root), d.line, d.name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for lang, c := range counts {
		t.Logf("| %s | %d | %.3f |", lang, c.declared, float64(c.defined)/float64(max(1, c.declared)))
	}
}

// declaredIn returns what the patterns find outside of functions, by indentation.
func declaredIn(lang, src string) []defined {
	var list []defined
	var within []int // indentations of functions around
	functions, containers := regexp.MustCompile(`^`+declarations[lang][0]), regexp.MustCompile(`^`+declarations[lang][1])
	for i, line := range strings.Split(src, "\n") {
		text := strings.TrimLeft(line, " \t")
		if text == "" {
			continue
		}
		indent := len(line) - len(text)
		for n := len(within); n > 0 && within[n-1] >= indent; n-- {
			within = within[:n-1]
		}
		function := functions.FindStringSubmatch(text)
		m := function
		if len(m) < 2 {
			m = containers.FindStringSubmatch(text)
		}
		if len(m) == 2 && len(within) == 0 && !controls[m[1]] {
			list = append(list, defined{i + 1, m[1]})
		}
		if len(function) == 2 {
			within = append(within, indent)
		}
	}
	return list
}
