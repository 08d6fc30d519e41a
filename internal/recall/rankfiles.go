package recall

import (
	"context"
	"slices"

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
	rank := slices.IndexFunc(stages, func(st stage) bool { return st.name == "rank" })
	if err := r.do(stages[:rank+1]); err != nil {
		return nil, err
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
