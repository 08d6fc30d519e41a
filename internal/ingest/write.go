package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// Write commits a batch of another package: records of tasks and catalogues, states,
// receipts. It adds the project unless it is stored or is only an id. It analyses and embeds
// the texts of the records and fills in their documents. The texts must have been redacted
// with Clean. A Merge must keep the document of one of its two records.
//
// WriteWith makes a batch from stored data instead. The errors are the committer's.
func (s *Service) Write(ctx context.Context, project memory.Project, b memory.Batch) (memory.Committed, error) {
	return s.WriteWith(ctx, project, func() (memory.Batch, error) { return b, nil })
}

// WriteWith is Write with a batch that prepare makes from what it reads. No record is
// forgotten between reading and commit, so the batch cannot bring one back. prepare must not
// write or forget; its error is returned unchanged.
func (s *Service) WriteWith(ctx context.Context, project memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error) {
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	b, err := prepare()
	if err != nil {
		return memory.Committed{}, err
	}
	b.Subject = cmp.Or(b.Subject, project.ID)
	if project.Name != "" {
		if err := s.addProject(&b, project); err != nil {
			return memory.Committed{}, err
		}
	}
	records := make([]memory.Record, len(b.Records)) // the caller's are not written to
	texts := make([]memory.Document, len(b.Records))
	for i, r := range b.Records {
		r.Doc = memory.DocumentID(r.Text)
		records[i], texts[i] = r, memory.Document{ID: r.Doc, Text: r.Text}
	}
	b.Records = records
	c, err := s.commit(ctx, b, texts)
	if err != nil {
		return c, fmt.Errorf("write batch: %w", err)
	}
	return c, nil
}

// Clean takes the secrets out of a text, and the space around it, and says how many
// there were. What was redacted is cut to most characters, for the mark of a secret
// may be longer than the secret; a text without secrets is only trimmed.
func (s *Service) Clean(text string, most int) (clean string, n int) {
	c := s.newCleaner()
	c.text(&text, most)
	return text, c.n
}

// CleanJSON takes the secrets out of the texts and keys of a JSON value, and numbers
// that are secrets by their names, and says how many there were. All else stays byte
// by byte as it is, so the value may have grown a little. Null is nothing, and what
// is not JSON is returned as it came.
func (s *Service) CleanJSON(raw json.RawMessage) (clean json.RawMessage, n int) {
	c := s.newCleaner()
	return c.json(raw), c.n
}
