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
// check that a piece must pass, when it is recalled, before it is shown. The head
// of a file is how it begins, which the light index knows. A brief is what is known
// of a file without its chunks, its cut is what its text was cut into. To prune is to
// take chunks away, and leave heads, when all indexes together are over their limit.
//
// Every file is opened through an os.Root of its sandbox, so that neither ".."
// nor a symbolic link leads outside, whatever is changed meanwhile.
package code

import (
	"context"
	"path"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Options are the settings of walks and runs. The first ones, down to Workers,
// are the section index of the settings, which has their defaults; those behind
// are optional.
type Options struct {
	// MaxFileSize is the largest file indexed, in bytes.
	MaxFileSize int64
	// MaxFiles is how many files of a sandbox are indexed at most.
	MaxFiles int
	// TimeLimit is how long a run may take.
	TimeLimit time.Duration
	// SkipDirs are names of folders that are not entered, even if what they
	// hold is committed.
	SkipDirs []string
	// SkipFiles are patterns, of path.Match, for names of files that are
	// skipped.
	SkipFiles []string
	// KeepGenerated indexes generated and minified files as well.
	KeepGenerated bool
	// Workers is how many files are read and cut at once.
	Workers int
	// NoChunks leaves out the full index, NoHeads the light one. A file that is not
	// stored as they say is done again; with both, nothing stays indexed.
	NoChunks, NoHeads bool

	// Restore gives files their chunks back that gave way to the size limit.
	Restore bool
	// Indexed is how many files are indexed already: a run over some paths, which does
	// not see the others, adds none above MaxFiles.
	Indexed int
	// Git is the git program; "git" is looked for in PATH, "none" is not to run
	// any and to read ignore files instead.
	Git string
	// GitLimit is how long git may list files before ignore files are read instead:
	// 30 s. A repository may have git wait for ever.
	GitLimit time.Duration

	// Turn, if set, runs work that keeps a processor busy when it is its turn: while
	// somebody asks, questions come first. It returns the work's error, or ctx's.
	Turn func(ctx context.Context, work func() error) error
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

// turn is Turn, or runs the work at once.
func (o *Options) turn(ctx context.Context, work func() error) error {
	if o.Turn == nil {
		return work()
	}
	return o.Turn(ctx, work)
}

// validate fills in the defaults of what is optional and checks the rest.
func (o *Options) validate() error {
	for _, setting := range []struct {
		field string
		value int64
	}{
		{"index.max_file_size", o.MaxFileSize}, {"index.max_files", int64(o.MaxFiles)}, {"index.time_limit", int64(o.TimeLimit)}, {"index.workers", int64(o.Workers)},
	} {
		if setting.value < 1 {
			return memory.Invalid(setting.field, "more than 0", "is missing")
		}
	}
	for _, p := range o.SkipFiles {
		if _, err := path.Match(p, ""); err != nil {
			return memory.Invalid("index.skip_files", "patterns of path.Match", "%q is not a pattern", p)
		}
	}
	if o.ProgressEvery < 0 {
		return memory.Invalid("ProgressEvery", "0 or more", "%v is negative", o.ProgressEvery)
	}
	setDefault(&o.ProgressEvery, 100*time.Millisecond)
	if o.GitLimit < 0 {
		return memory.Invalid("GitLimit", "0 or more", "%v is negative", o.GitLimit)
	}
	setDefault(&o.Git, "git")
	setDefault(&o.GitLimit, 30*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
