package recalld_test

import (
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// Phrases that make a sentence hard to read, or words of our own that the field's word has
// replaced. They must not come back where they are gone: hardPhrases from documents and
// comments, hardInDocuments from documents and the comments of plainFolders. When a phrase
// has left the comments, move it up; when all have left a folder, add the folder.
var (
	hardPhrases = []string{
		"as everywhere", "makes good for", "of its own accord", "is left at", "none of its business", "roster", "light index", "owes", "owed", "said to be",
	}
	hardInDocuments = []string{
		"nobody", "nobody's", "somebody", "somebody's", "whoever", "all the same", "tells of", "told of", "what of", "shelf",
	}
	plainFolders = regexp.MustCompile(`^(bench|cmd|embedder|index|internal/(adaptation|agentctx|connect|eval|fingerprint|git|hook|ingest|ledger|project|recall|redact|render|source|store/lsm))/`)
)

// TestPlainWords looks for phrases that the house style has replaced (CONTRIBUTING.md,
// Habits) in documents and in the comments of Go files that are no tests.
func TestPlainWords(t *testing.T) {
	everywhere, inDocuments := anyOf(hardPhrases), anyOf(append(hardInDocuments, hardPhrases...))
	report := func(file string, line int, text string, hard *regexp.Regexp) {
		for _, at := range hard.FindAllStringIndex(text, -1) {
			t.Errorf("%s:%d: %q: write subject, verb, object instead", file, line+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]])
		}
	}
	for _, file := range documents(t) {
		report(file, 1, read(t, file), inDocuments)
	}
	_, files := readModule(t)
	comments := 0
	for _, f := range files {
		if f.test {
			continue
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, f.name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		hard := everywhere
		if plainFolders.MatchString(f.name) {
			hard = inDocuments
		}
		for _, group := range syntax.Comments {
			comments++
			for _, c := range group.List {
				report(f.name, set.Position(c.Pos()).Line, c.Text, hard)
			}
		}
	}
	if comments < 1000 {
		t.Errorf("only %d comments are found: the search is broken", comments)
	}
}

// anyOf matches any of the phrases as whole words, in any case.
func anyOf(phrases []string) *regexp.Regexp {
	quoted := make([]string, len(phrases))
	for i, phrase := range phrases {
		quoted[i] = strings.ReplaceAll(regexp.QuoteMeta(phrase), " ", `\s+`)
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(quoted, "|") + `)\b`)
}
