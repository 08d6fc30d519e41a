// Package scan finds pairs of texts that mean the same or answer one another
// in source code, documentation and data sets of dialogues.
//
// Vocabulary. A pair is two texts of one place that belong together: A is the
// shorter one, such as a person would ask with (a question, a subject, the
// first sentence of a comment), B the longer one that is to be found (an
// answer, a body, a function). Its kind says by which rule it was found. A
// scanner reads the whole text of one file and emits the pairs of its format;
// what is worth keeping of them is not its business (see package clean).
//
// Some pairs are made, not found: a cloze is what is left of a sentence when
// words of it are dropped, with the passage it is from, and most questions about
// turns are sentences of the turn put into the third person. Chance plays into
// both, seeded by the text, so that the same text gives the same pairs.
//
// Scanners work by the look of lines and brackets, not by grammars: they must
// read many languages, and what they misread costs a pair. They never fail,
// whatever the text.
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
	Ask       Kind = "ask"       // what a comment says as somebody would search for it → function
	Name      Kind = "name"      // words of a function's name → its body
	Comment   Kind = "comment"   // comment → the statements below it
	Test      Kind = "test"      // what a test says it shows → its body
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
	Claim     Kind = "claim"     // sentence of a summary or conclusion → the text that it is drawn from
	Turn      Kind = "turn"      // turn of a dialogue → the turn that answers it
	Recall    Kind = "recall"    // question about what somebody said → what was said
	Retold    Kind = "retold"    // question made of a turn's own words → the turn
	Summary   Kind = "summary"   // summary or title → the text
	Gloss     Kind = "gloss"     // word → definition
)

// Pair is two texts that belong together.
type Pair struct {
	Kind Kind
	A, B string
}

// Emit takes a pair that was found.
type Emit func(Pair)

// A Part is what of a repository is mined.
type Part string

// The parts of an ordinary repository; data sets have scanners of their own.
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

// File returns the scanner of an ordinary file and the part it belongs to, by
// the file's name; ok is false for files that nothing is found in.
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

// formats are the scanners of what is no programming language, by extension.
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
