// Package code indexes the source code of a sandbox, and checks every result against the
// disk before it is shown.
//
// A walk lists the files of a sandbox that may be indexed. A guard is a reason to skip a
// file. A run brings the index of a sandbox up to date with the disk; package chunk
// splits its files into chunks. A gate is a check that a chunk must pass before it is
// shown in an answer. The head of a file is its beginning, which the file-name index
// holds as preview. Pruning removes chunks and keeps heads, when all indexes together are
// over their size limit.
//
// Every file is opened through an os.Root of its sandbox, so that neither ".." nor a
// symbolic link leads outside, whatever changes meanwhile.
package code

import (
	"cmp"
	"context"
	"path"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Options configure walks and runs. The fields down to KeepGenerated come from the
// section index of the settings; the first three of them are required.
type Options struct {
	// MaxFileSize is the largest file indexed, in bytes.
	MaxFileSize int64
	// MaxFiles is the most files that are indexed in a sandbox.
	MaxFiles int
	// TimeLimit bounds the duration of a run.
	TimeLimit time.Duration
	// SkipDirs are names of folders that are skipped, even if their files are committed.
	SkipDirs []string
	// SkipFiles are patterns, as of path.Match, of file names that are skipped.
	SkipFiles []string
	// KeepGenerated indexes generated and minified files as well.
	KeepGenerated bool
	// Workers is how many files are read and split at once; 16 by default. That is more
	// than most machines have processors: most files wait for the disk, and waiting
	// files are written together.
	Workers int
	// NoChunks turns the chunks off, NoHeads the file-name index. Files that are stored
	// in another way are indexed again. With both, nothing stays indexed.
	NoChunks, NoHeads bool

	// Restore indexes the chunks of pruned files again.
	Restore bool
	// Indexed is how many files are indexed already. A run over some paths does not see
	// the others, and adds no file above MaxFiles.
	Indexed int
	// Git is the git program: "git" is searched in PATH, "none" runs none and reads
	// ignore files instead.
	Git string
	// GitLimit bounds each call of git, after which ignore files are read instead: a
	// repository can make git wait for ever. The default is 30 s.
	GitLimit time.Duration

	// Turn, if set, runs work that keeps a processor busy when no query is being
	// answered. It returns the work's error, or ctx's.
	Turn func(ctx context.Context, work func() error) error
	// Progress, if set, is called at every change of phase and every ProgressEvery (100
	// ms by default) between. Calls do not overlap.
	Progress      func(memory.Progress)
	ProgressEvery time.Duration
	// Skipped, if set, is called for every file that is skipped. Calls do not overlap.
	Skipped func(Skip)
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

// turn calls Turn, or runs the work at once without one.
func (o *Options) turn(ctx context.Context, work func() error) error {
	if o.Turn == nil {
		return work()
	}
	return o.Turn(ctx, work)
}

// validate checks the required fields and sets the defaults of the others.
func (o *Options) validate() error {
	for _, setting := range []struct {
		field string
		value int64
	}{
		{"index.max_file_size", o.MaxFileSize}, {"index.max_files", int64(o.MaxFiles)}, {"index.time_limit", int64(o.TimeLimit)},
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
	if o.Workers < 0 {
		return memory.Invalid("Workers", "0 or more", "%v is negative", o.Workers)
	}
	o.Workers = cmp.Or(o.Workers, 16)
	o.ProgressEvery = cmp.Or(o.ProgressEvery, 100*time.Millisecond)
	o.Git = cmp.Or(o.Git, "git")
	o.GitLimit = cmp.Or(o.GitLimit, 30*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}
