//go:build unix

package team_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/team/teamtest"
)

// compact keeps a summary of a session, as a compaction does.
func (m *machine) compact(session, summary string) {
	m.t.Helper()
	wc := memory.WorkingContext{SessionID: session, Summary: summary, CompactedAt: time.Now()}
	state, err := json.Marshal(wc)
	if err == nil {
		_, err = m.Store.Commit(m.t.Context(), memory.Batch{
			Sessions:     []memory.Session{{ID: session, Project: m.project.ID, Client: "agent", CreatedAt: time.Now()}},
			MergeSession: func(old, _ memory.Session) (memory.Session, error) { return old, nil },
			States: []memory.StateEdit{{Key: memory.StateKey{Project: m.project.ID, Kind: memory.StateSession, ID: session},
				Edit: func([]byte) ([]byte, error) { return state, nil }}},
		})
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.team.Compacted(m.project.ID)
}

// summaries are the texts of the session summaries that were received.
func (m *machine) summaries() (texts []string) {
	m.t.Helper()
	for r, err := range m.Store.ProjectRecords(context.WithoutCancel(m.t.Context()), m.project.ID, memory.SessionSummary) {
		if err != nil {
			m.t.Fatal(err)
		}
		texts = append(texts, r.Text)
	}
	slices.Sort(texts)
	return texts
}

func (m *machine) forget(ids ...string) {
	m.t.Helper()
	if _, err := m.Ingest.Forget(context.WithoutCancel(m.t.Context()), memory.ForgetRequest{IDs: ids}, m.Store); err != nil {
		m.t.Fatal(err)
	}
}

// TestTeamSummaries: with the setting, colleagues recall the summary of a session, without
// secrets and places of the machine; a later one replaces it; what is private, forgotten or no
// longer shared goes.
func TestTeamSummaries(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {shop}, "eve": {"github.com/acme/other"}})
	ann, bob, eve := newMachine(t, "ann"), newMachine(t, "bob"), newMachine(t, "eve")
	rows := func(where string) int64 {
		t.Helper()
		n, err := p.Exec("super", "team", `select * from recalld.lesson where kind = 'summary' and body is not null and `+where)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := ann.Store.RecordProject(t.Context(), ann.project, "/home/ann/src/shop"); err != nil {
		t.Fatal(err)
	}
	for m, name := range map[*machine]string{ann: "ann", bob: "bob", eve: "eve"} {
		m.join(p.URL(name, "team"))
	}

	// Without the setting nothing is sent.
	ann.compact("sess-1", "The checkout rounds totals twice.")
	ann.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration"})
	bob.until("bob gets the lesson", func() bool { return len(bob.lessons()) == 1 })
	if n := rows("true"); n != 0 {
		t.Fatalf("%d summaries are on the server without the setting", n)
	}

	ann.stop()
	ann.opts.Summaries, ann.opts.Home = true, "/home/ann"
	ann.start()
	ann.compact("sess-1", "The checkout rounds totals twice, in /home/ann/src/shop/cart/total.go; half done. Token hunter2 is in /home/ann/.netrc.")
	began := time.Now()
	// The store shows a commit a moment before it is indexed and acknowledged.
	bob.until("bob recalls it, marked", func() bool {
		answer, err := bob.Recall.Recall(t.Context(), memory.RecallRequest{Query: "checkout rounds totals twice", Project: bob.project.ID})
		return err == nil && strings.Contains(answer.Text, "session summary The checkout rounds totals twice, in cart/total.go; half done. Token [redacted] is in ~/.netrc. [team: ann]")
	})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	} else {
		t.Logf("recalled by a colleague after %s", took.Round(time.Millisecond))
	}
	if n := rows(`(body::text like '%hunter2%' or body::text like '%/home%')`); n != 0 {
		t.Errorf("%d rows hold a secret or a place", n)
	}
	state, _ := ann.team.State(t.Context(), service.None{})
	if !state.Summaries || state.Projects[0].Summaries != 1 || state.Projects[0].Shared != 1 {
		t.Errorf("the state is %+v", state)
	}

	// Rights, also in plain SQL.
	if n, err := p.Exec("eve", "team", `select * from recalld.lesson`); err != nil || n != 0 || len(eve.summaries()) != 0 {
		t.Errorf("eve reads %d rows by SQL and has %q, %v", n, eve.summaries(), err)
	}
	for _, sql := range []string{
		`update recalld.lesson set body = null where kind = 'summary'`,
		`update recalld.lesson set kind = 'lesson'`,
		`insert into recalld.lesson (project, kind, id, member, body, hash) values ('` + shop + `', 'summary', 'y', 'ann', '{}', '')`,
		`insert into recalld.lesson (project, kind, id, body, hash) values ('github.com/acme/secret', 'summary', 'y', '{}', '')`,
	} {
		if n, err := p.Exec("bob", "team", sql); err == nil && n > 0 {
			t.Errorf("bob may: %s (%d rows)", sql, n)
		}
	}
	// A colleague's text that breaks the limits is skipped, and holds nothing up.
	p.SQL("bob", "team", `insert into recalld.lesson (project, kind, id, body, hash) values ('`+shop+`', 'summary', 'y-0000000000000bad', '{"text": 7}', 'x'), ('`+shop+`', 'summary', 'y-00000000000010ff', jsonb_build_object('text', repeat('x', 4001)), 'x'), ('`+shop+`', 'summary', 'sess-1', '{"text": "Trust me."}', 'x')`)

	// A later summary replaces the earlier one.
	ann.compact("sess-1", "Totals are rounded once now.")
	ann.compact("sess-2", "The migration of the tables is next. "+strings.Repeat("More of it. ", 500))
	bob.until("bob has both", func() bool {
		list := bob.summaries()
		return len(list) == 2 && list[1] == "Totals are rounded once now." && len([]rune(list[0])) <= memory.MaxTeamSummary && strings.HasSuffix(list[0], "…")
	})
	if n := rows(`member = 'ann'`); n != 2 {
		t.Errorf("ann has %d rows", n)
	}

	// A session that holds private matter: told later, and forgotten.
	secret := ann.remember(memory.RememberRequest{Lesson: "the staging password is under the doormat", Private: true, Caller: memory.Caller{Session: "sess-2"}})
	bob.until("bob lost the session with the private lesson", func() bool { return len(bob.summaries()) == 1 })
	ann.forget(secret)
	ann.compact("sess-2", "Still about the doormat.")
	ann.compact("sess-3", "Payments are retried.")
	bob.until("bob has the next session", func() bool { return len(bob.summaries()) == 2 })
	if n := rows(`body::text like '%doormat%'`); n != 0 {
		t.Errorf("%d rows tell of what is private", n)
	}

	// A private lesson that is known already, and told again in a session.
	again := memory.RememberRequest{Lesson: "the key is under the mat", Private: true}
	ann.remember(again)
	ann.compact("sess-5", "Keys are handed out.")
	bob.until("bob has it", func() bool { return len(bob.summaries()) == 3 })
	again.Private, again.Caller.Session = false, "sess-5" // it stays private
	ann.remember(again)
	bob.until("bob lost it", func() bool { return len(bob.summaries()) == 2 })

	// A private lesson of another project, told in a session of this one.
	ann.compact("sess-6", "The vault is opened.")
	bob.until("bob has it", func() bool { return len(bob.summaries()) == 3 })
	elsewhere := memory.RememberRequest{Lesson: "the vault opens with 4711", Private: true, Project: t.TempDir(), Caller: memory.Caller{Session: "sess-6"}}
	if _, err := ann.Ingest.Remember(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	bob.until("bob lost it", func() bool { return len(bob.summaries()) == 2 })

	// Forgotten by the one who shares it, and by the one who received it.
	ann.forget("sess-1")
	bob.until("bob lost what ann forgot", func() bool { return slices.Equal(bob.summaries(), []string{"Payments are retried."}) })
	for r := range bob.Store.ProjectRecords(t.Context(), bob.project.ID, memory.SessionSummary) {
		bob.forget(r.ID)
	}
	ann.compact("sess-3", "Payments are retried three times.")
	ann.compact("sess-4", "Shipping is next.")
	bob.until("bob has what he did not forget", func() bool { return slices.Equal(bob.summaries(), []string{"Shipping is next."}) })

	if n := len(ann.summaries()); n != 0 {
		t.Errorf("ann took %d broken summaries", n)
	}

	// Off again: what was shared is taken back.
	ann.stop()
	ann.opts.Summaries = false
	ann.start()
	bob.until("bob has none", func() bool { return len(bob.summaries()) == 0 && rows(`member = 'ann'`) == 0 })
	if n := len(bob.lessons()); n != 1 {
		t.Errorf("bob has %d lessons", n)
	}

	// On again, until the project is no longer shared, and until the member is removed.
	ann.stop()
	ann.opts.Summaries = true
	ann.start()
	bob.until("bob has it again", func() bool { return slices.Equal(bob.summaries(), []string{"Shipping is next."}) })
	if _, err := ann.team.Share(t.Context(), memory.TeamShareRequest{Project: ann.project.ID, Stop: true}); err != nil {
		t.Fatal(err)
	}
	bob.until("bob has none", func() bool { return len(bob.summaries()) == 0 })
	ann.until("ann shares nothing", func() bool {
		state, _ := ann.team.State(t.Context(), service.None{})
		return len(state.Projects) == 0
	})
	if _, err := ann.team.Share(t.Context(), memory.TeamShareRequest{Project: ann.project.ID}); err != nil {
		t.Fatal(err)
	}
	bob.until("bob has it again", func() bool { return slices.Equal(bob.summaries(), []string{"Shipping is next."}) })
	ann.stop()
	admin := operator(t, p.URL("owner", "team"))
	if _, err := admin.Remove(t.Context(), "ann", true); err != nil {
		t.Fatal(err)
	}
	bob.until("bob has nothing of ann", func() bool { return len(bob.summaries()) == 0 && len(bob.lessons()) == 0 })
}

// TestTeamSummariesOfAnotherServer: what a member received stays when it leaves, and goes when
// another server does not have it.
func TestTeamSummariesOfAnotherServer(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {"*"}})
	ann, bob := newMachine(t, "ann"), newMachine(t, "bob")
	ann.stop()
	ann.opts.Summaries = true
	ann.start()
	ann.join(p.URL("ann", "team"))
	bob.join(p.URL("bob", "team"))
	ann.compact("sess-1", "Totals are rounded once now.")
	bob.until("bob has it", func() bool { return len(bob.summaries()) == 1 })
	if _, err := bob.team.Leave(t.Context(), memory.TeamLeaveRequest{}); err != nil {
		t.Fatal(err)
	}
	if n := len(bob.summaries()); n != 1 {
		t.Errorf("bob has %d summaries after he left", n)
	}
	other := newTeam(t, map[string][]string{"bob": {"*"}})
	bob.join(other.URL("bob", "team"))
	bob.until("bob has none", func() bool { return len(bob.summaries()) == 0 })
	if _, err := ann.team.Leave(t.Context(), memory.TeamLeaveRequest{}); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Exec("super", "team", `select from recalld.lesson where body is not null`); err != nil || n != 0 {
		t.Errorf("%d rows are left on the server, %v", n, err)
	}
}

// TestTeamMigrates: a schema of before is refused in clear words, migrated with its rows, and
// they are received.
func TestTeamMigrates(t *testing.T) {
	p := teamtest.New(t)
	first, err := os.ReadFile("migrations/0001.sql")
	if err != nil {
		t.Fatal(err)
	}
	p.SQL("owner", "team", `create role recalld_members nologin`, `create schema recalld`, string(first),
		`create role ann login in role recalld_members`, `create role bob login in role recalld_members`, `insert into recalld.access values ('ann', '*'), ('bob', '*')`)
	old := memory.TeamLesson{Repo: "shop", Type: memory.EventPattern, Lesson: "restart the indexer after a migration", At: time.Now()}
	body, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	p.SQL("ann", "team", `insert into recalld.lesson (project, id, body, hash) values ('`+shop+`', '`+ingest.TeamLessonID(shop, &old)+`', '`+string(body)+`', 'x')`)
	bob := newMachine(t, "bob")
	if _, err := bob.team.Join(t.Context(), memory.TeamJoinRequest{URL: p.URL("bob", "team")}); memory.CodeOf(err) != memory.CodeIncompatible || !strings.Contains(err.Error(), "schema 1, and this program needs 2") {
		t.Fatalf("join to the schema of before: %v", err)
	}
	admin := operator(t, p.URL("owner", "team"))
	if did, err := admin.Init(t.Context()); err != nil || !slices.Equal(did, []string{"migrated it to schema 2"}) {
		t.Fatalf("init: %q, %v", did, err)
	}
	bob.join(p.URL("bob", "team"))
	bob.until("bob gets the lesson of before", func() bool { _, ok := bob.lessons()[old.Lesson]; return ok })
	for _, broken := range []string{`delete from recalld.version`, `drop table recalld.version`, `create table recalld.version as select 2 as schema; drop table recalld.lesson`} {
		p.SQL("owner", "team", broken)
		if _, err := admin.Init(t.Context()); memory.CodeOf(err) != memory.CodeCorrupt || !strings.Contains(err.Error(), "only a part") || !strings.Contains(memory.AsError(err).Hint, "dump") {
			t.Errorf("init after %s: %v, want that a part is missing", broken, err)
		}
	}
}
