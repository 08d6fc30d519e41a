package chunk

import (
	"regexp"
	"strings"
)

// family is how a language marks its structure.
type family int

const (
	braces    family = iota // { } around bodies
	indents                 // deeper lines belong to the line above: Python, YAML; with "end": Ruby, Lua
	semicolon               // statements up to a semicolon: SQL
	sections                // up to the next line that begins one: INI, Dockerfile
)

// syntax describes a language to the scanner: how to distinguish code, strings and
// comments, and where declarations begin and end.
type syntax struct {
	family family
	// line are the starts of comments to the end of the line, block the pairs around
	// other comments.
	line  []string
	block [][2]string
	// quotes delimit strings of one line with backslash escapes; multi delimit strings that
	// may span lines, the longest first; raw are the delimiters in multi without escapes.
	quotes string
	multi  []string
	raw    string
	// texts are pairs around strings of several lines without escapes, whose end differs
	// from their start; rawStyle is for strings whose end depends on their start.
	texts    [][2]string
	rawStyle rawStyle
	// interp begins code within strings that begin with one of the bytes of interpIn.
	interp, interpIn string
	// interpLines: the code in a string of one line may span lines.
	interpLines bool
	// nests: comments in block can be nested.
	nests bool
	// escape is the byte that escapes the next one in strings, if it is not a backslash.
	// escapes: outside of them, too.
	escape  byte
	escapes bool
	// charQuote: ' is around one character, or stands alone (lifetimes). primes: it may end a
	// name, or follow a bracket.
	charQuote, primes bool
	// charSigns are before a single character: $" in Erlang, ?" and the variable $' in Ruby.
	charSigns string
	// regex: / may begin a regular expression.
	regex bool
	// heredoc: <<WORD begins a text up to a line of that word.
	// heredocSpace: there may be space between the two.
	heredoc, heredocSpace bool
	// percent: %w[…], %r{…} and the like are texts (Ruby).
	percent bool
	// sigils: ~r{…}, ~w(…) and the like are texts (Elixir).
	sigils bool
	// declares is the pattern of the start of a line that declares something: a scanner that
	// lost its way recovers there.
	declares func() *regexp.Regexp
	// dollar: $tag$ begins a text up to the same (PostgreSQL).
	dollar bool
	// preproc: lines that begin with # are for the preprocessor.
	preproc bool
	// ends: declarations end with ; or }, not with the line.
	ends bool
	// begin are the starts of sections.
	begin []string
}

// Comments and strings that several languages share.
var (
	slashes   = []string{"//"}
	hash      = []string{"#"}
	slashStar = [][2]string{{"/*", "*/"}}
	podBlocks = [][2]string{{"=pod", "=cut"}, {"=head", "=cut"}, {"=over", "=cut"}, {"=item", "=cut"}, {"=begin", "=cut"}, {"=for", "=cut"}, {"=encoding", "=cut"}}
)

// firstWords is the pattern of lines that begin with one of the words.
func firstWords(words string) func() *regexp.Regexp {
	return lazyPattern(`^[ \t]*(?:` + words + `)\b`)
}

var scriptDeclares = firstWords(`export|function|async function|class`)

// syntaxes are the languages whose structure is scanned. Go is for files that do not
// parse.
var syntaxes = map[string]*syntax{
	"go":         {line: slashes, block: slashStar, quotes: `"'`, multi: []string{"`"}, raw: "`"},
	"javascript": {line: slashes, block: slashStar, quotes: `"'`, multi: []string{"`"}, regex: true, interp: "${", interpIn: "`", declares: scriptDeclares},
	"typescript": {line: slashes, block: slashStar, quotes: `"'`, multi: []string{"`"}, regex: true, interp: "${", interpIn: "`", declares: scriptDeclares},
	"java":       {line: slashes, block: slashStar, quotes: `"'`, multi: []string{`"""`}, ends: true, declares: firstWords(`public|private|protected`)},
	"kotlin":     {line: slashes, block: slashStar, quotes: `"'`, multi: []string{`"""`}, raw: `"""`, interp: "${", interpIn: `"`, nests: true, interpLines: true, declares: firstWords(`public|private|protected|internal|override|fun|class|interface|object`)},
	"scala":      {line: slashes, block: slashStar, quotes: `"`, multi: []string{`"""`}, raw: `"""`, charQuote: true, interp: "${", interpIn: `"`, nests: true, declares: firstWords(`def|class|object|trait|override|private|case class`)},
	"groovy":     {line: slashes, block: slashStar, quotes: `"'`, multi: []string{`"""`, `'''`}, interp: "${", interpIn: `"`, regex: true, declares: firstWords(`def|class|public|private|static`)},
	"rust":       {line: slashes, block: slashStar, multi: []string{`"`}, charQuote: true, ends: true, rawStyle: rawHashes, nests: true, declares: firstWords(`pub|fn|impl|struct`)},
	"c":          {line: slashes, block: slashStar, quotes: `"`, charQuote: true, preproc: true, ends: true, rawStyle: rawDelimiter},
	"cpp":        {line: slashes, block: slashStar, quotes: `"`, charQuote: true, preproc: true, ends: true, rawStyle: rawDelimiter},
	"objc":       {line: slashes, block: slashStar, quotes: `"'`, preproc: true, ends: true},
	"csharp":     {line: slashes, block: slashStar, quotes: `"'`, multi: []string{`"""`}, preproc: true, ends: true, rawStyle: rawDoubled, declares: firstWords(`public|private|protected|internal`)},
	"swift":      {line: slashes, block: slashStar, quotes: `"`, multi: []string{`"""`}, rawStyle: rawFence, interp: `\(`, interpIn: `"`, nests: true, interpLines: true, declares: firstWords(`public|private|func|class|struct|extension|enum`)},
	"php":        {line: []string{"//", "#"}, block: slashStar, multi: []string{`"`, `'`}, heredoc: true, ends: true, declares: firstWords(`public|private|protected|function|class|abstract|final`)},
	"dart":       {line: slashes, block: slashStar, quotes: `"'`, multi: []string{`"""`, `'''`}, ends: true, interp: "${", interpIn: `"'`, nests: true},
	"zig":        {line: []string{"//", `\\`}, quotes: `"'`, ends: true},
	"solidity":   {line: slashes, block: slashStar, quotes: `"'`, ends: true},
	"proto":      {line: slashes, block: slashStar, quotes: `"'`, ends: true},
	"thrift":     {line: []string{"//", "#"}, block: slashStar, quotes: `"'`},
	"graphql":    {line: hash, quotes: `"`, multi: []string{`"""`}},
	"hcl":        {line: []string{"#", "//"}, block: slashStar, quotes: `"`, heredoc: true, interp: "${", interpIn: `"`},
	"css":        {block: slashStar, quotes: `"'`, ends: true},
	"scss":       {line: slashes, block: slashStar, quotes: `"'`, ends: true},
	"json":       {line: slashes, block: slashStar, quotes: `"`},
	"perl":       {line: hash, block: podBlocks, quotes: `"'`, heredoc: true, ends: true, regex: true, escapes: true, declares: firstWords(`sub|package`)},
	"powershell": {line: hash, block: [][2]string{{"<#", "#>"}}, multi: []string{`"`, `'`}, raw: `'`, escape: '`', escapes: true, texts: [][2]string{{`@"`, `"@`}, {`@'`, `'@`}}, declares: firstWords(`[Ff]unction`)},
	"r":          {line: hash, quotes: "`", multi: []string{`"`, `'`}},
	"verilog":    {family: indents, line: slashes, block: slashStar, quotes: `"`},

	"python":   {family: indents, line: hash, quotes: `"'`, multi: []string{`"""`, `'''`}, declares: firstWords(`def|class|async def`)},
	"starlark": {family: indents, line: hash, quotes: `"'`, multi: []string{`"""`, `'''`}},
	"nim":      {family: indents, line: hash, quotes: `"`, multi: []string{`"""`}, charQuote: true, declares: firstWords(`proc|func|template|type`)},
	"yaml":     {family: indents, line: []string{"# "}},
	"make":     {family: indents, line: hash},
	"ruby":     {family: indents, line: hash, block: [][2]string{{"=begin", "=end"}}, multi: []string{`"`, `'`}, heredoc: true, interp: "#{", interpIn: `"`, regex: true, percent: true, charSigns: "?$", declares: firstWords(`def|class|module`)},
	"crystal":  {family: indents, line: hash, multi: []string{`"`}, interp: "#{", interpIn: `"`, charQuote: true, heredoc: true, regex: true, percent: true, declares: firstWords(`def|class|module`)},
	"elixir":   {family: indents, line: hash, multi: []string{`"""`, `"`}, interp: "#{", interpIn: `"`, charSigns: "?", sigils: true, declares: firstWords(`def|defp|defmodule|defmacro`)},
	"julia":    {family: indents, line: hash, multi: []string{`"""`, `"`}, charQuote: true, primes: true, interp: "$(", interpIn: `"`, declares: firstWords(`function|struct|module`)},
	"lua":      {family: indents, line: []string{"--"}, block: [][2]string{{"--[[", "]]"}, {"--[=[", "]=]"}, {"--[==[", "]==]"}}, quotes: `"'`, texts: [][2]string{{"[[", "]]"}, {"[=[", "]=]"}, {"[==[", "]==]"}}, declares: firstWords(`function|local function`)},
	"shell":    {family: indents, line: hash, escapes: true, multi: []string{`"`, `'`}, raw: `'`, heredoc: true, heredocSpace: true, declares: lazyPattern(`^[ \t]*(?:function\s|[\w:.-]+ ?\(\))`)},
	"haskell":  {family: indents, line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, quotes: `"`, nests: true, charQuote: true, primes: true, declares: lazyPattern(`^[a-z][\w']*\s*::`)},
	"ocaml":    {family: indents, block: [][2]string{{"(*", "*)"}}, multi: []string{`"`}, nests: true, charQuote: true, primes: true, texts: [][2]string{{"{|", "|}"}}},
	"fsharp":   {family: indents, line: slashes, block: [][2]string{{"(*", "*)"}}, multi: []string{`"""`, `"`}, nests: true, charQuote: true, primes: true, rawStyle: rawDoubled},
	"erlang":   {family: indents, line: []string{"%"}, quotes: `"'`, charSigns: "$", declares: lazyPattern(`^[a-z]\w*\(`)},
	"lisp":     {family: indents, line: []string{";"}, multi: []string{`"`}, escapes: true},
	"clojure":  {family: indents, line: []string{";"}, multi: []string{`"`}, escapes: true},
	"cmake":    {family: indents, line: hash, multi: []string{`"`}, block: [][2]string{{"#[[", "]]"}}},
	"vim":      {family: indents, declares: firstWords(`fu\w*`)},
	"fortran":  {family: indents, line: []string{"!"}},

	"sql": {family: semicolon, line: []string{"--"}, block: slashStar, multi: []string{`'`, `"`}, raw: `'"`, dollar: true},

	"ini":        {family: sections, begin: []string{"["}},
	"toml":       {family: sections, line: hash, multi: []string{`"""`, `'''`}, begin: []string{"["}},
	"asm":        {family: sections, line: slashes, block: slashStar, begin: []string{"TEXT ", "TEXT\t"}},
	"dockerfile": {family: sections, line: hash, begin: []string{"FROM ", "from "}},
	"diff":       {family: sections, begin: []string{"diff ", "Index: "}},
	"tex":        {family: sections, line: []string{"%"}, begin: []string{`\chapter`, `\section`, `\subsection`, `\subsubsection`}},
	"asciidoc":   {family: sections, begin: []string{"= ", "== ", "=== ", "==== "}},
}

// units finds the top-level units of a text.
func (s *syntax) units(t *text, lang string) []unit {
	lines, lost := s.scan(t, nil)
	if lost && s.declares != nil {
		lines, _ = s.scan(t, s.declares())
	}
	t.cost = t.indentCosts()
	for i, l := range lines {
		if l.literal {
			t.cost[i] += costWithin
		}
	}
	f := &structured{t: t, syntax: s, lang: lang, lines: lines}
	if s.preproc {
		f.defineMacros()
	}
	if lang == "scala" && f.bodiesByIndent() {
		return f.indented(0, t.lines()-1, 0)
	}
	if lang == "yaml" {
		return f.yamlUnits()
	}
	switch s.family {
	case indents:
		return f.indented(0, t.lines()-1, 0)
	case semicolon:
		return f.statements()
	case sections:
		return f.sections()
	}
	return f.braced(0, t.lines()-1, "")
}

// bodiesByIndent reports whether a file of Scala uses indentation instead of braces.
func (f *structured) bodiesByIndent() bool {
	colons, opened := 0, 0
	for _, l := range f.lines {
		switch {
		case l.last == ':':
			colons++
		case l.last == '{':
			opened++
		}
	}
	return colons > opened
}

// defineMacros records the macros of a file, which have no scope.
func (f *structured) defineMacros() {
	for i, l := range f.lines {
		if l.first != '#' || l.literal {
			continue
		}
		if line := f.t.trimmed(i); line[0] == '#' {
			f.define(i, macroName(string(line[1:min(len(line), maxHead)])))
		}
	}
}

// structured is a text that was scanned.
type structured struct {
	t      *text
	syntax *syntax
	lang   string
	lines  []lineInfo
	depth  int // of members within members, at most maxDepth
}

// unitsBetween finds the units between two lines: each has its leads, which are lines that
// belong to the declaration below them, and a head. lead returns the line after the lead at
// a line, or the line itself if it is not one. unitAt returns the unit with a head. Leads
// without a declaration are a unit, too.
func (f *structured) unitsBetween(from, to int, lead func(i int) int, unitAt func(first, head int) unit) []unit {
	if f.depth > maxDepth {
		return nil
	}
	f.depth++
	defer func() { f.depth-- }()
	var units []unit
	for i := from; i <= to; {
		if f.t.blank(i) {
			i++
			continue
		}
		first := i
		for i <= to && !f.t.blank(i) {
			next := lead(i)
			if next == i {
				break
			}
			i = next
		}
		u := unit{first: first, last: i - 1}
		if i <= to && !f.t.blank(i) {
			u = unitAt(first, i)
		}
		units = append(units, u)
		i = u.last + 1
	}
	return units
}

// maxDepth bounds the nesting of members that are searched: each level costs a pass over
// its lines.
const maxDepth = 12

// sections finds units that begin with certain lines.
func (f *structured) sections() []unit {
	var units []unit
	for i := range f.lines {
		line := string(f.t.line(i))
		if f.lines[i].literal {
			continue
		}
		for _, b := range f.syntax.begin {
			if !strings.HasPrefix(line, b) {
				continue
			}
			first := f.commentsAbove(i, 0)
			if n := len(units); n > 0 {
				first = max(first, units[n-1].first+1)
				units[n-1].last = first - 1
			}
			name := sectionName(line)
			if f.lang == "dockerfile" && stage(line) || f.lang == "asm" {
				f.define(i, name)
			}
			units = append(units, unit{first: first, last: f.t.lines() - 1, name: name})
			break
		}
	}
	return units
}

// sectionName returns the line that begins a section without its signs.
func sectionName(line string) string {
	line = strings.TrimSpace(line)
	if fields := strings.Fields(line); len(fields) > 1 && strings.EqualFold(fields[0], "from") {
		return fields[len(fields)-1] // the stage's name, else the image's
	}
	if text, ok := strings.CutPrefix(line, "TEXT"); ok { // Go's assembler: "TEXT runtime∕internal·name<>(SB), …"
		text = strings.TrimSpace(upTo(text, "(<"))
		if _, name, ok := strings.Cut(text, "·"); ok {
			return name
		}
		return text
	}
	if i := strings.IndexByte(line, '{'); i >= 0 && line[0] == '\\' {
		line = line[i:]
	}
	return Truncate(strings.Trim(line, "[]={} \t"), maxSymbol/2)
}

// stage reports whether the line that begins a section of a Dockerfile names it.
func stage(line string) bool {
	fields := strings.Fields(line)
	return len(fields) > 3 && strings.EqualFold(fields[len(fields)-2], "as")
}

// commentsAbove returns the first of the comment lines directly above a line, not above
// least.
func (f *structured) commentsAbove(i, least int) int {
	for i > least && f.lines[i-1].comment && !f.t.blank(i-1) {
		i--
	}
	return i
}
