package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// stepInput is what record_step takes. What has no default is a pointer, so
// that leaving it out is told from its zero.
type stepInput struct {
	SessionID   *string         `json:"sessionId"`
	Timestamp   *string         `json:"timestamp"`
	Tool        *toolInput      `json:"tool"`
	Outcome     *outcomeInput   `json:"outcome"`
	Observation json.RawMessage `json:"observation"`
	Environment json.RawMessage `json:"environment"`
	DurationMs  int64           `json:"durationMs"`
	Screenshot  string          `json:"screenshot"`
	Advise      *bool           `json:"advise"` // default true
	Project     string          `json:"project"`
}

// toolInput is the tool that a step used. Input and target are any JSON values.
type toolInput struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Target json.RawMessage `json:"target"`
}

// outcomeInput is how the step ended.
type outcomeInput struct {
	OK    *bool       `json:"ok"`
	Error *errorInput `json:"error"`
}

type errorInput struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details"`
}

func (s *Server) recordStep(ctx context.Context, c call, in stepInput) (string, any, error) {
	request, err := in.request()
	if err != nil {
		return "", nil, err
	}
	request.RequestID, request.Project, request.Caller = c.requestID, c.agent.project(in.Project), c.caller
	recorded, err := service.RecordStep.Do(ctx, s.svc, request)
	if err != nil {
		return "", nil, err
	}
	answer := *recorded
	answer.Labels = orEmpty(recorded.Labels)
	if recorded.Advice != nil {
		answer.Advice = structured(recorded.Advice, memory.AdviceTokens)
	}
	return recordedText(recorded), answer, nil
}

func (in *stepInput) request() (memory.RecordStepRequest, error) {
	request := memory.RecordStepRequest{
		Observation: unlessNull(in.Observation), Environment: unlessNull(in.Environment),
		DurationMs: in.DurationMs, Screenshot: in.Screenshot,
		// An agent that reports a failure is about to look for its remedy.
		Advise: in.Advise == nil || *in.Advise,
	}
	var err error
	if request.SessionID, err = sessionID("sessionId", in.SessionID); err != nil {
		return request, err
	}
	if in.Timestamp != nil {
		if request.Timestamp, err = time.Parse(time.RFC3339, *in.Timestamp); err != nil {
			return request, memory.Invalid("timestamp", "RFC 3339: 2026-01-31T15:04:05Z", "%q is not a time", *in.Timestamp)
		}
	}
	if in.Tool == nil {
		return request, memory.Invalid("tool", "an object with name", "is missing")
	}
	request.Tool = memory.StepTool{
		Name: in.Tool.Name, Input: unlessNull(in.Tool.Input), Target: unlessNull(in.Tool.Target),
	}
	if in.Outcome == nil || in.Outcome.OK == nil {
		return request, memory.Invalid("outcome.ok", "true or false", "is missing")
	}
	request.Outcome.OK = *in.Outcome.OK
	if e := in.Outcome.Error; e != nil {
		if request.Outcome.OK {
			return request, memory.Invalid("outcome.error", "only with ok false", "is given for a step that went well")
		}
		request.Outcome.Error = &memory.StepError{Code: e.Code, Message: e.Message, Details: unlessNull(e.Details)}
	}
	return request, nil
}

// recordedText says what became of a step; for one that failed, what is known
// of its error.
func recordedText(r *memory.StepRecorded) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Recorded step %s in session %s", r.ID, r.SessionID)
	if len(r.Labels) > 0 {
		fmt.Fprintf(&text, " (%s)", strings.Join(r.Labels, ", "))
	}
	text.WriteString(".")
	writeNotes(&text, r.Redacted, r.Warning)
	if r.Advice != nil && len(r.Advice.Items) > 0 {
		fmt.Fprintf(&text, "\n\nKnown about this error:\n\n%s", strings.TrimSpace(r.Advice.Text))
	} else if r.Advice != nil && r.Advice.Incomplete {
		fmt.Fprintf(&text, "\n\nLessons about this error could not be searched (%s); ask recall again in a moment.", r.Advice.Why)
	}
	return text.String()
}
