package recall

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// RankFiles returns the files whose code a question finds, best first, without gates and
// budget: what evaluation measures of a bug report.
func (s *Service) RankFiles(ctx context.Context, req memory.RecallRequest, opts AskOptions) ([]string, error) {
	r, err := s.newRun(ctx, req, opts)
	if err != nil {
		return nil, err
	}
	defer r.end()
	for _, st := range stages {
		if st.do(r); r.err != nil {
			return nil, r.err
		}
		if st.name == "rank" {
			break
		}
	}
	var files []string
	seen := map[memory.FileKey]bool{}
	for _, c := range r.candidates {
		if c.Kind == memory.Chunk && !seen[c.File] {
			seen[c.File] = true
			files = append(files, c.File.Path)
		}
	}
	return files, nil
}
