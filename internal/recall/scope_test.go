package recall

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestSessionsThatFiltersChoose(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	full := &memory.StepFilters{FlowTag: new("f"), Tag: new("t"), Screen: new("s"), GitBranch: new("b"), SinceHours: new(3)}
	want := memory.SessionFilter{FlowTag: "f", Tag: "t", Screen: "s", GitBranch: "b", Since: now.Add(-3 * time.Hour)}
	if got := sessionFilter(full, now); got != want {
		t.Errorf("filters choose %+v, want %+v", got, want)
	}
	for name, f := range map[string]*memory.StepFilters{"none": nil, "empty": {}} {
		if got := sessionFilter(f, now); !got.IsZero() {
			t.Errorf("%s choose %+v, want all", name, got)
		}
	}
}
