// Package language is the table of the languages that files are written in: their
// names, their extensions, and what else people call them. It is the only such table.
package language

import (
	"bytes"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// These stand for files that are not indexed.
const (
	Binary = "binary" // not text
	Data   = "data"   // text that no person wrote: logs, tables, certificates
)

// row is a language: its extensions in lower case, and the names that it has besides.
type row struct{ extensions, also string }

// table holds the languages by name.
var table = map[string]row{
	"ada":        {"adb ads", ""},
	"asciidoc":   {"adoc asciidoc", ""},
	"asm":        {"s asm", "assembly assembler"},
	"batch":      {"bat cmd", ""},
	"c":          {"c h", "ansi-c"},
	"clojure":    {"clj cljs cljc edn", ""},
	"cmake":      {"cmake", ""},
	"cpp":        {"cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp cu cuh ino", "cplusplus cuda"},
	"crystal":    {"cr", ""},
	"csharp":     {"cs csx", "c#"},
	"css":        {"css", ""},
	"dart":       {"dart", ""},
	"diff":       {"diff patch", ""},
	"dockerfile": {"", "docker containerfile"},
	"elixir":     {"ex exs", ""},
	"erlang":     {"erl hrl", ""},
	"fortran":    {"f f77 f90 f95 f03", ""},
	"fsharp":     {"fs fsi fsx", "f#"},
	"go":         {"go", "golang"},
	"gomod":      {"", "go.mod mod go.work"},
	"graphql":    {"graphql gql", ""},
	"groovy":     {"groovy gradle", ""},
	"haskell":    {"hs lhs", ""},
	"hcl":        {"tf tfvars hcl", "terraform"},
	"html":       {"html htm xhtml", ""},
	"ignore":     {"", "gitignore dockerignore"},
	"ini":        {"ini cfg conf properties", "editorconfig"},
	"java":       {"java", ""},
	"javascript": {"js mjs cjs jsx", "ecmascript node"},
	"json":       {"json json5 jsonc", ""},
	"julia":      {"jl", ""},
	"kotlin":     {"kt kts", ""},
	"lisp":       {"el lisp scm rkt", "elisp scheme racket emacs-lisp"},
	"lua":        {"lua", ""},
	"make":       {"mk mak", "makefile"},
	"markdown":   {"md markdown mdx mdown", ""},
	"nim":        {"nim", ""},
	"nix":        {"nix", ""},
	"objc":       {"m mm", "objective-c objectivec obj-c"},
	"ocaml":      {"ml mli", ""},
	"pascal":     {"pas pp", "delphi"},
	"perl":       {"pl pm t", ""},
	"php":        {"php php5 phtml", ""},
	"powershell": {"ps1 psm1 psd1", "pwsh"},
	"proto":      {"proto", "protobuf protocol-buffers"},
	"python":     {"py pyi pyw pyx", "py3 python3 cython"},
	"r":          {"r", "rlang"},
	"rst":        {"rst", "restructuredtext"},
	"ruby":       {"rb rake gemspec ru", ""},
	"rust":       {"rs", ""},
	"scala":      {"scala sc sbt", ""},
	"scss":       {"scss less sass", ""},
	"shell":      {"sh bash zsh ksh fish", "shellscript"},
	"solidity":   {"sol", ""},
	"sql":        {"sql ddl psql", "plsql"},
	"starlark":   {"bzl star", "bazel"},
	"svelte":     {"svelte", ""},
	"swift":      {"swift", ""},
	"template":   {"tmpl tpl gotmpl j2 erb ejs hbs", "jinja handlebars"},
	"tex":        {"tex", "latex"},
	"text":       {"txt", "plain"},
	"thrift":     {"thrift", ""},
	"toml":       {"toml", ""},
	"typescript": {"ts mts cts tsx", ""},
	"verilog":    {"v sv svh", "systemverilog"},
	"vhdl":       {"vhd vhdl", ""},
	"vim":        {"vim", "viml vimscript"},
	"vue":        {"vue", ""},
	"xml":        {"xml xsd xsl xslt csproj fsproj props targets plist storyboard xib", ""},
	"yaml":       {"yaml yml", ""},
	"zig":        {"zig", ""},
	Data:         {"jsonl ndjson csv tsv svg ipynb geojson log po pot pem crt cer key pub asc sum ics srt dat out golden", ""},
	Binary: {"png jpg jpeg gif bmp ico icns webp avif tif tiff psd mp3 mp4 m4a m4v ogg oga ogv wav flac avi mov mkv webm pdf doc docx xls xlsx ppt " +
		"pptx odt ods zip gz tgz bz2 xz zst 7z rar tar jar war ear class o a so dylib dll lib exe obj pdb wasm pyc pyo node bin dmg " +
		"iso img deb rpm apk ttf otf woff woff2 eot db sqlite sqlite3 mdb parquet arrow npy npz pkl pt onnx safetensors gguf h5 tflite p12 pfx jks keystore der syso pcap prof", ""},
}

// byName has the files that are known by their whole name.
var byName = map[string]string{
	"CMakeLists.txt": "cmake", "Gemfile": "ruby", "Rakefile": "ruby", "Vagrantfile": "ruby", "Podfile": "ruby",
	"Jenkinsfile": "groovy", "BUILD": "starlark", "WORKSPACE": "starlark", "BUILD.bazel": "starlark",
	"GNUmakefile": "make", "Justfile": "make", "justfile": "make", "go.mod": "gomod", "go.work": "gomod",
	".bashrc": "shell", ".profile": "shell", ".zshrc": "shell", ".gitignore": "ignore", ".dockerignore": "ignore",
	".editorconfig": "ini", ".gitconfig": "ini", ".env": "shell", "SConstruct": "python",
}

// byInterpreter has the languages of scripts by the program in their first line.
var byInterpreter = map[string]string{
	"sh": "shell", "bash": "shell", "zsh": "shell", "dash": "shell", "ksh": "shell", "fish": "shell", "python": "python",
	"ruby": "ruby", "perl": "perl", "node": "javascript", "deno": "typescript", "bun": "typescript", "php": "php",
	"lua": "lua", "rscript": "r", "julia": "julia", "pwsh": "powershell", "elixir": "elixir",
}

// byExtension is table by extension.
var byExtension = sync.OnceValue(func() map[string]string {
	m := make(map[string]string, 400)
	for name, r := range table {
		for ext := range strings.FieldsSeq(r.extensions) {
			m[ext] = name
		}
	}
	return m
})

// All returns the names of all languages, sorted.
func All() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(table)), func(name string) bool { return name == Data || name == Binary })
}

// Names yields every name of a language: its own, its extensions, and the others.
func Names(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(name) {
			return
		}
		r := table[name]
		for other := range strings.FieldsSeq(r.extensions + " " + r.also) {
			if !yield(other) {
				return
			}
		}
	}
}

// Named returns the language that has a name, in lower case.
func Named(name string) (lang string, ok bool) {
	for _, lang := range All() {
		for other := range Names(lang) {
			if other == name {
				return lang, true
			}
		}
	}
	return "", false
}

// ByPath returns the language of a file by its name, or ok false if the name does not
// tell.
func ByPath(name string) (lang string, ok bool) {
	base := path.Base(name)
	if lang, ok := byName[base]; ok {
		return lang, true
	}
	lower := strings.ToLower(base)
	for _, n := range [...]struct{ name, lang string }{{"dockerfile", "dockerfile"}, {"containerfile", "dockerfile"}, {"makefile", "make"}} {
		if lower == n.name || strings.HasPrefix(lower, n.name+".") || strings.HasSuffix(lower, "."+n.name) {
			return n.lang, true
		}
	}
	lang, ok = byExtension()[strings.TrimPrefix(path.Ext(lower), ".")]
	return lang, ok
}

// Of returns the language of a file by its name, else by the interpreter that its first
// line names. It is empty if neither tells.
func Of(name string, src []byte) string {
	if lang, ok := ByPath(name); ok {
		return lang
	}
	line, _, _ := bytes.Cut(src[:min(len(src), 200)], []byte("\n"))
	if !bytes.HasPrefix(line, []byte("#!")) {
		return ""
	}
	for _, word := range strings.Fields(string(line[2:])) {
		word = path.Base(word)
		if word == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return byInterpreter[strings.ToLower(strings.TrimRight(word, "0123456789."))]
	}
	return ""
}
