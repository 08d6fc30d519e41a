package eval

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

// lessonFiles is the built-in evaluation set of lessons. A model that a user adapts to their
// own texts is evaluated with it.
//
//go:embed testdata/lessons/corpus.jsonl testdata/lessons/queries.jsonl testdata/lessons/qrels.tsv
var lessonFiles embed.FS

const lessonDir = "testdata/lessons/"

// LessonPair is a question of the set of lessons and a lesson that answers it.
type LessonPair struct{ Question, Lesson string }

// LessonPairs returns the questions of the set of lessons, each with the first lesson
// that is right for it, in their order.
func LessonPairs() ([]LessonPair, error) {
	lessons := map[string]string{}
	err := embeddedLines("corpus.jsonl", func(line []byte) error {
		var d Document
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		lessons[d.BeirID] = d.Title + "\n" + d.Text
		return nil
	})
	if err != nil {
		return nil, err
	}
	right := map[string]string{}
	err = embeddedLines("qrels.tsv", func(line []byte) error {
		fields := strings.Split(string(line), "\t")
		if len(fields) != 3 {
			return fmt.Errorf("%d fields, want 3", len(fields))
		}
		if right[fields[0]] == "" && lessons[fields[1]] != "" { // the heading names none
			right[fields[0]] = lessons[fields[1]]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var pairs []LessonPair
	err = embeddedLines("queries.jsonl", func(line []byte) error {
		var q Query
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		if lesson := right[q.BeirID]; lesson != "" {
			pairs = append(pairs, LessonPair{q.Text, lesson})
		}
		return nil
	})
	return pairs, err
}

func embeddedLines(name string, take func([]byte) error) error {
	text, err := lessonFiles.ReadFile(lessonDir + name)
	if err != nil {
		return fmt.Errorf("read set of lessons: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if err := take(lines.Bytes()); err != nil {
			return fmt.Errorf("read set of lessons: %s: %w", name, err)
		}
	}
	return lines.Err()
}
