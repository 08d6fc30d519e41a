package cli

import (
	"context"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// question is what `recalld up` asks: a declaration's own documentation,
// without its name, so that only meaning and wording can find it.
type question struct {
	Text string `json:"text"`
	// Path and Name say what documents it: the answer that is expected. Path is
	// relative to the root, with slashes.
	Path string `json:"path"`
	Name string `json:"name"`
}

// Bounds of the search for a question.
const (
	maxQuestionFiles = 800
	maxQuestionBytes = 200 << 10
)

// errEnough ends the walk.
var errEnough = errors.New("enough files")

// findQuestion looks through a repository for the declaration whose first
// sentence makes the best question. The same tree always gives the same one.
// ok is false when nothing is documented.
func findQuestion(ctx context.Context, root string, skipDirs []string) (best question, ok bool, err error) {
	bestScore, files := 0, 0
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return nil // what cannot be read is not asked about
		case entry.IsDir():
			if name := entry.Name(); file != root && (strings.HasPrefix(name, ".") || name == "testdata" || slices.Contains(skipDirs, name)) {
				return filepath.SkipDir
			}
			return nil
		case files >= maxQuestionFiles:
			return errEnough
		case !entry.Type().IsRegular():
			return nil
		}
		read := documented(entry.Name())
		if read == nil {
			return nil
		}
		info, err := entry.Info()
		if err != nil || info.Size() > maxQuestionBytes {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil || !utf8.Valid(text) {
			return nil
		}
		files++
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return nil
		}
		for _, d := range read(text) {
			if score := d.score(); score > bestScore {
				bestScore = score
				best = question{Text: d.ask(), Path: filepath.ToSlash(relative), Name: d.name}
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return best, bestScore > 0, err
}

// declaration is a documented function: its name and the first sentence of its
// documentation without that name, beginning with a verb.
type declaration struct{ name, sentence string }

// documented returns what reads the declarations of a kind of file, or nil.
func documented(name string) func([]byte) []declaration {
	switch extension := path.Ext(name); {
	case extension == ".go" && !strings.HasSuffix(name, "_test.go"):
		return goDeclarations
	case extension == ".py":
		return pythonDeclarations
	case slices.Contains([]string{".ts", ".tsx", ".js", ".java", ".kt", ".rs", ".cs", ".swift", ".php", ".c", ".cc", ".cpp", ".h"}, extension):
		return commentedDeclarations
	}
	return nil
}

// goDeclarations returns the exported functions and methods whose comment
// begins with their name, as Go's convention has it.
func goDeclarations(text []byte) []declaration {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil
	}
	var found []declaration
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil || !f.Name.IsExported() {
			continue
		}
		sentence := new(doc.Package).Synopsis(f.Doc.Text())
		if rest, ok := strings.CutPrefix(sentence, f.Name.Name+" "); ok {
			found = append(found, declaration{name: f.Name.Name, sentence: rest})
		}
	}
	return found
}

// pythonDeclarations returns the functions with a docstring on the line below.
func pythonDeclarations(text []byte) []declaration {
	var found []declaration
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "def "); ok {
			name, _, _ = strings.Cut(rest, "(")
			continue
		}
		if sentence, ok := strings.CutPrefix(line, `"""`); ok && name != "" && !strings.HasPrefix(name, "_") {
			found = append(found, declaration{name: name, sentence: firstSentence(strings.TrimSuffix(sentence, `"""`))})
		}
		name = ""
	}
	return found
}

// commentedDeclarations returns the declarations below a comment of the forms
// /** … */ and ///, which the C family keeps for documentation.
func commentedDeclarations(text []byte) []declaration {
	var found []declaration
	var comment []string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch rest, slashes := strings.CutPrefix(line, "///"); {
		case strings.HasPrefix(line, "/**"):
			comment, inside = nil, !strings.Contains(line, "*/")
			comment = append(comment, strings.Trim(line, "/* "))
		case inside:
			inside = !strings.Contains(line, "*/")
			comment = append(comment, strings.Trim(line, "/* "))
		case slashes:
			comment = append(comment, strings.TrimSpace(rest))
		case strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#["): // annotations stand between
		default:
			if before, _, ok := strings.Cut(line, "("); ok && len(comment) > 0 {
				words := strings.FieldsFunc(before, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
				if len(words) > 0 {
					sentence := firstSentence(strings.TrimSpace(strings.Join(comment, " ")))
					found = append(found, declaration{name: words[len(words)-1], sentence: sentence})
				}
			}
			comment = nil
		}
	}
	return found
}

// firstSentence returns the first sentence of a comment, in one line.
func firstSentence(text string) string { return new(doc.Package).Synopsis(text) }

// score says how good a question a sentence makes: some 8 to 20 plain words,
// many of them different and long enough to mean something. 0 is unusable.
func (d declaration) score() int {
	words := strings.Fields(strings.TrimSuffix(d.sentence, "."))
	if len(words) < 6 || len(words) > 24 || !endsInS(words[0]) {
		return 0
	}
	if strings.ContainsAny(d.sentence, "`\"[]{}<>|=/\\") || strings.Contains(d.sentence, "eprecated") {
		return 0
	}
	telling := map[string]bool{}
	for _, word := range words[1:] {
		if word = strings.ToLower(strings.Trim(word, ".,;:()")); len(word) >= 5 && !strings.EqualFold(word, d.name) {
			telling[word] = true
		}
	}
	score := 10 * len(telling)
	if over := len(words) - 16; over > 0 {
		score -= 5 * over
	}
	// A question reads better in one breath.
	for _, mark := range ",;:('—" {
		score -= 8 * strings.Count(d.sentence, string(mark))
	}
	return max(score, 0)
}

// endsInS reports whether a word looks like a verb in the third person. "is", "was" and
// "has" are too short.
func endsInS(word string) bool {
	word = strings.ToLower(word)
	return strings.HasSuffix(word, "s") && len(word) > 3
}

// ask turns the sentence into a question.
func (d declaration) ask() string {
	sentence := strings.TrimSuffix(d.sentence, ".")
	first, size := utf8.DecodeRuneInString(sentence)
	return "What " + string(unicode.ToLower(first)) + sentence[size:] + "?"
}
