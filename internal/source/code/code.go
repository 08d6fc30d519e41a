// Package code makes memories of the source code in a sandbox and lets nothing
// of it into an answer that is not on disk.
//
// Vocabulary. A walk lists the files of a sandbox that may be indexed; a guard
// is a reason to skip one. A piece is a part of a file that stands for itself:
// a declaration, a section, some small ones together. Its symbol is the path of
// the declarations or headings around it. Its document is the text that is
// analysed and embedded: language, symbol and the piece without its secrets,
// never the path, so that a renamed file and a second worktree cost nothing. A
// run brings what is known of a sandbox up to date with the disk. A gate is a
// check that a piece must pass, when it is recalled, before it is shown.
//
// Every file is opened through an os.Root of its sandbox, so that neither ".."
// nor a symbolic link leads outside, whatever is changed meanwhile.
package code

import (
	"fmt"
	"path"
	"runtime"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Options are the settings of walks and runs. The zero value of a field means
// its default.
type Options struct {
	// MaxFileSize is the largest file indexed, in bytes: 500,000.
	MaxFileSize int64
	// MaxFiles is how many files of a sandbox are indexed at most: 50,000.
	MaxFiles int
	// TimeLimit is how long a run may take: 10 minutes.
	TimeLimit time.Duration
	// SkipDirs are names of folders that are not entered, even if what they
	// hold is committed: DefaultSkipDirs.
	SkipDirs []string
	// SkipFiles are patterns, of path.Match, for names of files that are
	// skipped: DefaultSkipFiles.
	SkipFiles []string
	// KeepGenerated indexes generated and minified files as well.
	KeepGenerated bool
	// Workers is how many files are read and cut at once: 2.
	Workers int
	// Git is the git program; "git" is looked for in PATH, "none" is not to run
	// any and to read ignore files instead.
	Git string

	// Progress, if set, is told how far a run is: at every change of phase and
	// every ProgressEvery (100 ms) between. Calls do not overlap.
	Progress      func(memory.Progress)
	ProgressEvery time.Duration
	// Skipped, if set, is told of every file that is skipped. Calls do not
	// overlap.
	Skipped func(Skip)
	// Now is the clock: time.Now.
	Now func() time.Time
}

// DefaultSkipDirs and DefaultSkipFiles are the guards of names.
var (
	DefaultSkipDirs = []string{
		".git", ".hg", ".svn", ".idea", ".vscode", ".cache", ".gradle", ".mypy_cache", ".next", ".nuxt", ".pytest_cache",
		".terraform", ".tox", ".venv", "__pycache__", "bower_components", "build", "coverage", "dist", "node_modules",
		"out", "target", "vendor", "venv",
	}
	DefaultSkipFiles = []string{
		"*.min.js", "*.min.css", "*.map", "*.pb.go", "*_pb2.py", "*.generated.*", "*.snap", "*.lock", "go.sum",
		"go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json",
		".terraform.lock.hcl", "Package.resolved", "gradle.lockfile",
	}
)

// validate fills in the defaults and checks the rest.
func (o *Options) validate() error {
	setDefault(&o.MaxFileSize, 500_000)
	setDefault(&o.MaxFiles, 50_000)
	setDefault(&o.TimeLimit, 10*time.Minute)
	setDefault(&o.Workers, min(2, runtime.GOMAXPROCS(0)))
	setDefault(&o.ProgressEvery, 100*time.Millisecond)
	setDefault(&o.Git, "git")
	if o.SkipDirs == nil {
		o.SkipDirs = DefaultSkipDirs
	}
	if o.SkipFiles == nil {
		o.SkipFiles = DefaultSkipFiles
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	for _, p := range o.SkipFiles {
		if _, err := path.Match(p, ""); err != nil {
			return memory.Invalid("index.skip_files", "patterns of path.Match", "%q is not a pattern", p)
		}
	}
	if o.MaxFileSize < 0 || o.MaxFiles < 0 || o.TimeLimit < 0 || o.Workers < 0 || o.ProgressEvery < 0 {
		return fmt.Errorf("options of the code source: a limit is negative: %+v", *o)
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
