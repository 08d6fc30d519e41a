package recall

import (
	"context"
	"errors"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// filesDeadline is how long a list of files may look at the disk: a thousand files
// take some fifty milliseconds.
const filesDeadline = 2 * time.Second

// Files looks for files by a pattern over their paths and beginnings. What it lists
// was read again just now and still fits; of a file that does not pass the gates, or
// begins otherwise now, only the reason is counted. The errors are those of
// memory.Repositories, and CodeUnavailable while the index is being loaded.
func (s *Service) Files(ctx context.Context, req memory.FilesRequest) (*memory.FileList, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if s.opts.FileNames == nil {
		return nil, &memory.Error{
			Code: memory.CodeUnavailable, Message: "the light index is switched off",
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

// file reads a file that was found again.
func (s *Service) file(ctx context.Context, pattern string, c memory.Candidate) (memory.FileMatch, memory.Reason) {
	at, err := s.opts.Corpus.Location(c)
	if err != nil {
		return memory.FileMatch{}, memory.Gone
	}
	v, err := s.gates.head(ctx, at)
	if err != nil {
		if gate, ok := errors.AsType[*memory.GateError](err); ok {
			return memory.FileMatch{}, gate.Reason
		}
		return memory.FileMatch{}, memory.Unreadable
	}
	// What was written since may have taken away what the pattern fits.
	if !s.opts.FileNames.Fits(pattern, at.Path, v.Text) {
		return memory.FileMatch{}, memory.Changed
	}
	return memory.FileMatch{Path: at.Path, Sandbox: at.Root, Lang: at.Lang, Head: s.clean(v.Text)}, ""
}
