package sessiondir

import (
	"encoding/json"

	"github.com/recalld/recalld/internal/memory"
)

// decodeStep decodes a step file and returns its version. Only the tool's name is
// required, and a time, in the file or in its name. The record has no id and project, and
// the session that the file names, if any. Without an outcome a step has succeeded,
// unless it has an error. The error is errNotJSON or names a field.
func decodeStep(text []byte, name string) (r memory.Record, version int, err error) {
	in, err := readInput(text)
	if err != nil {
		return r, 0, err
	}
	version = in.version()
	c := &memory.StepContent{
		Environment: in.raw("environment"),
		Git:         readGit(in),
		Build:       in.raw("build"),
		Tool:        readTool(in),
		DurationMs:  readTiming(in),
		Outcome:     readOutcome(in),
		Observation: in.raw("observation"),
		Screenshot:  readArtifacts(in),
		Labels:      in.list("labels"),
	}
	r = memory.Record{Kind: memory.Step, Session: in.text("sessionId"), Created: in.time("timestamp"), Step: c}
	if r.Created.IsZero() {
		r.Created, _ = timeInName(name)
	}
	c.Extra = in.rest()
	return r, version, *in.err
}

func readTool(in *input) memory.StepTool {
	object := in.object("tool")
	t := memory.StepTool{Name: object.text("name"), Input: object.raw("input"), Target: object.raw("target")}
	in.give("tool", object)
	return t
}

func readTiming(in *input) int64 {
	object := in.object("timing")
	ms := object.whole("durationMs")
	in.give("timing", object)
	return ms
}

// readOutcome takes the outcome. Missing fields are filled in: only an outcome that says
// so has failed.
func readOutcome(in *input) memory.Outcome {
	object := in.object("outcome")
	failure, failed := object.fields["error"]
	failed = failed && !isNull(failure)
	ok, known := object.flag("ok")
	if !known {
		ok = !failed
	}
	o := memory.Outcome{OK: ok}
	if failed && !ok { // the error of a success has no meaning; it stays in the rest
		e := object.object("error")
		o.Error = &memory.StepError{Code: e.text("code"), Message: e.text("message"), Details: e.raw("details")}
		object.give("error", e)
	}
	if known {
		delete(object.fields, "ok") // it is always written
	}
	in.give("outcome", object)
	return o
}

func readArtifacts(in *input) string {
	object := in.object("artifacts")
	name := object.text("screenshot")
	in.give("artifacts", object)
	return name
}

// encodeStep encodes a step file. Fields that are required by the contract are always
// there. Screen and fingerprints are derived and left out.
func encodeStep(r memory.Record, session string) ([]byte, error) {
	c := r.Step
	out := newOutput(c.Extra)
	out.version()
	out.time("timestamp", r.Created)
	out.text("sessionId", session)
	out.raw("environment", c.Environment)
	writeGit(out, c.Git)
	out.raw("build", c.Build)

	tool := out.object("tool")
	tool.text("name", c.Tool.Name)
	tool.raw("input", c.Tool.Input)
	tool.raw("target", c.Tool.Target)
	out.add("tool", tool)

	timing := out.object("timing")
	timing.whole("durationMs", c.DurationMs)
	out.add("timing", timing)

	outcome := out.object("outcome")
	outcome.put("ok", marshal(c.Outcome.OK))
	if c.Outcome.Error != nil {
		outcome.put("error", writeError(outcome, c.Outcome.Error))
	}
	out.add("outcome", outcome)

	// Readers of the contract expect a state in it.
	observation := c.Observation
	if _, ok := out.rest["observation"]; len(observation) == 0 && !ok {
		observation = json.RawMessage("{}")
	}
	out.raw("observation", observation)

	artifacts := out.object("artifacts")
	artifacts.text("screenshot", c.Screenshot)
	out.add("artifacts", artifacts)
	out.list("labels", c.Labels)
	return out.file()
}

// writeError writes a step's error into its outcome.
func writeError(outcome *output, e *memory.StepError) json.RawMessage {
	object := outcome.object("error")
	object.text("code", e.Code)
	object.text("message", e.Message)
	object.raw("details", e.Details)
	return object.compact()
}
