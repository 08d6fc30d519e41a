package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// follower takes over what other programs write into the logs and session
// folders of the repositories known: those that are indexed, and those that
// something was remembered for since the start. It looks at them now and then,
// which costs some file attributes a repository and works on every system.
type follower struct {
	core     *Core
	files    *files
	log      *slog.Logger
	lessons  *lessonlog.Follower
	sessions *sessiondir.Follower
}

func newFollower(core *Core, files *files, log *slog.Logger) (*follower, error) {
	lessons, err := lessonlog.New(lessonlog.Options{})
	if err != nil {
		return nil, fmt.Errorf("follow logs: %w", err)
	}
	sessions, err := sessiondir.New(sessiondir.Options{})
	if err != nil {
		return nil, fmt.Errorf("follow sessions: %w", err)
	}
	return &follower{core: core, files: files, log: log.With(attrPart, "follow"), lessons: lessons, sessions: sessions}, nil
}

// run looks at once and then at every tick, until ctx ends.
func (f *follower) run(ctx context.Context, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		f.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// look takes over what is new. What cannot be read or kept is logged, which
// status shows, and passed over.
func (f *follower) look(ctx context.Context) {
	sandboxes, err := f.core.Store.Sandboxes()
	if err != nil {
		f.log.Error("the repositories cannot be listed", attrError, err)
		return
	}
	roots := f.files.roots()
	for _, b := range sandboxes {
		roots = append(roots, b.Root)
	}
	slices.Sort(roots)
	for _, root := range slices.Compact(roots) {
		if ctx.Err() != nil {
			return
		}
		// A folder outside of the repositories holds the sessions of all; nothing in
		// it says of which project one is, so it is written and not followed.
		if !filepath.IsAbs(f.files.sessions.Dir) {
			f.report(f.followSessions(ctx, root))
		}
		if !filepath.IsAbs(f.files.lessons.Dir) {
			f.report(f.followLessons(ctx, root, f.ofRoot(root)))
		}
	}
	if filepath.IsAbs(f.files.lessons.Dir) {
		f.report(f.followLessons(ctx, "", f.ofRepo))
	}
}

func (f *follower) report(err error) {
	if err != nil {
		f.log.Error("what other programs wrote is not taken over", attrError, err)
	}
}

// owner says of which project a line is.
type owner func(ctx context.Context, line memory.LogLine) (memory.Project, error)

// ofRoot: in a repository's own log, of the repository. It is found once.
func (f *follower) ofRoot(root string) owner {
	var found *memory.Project
	return func(ctx context.Context, _ memory.LogLine) (memory.Project, error) {
		if found == nil {
			p, _, err := f.core.Projects.Resolve(ctx, root, memory.Caller{})
			if err != nil {
				return p, err
			}
			found = &p
		}
		return *found, nil
	}
}

// ofRepo: in a folder of all logs, of the project that its repository names.
func (f *follower) ofRepo(ctx context.Context, line memory.LogLine) (memory.Project, error) {
	p, _, err := f.core.Projects.Resolve(ctx, line.Repo, memory.Caller{})
	return p, err
}

func (f *follower) followLessons(ctx context.Context, root string, of owner) error {
	var asides []ownedLines // of lessons that a later log may tell
	for part, err := range f.lessons.Poll(root, f.files.lessons.Dir) {
		if err != nil {
			return err
		}
		f.problems(part.Problems)
		for lines := range sameOwner(ctx, of, part.Lines, f.problem(part.File)) {
			taken, err := f.core.Ingest.ImportLessons(ctx, lines.project, lines.lines)
			if err != nil {
				return err // the part comes again
			}
			for _, p := range taken.Problems {
				f.problems([]memory.ImportProblem{{File: part.File, Message: p.Err.Error()}})
			}
			if slices.ContainsFunc(lines.lines, putsAside) {
				asides = append(asides, lines)
			}
		}
	}
	for _, again := range asides {
		if _, err := f.core.Ingest.ImportLessons(ctx, again.project, again.lines); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) followSessions(ctx context.Context, root string) error {
	var project memory.Project
	for part, err := range f.sessions.Poll(root, f.files.sessions.Dir) {
		if err != nil {
			return err
		}
		f.problems(part.Problems)
		if part.Session.ID == "" {
			continue
		}
		if project.ID == "" {
			if project, _, err = f.core.Projects.Resolve(ctx, root, memory.Caller{}); err != nil {
				return err
			}
		}
		taken, err := f.core.Ingest.ImportSession(ctx, project, part.Session, part.Steps)
		if memory.CodeOf(err) == memory.CodeInvalidInput && err != nil {
			f.problems([]memory.ImportProblem{{File: part.Folder, Message: err.Error()}})
			continue
		}
		if err != nil {
			return err
		}
		f.problems(stepProblems(part.Folder, taken))
	}
	return nil
}

func stepProblems(folder string, taken ingest.Taken) []memory.ImportProblem {
	list := make([]memory.ImportProblem, len(taken.Problems))
	for i, p := range taken.Problems {
		list[i] = memory.ImportProblem{File: folder, Message: "a step: " + p.Err.Error()}
	}
	return list
}

// problem reports what is wrong with a file.
func (f *follower) problem(file string) func(error) {
	return func(err error) { f.problems([]memory.ImportProblem{{File: file, Message: err.Error()}}) }
}

// problems are logged as errors, which status shows: nobody else tells whoever
// wrote the file.
func (f *follower) problems(list []memory.ImportProblem) {
	for _, p := range list {
		where := p.File
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		f.log.Error("passed over "+where, attrError, p.Message)
	}
}

// ownedLines are lines of one project.
type ownedLines struct {
	project memory.Project
	lines   []memory.LogLine
}

// sameOwner hands out lines by their project, in order; of a line without one it
// tells what is wrong.
func sameOwner(ctx context.Context, of owner, lines []memory.LogLine, wrong func(error)) func(func(ownedLines) bool) {
	return func(yield func(ownedLines) bool) {
		var run ownedLines
		for _, line := range lines {
			p, err := of(ctx, line)
			if err != nil {
				wrong(err)
				continue
			}
			if p.ID != run.project.ID && len(run.lines) > 0 {
				if !yield(run) {
					return
				}
				run.lines = nil
			}
			run.project, run.lines = p, append(run.lines, line)
		}
		if len(run.lines) > 0 {
			yield(run)
		}
	}
}
