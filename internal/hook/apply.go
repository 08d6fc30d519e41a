package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
	"github.com/recalld/recalld/internal/service"
)

// Event is what a hook records, in the form in which it waits for the daemon. Its id names
// the requests that write, so that an event that was carried out, and then carried out again
// because its hook did not wait for the answer, is recorded once.
type Event struct {
	// Version is that of this form.
	Version int                         `json:"v"`
	ID      string                      `json:"id"`
	Start   *memory.StartSessionRequest `json:"start,omitempty"`
	Step    *memory.RecordStepRequest   `json:"step,omitempty"`
	End     *memory.EndSessionRequest   `json:"end,omitempty"`
}

// eventVersion is the form that this program writes and reads.
const eventVersion = 1

// Event returns what a request records, under an id; false if it only asks.
func (r Request) Event(id string) (Event, bool) {
	e := Event{Version: eventVersion, ID: id, Start: r.Start, Step: r.Step, End: r.End}
	return e, e.Start != nil || e.Step != nil || e.End != nil
}

// Encode writes an event that is to wait. It asks for no advice: its hook has ended.
func (e Event) Encode() ([]byte, error) {
	if e.Step != nil {
		step := *e.Step
		step.Advise = false
		e.Step = &step
	}
	return json.Marshal(e)
}

// Decode reads an event.
func Decode(text []byte) (Event, error) {
	var e Event
	if err := strict.Decode(text, &e, "event"); err != nil {
		return Event{}, err
	}
	if e.Version != eventVersion || e.ID == "" {
		return Event{}, memory.Invalid("event", fmt.Sprintf("version %d, with an id", eventVersion), "the event has version %d and id %s", e.Version, memory.Quote(e.ID))
	}
	return e, nil
}

// Apply records an event. For a step it returns the lessons about its error, if it asks for
// them. Sessions that have ended are continued by a further run. A step later than now was
// made before the clock was set back: the daemon would refuse it, so it gets the time now.
func (e Event) Apply(ctx context.Context, daemon service.Service, now time.Time) (*memory.RecallResponse, error) {
	if e.Start != nil {
		// Of one that has ended, or whose id is taken, the next step opens the next run.
		if _, err := service.StartSession.Do(ctx, daemon, *e.Start); err != nil && !isConflict(err, "sessionId") {
			return nil, err
		}
	}
	switch {
	case e.Step != nil:
		return e.step(ctx, daemon, now)
	case e.End != nil:
		return nil, e.end(ctx, daemon)
	}
	return nil, nil
}

// step records a step in the run of its session that is open. Each run has a request id of
// its own: a refusal is an answer, too.
func (e Event) step(ctx context.Context, daemon service.Service, now time.Time) (*memory.RecallResponse, error) {
	step := *e.Step
	if step.Timestamp.After(now) {
		step.Timestamp = now.UTC()
	}
	for n := 1; ; n++ {
		step.SessionID = Run(e.Step.SessionID, n)
		step.Caller.Session = step.SessionID
		step.RequestID = Run(e.ID, n)
		recorded, err := service.RecordStep.Do(ctx, daemon, step)
		switch {
		case err == nil:
			return recorded.Advice, nil
		case isConflict(err, "request_id"): // the id is this event's: it was recorded, with another time
			return nil, nil
		case !isConflict(err, "sessionId") || n == maxRuns:
			return nil, err
		}
	}
}

// end ends a session and the runs that it was resumed for.
func (e Event) end(ctx context.Context, daemon service.Service) error {
	end := *e.End
	for n := 1; n <= maxRuns; n++ {
		end.SessionID = Run(e.End.SessionID, n)
		end.Caller.Session = end.SessionID
		if _, err := service.EndSession.Do(ctx, daemon, end); memory.CodeOf(err) == memory.CodeNotFound {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// isConflict says that a field is refused with a conflict: a session's id is taken, say, or the
// session has ended.
func isConflict(err error, field string) bool {
	e, ok := errors.AsType[*memory.Error](err)
	return ok && e.Code == memory.CodeConflict && e.Field == field
}

// IsFinal says that an event that failed with this error will always fail.
func IsFinal(err error) bool {
	switch memory.CodeOf(err) {
	case memory.CodeInvalidInput, memory.CodeNotFound, memory.CodeConflict, memory.CodeForbidden:
		return true
	}
	return false
}
