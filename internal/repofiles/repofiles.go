// Package repofiles is what recalld reads from and writes to the files of repositories:
// lesson logs, session folders, the audit log and context files.
//
// Reading. The follower looks at the logs and session folders of every known repository
// (roots) and hands what is new to the write path. Context files are read when a call
// needs the catalogue. A repository's files are read only after its user has agreed
// (trust). Import reads any log or session folder on request.
//
// Writing. A lesson, session, step or task event that was stored is also written to the
// files of the caller's repository, where the settings ask for it. Export writes a whole
// project.
package repofiles

import (
	"context"
	"log/slog"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/store"
)

// Catalogue is the catalogue that context files are entered in.
type Catalogue interface {
	// TakeFiles replaces the entries that come from files; see agentctx.Catalogue.
	TakeFiles(ctx context.Context, p memory.Project, hash string, files []memory.FileEntries) (*memory.Registered, error)
	// Retake makes the next TakeFiles of every project compare again.
	Retake()
}

// Steps lists the steps of a session, oldest first.
type Steps interface {
	SessionSteps(project, session string) []string
}

// Options configure a Service. All but the settings is required.
type Options struct {
	Store     *store.Store
	Ingest    *ingest.Service
	Projects  *project.Recorder
	Catalogue Catalogue
	Steps     Steps
	Logger    *slog.Logger

	// LessonDir and SessionDir are the folders of logs and of sessions, below each
	// repository, or absolute: one for all repositories.
	LessonDir, SessionDir string
	// WriteLessons and WriteSessions have stored lessons and steps written to them,
	// WriteHooked also what hooks recorded.
	WriteLessons, WriteSessions, WriteHooked bool
	// ShareLessons has new logs of lessons show in git status, for a team that commits them.
	ShareLessons bool
	// ReadContext has context files read.
	ReadContext bool
	// Trusted are patterns of folders whose files are read without consent.
	Trusted []string
}

// Service reads and writes the files of repositories.
type Service struct {
	opts         *Options
	roots        *roots
	trust        *trust
	contextFiles *contextFiles
	follower     *follower
	*writer
}

// New returns a service that follows nothing until Follow is called.
func New(opts Options) (*Service, error) {
	s := &Service{opts: &opts}
	s.roots = newRoots(s.opts)
	s.writer = newWriter(s.opts, s.roots)
	var err error
	if s.trust, err = newTrust(s.opts); err != nil {
		return nil, err
	}
	s.contextFiles = newContextFiles(s.opts, s.roots, s.trust)
	s.follower = newFollower(s.opts, s.roots, s.trust, s.contextFiles)
	return s, nil
}

// See notices the folder of a call: its repository is followed from now on.
func (s *Service) See(dir string) { s.roots.see(dir) }

// Follow looks for new lessons and sessions at once and then at every tick, until ctx ends.
func (s *Service) Follow(ctx context.Context, every time.Duration) { s.follower.run(ctx, every) }

// Wake has Follow look at once: a repository may be new.
func (s *Service) Wake() { s.follower.wakeUp() }

// Forgotten drops what is held in memory about projects that are no longer stored.
func (s *Service) Forgotten() {
	s.roots.forget()
	s.trust.forget()
}

// Waiting lists the repositories with files that wait for consent, at most 100.
func (s *Service) Waiting() []memory.WaitingFiles { return s.trust.waits() }

// Notice says, once for each repository, which files of the one around a folder wait
// for consent. It is empty if none do, and for a folder that was not seen.
func (s *Service) Notice(dir string) string {
	if root := s.roots.rootOf(dir); root != "" {
		return s.trust.notice(root)
	}
	return ""
}

// TakeContext reads the context files of the repository that a caller means into its
// catalogue.
func (s *Service) TakeContext(ctx context.Context, project string, caller memory.Caller) {
	s.contextFiles.take(ctx, project, caller)
}
