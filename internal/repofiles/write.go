package repofiles

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// writer writes stored records into the files of their repository as well. The record is
// committed before: a file that cannot be written is a warning, never a reason to refuse.
type writer struct {
	opts  *Options
	roots *roots
	log   *slog.Logger
	lines *lessonlog.Writer
}

// logPatience is how long a call waits until its line is in the log. A line that is
// not by then is written later, without the call.
const logPatience = 2 * time.Second

func newWriter(opts *Options, roots *roots) *writer {
	return &writer{opts: opts, roots: roots, log: opts.Logger.With(logging.PartKey, "files"), lines: lessonlog.NewWriter()}
}

// Close writes the lines that wait for their logs, for at most logPatience.
func (w *writer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), logPatience)
	defer cancel()
	if err := w.lines.Close(ctx); err != nil {
		w.log.Warn("lines of lessons are not in their logs", logging.ErrorKey, err)
	}
}

// root returns the repository of the caller's folder, to which dir is relative. ok
// is false if nothing is to be written: outside of the project that is meant, and in
// a folder without git, unless dir exists. An absolute dir needs no repository.
func (w *writer) root(caller memory.Caller, project, dir string) (root string, ok bool) {
	id := w.roots.look(caller.Dir)
	if id == nil || id.Project.ID != project {
		return "", filepath.IsAbs(dir)
	}
	if id.GitDir == "" && !filepath.IsAbs(dir) {
		info, err := os.Stat(filepath.Join(id.Root, dir))
		return id.Root, err == nil && info.IsDir()
	}
	return id.Root, true
}

// AppendLesson writes a lesson's line into the log of its repository.
func (w *writer) AppendLesson(ctx context.Context, caller memory.Caller, kept *memory.Remembered, line memory.LogLine) {
	root, ok := w.root(caller, kept.Project, w.opts.LessonDir)
	if !ok || !w.opts.WriteLessons {
		return
	}
	if !w.opts.ShareLessons {
		w.exclude(caller, w.opts.LessonDir)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logPatience)
	defer cancel()
	path, err := w.lines.Append(ctx, root, w.opts.LessonDir, line.Repo, line)
	kept.Log, kept.Warning = path, w.warning("write lesson log", root, w.opts.LessonDir, err)
}

// sessionRoot is root for the files of sessions. It is also not ok where the caller's
// sessions are not written.
func (w *writer) sessionRoot(caller memory.Caller, project string) (root string, ok bool) {
	root, ok = w.root(caller, project, w.opts.SessionDir)
	if !ok || !w.opts.WriteSessions || caller.Hook && !w.opts.WriteHooked {
		return "", false
	}
	w.exclude(caller, w.opts.SessionDir)
	return root, true
}

// PutSession writes a session's file.
func (w *writer) PutSession(caller memory.Caller, s *memory.SessionState) {
	root, ok := w.sessionRoot(caller, s.Project)
	if !ok {
		return
	}
	dir, err := sessiondir.WriteSession(root, w.opts.SessionDir, s.Session)
	s.Dir, s.Warning = dir, w.warning("write session file", root, w.opts.SessionDir, err)
}

// PutPicture stores the picture that a step of a session names, if the session
// asked for pictures. It returns the name for the step: the stored file, or
// the name in the request if nothing is stored, with a warning if it should have been.
func (w *writer) PutPicture(caller memory.Caller, s memory.Session, name string) (stored, warning string) {
	root, ok := w.sessionRoot(caller, s.Project)
	if !ok {
		return name, ""
	}
	stored, err := sessiondir.StoreScreenshot(root, w.opts.SessionDir, s, name)
	if err != nil {
		return name, w.warning("store screenshot", root, w.opts.SessionDir, err)
	}
	return stored, ""
}

// PutStep writes a step's file.
func (w *writer) PutStep(caller memory.Caller, s memory.Session, r memory.Record, out *memory.StepRecorded) {
	root, ok := w.sessionRoot(caller, s.Project)
	if !ok {
		return
	}
	path, err := sessiondir.WriteStep(root, w.opts.SessionDir, s, r)
	out.File = path
	if warning := w.warning("write step file", root, w.opts.SessionDir, err); warning != "" {
		out.Warning = warning
	}
}

// The file that every event of working memory is appended to, in the repository.
const auditDir, auditName = "logs", "audit.log.jsonl"

// AppendAudit writes a line into the audit file of the caller's repository and
// returns its path; empty if there is none to write to.
func (w *writer) AppendAudit(caller memory.Caller, project string, line []byte) (path string, err error) {
	root, ok := w.root(caller, project, auditDir)
	if !ok {
		return "", nil
	}
	w.exclude(caller, filepath.Join(auditDir, auditName))
	return fsx.AppendLine(root, auditDir, auditName, line)
}

// warning logs an error with a file of a folder and returns the text for the caller. The
// error has paths below the folder at most.
func (w *writer) warning(what, root, dir string, err error) string {
	if err == nil {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	what += " in " + dir
	w.log.Warn(what, logging.ErrorKey, err)
	return what + ": " + err.Error() + "; the record is kept"
}
