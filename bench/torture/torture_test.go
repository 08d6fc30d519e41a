//go:build unix

package torture

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// For how long TestTorture runs, as 90s or 2h; by which seed; and the only faults that strike,
// by name, if they are named.
const (
	timeEnv  = "RECALLD_TEST_TORTURE"
	seedEnv  = "RECALLD_TEST_TORTURE_SEED"
	faultEnv = "RECALLD_TEST_TORTURE_FAULT"
)

// result is what one fault came to.
type result struct{ rounds, writes, lost, wrong int }

// TestTorture runs rounds until the time is over: see the package doc. Every fault of a medium
// strikes equally often. It prints a table of fault, rounds, acknowledged writes, lost writes
// and wrong answers; the last two are to be 0.
func TestTorture(t *testing.T) {
	if os.Getenv(timeEnv) == "" {
		t.Skipf("not run: it kills daemons until it is told to end; make torture runs it, or %s=60s", timeEnv)
	}
	length, err := time.ParseDuration(os.Getenv(timeEnv))
	if err != nil || length <= 0 {
		t.Fatalf("%s=%q is no duration", timeEnv, os.Getenv(timeEnv))
	}
	seed := seedOf(t)
	t.Logf("%v with the seed %d; to see it again set %s=%d", length, seed, seedEnv, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	path, began := program(t), time.Now()
	results := map[string]*result{}
	defer func() {
		t.Logf("%v, seed %d, %d kills\n%s", time.Since(began).Round(time.Second), seed, kills.Load(), table(results))
	}()
	short := length < 10*time.Minute
	available := media(t, short)
	// Short runs see every medium: a home has fewer rounds.
	perHome := 12
	if short {
		perHome = 5
	}
	for n := 0; time.Since(began) < length && !t.Failed(); n++ {
		m := available[n%len(available)]
		w := newWorld(t, path, m, random)
		if w == nil {
			available = slices.DeleteFunc(slices.Clone(available), func(o medium) bool { return o.name == m.name })
			continue
		}
		faults := slices.Clone(m.faults)
		for round := 0; round < perHome && w.o.writes() < m.usage.most && time.Since(began) < length && !t.Failed(); round++ {
			if round%len(faults) == 0 {
				random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
			}
			f := faults[round%len(faults)]
			w.round(f, results)
		}
		t.Logf("%v: %d rounds on %s, %d writes", time.Since(began).Round(time.Second), w.rounds, m.name, w.o.writes())
		w.close()
	}
	for name, r := range results {
		if r.lost+r.wrong > 0 {
			t.Errorf("%s: %d writes lost, %d answers wrong", name, r.lost, r.wrong)
		}
	}
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv(seedEnv)
	if text == "" {
		return rand.Uint64() >> 32
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no seed", seedEnv, text)
	}
	return n
}

// table is what was found, as it stands in docs/reliability.md.
func table(results map[string]*result) string {
	text := "| fault | rounds | acknowledged writes | lost | wrong answers |\n|---|---|---|---|---|\n"
	var names []string
	var all result
	for name, r := range results {
		names = append(names, name)
		all.rounds, all.writes, all.lost, all.wrong = all.rounds+r.rounds, all.writes+r.writes, all.lost+r.lost, all.wrong+r.wrong
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(results[b].rounds, results[a].rounds), cmp.Compare(a, b))
	})
	line := func(name string, r *result) string {
		return fmt.Sprintf("| %s | %d | %d | %d | %d |\n", name, r.rounds, r.writes, r.lost, r.wrong)
	}
	for _, name := range names {
		text += line(name, results[name])
	}
	return text + line("**all**", &all)
}
