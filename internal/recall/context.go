package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// ContextQuestions splits the request that a context's receipt keeps into the questions
// to ask. Lessons and steps are one question, which costs half as much as two; lessons
// keep their places in it. Code is a question of its own, because the steps of a long
// session would leave no room for it. Entries are not asked for: Match finds them.
func ContextQuestions(req memory.RecallRequest) []memory.RecallRequest {
	req.Format = memory.FormatMarkdown
	var records []memory.Kind
	var questions []memory.RecallRequest
	for _, kind := range req.Kinds {
		switch kind {
		case memory.Lesson, memory.Step:
			records = append(records, kind)
		case memory.Chunk:
			code := req
			code.Kinds = []memory.Kind{kind}
			questions = append(questions, code)
		}
	}
	if len(records) > 0 {
		if req.Kinds = records; len(records) > 1 { // room for one kind's answer for each
			req.Limit = len(records) * memory.DefaultLimit
		}
		questions = slices.Insert(questions, 0, req)
	}
	return questions
}
