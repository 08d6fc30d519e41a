package ingest

import (
	"context"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestPrivateMeanwhile: a lesson that is made private after it was read to be told again, and
// before that is committed, gets no line of a log. A correction takes over what is then so.
func TestPrivateMeanwhile(t *testing.T) {
	var before func(b memory.Batch) // the next commit
	r := newRig(t, func(r *rig, o *Options) {
		o.Committer = guarded{r.store, func(b memory.Batch) {
			if f := before; f != nil {
				before = nil
				f(b)
			}
		}}
	})
	tell := func(lesson string, replaces ...string) (*memory.Remembered, *memory.LogLine) {
		t.Helper()
		kept, line, err := r.ingest.RememberLine(t.Context(), memory.RememberRequest{Lesson: lesson, Supersedes: replaces, Caller: r.caller})
		must(t, err)
		return kept, line
	}
	kept, line := tell("The port is 4711")
	if line == nil {
		t.Fatal("a lesson that is not private has no line")
	}
	before = func(memory.Batch) {
		r.remember(memory.RememberRequest{Lesson: "The port is 4711", Private: true})
	}
	if _, line := tell("The port is 4711"); line != nil || !r.record(kept.ID).Event.Private {
		t.Errorf("told again while it becomes private (%v), it has the line %+v", r.record(kept.ID).Event.Private, line)
	}

	open, _ := tell("The port is 4712")
	marked := make(chan error)
	before = func(memory.Batch) {
		go func() {
			_, err := r.ingest.MarkLesson(context.Background(), memory.MarkLessonRequest{ID: open.ID, Private: new(true), Caller: r.caller})
			marked <- err
		}()
		for begun := time.Now(); r.ingest.forgetting.TryRLock(); { // until it waits
			r.ingest.forgetting.RUnlock()
			if time.Since(begun) > 10*time.Second {
				t.Error("marking a lesson does not wait for a correction")
				return
			}
		}
	}
	correction, line := tell("The port is 4713", open.ID)
	must(t, <-marked)
	if private := r.record(correction.ID).Event.Private; line == nil || private || !r.record(open.ID).Event.Private {
		t.Errorf("a correction that is told before its lesson becomes private has the line %+v, private %v", line, private)
	}
	if next, line := tell("The port is 4714", open.ID); line != nil || !r.record(next.ID).Event.Private {
		t.Errorf("a correction of a private lesson has the line %+v", line)
	}
}

// TestMarkByBeginning: a lesson is marked and restored by the beginning of its id, as answers
// show it.
func TestMarkByBeginning(t *testing.T) {
	r := newRig(t)
	kept := r.remember(memory.RememberRequest{Lesson: "The port is 4711"})
	short := kept.ID[:len("l-")+6]
	marked, err := r.ingest.MarkLesson(t.Context(), memory.MarkLessonRequest{ID: short, Pinned: new(true), Caller: r.caller})
	if err != nil || marked.ID != kept.ID || !r.record(kept.ID).Event.Pinned {
		t.Errorf("mark %s = %+v, %v; want %s pinned", short, marked, err, kept.ID)
	}
	r.remember(memory.RememberRequest{Lesson: "The port is 4712", Retracts: []string{kept.ID}})
	back, err := r.ingest.RestoreLesson(t.Context(), memory.RestoreLessonRequest{ID: short, Caller: r.caller})
	if err != nil || back.ID != kept.ID || r.record(kept.ID).Event.Withdrawn != nil {
		t.Errorf("restore %s = %+v, %v; want %s recalled", short, back, err, kept.ID)
	}
}
