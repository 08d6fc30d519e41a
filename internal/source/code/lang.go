package code

import (
	"bytes"
	"path"
	"strings"
)

// language says what language a file is in, by its name; empty when the name
// does not tell. binary says that the name tells it is no text, data that it
// is text made by machines.
func language(name string) (lang string, known bool) {
	base := path.Base(name)
	if lang, ok := byName[base]; ok {
		return lang, true
	}
	lower := strings.ToLower(base)
	for _, n := range [...]string{"dockerfile", "containerfile", "makefile"} {
		if lower == n || strings.HasPrefix(lower, n+".") || strings.HasSuffix(lower, "."+n) {
			if n == "makefile" {
				return "make", true
			}
			return "dockerfile", true
		}
	}
	lang, ok := byExtension[strings.TrimPrefix(path.Ext(lower), ".")]
	return lang, ok
}

// byName are files known by their whole name.
var byName = map[string]string{
	"CMakeLists.txt": "cmake", "Gemfile": "ruby", "Rakefile": "ruby", "Vagrantfile": "ruby", "Podfile": "ruby",
	"Jenkinsfile": "groovy", "BUILD": "starlark", "WORKSPACE": "starlark", "BUILD.bazel": "starlark",
	"GNUmakefile": "make", "Justfile": "make", "justfile": "make", "go.mod": "gomod", "go.work": "gomod",
	".bashrc": "shell", ".profile": "shell", ".zshrc": "shell", ".gitignore": "ignore", ".dockerignore": "ignore",
	".editorconfig": "ini", ".gitconfig": "ini", ".env": "shell", "SConstruct": "python",
}

// byExtension maps extensions in lower case to languages. Two of them are none:
// "binary" is not text, "data" is text that nobody wrote.
var byExtension = extensions(map[string]string{
	"go": "go", "python": "py pyi pyw pyx", "javascript": "js mjs cjs jsx", "typescript": "ts mts cts tsx",
	"java": "java", "kotlin": "kt kts", "scala": "scala sc sbt", "groovy": "groovy gradle", "rust": "rs",
	"c": "c h", "cpp": "cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp cu cuh ino", "objc": "m mm", "csharp": "cs csx",
	"swift": "swift", "php": "php php5 phtml", "ruby": "rb rake gemspec ru", "dart": "dart", "zig": "zig",
	"shell": "sh bash zsh ksh fish", "powershell": "ps1 psm1 psd1", "perl": "pl pm t", "lua": "lua", "r": "r",
	"julia": "jl", "elixir": "ex exs", "erlang": "erl hrl", "haskell": "hs lhs", "ocaml": "ml mli", "fsharp": "fs fsi fsx",
	"clojure": "clj cljs cljc edn", "lisp": "el lisp scm rkt", "nim": "nim", "crystal": "cr", "solidity": "sol", "vim": "vim",
	"sql": "sql ddl psql", "yaml": "yaml yml", "json": "json json5 jsonc", "toml": "toml", "ini": "ini cfg conf properties",
	"markdown": "md markdown mdx mdown", "rst": "rst", "asciidoc": "adoc asciidoc", "text": "txt", "tex": "tex",
	"html": "html htm xhtml", "xml": "xml xsd xsl xslt csproj fsproj props targets plist storyboard xib",
	"vue": "vue", "svelte": "svelte", "css": "css", "scss": "scss less sass", "proto": "proto", "graphql": "graphql gql",
	"thrift": "thrift", "hcl": "tf tfvars hcl", "starlark": "bzl star", "cmake": "cmake", "make": "mk mak",
	"asm": "s asm", "verilog": "v sv svh", "vhdl": "vhd vhdl", "batch": "bat cmd", "nix": "nix", "template": "tmpl tpl gotmpl j2 erb ejs hbs",
	"diff": "diff patch", "fortran": "f f77 f90 f95 f03", "pascal": "pas pp", "ada": "adb ads",
	"data": "jsonl ndjson csv tsv svg ipynb geojson log po pot pem crt cer key pub asc sum ics srt dat out golden",
	"binary": "png jpg jpeg gif bmp ico icns webp avif tif tiff psd mp3 mp4 m4a m4v ogg oga ogv wav flac avi mov mkv webm " +
		"pdf doc docx xls xlsx ppt pptx odt ods zip gz tgz bz2 xz zst 7z rar tar jar war ear class o a so dylib dll lib exe " +
		"obj pdb wasm pyc pyo node bin dmg iso img deb rpm apk ttf otf woff woff2 eot db sqlite sqlite3 mdb parquet arrow " +
		"npy npz pkl pt onnx safetensors gguf h5 tflite p12 pfx jks keystore der syso pcap prof",
})

func extensions(byLang map[string]string) map[string]string {
	m := make(map[string]string, 400)
	for lang, list := range byLang {
		for ext := range strings.FieldsSeq(list) {
			m[ext] = lang
		}
	}
	return m
}

// byShebang are interpreters of scripts.
var byShebang = map[string]string{
	"sh": "shell", "bash": "shell", "zsh": "shell", "dash": "shell", "ksh": "shell", "fish": "shell", "python": "python",
	"ruby": "ruby", "perl": "perl", "node": "javascript", "deno": "typescript", "bun": "typescript", "php": "php",
	"lua": "lua", "rscript": "r", "julia": "julia", "pwsh": "powershell", "elixir": "elixir",
}

// languageOfText looks at the first line of a file whose name does not tell.
func languageOfText(src []byte) string {
	line, _, _ := bytes.Cut(src[:min(len(src), 200)], []byte("\n"))
	if !bytes.HasPrefix(line, []byte("#!")) {
		return ""
	}
	for _, word := range strings.Fields(string(line[2:])) {
		word = path.Base(word)
		if word == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return byShebang[strings.ToLower(strings.TrimRight(word, "0123456789."))]
	}
	return ""
}
