package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
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

	"github.com/recalld/recalld/internal/source/code/chunk"
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

// maxQuestions is how many questions are tried at most, of each sort.
const maxQuestions = 4

// findQuestions looks through a repository for questions: first the declarations whose
// first sentences make the best ones, then simpler ones, for declarations by their names
// and for sections of documentation by their titles. Each is about another file. The same
// tree always gives the same ones; without any there is nothing to ask about.
func findQuestions(ctx context.Context, root string, skipDirs []string) ([]question, error) {
	var told, simple ranking
	files := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
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
		if !isAskedAbout(entry.Name()) {
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
		relative = filepath.ToSlash(relative)
		for _, d := range declarations(file, text) {
			told.add(d.score(), question{Text: d.ask(), Path: relative, Name: d.name})
			simple.add(d.plainScore(), question{Text: d.askPlainly(), Path: relative, Name: d.name})
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return append(told.best(), simple.best()...), err
}

// ranking keeps the best question about each file.
type ranking struct{ list []ranked }

type ranked struct {
	question
	score int
}

func (r *ranking) add(score int, q question) {
	last := len(r.list) - 1
	switch {
	case score <= 0:
	case last >= 0 && r.list[last].Path == q.Path: // a file is read in one go
		if score > r.list[last].score {
			r.list[last] = ranked{q, score}
		}
	default:
		r.list = append(r.list, ranked{q, score})
	}
}

// best returns the best questions, of equal ones the first.
func (r *ranking) best() []question {
	slices.SortStableFunc(r.list, func(a, b ranked) int { return b.score - a.score })
	var out []question
	for _, q := range r.list[:min(len(r.list), maxQuestions)] {
		out = append(out, q.question)
	}
	return out
}

// declaration is what a file declares: its name and the first sentence of its documentation
// without that name, beginning with a verb. Of a section of documentation the name is the
// title, and there is no sentence.
type declaration struct{ name, sentence string }

// isAskedAbout says whether questions are asked about a file: about code that is no test, and
// about documentation.
func isAskedAbout(name string) bool {
	return slices.Contains([]string{".go", ".py", ".rb", ".sh", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".java", ".kt", ".rs", ".cs", ".swift", ".php", ".c", ".cc", ".cpp", ".h", ".md", ".mdx", ".markdown"}, path.Ext(name)) &&
		!strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "test_")
}

// declarations returns what a file declares, as the index has it, and its sections.
func declarations(name string, text []byte) []declaration {
	if bytes.Contains(text[:min(len(text), 1000)], []byte("DO NOT EDIT")) {
		return nil // it was generated
	}
	if path.Ext(name) == ".go" {
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); err != nil {
			return nil // what it declares is a guess
		}
	}
	lines := strings.Split(string(text), "\n")
	var found []declaration
	for _, u := range chunk.Units(name, "", text) {
		own := lines[u.StartLine-1 : u.EndLine]
		for _, defined := range u.Defines {
			at := slices.IndexFunc(own, func(line string) bool { return declares(line, defined) && !isComment(line) })
			if at < 0 {
				continue
			}
			sentence := new(doc.Package).Synopsis(cmp.Or(commentAbove(own[:at]), textBelow(own[at:min(at+maxHeader, len(own))]))) // in one line
			found = append(found, declaration{defined, strings.TrimPrefix(sentence, defined+" ")})
		}
		if len(u.Defines) == 0 && strings.HasPrefix(path.Ext(name), ".m") { // the title of a section, below those above it
			titles := strings.Split(u.Symbol, " > ")
			found = append(found, declaration{name: titles[len(titles)-1]})
		}
	}
	return found
}

// declares says whether a line has a name as a word of its own.
func declares(line, name string) bool {
	before, after, found := strings.Cut(line, name)
	return found && strings.TrimRightFunc(before, isNameRune) == before && strings.TrimLeftFunc(after, isNameRune) == after
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "# ")
}

// commentAbove returns the comment at the end of some lines; annotations may stand in it.
func commentAbove(lines []string) string {
	at := len(lines)
	for at > 0 && (isComment(lines[at-1]) || isAnnotation(lines[at-1])) {
		at--
	}
	var comment []string
	for _, line := range lines[at:] {
		if isComment(line) {
			comment = append(comment, strings.Trim(line, "/*# \t\r"))
		}
	}
	return strings.TrimSpace(strings.Join(comment, " "))
}

func isAnnotation(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[")
}

// maxHeader bounds the lines of a declaration with the string below it.
const maxHeader = 20

// textBelow returns the string that a body begins with, as in Python.
func textBelow(lines []string) string {
	_, body, _ := strings.Cut(strings.Join(lines, "\n"), ":\n")
	body = strings.TrimPrefix(strings.TrimSpace(body), "r")
	for _, quotes := range []string{`"""`, "'''"} {
		if text, ok := strings.CutPrefix(body, quotes); ok {
			text, _, _ = strings.Cut(text, quotes)
			return strings.TrimSpace(text)
		}
	}
	return ""
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// score says how good a question a sentence makes: some 8 to 20 plain words,
// many of them different and long enough to mean something. 0 is unusable.
func (d declaration) score() int {
	words := strings.Fields(strings.TrimSuffix(d.sentence, "."))
	if len(words) < 6 || len(words) > 24 || !endsInS(words[0]) && !isImperative(words[0]) {
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

// imperatives are verbs by which documentation often begins in languages whose
// convention is to command: "Return the …".
var imperatives = []string{"add", "apply", "build", "calculate", "call", "check", "clean", "close", "compute", "convert", "copy", "create", "decode", "delete", "encode", "ensure",
	"extract", "fetch", "filter", "find", "format", "generate", "get", "handle", "initialize", "insert", "iterate", "join", "list", "load", "make", "merge", "move", "open", "parse",
	"print", "read", "remove", "render", "replace", "resolve", "return", "run", "save", "send", "set", "sort", "split", "start", "store", "translate", "update", "validate", "wrap", "write", "yield"}

func isImperative(word string) bool { return slices.Contains(imperatives, strings.ToLower(word)) }

// ask turns the sentence into a question.
func (d declaration) ask() string {
	sentence := strings.TrimSuffix(d.sentence, ".")
	first, size := utf8.DecodeRuneInString(sentence)
	sentence = string(unicode.ToLower(first)) + sentence[size:]
	if word, _, _ := strings.Cut(sentence, " "); isImperative(word) {
		return "How do we " + sentence + "?"
	}
	return "What " + sentence + "?"
}

// plainScore says how good a simpler question the name alone makes: the more long words it
// has, the less common it is. 0 is unusable.
func (d declaration) plainScore() int {
	words := strings.FieldsFunc(splitName(d.name), func(r rune) bool { return !isNameRune(r) || r == '_' })
	if len(words) > 6 || len(words) < 2 && (len(d.name) < 3 || strings.HasPrefix(d.name, "_")) || strings.ContainsAny(d.name, "`[]{}<>|=/\\\"") {
		return 0
	}
	score := 1
	for _, word := range words {
		if utf8.RuneCountInString(word) >= 4 {
			score++
		}
	}
	return score
}

// splitName puts a blank before every capital that follows a small letter.
func splitName(name string) string {
	var b strings.Builder
	small := false
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// askPlainly asks for the declaration by its name, or for the section by its title.
func (d declaration) askPlainly() string {
	if strings.Contains(d.name, " ") {
		return d.name
	}
	return "Where is " + d.name + " defined?"
}
