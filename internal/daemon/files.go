package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// files writes what was remembered into the files of its repository as well. The
// record is committed before: a file that cannot be written is a warning, never a
// reason to refuse.
type files struct {
	lessons  config.Lessons
	sessions config.Sessions
	log      *slog.Logger

	mu sync.Mutex
	// seen are the repositories that something was written for since the start;
	// guarded by mu.
	seen map[string]bool
}

// logPatience is how long a line waits for the other writers of its log.
const logPatience = 2 * time.Second

func newFiles(cfg config.Config, log *slog.Logger) *files {
	return &files{lessons: cfg.Lessons, sessions: cfg.Sessions, log: log, seen: map[string]bool{}}
}

// root returns the repository of the caller's folder, to which dir is relative. ok
// is false where nothing is to be written: outside of the project that is meant, and in
// a folder without git, unless dir is there. An absolute dir needs no repository.
func (f *files) root(caller memory.Caller, project, dir string) (root string, ok bool) {
	id, err := identify(caller.Dir)
	if err != nil || id.Project.ID != project {
		return "", filepath.IsAbs(dir)
	}
	f.mu.Lock()
	f.seen[id.Root] = true
	f.mu.Unlock()
	if id.GitDir == "" && !filepath.IsAbs(dir) {
		info, err := os.Stat(filepath.Join(id.Root, dir))
		return id.Root, err == nil && info.IsDir()
	}
	return id.Root, true
}

func identify(dir string) (project.Identity, error) {
	if dir == "" {
		return project.Identity{}, memory.Errorf(memory.CodeNotFound, "no folder is known")
	}
	return project.Identify(dir)
}

// roots are the repositories that something was written for since the start.
func (f *files) roots() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]string, 0, len(f.seen))
	for root := range f.seen {
		list = append(list, root)
	}
	return list
}

// appendLesson writes a lesson's line into the log of its repository.
func (f *files) appendLesson(ctx context.Context, caller memory.Caller, kept *memory.Remembered, line memory.LogLine) {
	root, ok := f.root(caller, kept.Project, f.lessons.Dir)
	if !ok || !f.lessons.Log {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logPatience)
	defer cancel()
	path, err := lessonlog.Append(ctx, root, f.lessons.Dir, line.Repo, line)
	kept.Log, kept.Warning = path, f.warning("write lesson log", err)
}

// putSession writes a session's file.
func (f *files) putSession(caller memory.Caller, s *memory.SessionState) {
	root, ok := f.root(caller, s.Project, f.sessions.Dir)
	if !ok || !f.sessions.Files {
		return
	}
	dir, err := sessiondir.WriteSession(root, f.sessions.Dir, s.Session)
	s.Dir, s.Warning = dir, f.warning("write session file", err)
}

// putStep writes a step's file, and stores the picture that it names.
func (f *files) putStep(caller memory.Caller, s memory.Session, r memory.Record, out *memory.StepRecorded) {
	root, ok := f.root(caller, s.Project, f.sessions.Dir)
	if !ok || !f.sessions.Files {
		return
	}
	if r.Step.Screenshot != "" && s.Screenshots {
		picture, err := sessiondir.StoreScreenshot(root, f.sessions.Dir, s, r.Step.Screenshot)
		if out.Warning = f.warning("store screenshot", err); err == nil {
			content := *r.Step
			content.Screenshot = picture
			r.Step = &content
		}
	}
	path, err := sessiondir.WriteStep(root, f.sessions.Dir, s, r)
	out.File = path
	if warning := f.warning("write step file", err); warning != "" {
		out.Warning = warning
	}
}

// warning logs an error and returns what the caller is told of it.
func (f *files) warning(what string, err error) string {
	if err == nil {
		return ""
	}
	f.log.Warn(what, attrPart, "files", attrError, err)
	return what + ": " + err.Error() + "; the record is kept"
}
