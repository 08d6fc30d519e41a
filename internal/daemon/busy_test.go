package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// busyEnv sets how many questions TestBusyStart asks:
//
//	RECALLD_BUSY=10000 go test -run '^TestBusyStart$' -timeout 30m ./internal/daemon
const (
	busyEnv       = "RECALLD_BUSY"
	busyQuestions = 100
	busyAskers    = 16
	busyLessons   = 1000
	// busyBurners is how many goroutines burn each core: with 8 of them the deadline that
	// words once had was missed by one question in 400, with 16 by five.
	busyBurners = 8
)

// TestBusyStart asks from the first moment of a start, while all cores are busy, what is
// surely remembered. An answer may be incomplete, and a question may be refused because
// the memory is loading; none may say that there is nothing.
func TestBusyStart(t *testing.T) {
	testlong.Only(t)
	questions := busyQuestions
	if text := os.Getenv(busyEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s=%q, want a number of questions", busyEnv, text)
		}
		questions = n
	}
	cfg, dir := newConfig(t), shop(t)
	before := serve(t, cfg)
	session, err := service.StartSession.Do(t.Context(), before, memory.StartSessionRequest{Goal: "Keep the shards sound", Caller: memory.Caller{Dir: dir}})
	must(t, err)
	for i := range busyLessons {
		before.keep(dir, fmt.Sprintf("Drain the shard zq%dkv before the primary moves", i))
		if i%10 == 0 {
			_, err := service.RecordStep.Do(t.Context(), before, memory.RecordStepRequest{
				SessionID: session.ID, Caller: memory.Caller{Dir: dir},
				Tool: memory.StepTool{Name: "run", Target: []byte(fmt.Sprintf(`"drain zq%dkv"`, i))}, Outcome: memory.Outcome{OK: true},
			})
			must(t, err)
		}
	}
	before.end()
	must(t, before.wait())

	var burning sync.WaitGroup
	burn, cool := context.WithCancel(context.Background())
	defer burning.Wait()
	defer cool()
	for range busyBurners * runtime.GOMAXPROCS(0) {
		burning.Go(func() {
			for burn.Err() == nil {
			}
		})
	}
	s := serve(t, cfg)
	var asked, answered, incomplete, refused atomic.Int64
	var asking sync.WaitGroup
	for range busyAskers {
		asking.Go(func() {
			for n := int(asked.Add(1)); n <= questions; n = int(asked.Add(1)) {
				i := n * 7919 % busyLessons
				found, part, nothing, err := 0, false, false, error(nil)
				if n%4 == 0 {
					i -= i % 10
					var m *memory.StepMatches
					if m, err = service.SearchSteps.Do(t.Context(), s, memory.SearchStepsRequest{Query: fmt.Sprintf("drain zq%dkv", i), Caller: memory.Caller{Dir: dir}}); err == nil {
						found, part, nothing = len(m.Matches), m.Incomplete, len(m.Matches) == 0 && !m.Incomplete
					}
				} else {
					var a *memory.RecallResponse
					if a, err = service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: fmt.Sprintf("drain shard zq%dkv", i), Caller: memory.Caller{Dir: dir}}); err == nil {
						found, part, nothing = len(a.Items), a.Incomplete, a.NothingRelevant || len(a.Items) == 0 && !a.Incomplete
					}
				}
				switch {
				case memory.CodeOf(err) == memory.CodeUnavailable && err != nil:
					refused.Add(1)
				case err != nil:
					t.Errorf("question %d: %v", n, err)
				case nothing:
					t.Errorf("question %d about zq%dkv is told that there is nothing", n, i)
				case found > 0:
					answered.Add(1)
				case part:
					incomplete.Add(1)
				}
			}
		})
	}
	asking.Wait()
	t.Logf("%d questions: %d answered, %d incomplete, %d refused while loading", questions, answered.Load(), incomplete.Load(), refused.Load())
	if answered.Load() == 0 {
		t.Error("no question was answered")
	}
}
