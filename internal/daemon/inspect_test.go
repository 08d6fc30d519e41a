package daemon

import (
	"errors"
	"fmt"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// A daemon that runs reads its store for whoever asks, also beside writes.
func TestCheckOfARunningDaemon(t *testing.T) {
	s := serve(t, newConfig(t))
	project := shop(t)
	writes := make(chan error, 1)
	go func() {
		for i := range 50 {
			if _, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{Lesson: fmt.Sprintf("lesson %d", i), Caller: memory.Caller{Dir: project}}); err != nil {
				writes <- err
				return
			}
		}
		writes <- nil
	}()
	for range 5 {
		report, err := service.Check.Do(t.Context(), s, service.None{})
		must(t, err)
		if len(report.Problems) > 0 {
			t.Errorf("a sound store has the problems %q", report.Problems)
		}
	}
	must(t, <-writes)
	report, err := service.Check.Do(t.Context(), s, service.None{})
	must(t, err)
	if report.Busy || report.Total > 0 || report.Took <= 0 {
		t.Errorf("report of an idle store: %+v", report)
	}
}

func TestProblemsAreTakenApart(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	if got := fmt.Sprint(problems(errors.Join(errors.Join(a, b), c))); got != "[a b c]" {
		t.Errorf("problems are %s", got)
	}
	if got := problems(nil); got != nil {
		t.Errorf("nothing is taken apart to %q", got)
	}
}
