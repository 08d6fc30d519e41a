package recall

import (
	"context"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// filesDeadline bounds the reading of files for a list: a thousand files take about 50 ms.
const filesDeadline = 2 * time.Second

// Files returns the files whose path or beginning matches a pattern. It reads every file
// again before it lists it. It only counts files that do not pass the gates or no longer
// match, by reason. It returns the errors of service.IndexRepo, and CodeUnavailable while
// the index is loading.
func (s *Service) Files(ctx context.Context, req memory.FilesRequest) (*memory.FileList, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if s.opts.FileNames == nil {
		return nil, &memory.Error{
			Code: memory.CodeUnavailable, Message: "the file-name index is switched off",
			Hint: "set index.light to true, and start recalld again",
		}
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	found, total := s.opts.FileNames.Files(req.Pattern, project.ID, req.Limit)
	list := &memory.FileList{
		Project: project.ID, ProjectName: project.Name, Files: []memory.FileMatch{}, Total: total,
		Missing: s.opts.Missing(project.ID),
	}
	disk, cancel := context.WithTimeout(ctx, filesDeadline)
	defer cancel()
	for _, c := range found {
		match, reason := s.file(disk, req.Pattern, c)
		if reason == "" {
			list.Files = append(list.Files, match)
			continue
		}
		if list.Withheld == nil {
			list.Withheld = map[memory.Reason]int{}
		}
		list.Withheld[reason]++
	}
	return list, ctx.Err()
}

// file reads a found file again.
func (s *Service) file(ctx context.Context, pattern string, c memory.Candidate) (memory.FileMatch, memory.Reason) {
	at, err := s.opts.Corpus.Location(c)
	if err != nil {
		return memory.FileMatch{}, memory.Gone
	}
	v, err := s.gates.head(ctx, at)
	if reason := gateReason(ctx, err); reason != "" {
		return memory.FileMatch{}, reason
	}
	// The file may have changed since it was indexed.
	if !s.opts.FileNames.Fits(pattern, at.Path, v.Text) {
		return memory.FileMatch{}, memory.Changed
	}
	return memory.FileMatch{Path: at.Path, Sandbox: at.Root, Lang: at.Lang, Head: s.clean(v.Text)}, ""
}
