package eval

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// maxLine is the longest line of a set's file, in bytes: what a reader holds at
// once.
const maxLine = 32 << 20

// Document is one document of a set. Its id may be written "_id", as the sets of
// BEIR do (Thakur et al., 2021).
type Document struct {
	ID     string `json:"id"`
	BeirID string `json:"_id"`
	// Kind says what it becomes: a reference, which is the default, a lesson, a step or a
	// chunk.
	Kind memory.Kind `json:"kind"`
	// Title is the title of a reference and the context of a lesson. Text is a reference's
	// text, a lesson with its command on a second line, what was seen in a step or its
	// error, and of a chunk a part of a line that its file has once.
	Title    string   `json:"title"`
	Text     string   `json:"text"`
	Group    string   `json:"group"`
	Metadata Metadata `json:"metadata"`
	// Session, Tool, Target and Failed are a step's.
	Session string `json:"session"`
	Tool    string `json:"tool"`
	Target  string `json:"target"`
	Failed  bool   `json:"failed"`
	// Path is a chunk's file, below the folder code of the set.
	Path string `json:"path"`
	// order is its place in the corpus.
	order int
}

// Metadata is what a lesson has besides its text.
type Metadata struct {
	Type        memory.EventType `json:"event_type"`
	Tags        []string         `json:"tags"`
	SuccessRate string           `json:"success_rate"`
}

// Query is one question of a set. Where it has a group, only the documents of
// that group are searched.
type Query struct {
	ID     string `json:"id"`
	BeirID string `json:"_id"`
	Text   string `json:"text"`
	Group  string `json:"group"`
	// Kind is the kind of memory that it looks for, and Split the part of the set that it
	// belongs to, such as "dev" or "test". Answers are counted by both.
	Kind  memory.Kind `json:"kind"`
	Split string      `json:"split"`
}

// Grades are the grades of judged documents by their id.
type Grades map[string]float64

// relevant is the number of documents that answer the question.
func (g Grades) relevant() int {
	n := 0
	for _, grade := range g {
		if grade > 0 {
			n++
		}
	}
	return n
}

// Set is a set, its documents left on disk.
type Set struct {
	// Name is the folder's.
	Name    string
	Queries []Query
	// Unanswered are further questions that nothing in the set answers, from
	// unanswered.jsonl if the set has it. Only answers are measured by them.
	Unanswered []Query
	// Judged holds the grades of each question that any document answers.
	Judged map[string]Grades

	dir string
	// named is where each document is first judged; the corpus must hold it.
	named map[string]place
}

// InputError is returned when a file of a set cannot be used. It names the
// file and the line.
type InputError struct {
	File string
	// Line counts from 1; 0 is the file as a whole.
	Line   int
	Reason string
}

func (e *InputError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// OpenSet reads the questions and judgements of the set in dir. It returns an
// *InputError for a line that cannot be used, and for what is not a folder. Without the
// folder the error is CodeNotFound.
func OpenSet(dir string) (*Set, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, memory.Errorf(memory.CodeNotFound, "%s: there is no such folder", dir)
	case err != nil:
		return nil, fmt.Errorf("open set: %w", err)
	case !info.IsDir():
		return nil, &InputError{File: dir, Reason: "is not a folder"}
	}
	s := &Set{Name: filepath.Base(dir), Judged: map[string]Grades{}, dir: dir, named: map[string]place{}}
	known := map[string]bool{}
	var err error
	if s.Queries, err = readQueries(dir, "queries.jsonl", known); err != nil {
		return nil, err
	}
	if len(s.Queries) == 0 {
		return nil, &InputError{File: filepath.Join(dir, "queries.jsonl"), Reason: "holds no question"}
	}
	if exists(dir, unansweredFile) {
		if s.Unanswered, err = readQueries(dir, unansweredFile, known); err != nil {
			return nil, err
		}
	}
	return s, s.readJudgements()
}

const unansweredFile = "unanswered.jsonl"

// exists says whether a set has a file, plain or compressed.
func exists(dir, name string) bool {
	path := filepath.Join(dir, name)
	_, plain := os.Lstat(path) // a link that leads nowhere is told
	_, zipped := os.Lstat(path + ".gz")
	return plain == nil || zipped == nil
}

// readQueries reads the questions of a file; known holds the ids of those read so far.
func readQueries(dir, name string, known map[string]bool) (queries []Query, err error) {
	for q, err := range jsonLines(dir, name, (*Query).check) {
		switch {
		case err != nil:
			return nil, err
		case known[q.value.ID]:
			return nil, q.at.fail("question %q appears twice", q.value.ID)
		}
		known[q.value.ID] = true
		queries = append(queries, q.value)
	}
	return queries, nil
}

// codeDir is the folder of a set whose files are indexed as code.
const codeDir = "code"

// Code is the folder of the set's code; empty if it has none.
func (s *Set) Code() string {
	dir := filepath.Join(s.dir, codeDir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// Keep keeps the questions of a split alone. It returns an *InputError if there are none.
func (s *Set) Keep(split string) error {
	other := func(q Query) bool { return q.Split != split }
	s.Queries, s.Unanswered = slices.DeleteFunc(s.Queries, other), slices.DeleteFunc(s.Unanswered, other)
	if len(s.Queries) == 0 {
		return &InputError{File: filepath.Join(s.dir, "queries.jsonl"), Reason: fmt.Sprintf("holds no question of split %q", split)}
	}
	return nil
}

// Documents reads the set's documents one by one. The error, an *InputError for
// a line that cannot be used, ends the sequence. Behind the last document it is
// one for the first judgement of a document that was not among them: such a
// question could not be answered in full, and its figures would say nothing.
func (s *Set) Documents() iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		seen := map[string]bool{}
		for d, err := range jsonLines(s.dir, "corpus.jsonl", (*Document).check) {
			d.value.order = len(seen)
			if err == nil && seen[d.value.ID] {
				err = d.at.fail("document %q appears twice", d.value.ID)
			}
			if !yield(d.value, err) || err != nil {
				return
			}
			seen[d.value.ID] = true
		}
		if err := s.unknown(seen); err != nil {
			yield(Document{}, err)
		}
	}
}

// unknown returns an error for the first line that judges a document which is
// not in the corpus.
func (s *Set) unknown(corpus map[string]bool) error {
	var first place
	missing := ""
	for id, at := range s.named {
		if !corpus[id] && (missing == "" || at.line < first.line) {
			missing, first = id, at
		}
	}
	if missing == "" {
		return nil
	}
	return first.fail("document %q is not in the corpus", missing)
}

// readJudgements reads lines of question, document and grade, with tabs between them, below a
// heading or without one. It leaves out judgements of questions that the set does not ask.
func (s *Set) readJudgements() error {
	asked := make(map[string]bool, len(s.Queries))
	for _, q := range s.Queries {
		asked[q.ID] = true
	}
	for line, err := range lines(s.dir, "qrels.tsv") {
		if err != nil {
			return err
		}
		fields := strings.Split(line.value, "\t")
		if len(fields) != 3 {
			return line.at.fail("has %d fields, want question, document and grade with tabs between them", len(fields))
		}
		if line.at.line == 1 && fields[2] == "score" {
			continue // the heading that BEIR's files have
		}
		grade, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || math.IsNaN(grade) || math.IsInf(grade, 0) {
			return line.at.fail("grade %q is not a number", fields[2])
		}
		if !asked[fields[0]] {
			continue
		}
		if _, known := s.named[fields[1]]; !known {
			s.named[fields[1]] = line.at
		}
		if s.Judged[fields[0]] == nil {
			s.Judged[fields[0]] = Grades{}
		}
		// Some sets mark what misleads with a negative grade; like trec_eval,
		// no gain is lost by it.
		s.Judged[fields[0]][fields[1]] = max(grade, 0)
	}
	for id, grades := range s.Judged {
		if grades.relevant() == 0 {
			delete(s.Judged, id)
		}
	}
	if len(s.Judged) == 0 {
		return &InputError{File: filepath.Join(s.dir, "qrels.tsv"), Reason: "judges no question of the set"}
	}
	return nil
}

func (d *Document) check() string {
	d.ID, d.BeirID = cmp.Or(d.ID, d.BeirID), ""
	d.Kind = cmp.Or(d.Kind, memory.Reference)
	switch {
	case !slices.Contains(Kinds, d.Kind):
		return fmt.Sprintf("kind %q is none of %v", d.Kind, Kinds)
	case d.Text == "" && (d.Title == "" || d.Kind != memory.Reference):
		return "text is empty"
	case d.Kind == memory.Step && (d.Session == "" || d.Tool == ""):
		return "a step needs session and tool"
	case d.Kind == memory.Chunk && d.Path == "":
		return "a chunk needs path"
	case d.Kind == memory.Chunk && d.Group != "":
		return "a chunk has no group: the code of a set is one folder"
	}
	return checkID(d.ID)
}

// Kinds are the kinds that documents can have.
var Kinds = []memory.Kind{memory.Reference, memory.Lesson, memory.Step, memory.Chunk}

func (q *Query) check() string {
	q.ID, q.BeirID = cmp.Or(q.ID, q.BeirID), ""
	switch n := utf8.RuneCountInString(q.Text); {
	case strings.TrimSpace(q.Text) == "":
		return "text is empty"
	case n > memory.MaxQuery:
		return fmt.Sprintf("text has %d characters, a question has at most %d", n, memory.MaxQuery)
	case q.Kind != "" && !slices.Contains(Kinds, q.Kind):
		return fmt.Sprintf("kind %q is none of %v", q.Kind, Kinds)
	}
	return checkID(q.ID)
}

// checkID says what is wrong with an id: it becomes the name of a reference and
// a field of a line.
func checkID(id string) string {
	switch {
	case id == "":
		return "id is empty"
	case strings.ContainsAny(id, "\t\r\n"):
		return fmt.Sprintf("id %q holds a tab or a line end", id)
	case utf8.RuneCountInString(id) > memory.MaxNameText:
		return fmt.Sprintf("id has over %d characters", memory.MaxNameText)
	}
	return ""
}

// place is a line of a file.
type place struct {
	file string
	line int
}

func (p place) fail(format string, args ...any) error {
	return &InputError{File: p.file, Line: p.line, Reason: fmt.Sprintf(format, args...)}
}

// located is a value and where it stands.
type located[T any] struct {
	value T
	at    place
}

// jsonLines reads one value from each line. check returns what is wrong with a value, or
// "". Fields that T lacks are ignored: sets contain more than is needed here.
func jsonLines[T any](dir, name string, check func(*T) string) iter.Seq2[located[T], error] {
	return func(yield func(located[T], error) bool) {
		for line, err := range lines(dir, name) {
			v := located[T]{at: line.at}
			if err == nil {
				err = parse(line, &v.value, check)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func parse[T any](line located[string], value *T, check func(*T) string) error {
	if !utf8.ValidString(line.value) {
		return line.at.fail("is not UTF-8")
	}
	if err := json.Unmarshal([]byte(line.value), value); err != nil {
		return line.at.fail("is not a JSON object of the expected shape: %v", err)
	}
	if wrong := check(value); wrong != "" {
		return line.at.fail("%s", wrong)
	}
	return nil
}

// lines reads the lines of a file that are not blank, plain or compressed.
func lines(dir, name string) iter.Seq2[located[string], error] {
	return func(yield func(located[string], error) bool) {
		r, path, err := openFile(dir, name)
		if err != nil {
			yield(located[string]{}, err)
			return
		}
		defer r.Close()
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxLine)
		at := place{file: path}
		for scanner.Scan() {
			at.line++
			if text := strings.TrimSuffix(scanner.Text(), "\r"); strings.TrimSpace(text) != "" {
				if !yield(located[string]{text, at}, nil) {
					return
				}
			}
		}
		at.line++
		switch err := scanner.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(located[string]{}, at.fail("is longer than %d MiB", maxLine>>20))
		case err != nil:
			yield(located[string]{}, at.fail("cannot be read: %v", err))
		}
	}
}

// openFile opens a file of a set, or the compressed one beside it.
func openFile(dir, name string) (io.ReadCloser, string, error) {
	path := filepath.Join(dir, name)
	f, err := fsx.Open(path)
	if err == nil {
		return f, path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("open set: %w", err)
	}
	if f, err = fsx.Open(path + ".gz"); err != nil {
		return nil, "", &InputError{File: path, Reason: "is missing, and so is " + name + ".gz"}
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, "", errors.Join(&InputError{File: path + ".gz", Reason: err.Error()}, f.Close())
	}
	return &zipped{z, f}, path + ".gz", nil
}

// zipped closes the file below the decompressor.
type zipped struct {
	*gzip.Reader
	file *os.File
}

func (z *zipped) Close() error { return errors.Join(z.Reader.Close(), z.file.Close()) }
