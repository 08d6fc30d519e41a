package repofiles

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// supersedingPart is how many lines are imported again in one commit: others may be
// waiting to write.
const supersedingPart = 256

// ownedLines are lines of one project and provenance. Numbers are theirs in the log.
type ownedLines struct {
	project memory.Project
	from    memory.Provenance
	lines   []memory.LogLine
	numbers []int
}

// superseding gathers lines that supersede or retract other lessons, which may stand in a
// log that is read later. They are imported again when all is read.
type superseding []ownedLines

// supersedes reports whether a line supersedes or retracts other lessons.
func supersedes(l memory.LogLine) bool { return len(l.Supersedes)+len(l.Retracts) > 0 }

// add keeps the lines that supersede or retract lessons.
func (a *superseding) add(of memory.Project, from memory.Provenance, lines []memory.LogLine) {
	for _, l := range lines {
		if !supersedes(l) {
			continue
		}
		if n := len(*a); n == 0 || (*a)[n-1].project.ID != of.ID || (*a)[n-1].from != from {
			*a = append(*a, ownedLines{project: of, from: from})
		}
		last := &(*a)[len(*a)-1]
		last.lines = append(last.lines, l)
	}
}

// take hands them over in parts.
func (a superseding) take(ctx context.Context, to *ingest.Service) error {
	for _, owned := range a {
		for part := range slices.Chunk(owned.lines, supersedingPart) {
			if _, err := to.ImportLessons(ctx, owned.project, owned.from, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineProblems are the problems of lines with these numbers.
func lineProblems(file string, numbers []int, taken ingest.Imported) []memory.ImportProblem {
	list := make([]memory.ImportProblem, len(taken.Problems))
	for i, p := range taken.Problems {
		list[i] = memory.ImportProblem{File: file, Line: numbers[p.Index], Message: p.Err.Error()}
	}
	return list
}

// stepProblems are the problems of the steps of a part.
func stepProblems(part sessiondir.Batch, taken ingest.Imported) []memory.ImportProblem {
	list := make([]memory.ImportProblem, len(taken.Problems))
	for i, p := range taken.Problems {
		list[i] = memory.ImportProblem{File: part.Files[p.Index], Message: p.Err.Error()}
	}
	return list
}

// sameOwner yields the lines of a part by the project that their repository names, in
// order. It calls stranger, with the reason, for a repository without a project.
func sameOwner(named func(repo string) (memory.Project, error), part lessonlog.FileLines, stranger func(repo string, p memory.ImportProblem)) iter.Seq[ownedLines] {
	return func(yield func(ownedLines) bool) {
		var run ownedLines
		for i, line := range part.Lines {
			p, err := named(line.Repo)
			if err != nil {
				stranger(line.Repo, memory.ImportProblem{File: part.File, Line: part.Numbers[i], Message: err.Error()})
				continue
			}
			if p.ID != run.project.ID && len(run.lines) > 0 {
				if !yield(run) {
					return
				}
				run = ownedLines{}
			}
			run.project, run.lines, run.numbers = p, append(run.lines, line), append(run.numbers, part.Numbers[i])
		}
		if len(run.lines) > 0 {
			yield(run)
		}
	}
}

// withoutSecrets removes secrets from problems: their messages quote files, and are
// logged and listed.
func withoutSecrets(list []memory.ImportProblem) []memory.ImportProblem {
	clean := slices.Clone(list)
	for i := range clean {
		clean[i].Message, _ = redact.Redact(clean[i].Message)
	}
	return clean
}

// where names a place in a file.
func where(p memory.ImportProblem) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return p.File
}
