//go:build unix

package team_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/team"
	"github.com/recalld/recalld/internal/team/teamtest"
	"github.com/recalld/recalld/internal/testkit/backend"
)

const shop = "github.com/acme/shop"

// machine is one member's store with both paths and the exchange.
type machine struct {
	*backend.Parts
	t       testing.TB
	team    *team.Service
	opts    team.Options
	shared  atomic.Pointer[team.Service]
	stop    func()
	project memory.Project
}

// newMachine makes a store that has the project shop, under an id of its own. It looks at the
// server when it is notified, alone.
func newMachine(t testing.TB, id string) *machine {
	t.Helper()
	return newLookingMachine(t, id, time.Hour)
}

// newLookingMachine makes one that also looks at the server from time to time.
func newLookingMachine(t testing.TB, id string, look time.Duration) *machine {
	t.Helper()
	m := &machine{t: t, project: memory.Project{ID: "p-" + id, Name: "shop", Remote: shop}}
	m.Parts = backend.New(t, backend.Options{Redact: backend.RedactSecret, Committed: func(c []memory.Change) {
		if s := m.shared.Load(); s != nil {
			s.Apply(c)
		}
	}})
	if _, err := m.Store.Commit(t.Context(), memory.Batch{Projects: []memory.Project{m.project}}); err != nil {
		t.Fatal(err)
	}
	m.opts = team.Options{
		Path: filepath.Join(t.TempDir(), "team.json"), Store: m.Store, Taker: m.Ingest, Projects: m.Projects,
		Redact: backend.RedactSecret, Logger: slog.New(slog.DiscardHandler),
		Pauses: team.Pauses{First: 10 * time.Millisecond, Last: 100 * time.Millisecond, Look: look},
	}
	m.start()
	return m
}

// start makes the exchange with the options of now, as a daemon does when it starts.
func (m *machine) start() {
	m.t.Helper()
	var err error
	if m.team, err = team.New(m.opts); err != nil {
		m.t.Fatal(err)
	}
	m.shared.Store(m.team)
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.t.Context()))
	done := make(chan struct{})
	go func(s *team.Service) { defer close(done); s.Run(ctx) }(m.team)
	m.stop = func() { cancel(); <-done }
	m.t.Cleanup(m.stop)
}

func (m *machine) join(url string) {
	m.t.Helper()
	if _, err := m.team.Join(m.t.Context(), memory.TeamJoinRequest{URL: url}); err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.team.Share(m.t.Context(), memory.TeamShareRequest{Project: m.project.ID}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) remember(r memory.RememberRequest) string {
	m.t.Helper()
	r.Project = m.project.ID
	kept, err := m.Ingest.Remember(m.t.Context(), r)
	if err != nil {
		m.t.Fatal(err)
	}
	return kept.ID
}

// lessons are the project's lessons that are recalled, by their text.
func (m *machine) lessons() map[string]memory.Record {
	m.t.Helper()
	all := map[string]memory.Record{}
	for r, err := range m.Store.ProjectRecords(context.WithoutCancel(m.t.Context()), m.project.ID, memory.Lesson) {
		if err != nil {
			m.t.Fatal(err)
		}
		if r.Event.Withdrawn == nil {
			all[r.Event.Lesson] = r
		}
	}
	return all
}

// until waits for what the exchange does in the background.
func (m *machine) until(what string, holds func() bool) {
	m.t.Helper()
	late := time.After(5 * time.Minute)
	for tick := time.Tick(10 * time.Millisecond); !holds(); {
		select {
		case <-tick:
		case <-late:
			state, _ := m.team.State(context.Background(), service.None{})
			m.t.Fatalf("%s: it does not happen; %+v", what, *state)
		}
	}
}

// operator connects as a role that prepares a database for a team, until the test ends.
func operator(t testing.TB, url string) *team.Admin {
	t.Helper()
	admin, err := team.OpenAdmin(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	return admin
}

// newTeam starts a server with a prepared database and these members, who may see projects.
func newTeam(t testing.TB, members map[string][]string) *teamtest.Postgres {
	t.Helper()
	p := teamtest.New(t)
	admin, err := team.OpenAdmin(t.Context(), p.URL("owner", "team"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(t.Context())) }()
	if did, err := admin.Init(t.Context()); err != nil || len(did) != 4 {
		t.Fatalf("init: %q, %v", did, err)
	}
	if did, err := admin.Init(t.Context()); err != nil || len(did) != 0 {
		t.Fatalf("init again: %q, %v", did, err)
	}
	for name, projects := range members {
		join, err := admin.Add(t.Context(), name, projects)
		if err != nil || !strings.Contains(join, name) {
			t.Fatalf("add %s: %q, %v", name, join, err)
		}
	}
	return p
}

// TestTeamShares: what one member remembers, the others recall, with its outcomes; private
// lessons and secrets stay; what is forgotten, retracted or no longer shared goes.
func TestTeamShares(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {shop}, "eve": {"github.com/acme/other"}})
	ann, bob, eve := newMachine(t, "ann"), newMachine(t, "bob"), newMachine(t, "eve")
	early := ann.remember(memory.RememberRequest{Lesson: "use a cache inside the project, token hunter2", Context: "npm fails with EACCES", SuccessRate: "4/5"})
	for m, name := range map[*machine]string{ann: "ann", bob: "bob", eve: "eve"} {
		m.join(p.URL(name, "team"))
	}
	secret := ann.remember(memory.RememberRequest{Lesson: "the staging password is under the doormat", Private: true})
	later := ann.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration"})
	bob.until("bob gets both lessons", func() bool { return len(bob.lessons()) == 2 })
	got := bob.lessons()["use a cache inside the project, token [redacted]"]
	if got.Provenance != (memory.Provenance{Origin: memory.OriginTeam, Agent: "ann"}) || got.Project != bob.project.ID {
		t.Errorf("it is from %+v in project %s", got.Provenance, got.Project)
	}
	// The store shows a commit a moment before it is indexed and acknowledged.
	bob.until("bob recalls it, marked", func() bool {
		answer, err := bob.Recall.Recall(t.Context(), memory.RecallRequest{Query: "npm fails with EACCES", Project: bob.project.ID})
		return err == nil && strings.Contains(answer.Text, "(4/5 success) [team: ann, 4/5]")
	})

	// Outcomes add up by member, whatever is repeated.
	if err := bob.Ingest.Outcome(t.Context(), []string{got.ID}, true); err != nil {
		t.Fatal(err)
	}
	ann.until("ann sees bob's outcome", func() bool {
		r, _ := ann.Store.Record(early)
		return len(r.Event.Team) == 1 && r.Event.Proven().String() == "5/6"
	})
	// The same lesson, told by bob too, is one lesson with two shares.
	bob.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration", SuccessRate: "1/1"})
	ann.until("ann sees that bob tells it too", func() bool {
		r, _ := ann.Store.Record(later)
		return len(r.Event.Team) == 1 && r.Event.Proven().String() == "1/1"
	})
	if n := len(ann.lessons()); n != 3 {
		t.Errorf("ann has %d lessons, want 3", n)
	}
	// eve may see another project alone; her state says so, and she got nothing.
	eve.until("eve is told", func() bool {
		s, _ := eve.team.State(t.Context(), service.None{})
		return len(s.Projects) == 1 && strings.Contains(s.Projects[0].Problem, "does not let you share")
	})
	if n, err := p.Exec("eve", "team", `select * from recalld.lesson`); err != nil || n != 0 {
		t.Errorf("eve reads %d rows by SQL, %v", n, err)
	}
	for _, sql := range []string{
		`update recalld.lesson set body = null where member = 'ann'`,
		`delete from recalld.lesson`,
		`insert into recalld.lesson (project, id, member, body, hash) values ('` + shop + `', 'x', 'ann', '{}', '')`,
		`insert into recalld.lesson (project, id, body, hash) values ('github.com/acme/secret', 'x', '{}', '')`,
		`update recalld.lesson set project = 'github.com/acme/secret'`,
		`update recalld.lesson set member = 'ann'`,
		`insert into recalld.access values ('bob', '*')`,
		`update recalld.version set schema = 9`,
	} {
		if n, err := p.Exec("bob", "team", sql); err == nil && n > 0 {
			t.Errorf("bob may: %s (%d rows)", sql, n)
		}
	}
	if n, err := p.Exec("super", "team", `select * from recalld.lesson where body::text like '%doormat%' or body::text like '%hunter2%'`); err != nil || n != 0 {
		t.Errorf("%d private rows are on the server, %v", n, err)
	}

	// A lesson that becomes private, one that is retracted, one that is forgotten.
	ann.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration", Private: true})
	ann.remember(memory.RememberRequest{Lesson: "npm is configured by the image now", Retracts: []string{early}})
	bob.until("bob has what is left", func() bool {
		list := bob.lessons()
		_, old := list["use a cache inside the project, token [redacted]"]
		return len(list) == 2 && !old && len(list["restart the indexer after a migration"].Event.Team) == 0
	})
	if _, err := ann.Ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{early, secret}}, ann.Store); err != nil {
		t.Fatal(err)
	}
	// bob counted an outcome of it, so he still knows it; his own share is all that is left.
	bob.until("what ann forgot has no share of hers", func() bool {
		r, err := bob.Store.Record(got.ID)
		return memory.CodeOf(err) == memory.CodeNotFound || len(r.Event.Team) == 0
	})
	if _, err := bob.team.Leave(t.Context(), memory.TeamLeaveRequest{}); err != nil {
		t.Fatal(err)
	}
	ann.until("bob's shares are gone", func() bool {
		for _, r := range ann.lessons() {
			if len(r.Event.Team) > 0 {
				return false
			}
		}
		return true
	})
}

// TestTeamSameWithoutSecrets: of lessons that differ in a secret alone, as they are kept while
// redact.enabled is false, the team gets one, and the exchange goes on.
func TestTeamSameWithoutSecrets(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {shop}, "bob": {shop}})
	ann, bob := newMachine(t, "ann"), newMachine(t, "bob")
	ann.stop()
	ann.opts.Redact = func(text string) (string, int) {
		return strings.NewReplacer("winter1", "[redacted]", "winter2", "[redacted]").Replace(text), 0
	}
	ann.start()
	for _, lesson := range []string{"the registry takes the token winter1", "the registry takes the token winter2"} {
		ann.remember(memory.RememberRequest{Lesson: lesson})
	}
	ann.join(p.URL("ann", "team"))
	bob.join(p.URL("bob", "team"))
	bob.until("bob gets the lesson", func() bool { return len(bob.lessons()) == 1 })
	ann.until("ann shares one", func() bool {
		s, _ := ann.team.State(t.Context(), service.None{})
		return len(s.Projects) == 1 && s.Projects[0].Shared == 1
	})
}

// partlyDamaged is a store in which the lessons of one project cannot be read.
type partlyDamaged struct {
	team.Store
	project string
	sound   atomic.Bool
}

func (d *partlyDamaged) ProjectRecords(ctx context.Context, project string, kind memory.Kind) iter.Seq2[memory.Record, error] {
	if project == d.project && !d.sound.Load() {
		return func(yield func(memory.Record, error) bool) {
			yield(memory.Record{}, memory.Errorf(memory.CodeCorrupt, "a lesson is damaged"))
		}
	}
	return d.Store.ProjectRecords(ctx, project, kind)
}

// TestTeamOneProjectFails: a project that cannot be exchanged says so, and keeps no other from
// being exchanged.
func TestTeamOneProjectFails(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}})
	ann := newLookingMachine(t, "ann", 50*time.Millisecond)
	ann.stop()
	damaged := &partlyDamaged{Store: ann.Store, project: "p-bad"}
	ann.opts.Store = damaged
	ann.start()
	bad := memory.Project{ID: damaged.project, Name: "bad", Remote: "github.com/acme/bad"}
	if _, err := ann.Store.Commit(t.Context(), memory.Batch{Projects: []memory.Project{bad}}); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.team.Join(t.Context(), memory.TeamJoinRequest{URL: p.URL("ann", "team")}); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{bad.ID, ann.project.ID} { // the damaged one comes first
		if _, err := ann.team.Share(t.Context(), memory.TeamShareRequest{Project: project}); err != nil {
			t.Fatal(err)
		}
	}
	ann.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration"})
	var state *memory.TeamState
	ann.until("the sound project is shared", func() bool {
		state, _ = ann.team.State(t.Context(), service.None{})
		return len(state.Projects) == 2 && state.Projects[1].Shared == 1 && state.Connected
	})
	if state.LastError != "" || state.Projects[0].Problem != "a lesson is damaged" || state.Projects[1].Problem != "" {
		t.Fatalf("the state is %+v, want the problem with the damaged project alone", *state)
	}
	damaged.sound.Store(true)
	ann.until("the problem ends with its cause", func() bool {
		state, _ = ann.team.State(t.Context(), service.None{})
		return state.Projects[0].Problem == ""
	})
}

// TestTeamLongProject: a project whose address is too long for the server keeps no other from
// being shared.
func TestTeamLongProject(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}})
	ann := newMachine(t, "ann")
	long := memory.Project{ID: "p-long", Name: "long", Remote: "github.com/acme/" + strings.Repeat("x", 512)}
	if _, err := ann.Store.Commit(t.Context(), memory.Batch{Projects: []memory.Project{long}}); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Ingest.Remember(t.Context(), memory.RememberRequest{Project: long.ID, Lesson: "it has a long name"}); err != nil {
		t.Fatal(err)
	}
	ann.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration"})
	if _, err := ann.team.Join(t.Context(), memory.TeamJoinRequest{URL: p.URL("ann", "team")}); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{long.ID, ann.project.ID} { // the long one comes first
		if _, err := ann.team.Share(t.Context(), memory.TeamShareRequest{Project: project}); err != nil {
			t.Fatal(err)
		}
	}
	ann.until("the other is shared", func() bool {
		s, _ := ann.team.State(t.Context(), service.None{})
		return s.Connected && s.Projects[1].Shared == 1 && s.Projects[1].Problem == "" && strings.Contains(s.Projects[0].Problem, "check constraint")
	})
}

// TestTeamMergesInAnyOrder: two members change the same lessons at random while the server is
// killed and started again; in the end both have the same lessons, rates and withdrawals.
func TestTeamMergesInAnyOrder(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {"*"}, "cyd": {"*"}})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	members := []*machine{newMachine(t, "ann"), newMachine(t, "bob"), newMachine(t, "cyd")}
	for i, name := range []string{"ann", "bob", "cyd"} {
		members[i].join(p.URL(name, "team"))
	}
	for n := range 300 {
		m := members[random.IntN(len(members))]
		text := fmt.Sprintf("lesson %d", random.IntN(20))
		known, ok := m.lessons()[text]
		switch {
		case !ok || random.IntN(3) == 0:
			m.remember(memory.RememberRequest{Lesson: text})
		case random.IntN(6) == 0:
			m.remember(memory.RememberRequest{Lesson: "not so: " + text, Retracts: []string{known.ID}})
		default:
			if err := m.Ingest.Outcome(t.Context(), []string{known.ID}, random.IntN(2) == 0); err != nil {
				t.Fatal(err)
			}
		}
		if n%100 == 50 {
			p.Kill()
			p.Start()
		}
	}
	// state is what the members know together of each lesson: the sum of all rates.
	state := func(m *machine) map[string]string {
		out := map[string]string{}
		for text, r := range m.lessons() {
			out[text] = fmt.Sprint(r.Event.Proven())
		}
		return out
	}
	for _, m := range members[1:] {
		m.until("all know the same", func() bool { return cmp.Equal(state(members[0]), state(m)) })
	}
	if n := len(state(members[0])); n < 20 {
		t.Errorf("they know %d lessons", n)
	}
}

// TestTeamAway: without its server everything of one's own works, the state says why, and what
// was remembered meanwhile is sent later.
func TestTeamAway(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {"*"}})
	ann, bob := newMachine(t, "ann"), newMachine(t, "bob")
	ann.join(p.URL("ann", "team"))
	bob.join(p.URL("bob", "team"))
	p.Kill()
	ann.until("ann notices", func() bool {
		s, _ := ann.team.State(t.Context(), service.None{})
		return !s.Connected && strings.Contains(s.LastError, "cannot be reached")
	})
	for n := range 20 {
		ann.remember(memory.RememberRequest{Lesson: fmt.Sprintf("lesson %d of a day offline", n)})
	}
	answer, err := ann.Recall.Recall(t.Context(), memory.RecallRequest{Query: "lesson 7 of a day offline", Project: ann.project.ID})
	if err != nil || len(answer.Items) == 0 || len(answer.Degraded) > 0 {
		t.Errorf("recall without the server: %+v, %v", answer, err)
	}
	p.Start()
	bob.until("bob gets all", func() bool { return len(bob.lessons()) == 20 })
}

// failoverRounds is how often a primary is killed, unless the environment says otherwise.
const failoverRounds = 4

// TestTeamFailover: each time the primary is killed under writers, a standby that may lack the
// last transactions takes over. Every acknowledged lesson reaches the other member, once. The
// outage is from the kill until a lesson told after it has come through the promoted standby.
func TestTeamFailover(t *testing.T) {
	rounds := failoverRounds
	if text := os.Getenv("RECALLD_TEAM_KILLS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil || rounds < 1 {
			t.Fatalf("RECALLD_TEAM_KILLS=%s: it is the number of kills", text)
		}
	}
	const writers, each = 8, 10
	server := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {"*"}})
	var outages []time.Duration
	var acknowledged, arrived, doubled atomic.Int64
	for round := range rounds {
		// The standby follows the primary of its round; the machines know only the two.
		standby := server.Standby()
		ann, bob := newMachine(t, "ann"), newMachine(t, "bob")
		ann.join(teamtest.URLs("ann", "team", server, standby))
		bob.join(teamtest.URLs("bob", "team", server, standby))
		var writing sync.WaitGroup
		half := make(chan struct{}, writers*each)
		for w := range writers {
			writing.Go(func() {
				for n := range each {
					ann.remember(memory.RememberRequest{Lesson: fmt.Sprintf("lesson %d of writer %d in round %d", n, w, round)})
					acknowledged.Add(1)
					half <- struct{}{}
				}
			})
		}
		for range writers * each / 2 {
			<-half
		}
		server.Kill()
		killed := time.Now()
		standby.Promote()
		after := fmt.Sprintf("told after the kill in round %d", round)
		ann.remember(memory.RememberRequest{Lesson: after})
		acknowledged.Add(1)
		bob.until("bob gets a lesson from after the kill", func() bool { _, ok := bob.lessons()[after]; return ok })
		outages = append(outages, time.Since(killed))
		writing.Wait()
		told := ann.lessons()
		bob.until("bob gets every lesson", func() bool {
			list := bob.lessons()
			for text := range told {
				if _, ok := list[text]; !ok {
					return false
				}
			}
			return true
		})
		copies := map[string]int{}
		for r, err := range bob.Store.ProjectRecords(t.Context(), bob.project.ID, memory.Lesson) {
			if err != nil {
				t.Fatal(err)
			}
			copies[r.Event.Lesson] += len(r.Event.Team)
		}
		for text := range told {
			arrived.Add(int64(min(copies[text], 1)))
			doubled.Add(int64(max(copies[text]-1, 0)))
		}
		ann.stop()
		bob.stop()
		server = standby
	}
	lost := acknowledged.Load() - arrived.Load()
	if want := int64(rounds * (writers*each + 1)); acknowledged.Load() != want || lost != 0 || doubled.Load() != 0 {
		t.Errorf("of %d lessons %d are acknowledged, %d lost, %d doubled", want, acknowledged.Load(), lost, doubled.Load())
	}
	slices.Sort(outages)
	t.Logf("| kills | acknowledged | arrived | doubled | lost | outage, median | longest |\n| %d | %d | %d | %d | %d | %s | %s |",
		rounds, acknowledged.Load(), arrived.Load(), doubled.Load(), lost, outages[len(outages)/2].Round(time.Millisecond), outages[len(outages)-1].Round(time.Millisecond))
}

// TestTeamPooler: through a pooler, members exchange what they tell, outcomes and withdrawals.
// One that keeps sessions passes notifications on; for one that does not, members look.
func TestTeamPooler(t *testing.T) {
	for mode, look := range map[string]time.Duration{"session": time.Hour, "transaction": 100 * time.Millisecond} {
		t.Run(mode, func(t *testing.T) {
			url := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {"*"}}).Pooler(mode)
			ann, bob := newLookingMachine(t, "ann", look), newLookingMachine(t, "bob", look)
			ann.join(url("ann", "team"))
			bob.join(url("bob", "team"))
			const lessons = 1200 // several statements
			var id string
			for n := range lessons {
				id = ann.remember(memory.RememberRequest{Lesson: fmt.Sprintf("lesson %d", n)})
			}
			bob.until("bob has all", func() bool { return len(bob.lessons()) == lessons })
			last := bob.lessons()[fmt.Sprintf("lesson %d", lessons-1)]
			if err := bob.Ingest.Outcome(t.Context(), []string{last.ID}, true); err != nil {
				t.Fatal(err)
			}
			ann.until("ann sees bob's outcome", func() bool {
				r, _ := ann.Store.Record(id)
				return len(r.Event.Team) == 1 && r.Event.Proven().String() == "1/1"
			})
			ann.remember(memory.RememberRequest{Lesson: "not so", Retracts: []string{id}})
			bob.until("bob has it retracted", func() bool { _, ok := bob.lessons()[last.Event.Lesson]; return !ok })
			if _, err := bob.team.Leave(t.Context(), memory.TeamLeaveRequest{}); err != nil {
				t.Fatal(err)
			}
			ann.until("bob's outcome is gone", func() bool {
				r, _ := ann.Store.Record(id)
				return len(r.Event.Team) == 0
			})
		})
	}
}

// TestTeamRestored: a new server counts its transactions anew, so a dump holds rows of
// transactions that are still to come there.
func TestTeamRestored(t *testing.T) {
	before := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {"*"}})
	before.SQL("owner", "team", `do $$ begin for i in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$`)
	ann := newMachine(t, "ann")
	ann.join(before.URL("ann", "team"))
	ann.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration"})
	ann.until("ann has sent it", func() bool {
		n, err := before.Exec("owner", "team", `select from recalld.lesson`)
		return err == nil && n == 1
	})
	ann.stop()
	after := teamtest.New(t)
	after.Restore(before)
	bob := newMachine(t, "bob")
	bob.join(after.URL("bob", "team"))
	admin := operator(t, after.URL("owner", "team"))
	if did, err := admin.Init(t.Context()); err != nil || len(did) != 1 || did[0] != "renewed 1 restored shares" {
		t.Fatalf("init: %q, %v", did, err)
	}
	bob.until("bob gets it from the new server", func() bool { return len(bob.lessons()) == 1 })
}

// TestTeamTakesBackWithoutAccess: a member whose access to a project has ended can still take back
// what was shared there, by forgetting it, by ending the sharing and by leaving.
func TestTeamTakesBackWithoutAccess(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {shop}, "bob": {shop}})
	left := func(member string) int64 {
		n, err := p.Exec("super", "team", `select * from recalld.lesson where body is not null and member = '`+member+`'`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	ann, bob := newLookingMachine(t, "ann", 50*time.Millisecond), newLookingMachine(t, "bob", 50*time.Millisecond)
	for m, name := range map[*machine]string{ann: "ann", bob: "bob"} {
		m.remember(memory.RememberRequest{Lesson: name + " says: restart the indexer after a migration"})
		m.join(p.URL(name, "team"))
		m.until(name+" shares a lesson", func() bool { return left(name) == 1 })
	}
	secret := ann.remember(memory.RememberRequest{Lesson: "the door of the staging room is open"})
	ann.until("ann shares another lesson", func() bool { return left("ann") == 2 })
	p.SQL("owner", "team", `delete from recalld.access`)
	ann.until("ann is told", func() bool {
		s, _ := ann.team.State(t.Context(), service.None{})
		return strings.Contains(s.Projects[0].Problem, "does not let you share")
	})
	ann.remember(memory.RememberRequest{Lesson: "this is not for the server now"})
	if _, err := ann.Ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{secret}}, ann.Store); err != nil {
		t.Fatal(err)
	}
	ann.until("what ann forgot is taken back", func() bool { return left("ann") == 1 })
	p.SQL("owner", "team", `insert into recalld.access values ('ann', '`+shop+`')`)
	ann.until("what ann said meanwhile is sent", func() bool { return left("ann") == 2 })
	p.SQL("owner", "team", `delete from recalld.access`)
	if _, err := ann.team.Share(t.Context(), memory.TeamShareRequest{Project: ann.project.ID, Stop: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.team.Leave(t.Context(), memory.TeamLeaveRequest{}); err != nil {
		t.Errorf("bob leaves: %v", err)
	}
	if n := left("bob"); n != 0 {
		t.Errorf("bob has left, and %d of his lessons are on the server", n)
	}
	ann.until("ann's lesson is taken back", func() bool {
		s, _ := ann.team.State(t.Context(), service.None{})
		return left("ann") == 0 && len(s.Projects) == 0
	})
}
