package daemon

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// StartSession carries out service.StartSession. What has come in is written even if the
// caller has gone: a hook does not wait for git.
func (d *Daemon) StartSession(ctx context.Context, req memory.StartSessionRequest) (*memory.SessionState, error) {
	ctx = context.WithoutCancel(ctx)
	// A session holds what is always included when it starts.
	d.files.TakeContext(ctx, req.Project, req.Caller)
	s, err := d.core.Ingest.StartSession(ctx, req)
	if err != nil {
		return nil, err
	}
	d.files.PutSession(req.Caller, s)
	return s, nil
}

// EndSession carries out service.EndSession.
func (d *Daemon) EndSession(ctx context.Context, req memory.EndSessionRequest) (*memory.SessionState, error) {
	s, err := d.core.Ingest.EndSession(ctx, req)
	if err != nil {
		return nil, err
	}
	_, s.Steps, _ = d.core.Indexer.Session(s.Project, s.ID)
	d.files.PutSession(req.Caller, s)
	return s, nil
}

// RecordStep carries out service.RecordStep. As with StartSession, the caller may have
// gone.
func (d *Daemon) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	warning := d.storePicture(ctx, &req)
	out, err := d.core.Ingest.RecordStep(context.WithoutCancel(ctx), req)
	if err != nil {
		return nil, err
	}
	out.Warning = warning
	session, err := d.core.Store.Session(out.Project, out.SessionID)
	if err != nil { // forgotten meanwhile
		return out, nil
	}
	step, err := d.core.Store.Record(out.ID)
	if err != nil {
		return out, nil
	}
	if !out.Repeated { // its outcome was counted then
		if err := d.core.Ingest.Settle(context.WithoutCancel(ctx), step); err != nil {
			d.log.Warn("the outcome of a lesson is not counted", attrPart, "ingest", attrError, err)
		}
	}
	d.files.PutStep(req.Caller, session, step, out)
	if req.Advise && !step.Step.Outcome.OK {
		out.Advice = d.advise(ctx, req, step)
	}
	return out, nil
}

// storePicture stores the picture that a step names before the step is written, so
// that its record names the stored file. It says what could not be stored; whatever
// else is wrong with the request is said when it is written.
func (d *Daemon) storePicture(ctx context.Context, req *memory.RecordStepRequest) (warning string) {
	if req.Screenshot == "" || memory.Check(req) != nil {
		return ""
	}
	project, known, err := d.core.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil || !known {
		return ""
	}
	session, err := d.core.Ingest.FindSession(project.ID, req.SessionID, req.Caller)
	if err != nil || !session.Open() || !session.Screenshots {
		return ""
	}
	req.Screenshot, warning = d.files.PutPicture(req.Caller, session, req.Screenshot)
	return warning
}

// Bounds of the advice to an agent that has failed: it did not ask.
const (
	adviceLessons = 3
	// adviceQuery is how much of an error is asked about, in characters: its end,
	// where programs put what matters.
	adviceQuery = 2000
	// adviceRelevance is the least relevance of a lesson: that of what is sure. Failures
	// share words ("no such file", "not found") that make other lessons likely.
	adviceRelevance = 0.75
)

// advise recalls lessons about the error of a step that failed. Without any it is nil.
// The step is what was asked for, so a search that failed is no error: the advice says
// that it is incomplete.
func (d *Daemon) advise(ctx context.Context, req memory.RecordStepRequest, step memory.Record) *memory.RecallResponse {
	failed := step.Step.Outcome.Error
	if failed == nil || failed.Message == "" {
		return nil
	}
	message := []rune(failed.Message)
	caller := req.Caller
	caller.Session = step.Session
	relevance := max(adviceRelevance, d.opts.Config.Recall.MinRelevance.Lesson)
	answer, err := d.Recall(ctx, memory.RecallRequest{
		Query: string(message[max(0, len(message)-adviceQuery):]), Kinds: []memory.Kind{memory.Lesson},
		Limit: adviceLessons, MaxTokens: memory.AdviceTokens, MinRelevance: &relevance, Project: req.Project, Caller: caller,
	})
	if err != nil {
		if memory.CodeOf(err) == memory.CodeInvalidInput { // there is nothing to ask
			return nil
		}
		return &memory.RecallResponse{Project: step.Project, Items: []memory.Item{}, Withheld: []memory.Withheld{}, Incomplete: true, Why: memory.AsError(err).Message}
	}
	if len(answer.Items) == 0 && !answer.Incomplete {
		return nil
	}
	return answer
}
