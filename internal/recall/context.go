package recall

import (
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// What others that hand out memories share with answers, so that a token, a receipt
// and a written memory are the same everywhere.

// ReceiptID makes an id for a receipt. Ids sort by time.
func ReceiptID(at time.Time) string { return receiptID(at) }

// ContextQuestions are the questions about memories that a context asks for one message:
// what its receipt keeps as one request, by the kinds of that. Lessons and steps are one
// question, which costs half of what two do, and lessons keep their places in it; code
// is another, for beside the steps of a long session it would have none. Kinds of
// entries are left out: they are matched.
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
		if req.Kinds = records; len(records) > 1 { // the place of one kind's answer for each
			req.Limit = len(records) * memory.DefaultLimit
		}
		questions = slices.Insert(questions, 0, req)
	}
	return questions
}

// Alike says that two texts are near-duplicates, of which an answer shows one.
func (s *Service) Alike(a, b string) bool {
	return a == b || jaccard(s.opts.Analyze(a), s.opts.Analyze(b)) >= nearDuplicate
}
