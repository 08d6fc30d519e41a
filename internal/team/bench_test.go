//go:build unix

package team_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
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
