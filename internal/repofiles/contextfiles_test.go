package repofiles

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestProblemsAreLoggedOnce: also where others come and lines move, and a bad repository does not
// push the errors of everything else out of status.
func TestProblemsAreLoggedOnce(t *testing.T) {
	var log strings.Builder
	c := &contextFiles{log: slog.New(slog.NewTextHandler(&log, nil)), logged: map[string][]memory.ImportProblem{}}
	problem := func(line int) memory.ImportProblem {
		return memory.ImportProblem{File: ".recalld/context.yaml", Line: line, Message: "it is wrong"}
	}
	var many []memory.ImportProblem
	for n := range 30 {
		many = append(many, memory.ImportProblem{File: fmt.Sprintf(".cursor/rules/%d.mdc", n), Message: "it is wrong"})
	}
	for _, step := range []struct {
		problems []memory.ImportProblem
		lines    int
	}{{[]memory.ImportProblem{problem(2)}, 1}, {[]memory.ImportProblem{problem(3)}, 0}, {append(many, problem(3)), mostLogged + 1}, {nil, 0}, {[]memory.ImportProblem{problem(2)}, 1}} {
		log.Reset()
		c.warn("/repo", step.problems)
		if lines := strings.Count(log.String(), "\n"); lines != step.lines {
			t.Errorf("of %d problems %d lines are logged, want %d:\n%s", len(step.problems), lines, step.lines, log.String())
		}
	}
}
