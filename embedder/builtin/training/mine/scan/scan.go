// Package scan finds pairs of texts that mean the same or answer one another in source
// code, documentation and data sets of dialogues.
//
// Vocabulary. A pair is two texts from one place that belong together: A is the shorter
// one, which resembles a query (a question, a subject, the first sentence of a comment), B
// the longer one that the query should find (an answer, a body, a function). Its kind says
// which rule found it. A scanner reads the whole text of one file and emits the pairs of
// its format; package clean filters them.
//
// Some pairs are generated: a cloze is a sentence with words dropped, and its passage; most
// questions about turns are sentences of the turn put into the third person. Both use
// random choices seeded by the text, so that the same text gives the same pairs.
//
// Scanners work by the form of lines and brackets, not by grammars: they must read many
// languages, and a misread text costs only a pair. They never fail, whatever the text.
package scan

import (
	"path"
	"slices"
	"strings"
)

// Kind names the rule that found a pair.
type Kind string

// The kinds, each with what A and B are.
const (
	Doc       Kind = "doc"       // first sentence of a doc comment → function or type
	Ask       Kind = "ask"       // description of a function as a search query → function
	Name      Kind = "name"      // words of a function's name → its body
	Comment   Kind = "comment"   // comment → the statements below it
	Test      Kind = "test"      // description of a test → its body
	Message   Kind = "message"   // error message → the code around it
	Commit    Kind = "commit"    // subject of a commit → its body
	Change    Kind = "change"    // subject of a commit → the lines it adds
	Heading   Kind = "heading"   // heading → its section
	Question  Kind = "question"  // heading that asks → its section, or question → answer
	Example   Kind = "example"   // sentence before a block of code → the block
	Option    Kind = "option"    // option or term → its description
	Config    Kind = "config"    // comment → the settings below it
	Command   Kind = "command"   // what a command is for → the command
	Changelog Kind = "changelog" // first sentence of an entry → its rest
	Passage   Kind = "passage"   // sentence of a paragraph → the rest of the paragraph
	Cloze     Kind = "cloze"     // some words of a sentence → the passage it is from
	Claim     Kind = "claim"     // sentence of a summary or conclusion → the text that supports it
	Turn      Kind = "turn"      // turn of a dialogue → the turn that answers it
	Recall    Kind = "recall"    // question about a past statement → the statement
	Retold    Kind = "retold"    // question made of a turn's own words → the turn
	Summary   Kind = "summary"   // summary or title → the text
	Gloss     Kind = "gloss"     // word → definition
)

// Pair is two texts that belong together.
type Pair struct {
	Kind Kind
	A, B string
}

// Emit receives a found pair.
type Emit func(Pair)

// A Part is a part of a repository that is mined.
type Part string

// The parts of an ordinary repository. Data sets have separate scanners.
const (
	Commits Part = "commits" // messages
	Changes Part = "changes" // messages with what they change
	Code    Part = "code"
	Docs    Part = "docs"
)

// Parts lists the parts of an ordinary repository.
func Parts() []Part { return []Part{Commits, Changes, Code, Docs} }

// format is a scanner with the part it belongs to.
type format struct {
	part Part
	scan func(text string, emit Emit)
}

// File returns the scanner of an ordinary file and its part, by the file's name; ok is
// false for files without a scanner.
func File(name string) (scan func(text string, emit Emit), part Part, ok bool) {
	base, ext := path.Base(name), strings.ToLower(path.Ext(name))
	if strings.HasPrefix(strings.ToLower(base), "dockerfile") || base == "Makefile" {
		return func(text string, emit Emit) { scanSettings(text, Command, emit) }, Code, true
	}
	isLog := slices.ContainsFunc([]string{"changelog", "changes", "history", "news"}, func(s string) bool {
		return strings.HasPrefix(strings.ToLower(base), s)
	})
	if isLog && (ext == "" || slices.Contains([]string{".md", ".rst", ".txt", ".adoc"}, ext)) {
		return scanChangelog, Docs, true
	}
	if f, ok := formats[ext]; ok {
		return f.scan, f.part, true
	}
	if l := languageOf(base, ext); l != nil {
		return func(text string, emit Emit) { scanCode(l, text, emit) }, Code, true
	}
	if len(ext) == 2 && ext[1] >= '1' && ext[1] <= '9' {
		return scanMan, Docs, true
	}
	return nil, "", false
}

// formats are the scanners of formats other than programming languages, by extension.
var formats = map[string]format{
	".md":       {Docs, scanMarkdown},
	".mdx":      {Docs, scanMarkdown},
	".markdown": {Docs, scanMarkdown},
	".rst":      {Docs, scanREST},
	".adoc":     {Docs, scanAsciiDoc},
	".asciidoc": {Docs, scanAsciiDoc},
	".texi":     {Docs, scanTexinfo},
	".xml":      {Docs, scanDocBook},
	".yml":      {Code, scanYAML},
	".yaml":     {Code, scanYAML},
	".toml":     {Code, func(text string, emit Emit) { scanSettings(text, Config, emit) }},
	".conf":     {Code, func(text string, emit Emit) { scanSettings(text, Config, emit) }},
	".cfg":      {Code, func(text string, emit Emit) { scanSettings(text, Config, emit) }},
	".ini":      {Code, func(text string, emit Emit) { scanSettings(text, Config, emit) }},
	".service":  {Code, func(text string, emit Emit) { scanSettings(text, Config, emit) }},
}
