package daemon

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestEveryOperationHasAHandler needs no store: binding alone finds what is missing.
func TestEveryOperationHasAHandler(t *testing.T) {
	if err := new(Daemon).bind(); err != nil {
		t.Error(err)
	}
}

func TestListsAreNeverNull(t *testing.T) {
	none := func(context.Context) ([]memory.DeadJob, error) { return nil, nil }
	list, err := inList(none, func(l []memory.DeadJob) memory.DeadJobList { return memory.DeadJobList{Jobs: l} })(t.Context(), service.None{})
	must(t, err)
	if text, err := json.Marshal(list); err != nil || string(text) != `{"jobs":[]}` {
		t.Errorf("an empty list is %s (%v), want []", text, err)
	}
}
