package scan

import (
	"regexp"
	"sync"
)

// language describes a programming language to the scanner of code.
type language struct {
	name string
	// line and block begin and end comments.
	line  []string
	block [][2]string
	// quotes begin and end strings; long quotes may span lines. A longer quote comes before
	// the shorter one that it begins with.
	quotes, longQuotes []string
	body               bodyStyle
	// header matches the beginning of a function or type up to its body; its
	// first group that is not empty is the name.
	header func() *regexp.Regexp
	// lifetimes says that ' begins a character only if one character and another ' follow,
	// as in Rust.
	lifetimes bool
	// hashLine says that a line comment begins only after white space, as the
	// # of shells does.
	hashLine bool
}

// bodyStyle says how the end of a function is found.
type bodyStyle int

const (
	braces   bodyStyle = iota // the matching brace
	indented                  // the next line that is indented no deeper
	ended                     // the next "end" that is indented as deep
)

func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	cLine  = []string{"//"}
	cBlock = [][2]string{{"/*", "*/"}}
	hash   = []string{"#"}
)

// languages are the supported languages, by extension.
var languages = map[string]*language{
	".go": {name: "Go", line: cLine, block: cBlock, quotes: []string{`"`, `'`}, longQuotes: []string{"`"},
		header: compiled(`^(?:func\s+(?:\([^)]*\)\s*)?(\w+)|type\s+(\w+)(?:\[[^\]]*\])?\s+(?:struct|interface)\s*$)`)},
	".rs": {name: "Rust", line: cLine, block: cBlock, quotes: []string{`"`}, lifetimes: true,
		header: compiled(`^(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|default|extern\s+"[^"]*")\s+)*(?:fn|struct|enum|trait)\s+(\w+)`)},
	".py": {name: "Python", line: hash, quotes: []string{`"`, `'`}, longQuotes: []string{`"""`, `'''`}, body: indented,
		header: compiled(`^(?:async\s+)?(?:def|class)\s+(\w+)`)},
	".rb": {name: "Ruby", line: hash, hashLine: true, quotes: []string{`"`, `'`}, body: ended,
		header: compiled(`^(?:(?:private|protected|public|module_function)\s+)?(?:def\s+(?:self\.)?(\w+[?!=]?)|(?:class|module)\s+([\w:]+))`)},
	".ex": {name: "Elixir", line: hash, hashLine: true, quotes: []string{`"`}, longQuotes: []string{`"""`}, body: ended,
		header: compiled(`^(?:defp?|defmacrop?)\s+(\w+[?!]?)`)},
	".js": {name: "JavaScript", line: cLine, block: cBlock, quotes: []string{`"`, `'`}, longQuotes: []string{"`"}, header: scriptHeader},
	".sh": {name: "Shell", line: hash, hashLine: true, quotes: []string{}, longQuotes: []string{`"`, `'`},
		header: compiled(`^(?:function\s+)?([\w:.-]+)\s*(?:\(\s*\))?\s*$`)},
	".ps1": {name: "PowerShell", line: hash, hashLine: true, block: [][2]string{{"<#", "#>"}}, quotes: []string{`"`, `'`},
		header: compiled(`^(?i:function|filter)\s+([\w:-]+)`)},
	".pl": {name: "Perl", line: hash, hashLine: true, quotes: []string{`"`, `'`},
		header: compiled(`^sub\s+(\w+)`)},
	".lua": {name: "Lua", line: []string{"--"}, quotes: []string{`"`, `'`}, body: ended,
		header: compiled(`^(?:local\s+)?function\s+([\w.:]+)`)},
	".vim": {name: "Vim script", line: []string{`"`}, hashLine: true, quotes: []string{`'`}, body: ended,
		header: compiled(`^(?:def|fu\w*)!?\s+([\w:#.]+)`)},
	".c":     {name: "C", line: cLine, block: cBlock, quotes: []string{`"`, `'`}, header: cHeader},
	".java":  {name: "Java", line: cLine, block: cBlock, quotes: []string{`"`, `'`}, longQuotes: []string{`"""`}, header: cHeader},
	".cs":    {name: "C#", line: cLine, block: cBlock, quotes: []string{`"`, `'`}, header: cHeader},
	".php":   {name: "PHP", line: []string{"//", "#"}, block: cBlock, quotes: []string{`"`, `'`}, header: compiled(`^(?:(?:public|protected|private|static|final|abstract|readonly)\s+)*(?:function\s+&?(\w+)|(?:class|interface|trait|enum)\s+(\w+))`)},
	".kt":    {name: "Kotlin", line: cLine, block: cBlock, quotes: []string{`"`, `'`}, longQuotes: []string{`"""`}, header: compiled(`^(?:(?:public|private|internal|protected|override|inline|suspend|open|operator|infix|actual|expect|data|sealed|abstract)\s+)*(?:fun\s+(?:<[^>]*>\s*)?(?:[\w<>?, ]+\.)?(\w+)|(?:class|interface|object)\s+(\w+))`)},
	".swift": {name: "Swift", line: cLine, block: cBlock, quotes: []string{`"`}, longQuotes: []string{`"""`}, header: compiled(`^(?:(?:public|private|internal|open|fileprivate|static|final|override|mutating|@\w+)\s+)*(?:func\s+(\w+)|(?:class|struct|enum|protocol|extension)\s+(\w+))`)},
	".scala": {name: "Scala", line: cLine, block: cBlock, quotes: []string{`"`}, longQuotes: []string{`"""`}, header: compiled(`^(?:(?:private|protected|override|final|implicit|case|sealed|abstract|inline)(?:\[\w+\])?\s+)*(?:def\s+(\w+)|(?:class|trait|object)\s+(\w+))`)},
}

var scriptHeader = compiled(`^(?:export\s+)?(?:default\s+)?(?:(?:public|private|protected|static|abstract|override|readonly|declare)\s+)*(?:async\s+)?(?:function\s*\*?\s*(\w+)|(?:class|interface|enum)\s+(\w+)|(?:const|let|var)\s+(\w+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^{]*\)\s*(?::[^=]+)?=>|\w+\s*=>)|\*?(\w+)\s*(?:<[^(]*>)?\([^;]*\)\s*(?::[^;=]+)?\s*$)`)

// cHeader matches a function with type, name and parameters, with any words before and
// after.
var cHeader = compiled(`^(?:(?:[\w@<>\[\],.?*&:~]+\s+)*(?:class|interface|struct|enum|record|union)\s+(\w+)[^;()=]*$|(?:[\w@<>\[\],.?*&:~]+\s+)+[*&]*(~?\w+(?:::~?\w+)*)\s*\([^;{}]*\)[^;{}()=]*(?:\([^)]*\))?[^;{}()=]*$)`)

// aliases are extensions of the same language.
var aliases = map[string]string{
	".jsx": ".js", ".ts": ".js", ".tsx": ".js", ".mjs": ".js", ".cjs": ".js", ".vue": ".js",
	".h": ".c", ".cc": ".c", ".cpp": ".c", ".hpp": ".c", ".cxx": ".c",
	".bash": ".sh", ".zsh": ".sh", ".psm1": ".ps1", ".pm": ".pl", ".exs": ".ex", ".rake": ".rb", ".pyi": ".py",
}

// languageOf returns the language of a file, or nil.
func languageOf(base, ext string) *language {
	if base == "Rakefile" || base == "Gemfile" {
		ext = ".rb"
	}
	if alias, ok := aliases[ext]; ok {
		ext = alias
	}
	return languages[ext]
}

// notNames are words before brackets that are not functions.
var notNames = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "catch": true, "return": true, "else": true, "new": true, "do": true,
	"foreach": true, "using": true, "lock": true, "sizeof": true, "defined": true, "synchronized": true, "match": true,
	"unless": true, "until": true, "elif": true, "case": true, "when": true, "with": true, "function": true, "then": true, "try": true,
}
