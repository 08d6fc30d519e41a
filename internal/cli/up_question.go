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
		relative = filepath.ToSlash(relative)
		for _, d := range read(text) {
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

// declaration is a documented function: its name and the first sentence of its
// documentation without that name, beginning with a verb. Of a section of documentation
// the name is the title, and there is no sentence.
type declaration struct{ name, sentence string }

// documented returns what reads the declarations of a kind of file, or nil.
func documented(name string) func([]byte) []declaration {
	switch extension := path.Ext(name); {
	case extension == ".go" && !strings.HasSuffix(name, "_test.go"):
		return goDeclarations
	case extension == ".py" && !strings.HasPrefix(name, "test_"):
		return pythonDeclarations
	case extension == ".rb", extension == ".sh":
		return hashedDeclarations
	case slices.Contains([]string{".md", ".mdx", ".markdown", ".rst"}, extension):
		return sections
	case slices.Contains([]string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".java", ".kt", ".rs", ".cs", ".swift", ".php", ".c", ".cc", ".cpp", ".h"}, extension):
		return commentedDeclarations
	}
	return nil
}

// goDeclarations returns the functions and methods, with their sentence if their comment
// begins with their name, as Go's convention has it.
func goDeclarations(text []byte) []declaration {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil
	}
	var found []declaration
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		sentence, _ := strings.CutPrefix(new(doc.Package).Synopsis(f.Doc.Text()), f.Name.Name+" ")
		found = append(found, declaration{f.Name.Name, sentence})
	}
	return found
}

// pythonDeclarations returns the functions and classes with a docstring.
func pythonDeclarations(text []byte) []declaration {
	var found []declaration
	name, open := "", false // the declaration above; its parentheses are not closed yet
	inside := false         // its docstring has begun, on a line of its own
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if inside && line != "" {
			found, name, inside = append(found, declaration{name, firstSentence(line)}), "", false
			continue
		}
		if rest, ok := cutAny(line, "def ", "async def ", "class "); ok {
			name = rest[:len(rest)-len(strings.TrimLeftFunc(rest, isNameRune))]
			open = !strings.HasSuffix(line, ":")
			found = append(found, declaration{name: name}) // should it have no docstring
			continue
		}
		if open {
			open = !strings.HasSuffix(line, ":")
			continue
		}
		quoted, ok := cutAny(line, `"""`, `r"""`, "'''", "r'''")
		switch {
		case !ok || name == "" || strings.HasPrefix(name, "_"):
			name = ""
		case quoted == "":
			inside = true
		default:
			found, name = append(found, declaration{name, firstSentence(strings.TrimSuffix(strings.TrimSuffix(quoted, `"""`), "'''"))}), ""
		}
	}
	return found
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// cutAny cuts the first of some beginnings that a line has.
func cutAny(line string, starts ...string) (string, bool) {
	for _, start := range starts {
		if rest, ok := strings.CutPrefix(line, start); ok {
			return rest, true
		}
	}
	return line, false
}

// commentedDeclarations returns the declarations below a comment of the C family: of the
// forms /** … */ and ///, which are kept for documentation, and of lines with //.
func commentedDeclarations(text []byte) []declaration {
	var found []declaration
	var comment []string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch rest, slashes := cutAny(line, "///", "//"); {
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
			name := declaredName(line)
			if _, starts := cutAny(line, "function ", "async function ", "export ", "pub ", "public ", "fn ", "func "); starts && name != "" {
				found = append(found, declaration{name: name}) // should it have no comment
			}
			if name != "" && len(comment) > 0 {
				found = append(found, declaration{name, firstSentence(strings.TrimSpace(strings.Join(comment, " ")))})
			}
			comment = nil
		}
	}
	return found
}

// declaredName is the name that a line of the C family declares: the word before the
// first parenthesis, or before the = of a constant that is a function.
func declaredName(line string) string {
	before, _, ok := strings.Cut(line, "(")
	if constant, value, assigned := strings.Cut(before, "="); assigned && strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(value), "async")) == "" {
		before = constant
	}
	words := strings.FieldsFunc(before, func(r rune) bool { return !isNameRune(r) })
	if !ok || len(words) == 0 || slices.Contains([]string{"if", "for", "while", "switch", "return", "catch"}, words[0]) {
		return ""
	}
	return words[len(words)-1]
}

// hashedDeclarations returns the functions of Ruby and of shells below lines with #.
func hashedDeclarations(text []byte) []declaration {
	var found []declaration
	var comment []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "#"); ok {
			comment = append(comment, strings.TrimSpace(rest))
			continue
		}
		name := ""
		if rest, ok := cutAny(line, "def ", "function "); ok {
			name = strings.TrimPrefix(rest, "self.")
		} else if before, _, ok := strings.Cut(line, "()"); ok {
			name = before
		}
		name = name[:len(name)-len(strings.TrimLeftFunc(name, isNameRune))]
		if name != "" && len(comment) > 0 {
			found = append(found, declaration{name, firstSentence(strings.Join(comment, " "))})
		}
		comment = nil
	}
	return found
}

// sections returns the titles of a page of documentation.
func sections(text []byte) []declaration {
	var found []declaration
	former := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		title, ok := cutAny(line, "## ", "### ", "# ")
		if !ok && former != "" && len(line) >= 3 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "") {
			title, ok = former, true // underlined
		}
		if ok {
			found = append(found, declaration{name: strings.TrimSpace(strings.TrimRight(title, "#"))})
		}
		former = line
	}
	return found
}

// firstSentence returns the first sentence of a comment, in one line.
func firstSentence(text string) string { return new(doc.Package).Synopsis(text) }

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
// has, the less common it is.
func (d declaration) plainScore() int {
	words := strings.FieldsFunc(splitName(d.name), func(r rune) bool { return !isNameRune(r) || r == '_' })
	if len(words) > 6 || len(words) < 2 && (len(d.name) < 5 || strings.HasPrefix(d.name, "_")) || strings.ContainsAny(d.name, "`[]{}<>|=/\\\"") {
		return 0
	}
	score := 0
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
