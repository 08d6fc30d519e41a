package repofiles

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// follower imports what other programs write into the logs and session folders of the
// known repositories (see roots) that are trusted (see trust). It counts the files of
// the others that wait. It polls, which costs some file attributes per repository and
// works on every system.
type follower struct {
	opts     *Options
	roots    *roots
	trust    *trust
	contexts *contextFiles
	seen     map[string]bool // roots whose context files were looked for
	wake     chan struct{}   // has it look at once
	log      *slog.Logger
	lessons  *lessonlog.Follower
	sessions *sessiondir.Follower
	// failed is the logged reason why a folder is not followed, by its path.
	failed map[string]string
	// strangers are repositories that a folder of all logs names and no project has
	// as a name; names are the names of all projects at that time.
	strangers map[string]bool
	names     []string
}

// maxStrangers bounds the repositories without a project that are remembered.
const maxStrangers = 1000

func newFollower(opts *Options, roots *roots, trust *trust, contexts *contextFiles) *follower {
	return &follower{
		opts: opts, roots: roots, trust: trust, contexts: contexts, log: opts.Logger.With(logging.PartKey, "follow"),
		seen: map[string]bool{}, wake: make(chan struct{}, 1), lessons: lessonlog.New(), sessions: sessiondir.New(),
		failed: map[string]string{}, strangers: map[string]bool{},
	}
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
		case <-f.wake:
		}
	}
}

// wakeUp makes run look at once.
func (f *follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default: // it will
	}
}

// look imports what is new. What cannot be read or stored is logged and skipped; status
// shows it.
func (f *follower) look(ctx context.Context) {
	roots, err := f.roots.all()
	if err != nil {
		f.log.Error("the repositories cannot be listed", logging.ErrorKey, err)
		return
	}
	for _, root := range f.trust.takeFresh() {
		f.lessons.Reset(root, f.opts.LessonDir)
		f.sessions.Reset(root, f.opts.SessionDir)
		delete(f.seen, root)
	}
	for _, root := range roots {
		if ctx.Err() != nil {
			return
		}
		if !f.seen[root] {
			f.seen[root] = true
			f.contexts.wait(root)
		}
		// A folder outside of the repositories holds the sessions of all; nothing in
		// it says of which project one is, so it is written and not followed.
		if !filepath.IsAbs(f.opts.SessionDir) {
			f.report(filepath.Join(root, f.opts.SessionDir), f.followSessions(ctx, root))
		}
		if !filepath.IsAbs(f.opts.LessonDir) {
			f.report(filepath.Join(root, f.opts.LessonDir), f.followLessons(ctx, root))
		}
	}
	if filepath.IsAbs(f.opts.LessonDir) {
		f.report(f.opts.LessonDir, f.followAll(ctx))
	}
}

// report logs why a folder is not followed, once for each reason, and that it is again.
func (f *follower) report(folder string, err error) {
	what := "what other programs wrote into " + folder + " is not taken over"
	switch why := f.failed[folder]; {
	case err == nil && why == "":
	case err == nil:
		delete(f.failed, folder)
		f.log.Info("what other programs wrote is taken over again", logging.MendedKey, what)
	case err.Error() != why:
		f.failed[folder] = err.Error()
		f.log.Error(what, logging.ErrorKey, err)
	}
}

// followAll follows a folder of all logs. A line belongs to the project that its
// repository names. Lines of repositories without a project wait for one: when projects
// have changed, the logs are read once more, where known lines cost little.
func (f *follower) followAll(ctx context.Context) (err error) {
	known, err := f.opts.Store.Projects()
	if err != nil {
		return err
	}
	var names []string
	for _, p := range known {
		names = append(names, p.Names...)
	}
	slices.Sort(names)
	if len(f.strangers) > 0 && !slices.Equal(names, f.names) {
		f.lessons.Reset("", f.opts.LessonDir)
		maps.DeleteFunc(f.strangers, func(repo string, _ bool) bool {
			_, err := f.opts.Projects.Named(repo)
			return err == nil
		})
	}
	f.names = names
	var again superseding
	defer func() { f.rereadAfter(err, "", again) }()
	for part, err := range f.lessons.Poll("", f.opts.LessonDir) {
		if err != nil {
			return err
		}
		f.problems(part.Problems)
		for owned := range sameOwner(f.opts.Projects.Named, part, f.stranger) {
			if err := f.takeLines(ctx, part.File, owned, &again); err != nil {
				return err // the part comes again
			}
		}
	}
	return again.take(ctx, f.opts.Ingest)
}

// followLessons follows the logs of a repository, whose lines are all its own.
func (f *follower) followLessons(ctx context.Context, root string) (err error) {
	f.trust.taking.RLock()
	defer f.trust.taking.RUnlock()
	var again superseding
	defer func() { f.rereadAfter(err, root, again) }()
	var at project.Identity
	for part, err := range f.lessons.Poll(root, f.opts.LessonDir) {
		if err != nil {
			return err
		}
		if at.Root == "" && len(part.Lines)+len(part.Problems) > 0 {
			if at, err = f.opts.Projects.Locate(root); err != nil {
				return err
			}
		}
		if at.Root != "" && !f.trust.allows(at) {
			if err := f.waitLines(at, part); err != nil {
				return err
			}
			continue
		}
		f.problems(part.Problems)
		if len(part.Lines) == 0 {
			continue
		}
		owned := ownedLines{project: at.Project, lines: part.Lines, numbers: part.Numbers}
		if err := f.takeLines(ctx, part.File, owned, &again); err != nil {
			return err // the part comes again
		}
		f.roots.look(root) // its project is stored now
	}
	return again.take(ctx, f.opts.Ingest)
}

// rereadAfter makes the next poll of logs read all of them if this one failed while lines
// waited for its end: nothing else holds those.
func (f *follower) rereadAfter(err error, root string, again superseding) {
	if err != nil && len(again) > 0 {
		f.lessons.Reset(root, f.opts.LessonDir)
	}
}

// waitLines notes that lines wait, unless they are known: recalld writes to the log
// itself.
func (f *follower) waitLines(at project.Identity, part lessonlog.FileLines) error {
	for _, line := range part.Lines {
		known, err := f.opts.Ingest.KnowsLine(line, at.Project)
		if err != nil {
			return err
		}
		if !known {
			f.trust.wait(at, func(w *waitingFiles) { note(w.logs, part.File) })
			return nil
		}
	}
	return nil
}

func (f *follower) takeLines(ctx context.Context, file string, owned ownedLines, again *superseding) error {
	owned.from = memory.Provenance{Origin: memory.OriginFollowed, Path: file}
	taken, err := f.opts.Ingest.ImportLessons(ctx, owned.project, owned.from, owned.lines)
	if err != nil {
		return err
	}
	f.problems(lineProblems(file, owned.numbers, taken))
	again.add(owned.project, owned.from, owned.lines)
	return nil
}

// stranger reports a line of no project, once for its repository.
func (f *follower) stranger(repo string, p memory.ImportProblem) {
	if f.strangers[repo] {
		return
	}
	if len(f.strangers) >= maxStrangers {
		clear(f.strangers)
	}
	f.strangers[repo] = true
	f.problems([]memory.ImportProblem{p})
}

func (f *follower) followSessions(ctx context.Context, root string) error {
	f.trust.taking.RLock()
	defer f.trust.taking.RUnlock()
	var at project.Identity
	for part, err := range f.sessions.Poll(root, f.opts.SessionDir) {
		if err != nil {
			return err
		}
		if at.Root == "" {
			if at, err = f.opts.Projects.Locate(root); err != nil {
				return err
			}
		}
		if !f.trust.allows(at) {
			if err := f.waitSession(at, part); err != nil {
				return err
			}
			continue
		}
		f.problems(part.Problems)
		if part.Session.ID == "" {
			continue
		}
		part.Session.Provenance = memory.Provenance{Origin: memory.OriginFollowed, Path: part.Folder}
		taken, err := f.opts.Ingest.ImportSession(ctx, at.Project, part.Session, part.Steps)
		if memory.CodeOf(err) == memory.CodeInvalidInput {
			f.problems([]memory.ImportProblem{{File: part.Folder, Message: err.Error()}})
			continue
		}
		if err != nil {
			return err
		}
		f.problems(stepProblems(part, taken))
		f.roots.look(root) // its project is stored now
	}
	return nil
}

// waitSession notes that a session waits, unless it was recorded, imported or forgotten here.
func (f *follower) waitSession(at project.Identity, part sessiondir.Batch) error {
	if part.Session.ID == "" {
		return nil
	}
	if forgotten, err := f.opts.Ingest.SessionForgotten(at.Project.ID, part.Session.ID); forgotten || err != nil {
		return err
	}
	x, err := f.opts.Store.Session(at.Project.ID, part.Session.ID)
	switch {
	case err != nil && memory.CodeOf(err) != memory.CodeNotFound:
		return err
	case err != nil || x.Provenance.Followed():
		f.trust.wait(at, func(w *waitingFiles) { note(w.sessions, part.Folder) })
	}
	return nil
}

// problems logs as errors, which status shows: nothing else informs the file's author.
func (f *follower) problems(list []memory.ImportProblem) {
	for _, p := range withoutSecrets(list) {
		f.log.Error("skipped "+where(p), logging.ErrorKey, p.Message)
	}
}
