package daemon

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Of limits.memory, the share that what is held may take before work that would add to it
// waits, in percent. The rest is for answers and for garbage.
const fullShare = 85

// applyBudget has Go keep to the settings of memory and processors. What the environment says
// (GOMEMLIMIT, GOMAXPROCS) counts more. Undo ends it.
func applyBudget(l config.Limits) (undo func()) {
	undo = func() {}
	if l.Memory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		before := debug.SetMemoryLimit(int64(l.Memory))
		undo = func() { debug.SetMemoryLimit(before) }
	}
	if l.Processors > 0 && os.Getenv("GOMAXPROCS") == "" {
		former, before := undo, runtime.GOMAXPROCS(min(l.Processors, runtime.NumCPU()))
		undo = func() { runtime.GOMAXPROCS(before); former() }
	}
	return undo
}

// heldBytes is what the last garbage collection found in use on the heap.
func heldBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// memoryFull says that what is held comes near limits.memory.
func (d *Daemon) memoryFull() bool {
	limit := uint64(d.opts.Config.Limits.Memory)
	return limit > 0 && d.opts.held() > limit/100*fullShare
}

// roomFor returns CodeUnavailable while there is no memory for work that would add to what is
// held.
func (d *Daemon) roomFor(what string) error {
	if !d.memoryFull() {
		return nil
	}
	return &memory.Error{
		Code: memory.CodeUnavailable, Field: "limits.memory", Limit: d.opts.Config.Limits.Memory.String(),
		Message: fmt.Sprintf("there is no memory for %s: %s are in use", what, render.Bytes(int64(d.opts.held()))),
		Hint:    "raise the setting, or have fewer repositories indexed",
	}
}

// memoryNote says in the status what waits for memory; empty if nothing does.
func (d *Daemon) memoryNote() string {
	if !d.memoryFull() {
		return ""
	}
	return fmt.Sprintf("indexing, embedding and adaptation wait: %s of memories and work are held, and the budget for them, limits.memory, is %s; the process takes more", render.Bytes(int64(d.opts.held())), d.opts.Config.Limits.Memory)
}
