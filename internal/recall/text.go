package recall

import (
	"encoding/json"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Former names of functions of package render.

const (
	ellipsis     = render.Ellipsis
	stepLine     = render.StepLine
	subjectBytes = render.SubjectBytes
)

func tokens(text string) int                               { return render.Tokens(text) }
func maxBytes(tokens int) int                              { return render.MaxBytes(tokens) }
func itemTokens(i memory.Item) int                         { return render.ItemTokens(i) }
func itemText(i memory.Item, number int) string            { return render.Item(i, number) }
func commandText(i memory.Item) string                     { return render.Command(i) }
func lessonLine(i memory.Item, n int) string               { return render.Lesson(i, n) }
func oneLine(s string) string                              { return render.OneLine(s) }
func prefix(text string, n int) string                     { return render.Prefix(text, n) }
func shorten(line string, n int) string                    { return render.Shorten(line, n) }
func degradedLine(ds []memory.Degraded) string             { return render.Degraded(ds) }
func stepText(st *memory.StepContent) string               { return render.Step(st) }
func outline(st *memory.StepContent) string                { return render.StepOutline(st) }
func ending(o memory.Outcome) string                       { return render.StepOutcome(o) }
func brief(raw json.RawMessage) string                     { return render.Value(raw) }
func entryText(e *memory.Entry) string                     { return render.Entry(e) }
func outcomeOf(report json.RawMessage) string              { return render.TaskOutcome(report) }
func unmarked(i memory.Item) (text, mark string)           { return render.SplitMark(i) }
func wholeText(i memory.Item, number int) string           { return render.Whole(i, number) }
func wholeTokens(i memory.Item) int                        { return render.WholeTokens(i) }
func taskText(k memory.Kind, t *memory.TaskContent) string { return render.Task(k, t) }
