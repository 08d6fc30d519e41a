package memory

import (
	"cmp"
	"slices"
	"strings"
)

// languages are those that code is known to be in, each with what else it is called:
// other names and the extensions by which people ask for it.
var languages = map[string]string{
	"ada": "adb ads", "asciidoc": "adoc", "asm": "assembly assembler s", "batch": "bat cmd", "c": "h ansi-c", "clojure": "clj cljs cljc edn",
	"cmake": "", "cpp": "c++ cc cxx hpp hh cplusplus cuda cu", "crystal": "cr", "csharp": "c# cs", "css": "", "dart": "", "diff": "patch",
	"dockerfile": "docker containerfile", "elixir": "ex exs", "erlang": "erl hrl", "fortran": "f f77 f90 f95", "fsharp": "f# fs fsi fsx",
	"go": "golang", "gomod": "go.mod mod go.work", "graphql": "gql", "groovy": "gradle", "haskell": "hs lhs", "hcl": "terraform tf tfvars",
	"html": "htm xhtml", "ignore": "gitignore dockerignore", "ini": "cfg conf properties editorconfig", "java": "",
	"javascript": "js jsx mjs cjs ecmascript node", "json": "jsonc json5", "julia": "jl", "kotlin": "kt kts",
	"lisp": "el elisp scheme scm racket rkt emacs-lisp", "lua": "", "make": "makefile mk", "markdown": "md mdx mdown", "nim": "", "nix": "",
	"objc": "objective-c objectivec m mm obj-c", "ocaml": "ml mli", "pascal": "pas pp delphi", "perl": "pl pm", "php": "", "powershell": "ps1 psm1 pwsh",
	"proto": "protobuf protocol-buffers", "python": "py py3 python3 pyi cython pyx", "r": "rlang", "rst": "restructuredtext", "ruby": "rb rake",
	"rust": "rs", "scala": "sc sbt", "scss": "sass less", "shell": "sh bash zsh ksh fish shellscript", "solidity": "sol", "sql": "psql ddl plsql",
	"starlark": "bzl bazel star", "svelte": "", "swift": "", "template": "tmpl tpl jinja j2 erb ejs handlebars hbs", "tex": "latex",
	"text": "txt plain", "thrift": "", "toml": "", "typescript": "ts tsx mts cts", "verilog": "v sv systemverilog", "vhdl": "vhd", "vim": "viml vimscript",
	"vue": "", "xml": "xsd xsl xslt", "yaml": "yml", "zig": "",
}

// Languages lists the names that Language returns, sorted.
func Languages() []string {
	names := make([]string, 0, len(languages))
	for name := range languages {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Language returns the name under which code of a language is kept, for any name that
// the language has, in any case: "go" for "Golang", "typescript" for "ts" and ".tsx".
// It returns CodeInvalidInput, with names that are near, for one that it does not know.
func Language(name string) (string, error) {
	asked := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), ".")
	if _, ok := languages[asked]; ok {
		return asked, nil
	}
	for lang, others := range languages {
		for other := range strings.FieldsSeq(others) {
			if other == asked { // no two languages share one, which a test holds
				return lang, nil
			}
		}
	}
	return "", Invalid("filters.lang", "a language such as "+strings.Join(nearLanguages(asked), ", "), "unknown language %s", Quote(name))
}

// nearLanguages returns the languages with the names nearest to one, nearest first.
func nearLanguages(asked string) []string {
	return nearest(asked, Languages(), func(lang string) int {
		best := edits(asked, lang)
		for other := range strings.FieldsSeq(languages[lang]) {
			best = min(best, edits(asked, other))
		}
		return best
	})
}

// mostNear is how many names an error about an unknown one tells.
const mostNear = 3

// nearest returns the names with the least distance, nearest first, at most mostNear.
func nearest(asked string, names []string, distance func(string) int) []string {
	type near struct {
		name     string
		distance int
	}
	all := make([]near, len(names))
	for i, name := range names {
		all[i] = near{name, distance(name)}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	out := make([]string, min(mostNear, len(all)))
	for i := range out {
		out[i] = all[i].name
	}
	return out
}

// NearNames is the hint of an error about an unknown name: those of the known ones that
// are nearest to it, in quotes, "" if there are none.
func NearNames(asked string, known []string) string {
	clip := func(s string) string { return strings.ToLower(s[:min(len(s), MaxNameText)]) }
	asked = clip(asked)
	names := slices.Compact(slices.Sorted(slices.Values(known)))
	near := nearest(asked, names, func(name string) int { return edits(asked, clip(name)) })
	if len(near) == 0 {
		return ""
	}
	for i, name := range near {
		near[i] = Quote(name)
	}
	return "near names: " + strings.Join(near, ", ")
}

// edits is Levenshtein's distance between two texts, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
