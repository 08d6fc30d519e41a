package daemon

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

func TestListsAreNeverNull(t *testing.T) {
	none := func(context.Context) ([]memory.DeadJob, error) { return nil, nil }
	list, err := inList(none, func(l []memory.DeadJob) memory.DeadJobList { return memory.DeadJobList{Jobs: l} })(t.Context(), service.None{})
	must(t, err)
	if text, err := json.Marshal(list); err != nil || string(text) != `{"jobs":[]}` {
		t.Errorf("an empty list is %s (%v), want []", text, err)
	}
}
