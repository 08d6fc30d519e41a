package repofiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
	"github.com/recalld/recalld/worker"
)

// The folders of an export.
const (
	exportedLogs     = "logs"
	exportedSessions = "sessions"
)

// maxProblems bounds the problems that an import lists.
const maxProblems = 100

// Import carries out service.Import.
func (s *Service) Import(ctx context.Context, req memory.ImportRequest) (*memory.Imported, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolver.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	i := &importer{opts: s.opts, project: project, out: memory.Imported{Project: project.ID, ProjectName: project.Name}}
	found, err := i.path(ctx, req.Path)
	if err == nil {
		err = i.again.take(ctx, s.opts.Ingest)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: fmt.Sprintf("%s does not exist", req.Path), Cause: err}
	case errors.Is(err, fs.ErrPermission):
		return nil, &memory.Error{Code: memory.CodeForbidden, Field: "path", Message: fmt.Sprintf("%s cannot be read: %v", req.Path, err),
			Hint: "make it readable for the user of the daemon", Cause: err}
	case err != nil:
		return nil, fmt.Errorf("import %s: %w", req.Path, err)
	case !found:
		return nil, memory.Invalid("path", "a .jsonl log, a folder of logs, a session's folder or a tree of them",
			"%s holds neither lessons nor sessions", req.Path)
	}
	return &i.out, nil
}

// importer imports files into one project.
type importer struct {
	opts    *Options
	project memory.Project
	out     memory.Imported
	again   superseding
}

// path imports a file or folder and reports whether it holds lessons or sessions. An
// export holds both.
func (i *importer) path(ctx context.Context, path string) (found bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	switch {
	case !info.IsDir():
		if !strings.EqualFold(filepath.Ext(path), ".jsonl") {
			return false, nil
		}
		return true, i.log(ctx, path)
	case sessiondir.IsSession(path):
		return true, i.sessions(ctx, sessiondir.ReadSession(path))
	case sessiondir.IsTree(path):
		return true, i.sessions(ctx, sessiondir.ReadTree(path))
	}
	logs, err := os.ReadDir(path)
	if err != nil {
		return false, err
	}
	logs = slices.DeleteFunc(logs, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".jsonl") })
	for _, log := range logs {
		file := filepath.Join(path, log.Name())
		err := i.log(ctx, file)
		if memory.CodeOf(err) == memory.CodeForbidden || errors.Is(err, fs.ErrPermission) { // the others can be read
			i.problems([]memory.ImportProblem{{File: file, Message: err.Error()}})
			err = nil
		}
		if err != nil {
			return true, err
		}
	}
	found = len(logs) > 0
	for _, below := range []string{exportedLogs, exportedSessions} {
		below = filepath.Join(path, below)
		if info, err := os.Stat(below); err != nil || !info.IsDir() {
			continue
		}
		more, err := i.path(ctx, below)
		if errors.Is(err, fs.ErrPermission) && found {
			i.problems([]memory.ImportProblem{{File: below, Message: err.Error()}})
			continue
		}
		if found = found || more; err != nil {
			return found, err
		}
	}
	return found, nil
}

// log imports a log. While one part is committed, the next two are read and prepared.
func (i *importer) log(ctx context.Context, file string) error {
	from := memory.Provenance{Origin: memory.OriginImported, Path: file}
	type prepared struct {
		lessonlog.FileLines
		lessons *ingest.PreparedLessons
	}
	parts := func(yield func(prepared, error) bool) {
		for part, err := range lessonlog.ReadFile(file) {
			p := prepared{FileLines: part}
			if err == nil {
				p.lessons, err = i.opts.Ingest.PrepareLessons(ctx, i.project, from, part.Lines)
			}
			if !yield(p, err) {
				return
			}
		}
	}
	for part, err := range worker.Ahead(parts, 1, 1) {
		if err != nil {
			return err
		}
		i.problems(part.Problems)
		taken, err := i.opts.Ingest.ImportPrepared(ctx, part.lessons)
		if err != nil {
			return err
		}
		i.out.Lessons += taken.Added
		i.out.Known += taken.Known
		i.out.Forgotten += taken.Forgotten
		i.problems(lineProblems(part.File, part.Numbers, taken))
		i.again.add(i.project, from, part.Lines)
	}
	return nil
}

func (i *importer) sessions(ctx context.Context, parts iter.Seq2[sessiondir.Batch, error]) error {
	last := ""
	for part, err := range parts {
		if err != nil {
			return err
		}
		i.problems(part.Problems)
		if part.Session.ID == "" {
			continue
		}
		part.Session.Provenance = memory.Provenance{Origin: memory.OriginImported, Path: part.Folder}
		stored, forgotten, err := i.knows(part.Session.ID)
		if err != nil {
			return err
		}
		taken, err := i.opts.Ingest.ImportSession(ctx, i.project, part.Session, part.Steps)
		if memory.CodeOf(err) == memory.CodeInvalidInput {
			i.problems([]memory.ImportProblem{{File: part.Folder, Message: err.Error()}})
			continue
		}
		if err != nil {
			return err
		}
		if part.Session.ID != last { // a large one comes in parts
			last = part.Session.ID
			switch {
			case stored:
				i.out.Known++
			case forgotten:
				i.out.Forgotten++
			default:
				i.out.Sessions++
			}
		}
		i.out.Steps += taken.Added
		i.out.Known += taken.Known
		i.out.Forgotten += taken.Forgotten
		i.problems(stepProblems(part, taken))
	}
	return nil
}

// knows says that a session is stored, or stays out because it was forgotten.
func (i *importer) knows(session string) (stored, forgotten bool, err error) {
	_, err = i.opts.Store.Session(i.project.ID, session)
	if memory.CodeOf(err) == memory.CodeNotFound {
		forgotten, err = i.opts.Ingest.SessionForgotten(i.project.ID, session)
		return false, forgotten, err
	}
	return err == nil, false, err
}

func (i *importer) problems(list []memory.ImportProblem) {
	i.out.Skipped += len(list)
	room := maxProblems - len(i.out.Problems)
	i.out.Problems = append(i.out.Problems, withoutSecrets(list[:min(room, len(list))])...)
}

// Export carries out service.Export.
func (s *Service) Export(ctx context.Context, req memory.ExportRequest) (_ *memory.Exported, err error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	defer func() {
		if fsx.RefusesWrites(err) {
			err = &memory.Error{Code: memory.CodeReadOnly, Field: "path", Cause: err,
				Message: fmt.Sprintf("%s cannot be written: %v", req.Path, err), Hint: "make room there, or name another folder"}
		}
	}()
	project, known, err := s.opts.Projects.Resolver.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, memory.Errorf(memory.CodeNotFound, "nothing is remembered of project %s", project.Name)
	}
	if err := fsx.MakeEmpty(req.Path); err != nil { // before any of it is written
		return nil, err
	}
	out := &memory.Exported{Project: project.ID, ProjectName: project.Name, Path: req.Path}
	var lessons []memory.Record
	for r, err := range s.opts.Store.ProjectRecords(ctx, project.ID, memory.Lesson) {
		if err != nil {
			return nil, fmt.Errorf("read lessons: %w", err)
		}
		if r.Extra, err = withProvenance(r.Extra, r.Provenance); err != nil {
			return nil, err
		}
		if r.Extra, err = withEvent(r.Extra, r.Event); err != nil {
			return nil, err
		}
		lessons = append(lessons, r)
	}
	if len(lessons) > 0 {
		written, err := lessonlog.Export(filepath.Join(req.Path, exportedLogs), lessons)
		if err != nil {
			return nil, err
		}
		out.Lessons, out.Files, out.LeftOut = written.Lessons, written.Files, written.LeftOut
	}
	sessions, err := s.opts.Store.ProjectSessions(project.ID)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	if len(sessions) > 0 {
		var unread error
		files, err := sessiondir.Export(filepath.Join(req.Path, exportedSessions), func(yield func(memory.Session, []memory.Record) bool) {
			for _, x := range sessions {
				var steps []memory.Record
				if steps, unread = s.exportedSteps(ctx, &x); unread != nil {
					return
				}
				out.Steps += len(steps)
				if !yield(x, steps) {
					return
				}
			}
		})
		if err := errors.Join(err, unread); err != nil {
			return nil, err
		}
		out.Sessions = len(sessions)
		out.Files += files
	}
	return out, nil
}

// withProvenance adds where something comes from to the fields of an exported line or
// file that other programs need not know. Importing it decides nothing by them.
func withProvenance(extra map[string]json.RawMessage, p memory.Provenance) (map[string]json.RawMessage, error) {
	if p == (memory.Provenance{}) {
		return extra, nil
	}
	return withField(extra, "provenance", p)
}

// withEvent adds the anchors and marks of a lesson, which an import keeps.
func withEvent(extra map[string]json.RawMessage, e *memory.Event) (_ map[string]json.RawMessage, err error) {
	if e == nil {
		return extra, nil
	}
	if len(e.Anchors) > 0 {
		extra, err = withField(extra, "anchors", e.Anchors)
	}
	for name, set := range map[string]bool{"pinned": e.Pinned, "private": e.Private} {
		if set && err == nil {
			extra, err = withField(extra, name, true)
		}
	}
	return extra, err
}

func withField(extra map[string]json.RawMessage, name string, v any) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	more := maps.Clone(extra)
	if more == nil {
		more = map[string]json.RawMessage{}
	}
	more[name] = raw
	return more, nil
}

// exportedSteps reads the steps of a session. It adds their provenance, and the session's own.
func (s *Service) exportedSteps(ctx context.Context, x *memory.Session) ([]memory.Record, error) {
	var steps []memory.Record
	for _, id := range s.opts.Steps.SessionSteps(x.Project, x.ID) {
		step, err := s.opts.Store.Record(id)
		if memory.CodeOf(err) == memory.CodeNotFound {
			continue // forgotten meanwhile
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if step.Step != nil {
			content := *step.Step
			if content.Extra, err = withProvenance(content.Extra, step.Provenance); err != nil {
				return nil, err
			}
			step.Step = &content
		}
		steps = append(steps, step)
	}
	var err error
	x.Extra, err = withProvenance(x.Extra, x.Provenance)
	return steps, err
}
