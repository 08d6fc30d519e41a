package daemon

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

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

// uncountedStore has a problem at its first checks, as beside a write that is not counted
// yet; tries says at how many.
type uncountedStore struct{ tries, checks int }

func (s *uncountedStore) Check() error {
	if s.checks++; s.checks <= s.tries {
		return errors.New("a record is not counted")
	}
	return nil
}

func (s *uncountedStore) Seq() uint64                { return 1 }
func (s *uncountedStore) StoredSeq() (uint64, error) { return 2, nil }

// A store that a later try finds sound is not called busy.
func TestCheckBesideWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for tries, want := range map[int]bool{0: false, 1: false, checkTries: true} {
			found, busy, err := examine(t.Context(), &uncountedStore{tries: tries})
			must(t, err)
			if len(found) > 0 || busy != want {
				t.Errorf("after %d uncertain tries it finds %q, busy %t, want %t", tries, found, busy, want)
			}
		}
	})
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
