package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// files writes what was remembered into the files of its repository as well. The
// record is committed before: a file that cannot be written is a warning, never a
// reason to refuse.
type files struct {
	lessons  config.Lessons
	sessions config.Sessions
	roots    *roots
	log      *slog.Logger
	lines    *lessonlog.Writer
}

// logPatience is how long a call waits until its line is in the log. A line that is
// not by then is written later, without the call.
const logPatience = 2 * time.Second

func newFiles(cfg config.Config, roots *roots, log *slog.Logger) *files {
	return &files{lessons: cfg.Lessons, sessions: cfg.Sessions, roots: roots, log: log, lines: lessonlog.NewWriter()}
}

// close writes the lines that wait for their logs, for at most logPatience.
func (f *files) close() {
	ctx, cancel := context.WithTimeout(context.Background(), logPatience)
	defer cancel()
	if err := f.lines.Close(ctx); err != nil {
		f.log.Warn("lines of lessons are not in their logs", attrPart, "files", attrError, err)
	}
}

// root returns the repository of the caller's folder, to which dir is relative. ok
// is false where nothing is to be written: outside of the project that is meant, and in
// a folder without git, unless dir is there. An absolute dir needs no repository.
func (f *files) root(ctx context.Context, caller memory.Caller, project, dir string) (root string, ok bool) {
	id := f.roots.look(caller.Dir)
	if id == nil || id.Project.ID != project {
		return "", filepath.IsAbs(dir)
	}
	if id.GitDir == "" && !filepath.IsAbs(dir) {
		info, err := os.Stat(filepath.Join(id.Root, dir))
		return id.Root, err == nil && info.IsDir()
	}
	return id.Root, true
}

// appendLesson writes a lesson's line into the log of its repository.
func (f *files) appendLesson(ctx context.Context, caller memory.Caller, kept *memory.Remembered, line memory.LogLine) {
	root, ok := f.root(ctx, caller, kept.Project, f.lessons.Dir)
	if !ok || !f.lessons.Log {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logPatience)
	defer cancel()
	path, err := f.lines.Append(ctx, root, f.lessons.Dir, line.Repo, line)
	kept.Log, kept.Warning = path, f.warning("write lesson log", err)
}

// putSession writes a session's file.
func (f *files) putSession(ctx context.Context, caller memory.Caller, s *memory.SessionState) {
	root, ok := f.root(ctx, caller, s.Project, f.sessions.Dir)
	if !ok || !f.sessions.Files {
		return
	}
	dir, err := sessiondir.WriteSession(root, f.sessions.Dir, s.Session)
	s.Dir, s.Warning = dir, f.warning("write session file", err)
}

// putPicture stores the picture that a step of a session names, if the session
// asked for pictures, and returns what the step is to name: the stored file, or
// what it named where nothing is stored, with a warning if it should have been.
func (f *files) putPicture(ctx context.Context, caller memory.Caller, s memory.Session, name string) (stored, warning string) {
	root, ok := f.root(ctx, caller, s.Project, f.sessions.Dir)
	if !ok || !f.sessions.Files {
		return name, ""
	}
	stored, err := sessiondir.StoreScreenshot(root, f.sessions.Dir, s, name)
	if err != nil {
		return name, f.warning("store screenshot", err)
	}
	return stored, ""
}

// putStep writes a step's file.
func (f *files) putStep(ctx context.Context, caller memory.Caller, s memory.Session, r memory.Record, out *memory.StepRecorded) {
	root, ok := f.root(ctx, caller, s.Project, f.sessions.Dir)
	if !ok || !f.sessions.Files {
		return
	}
	path, err := sessiondir.WriteStep(root, f.sessions.Dir, s, r)
	out.File = path
	if warning := f.warning("write step file", err); warning != "" {
		out.Warning = warning
	}
}

// The file that every event of working memory is appended to, in the repository.
const auditDir, auditName = "logs", "audit.log.jsonl"

// appendAudit writes a line into the audit file of the caller's repository and
// returns its path; empty where there is none to write to.
func (f *files) appendAudit(ctx context.Context, caller memory.Caller, project string, line []byte) (path string, err error) {
	root, ok := f.root(ctx, caller, project, auditDir)
	if !ok {
		return "", nil
	}
	return fsx.AppendLine(root, auditDir, auditName, line)
}

// warning logs an error and returns what the caller is told of it.
func (f *files) warning(what string, err error) string {
	if err == nil {
		return ""
	}
	f.log.Warn(what, attrPart, "files", attrError, err)
	return what + ": " + err.Error() + "; the record is kept"
}
