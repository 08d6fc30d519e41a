//go:build unix

package team_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/team/teamtest"
)

// BenchmarkTeamJoin shares 100,000 lessons of one member, which another then joins: how long
// until all are on the server, and until the other has them.
func BenchmarkTeamJoin(b *testing.B) {
	const lessons = 100_000
	p := newTeam(b, map[string][]string{"ann": {"*"}, "bob": {"*"}})
	ann, bob := newMachine(b, "ann"), newMachine(b, "bob")
	for n := range lessons {
		ann.remember(memory.RememberRequest{Lesson: fmt.Sprintf("the job %d of the nightly run needs the cache of build %d, or it starts from nothing", n, n/7)})
	}
	shared := func() bool {
		n, err := p.Exec("owner", "team", fmt.Sprintf(`select from (select count(*) as n from recalld.lesson where body is not null) as x where n = %d`, lessons))
		if err != nil {
			b.Fatal(err)
		}
		return n == 1
	}
	for b.Loop() { // once: a second round would find everything shared
		begin := time.Now()
		ann.join(p.URL("ann", "team"))
		ann.until("all are on the server", shared)
		b.ReportMetric(time.Since(begin).Seconds(), "share-s")
		begin = time.Now()
		bob.join(p.URL("bob", "team"))
		bob.until("bob has all", func() bool { return bob.Store.Counts()[memory.Lesson] == lessons })
		b.ReportMetric(time.Since(begin).Seconds(), "join-s")
	}
}

// BenchmarkTeamMillion fills a server with 999,000 lessons of 999 projects and measures what
// one more project of 1,000 costs: until all are on the server, until another member has them,
// and an exchange that finds nothing new. It reports what a lesson takes on the server's disk,
// and the connections of a daemon.
func BenchmarkTeamMillion(b *testing.B) {
	if os.Getenv("RECALLD_TEAM_MILLION") == "" {
		b.Skip("takes minutes and 2 GB of disk: set RECALLD_TEAM_MILLION=1")
	}
	const projects, each = 1000, 1000
	p := newTeam(b, map[string][]string{"ann": {"*"}, "bob": {shop}})
	fill(b, p, projects-1, each)
	ann, bob := newMachine(b, "ann"), newMachine(b, "bob")
	for n := range each {
		ann.remember(memory.RememberRequest{Lesson: lessonOf(projects, n).Lesson})
	}
	number := func(sql string) (n float64) {
		conn, err := pgx.Connect(b.Context(), p.URL("super", "team"))
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conn.Close(context.WithoutCancel(b.Context())) }()
		if err := conn.QueryRow(b.Context(), sql).Scan(&n); err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
		return n
	}
	for b.Loop() { // once: a second round would find everything shared
		begin := time.Now()
		ann.join(p.URL("ann", "team"))
		ann.until("all are on the server", func() bool {
			return number(`select count(*)::float8 from recalld.lesson where project = '`+shop+`'`) == each
		})
		b.ReportMetric(time.Since(begin).Seconds(), "share-s")
		begin = time.Now()
		bob.join(p.URL("bob", "team"))
		bob.until("bob has all", func() bool { return bob.Store.Counts()[memory.Lesson] == each })
		b.ReportMetric(time.Since(begin).Seconds(), "join-s")
		synced := func() time.Time {
			state, err := bob.team.State(b.Context(), service.None{})
			if err != nil {
				b.Fatal(err)
			}
			return state.SyncedAt
		}
		var took []time.Duration
		conn, err := pgx.Connect(b.Context(), p.URL("ann", "team"))
		if err != nil {
			b.Fatal(err)
		}
		for range 200 { // a notification has bob look
			before := synced()
			begin := time.Now()
			if _, err := conn.Exec(b.Context(), `select pg_notify('recalld', '')`); err != nil {
				b.Fatal(err)
			}
			for !synced().After(before) {
				time.Sleep(100 * time.Microsecond)
			}
			took = append(took, time.Since(begin))
		}
		_ = conn.Close(b.Context())
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, "unchanged-ms-p50")
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "unchanged-ms-p99")
		lessons := number(`select count(*)::float8 from recalld.lesson`)
		b.ReportMetric(lessons, "lessons")
		b.ReportMetric(number(`select pg_table_size('recalld.lesson')::float8`)/lessons, "row-B")
		b.ReportMetric(number(`select pg_indexes_size('recalld.lesson')::float8`)/lessons, "index-B")
		b.ReportMetric(number(`select count(*)::float8 from pg_stat_activity where application_name = 'recalld'`)/2, "connections")
	}
}

// lessonOf is the lesson n of a project: some 300 bytes.
func lessonOf(project, n int) memory.TeamLesson {
	return memory.TeamLesson{
		Repo: "shop", Type: memory.EventPattern, At: time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC), Agent: "claude-code",
		Context: fmt.Sprintf("the nightly build of service %d fails in step %d", project, n),
		Lesson:  fmt.Sprintf("the job %d of the nightly run needs the cache of build %d, or it starts from nothing and is killed after an hour", n, n/7),
		Command: fmt.Sprintf("make nightly JOB=%d CACHE=build-%d", n, n/7), Tags: []string{"nightly", "cache"},
	}
}

// fill copies lessons into the server, those of each project as the shares of one member.
func fill(b *testing.B, p *teamtest.Postgres, projects, each int) {
	conn, err := pgx.Connect(b.Context(), p.URL("super", "team"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(b.Context())) }()
	for project := range projects { // a transaction each, so that their ids differ as those of real shares do
		name := fmt.Sprintf("github.com/acme/service-%d", project)
		_, err := conn.CopyFrom(b.Context(), pgx.Identifier{"recalld", "lesson"}, []string{"project", "id", "member", "body", "hash"},
			pgx.CopyFromSlice(each, func(n int) ([]any, error) {
				l := lessonOf(project, n)
				body, err := json.Marshal(l)
				return []any{name, ingest.TeamLessonID(name, &l), fmt.Sprintf("member-%d", project%100), body, make([]byte, 16)}, err
			}))
		if err != nil {
			b.Fatal(err)
		}
	}
	p.SQL("super", "team", `vacuum analyze recalld.lesson`)
}
