package recall_test

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// What is not there is gone, unless the store has lost something: then nobody knows.
func TestThenInADamagedStore(t *testing.T) {
	var damage *memory.StoreDamage
	r := newRig(t, func(_ *rig, o *recall.Options) { o.Lost = func() *memory.StoreDamage { return damage } })
	items := []memory.ReceiptItem{{ID: "u-1", Kind: memory.Rule, Hash: memory.DocumentID("Old").String()}}
	for state, lost := range map[memory.Reason]*memory.StoreDamage{memory.Gone: nil, "": {}} {
		damage = lost
		if got := r.recall.Then(t.Context(), r.project, true, items); got[0].State != state {
			t.Errorf("with damage %v a rule that is not there is in state %q, want %q", lost, got[0].State, state)
		}
	}
}
