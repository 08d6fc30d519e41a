package repofiles

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// TestProblemsNameTheirPlace: a problem names the line of a log, or the file of a step.
func TestProblemsNameTheirPlace(t *testing.T) {
	taken := ingest.Imported{Problems: []ingest.Problem{{Index: 1, Err: errors.New("no")}}}
	for want, got := range map[string][]memory.ImportProblem{
		"/logs/shop.jsonl:9":  lineProblems("/logs/shop.jsonl", []int{7, 9}, taken),
		"/run/steps/two.json": stepProblems(sessiondir.Batch{Folder: "/run", Files: []string{"/run/steps/one.json", "/run/steps/two.json"}}, taken),
	} {
		if len(got) != 1 || where(got[0]) != want || got[0].Message != "no" {
			t.Errorf("the problems are %+v, want one at %s", got, want)
		}
	}
}

// TestSameOwner: lines keep their order and their numbers; lines without a project are reported.
func TestSameOwner(t *testing.T) {
	part := lessonlog.FileLines{File: "a.jsonl"}
	for i, repo := range []string{"shop", "shop", "who", "bank", "shop"} {
		part.Lines = append(part.Lines, memory.LogLine{Repo: repo})
		part.Numbers = append(part.Numbers, 10+i)
	}
	named := func(repo string) (memory.Project, error) {
		if repo == "who" {
			return memory.Project{}, errors.New("no project")
		}
		return memory.Project{ID: repo}, nil
	}
	var got []string
	for owned := range sameOwner(named, part, func(repo string, p memory.ImportProblem) { got = append(got, repo+" "+where(p)) }) {
		got = append(got, fmt.Sprint(owned.project.ID, owned.numbers, len(owned.lines)))
	}
	want := []string{"who a.jsonl:12", "shop[10 11] 2", "bank[13] 1", "shop[14] 1"}
	if !slices.Equal(got, want) {
		t.Errorf("the lines came as %q, want %q", got, want)
	}
}

// TestSupersedingHoldsNothingElse: of a log of any size only the lines are held that
// supersede or retract lessons.
func TestSupersedingHoldsNothingElse(t *testing.T) {
	var a superseding
	shop, bank := memory.Project{ID: "shop"}, memory.Project{ID: "bank"}
	lines := make([]memory.LogLine, 1000)
	lines[3].Supersedes, lines[500].Retracts = []string{"l-1"}, []string{"l-2"}
	a.add(shop, memory.Provenance{}, lines)
	a.add(shop, memory.Provenance{}, lines[:4])
	a.add(bank, memory.Provenance{}, lines[:3])
	a.add(bank, memory.Provenance{}, lines[500:])
	if len(a) != 2 || len(a[0].lines) != 3 || a[0].project.ID != "shop" || len(a[1].lines) != 1 || a[1].project.ID != "bank" {
		t.Errorf("held are %+v, want three lines of shop and one of bank", a)
	}
}
