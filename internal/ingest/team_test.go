package ingest_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/backend"
)

const teamProject = "github.com/acme/shop"

// teamShares are the last states of three members of one lesson, and of another one that two
// of them share.
func teamShares(at time.Time) []ingest.Shared {
	shares := sharesOf(at)
	for i := range shares {
		shares[i].ID = ingest.TeamLessonID(teamProject, shares[i].Lesson)
	}
	return shares
}

func sharesOf(at time.Time) []ingest.Shared {
	lesson := func(text string, at time.Time, rate *memory.Rate, w *memory.Withdrawal) *memory.TeamLesson {
		return &memory.TeamLesson{Repo: "shop", Type: memory.EventPattern, Lesson: text, At: at, Rate: rate, Withdrawn: w}
	}
	return []ingest.Shared{
		{Member: "ann", Lesson: lesson("one", at, &memory.Rate{Successes: 4, Attempts: 5}, nil)},
		{Member: "bob", Lesson: lesson("one", at.Add(time.Minute), nil, nil)},
		{Member: "cyd", Lesson: lesson("one", time.Time{}, &memory.Rate{Attempts: 1}, nil)},
		{Member: "ann", Lesson: lesson("two", at, nil, nil)},
		{Member: "bob", Lesson: lesson("two", at, nil, &memory.Withdrawal{At: at.Add(time.Hour), Reason: "retracted"})},
	}
}

// TestSharesOfManyMembers: shares fit into commits, however many members share the same lessons.
func TestSharesOfManyMembers(t *testing.T) {
	parts := backend.New(t, backend.Options{MemTableSize: 16 << 20}) // that of users
	at := time.Now().Add(-time.Hour).UTC()
	var shares []ingest.Shared
	for m := range 10 {
		member := strings.Repeat("m", 1000) + strconv.Itoa(m) // as much as several members
		for i := range 256 {
			l := &memory.TeamLesson{Repo: "shop", Type: memory.EventPattern, Lesson: "lesson " + strconv.Itoa(i), At: at}
			shares = append(shares, ingest.Shared{Member: member, Lesson: l, ID: ingest.TeamLessonID(teamProject, l)})
		}
	}
	shares = append(shares, ingest.Shared{Member: "ann", Lesson: &memory.TeamLesson{}}) // of no use
	done, err := parts.Ingest.TakeShares(t.Context(), memory.Project{ID: "p-1", Name: "shop"}, teamProject, parts.Store, shares)
	if err != nil || done.Added != len(shares)-1 || len(done.Problems) != 1 || done.Problems[0].Index != len(shares)-1 {
		t.Errorf("took %+v, %v; want all but the last", done, err)
	}
}

// TestSharesMergeInAnyOrder: shares of members, in any order and repeated, make the same
// records.
func TestSharesMergeInAnyOrder(t *testing.T) {
	at := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Millisecond)
	project := memory.Project{ID: "p-1", Name: "shop"}
	var want map[string]memory.Record
	for n := range 20 {
		parts := backend.New(t, backend.Options{})
		shares := append(teamShares(at), teamShares(at)...)
		random := rand.New(rand.NewPCG(uint64(n), 0))
		random.Shuffle(len(shares), func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
		for len(shares) > 0 {
			k := 1 + random.IntN(len(shares))
			if done, err := parts.Ingest.TakeShares(t.Context(), project, teamProject, parts.Store, shares[:k]); err != nil || len(done.Problems) > 0 {
				t.Fatal(done, err)
			}
			shares = shares[k:]
		}
		got := map[string]memory.Record{}
		for r, err := range parts.Store.ProjectRecords(t.Context(), project.ID, memory.Lesson) {
			if err != nil {
				t.Fatal(err)
			}
			got[r.Event.Lesson] = r
		}
		if want == nil {
			want = got
			one := got["one"]
			if len(got) != 2 || one.Event.Proven().String() != "4/6" || one.Provenance.Agent != "ann" || got["two"].Event.Withdrawn == nil {
				t.Fatalf("they make %+v", got)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("order %d (-first +this):\n%s", n, diff)
		}
	}
}

// TestSharesTakenBackTogether: a lesson goes when all members take it back between two
// exchanges.
func TestSharesTakenBackTogether(t *testing.T) {
	parts := backend.New(t, backend.Options{})
	project := memory.Project{ID: "p-1", Name: "shop"}
	shares := teamShares(time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Millisecond))
	takenBack := slices.Clone(shares)
	for i := range takenBack {
		takenBack[i].Lesson = nil
	}
	for _, list := range [][]ingest.Shared{shares, takenBack} {
		if done, err := parts.Ingest.TakeShares(t.Context(), project, teamProject, parts.Store, list); err != nil || len(done.Problems) > 0 {
			t.Fatal(done, err)
		}
	}
	for r, err := range parts.Store.ProjectRecords(t.Context(), project.ID, memory.Lesson) {
		t.Errorf("there is still %+v, %v", r, err)
	}
}

// TestSharesGoAndStay: a lesson goes with its last share; one that was told here stays, and
// one that was forgotten here stays out. A share with wrong fields is skipped.
func TestSharesGoAndStay(t *testing.T) {
	at := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Millisecond)
	parts := backend.New(t, backend.Options{})
	project := memory.Project{ID: "p-1", Name: "shop"}
	take := func(shares ...ingest.Shared) ingest.Imported {
		t.Helper()
		done, err := parts.Ingest.TakeShares(t.Context(), project, teamProject, parts.Store, shares)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	known := func() map[string]memory.Record {
		all := map[string]memory.Record{}
		for r, err := range parts.Store.ProjectRecords(context.WithoutCancel(t.Context()), project.ID, memory.Lesson) {
			if err != nil {
				t.Fatal(err)
			}
			all[r.Event.Lesson] = r
		}
		return all
	}
	shares := teamShares(at)
	take(shares...)
	if _, err := parts.Ingest.Remember(t.Context(), memory.RememberRequest{Lesson: "two", Repo: "shop", Project: project.ID}); err != nil {
		t.Fatal(err)
	}
	two := known()["two"]
	if two.Provenance.Origin != memory.OriginTold || len(two.Event.Team) != 2 || two.Event.Withdrawn != nil {
		t.Errorf("told here, it is %+v of %+v", two.Event, two.Provenance)
	}
	for text, r := range known() {
		for _, member := range []string{"ann", "bob", "cyd"} {
			take(ingest.Shared{Member: member, ID: ingest.TeamID(teamProject, &r)})
		}
		_ = text
	}
	if got := known(); len(got) != 1 || len(got["two"].Event.Team) != 0 {
		t.Errorf("when all took theirs back, there are %+v", got)
	}
	if _, err := parts.Ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{two.ID}}, parts.Store); err != nil {
		t.Fatal(err)
	}
	if done := take(shares...); done.Forgotten != 2 || len(known()) != 1 {
		t.Errorf("after forgetting: %+v, %d lessons", done, len(known()))
	}
	bad := *shares[0].Lesson
	bad.Rate = &memory.Rate{Successes: 3, Attempts: 2}
	long := *shares[0].Lesson
	long.Lesson = string(make([]byte, 5000))
	many := make([]ingest.Shared, 2000) // several commits
	for i := range many {
		many[i] = shares[i%len(shares)]
	}
	many[3], many[1999] = ingest.Shared{Member: "ann", Lesson: &bad}, ingest.Shared{Member: "bob", Lesson: &long}
	if done := take(many...); len(done.Problems) != 2 || done.Problems[0].Index != 3 || done.Problems[1].Index != 1999 {
		t.Errorf("wrong shares: %+v", done)
	}
}

// TestFollowedAndShared: a lesson that a repository's file and members of the team tell, who
// come and go in any order, is there once, with the greatest trust of those who tell it now.
func TestFollowedAndShared(t *testing.T) {
	at := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Millisecond)
	project := memory.Project{ID: "p-1", Name: "shop"}
	file := memory.Provenance{Origin: memory.OriginFollowed, Path: "/src/shop/agent-knowledge/logs/shop.jsonl"}
	line := memory.LogLine{Timestamp: at.Add(-time.Hour), Repo: "shop", Type: memory.EventPattern, Lesson: "one", Tags: []string{"file"}, AgentID: "codex", Hash: memory.DocID{1}}
	lesson := func(at time.Time, rate *memory.Rate) *memory.TeamLesson {
		return &memory.TeamLesson{Repo: "shop", Type: memory.EventPattern, Lesson: "one", Tags: []string{"team"}, At: at, Rate: rate}
	}
	id := ingest.TeamLessonID(teamProject, lesson(at, nil))
	tellers := []string{"file", "ann", "bob", "cyd"}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		parts := backend.Open(t, backend.Options{})
		tells := map[string]bool{}
		follow := func() {
			if _, err := parts.Ingest.ImportLessons(t.Context(), project, file, []memory.LogLine{line}); err != nil {
				t.Fatal(err)
			}
		}
		for step := range 40 {
			who := tellers[random.IntN(len(tellers))]
			tells[who] = random.IntN(2) == 0
			switch {
			case who == "file" && tells[who]:
				follow()
			case who == "file":
				if _, err := parts.Ingest.Withdraw(t.Context(), project.ID, parts.Store, func(memory.Provenance) bool { return false }); err != nil {
					t.Fatal(err)
				}
			default:
				x := ingest.Shared{Member: who, ID: id}
				if tells[who] {
					x.Lesson = lesson(at, nil)
					if who == "cyd" { // got it from the others, and counts only
						x.Lesson = lesson(time.Time{}, &memory.Rate{Successes: 1, Attempts: 1})
					}
				}
				if _, err := parts.Ingest.TakeShares(t.Context(), project, teamProject, parts.Store, []ingest.Shared{x}); err != nil {
					t.Fatal(err)
				}
			}
			if !tells["file"] && !tells["ann"] && !tells["bob"] {
				tells["cyd"] = false // whoever only counts it takes that back by and by
				if _, err := parts.Ingest.TakeShares(t.Context(), project, teamProject, parts.Store, []ingest.Shared{{Member: "cyd", ID: id}}); err != nil {
					t.Fatal(err)
				}
			}
			want := map[memory.Origin]int{}
			switch {
			case tells["ann"] || tells["bob"]:
				want[memory.OriginTeam] = 1
			case tells["file"]:
				want[memory.OriginFollowed] = 1
			}
			got := map[memory.Origin]int{}
			for r, err := range parts.Store.ProjectRecords(t.Context(), project.ID, memory.Lesson) {
				if err != nil {
					t.Fatal(err)
				}
				got[r.Provenance.Origin]++
				for member, share := range map[string]bool{"ann": tells["ann"], "bob": tells["bob"], "cyd": tells["cyd"]} {
					if n := slices.IndexFunc(r.Event.Team, func(x memory.TeamShare) bool { return x.Member == member }); n >= 0 != share {
						t.Fatalf("seed %d, step %d: %s shares it: %t, it has %+v", seed, step, member, share, r.Event.Team)
					}
				}
			}
			if !cmp.Equal(want, got) {
				t.Fatalf("seed %d, step %d, %s: it is told by %v and there as %v", seed, step, who, tells, got)
			}
		}
		// Left to the file, it is as the file tells it once that is read again, as at a start.
		follow()
		for _, member := range tellers[1:] {
			if _, err := parts.Ingest.TakeShares(t.Context(), project, teamProject, parts.Store, []ingest.Shared{{Member: member, ID: id}}); err != nil {
				t.Fatal(err)
			}
		}
		follow()
		for r, err := range parts.Store.ProjectRecords(t.Context(), project.ID, memory.Lesson) {
			if err != nil || r.Provenance != file || !r.Created.Equal(line.Timestamp) || len(r.Event.Observations) != 1 || r.Event.AgentID != "codex" || !slices.Equal(r.Tags, line.Tags) {
				t.Fatalf("seed %d: from the file it is %+v, %v", seed, r, err)
			}
		}
		parts.Close(t)
	}
}
