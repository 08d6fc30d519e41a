package store

import (
	"encoding/json"

	"github.com/recalld/recalld/internal/memory"
)

// readRecord decodes a record without reflection, but for what few records have: a start
// reads all of them, and a question those of its hits. It returns false for what encode does
// not write.
func readRecord(payload []byte, to *memory.Record) bool {
	r := cborReader{rest: payload}
	var record memory.Record
	r.fields(func(key []byte) { r.record(&record, key) })
	if r.bad || len(r.rest) > 0 {
		return false
	}
	*to = record
	return true
}

// The methods below read the value of a field, by its key, into what has it.

func (r *cborReader) record(to *memory.Record, key []byte) {
	switch string(key) {
	case "id":
		to.ID = r.text()
	case "kind":
		to.Kind = memory.Kind(r.text())
	case "project":
		to.Project = r.text()
	case "repo":
		to.Repo = r.text()
	case "session":
		to.Session = r.text()
	case "tags":
		to.Tags = r.texts()
	case "created_at":
		to.Created = r.time()
	case "updated_at":
		to.Updated = r.time()
	case "provenance":
		r.fields(func(key []byte) { r.provenance(&to.Provenance, key) })
	case "doc":
		to.Doc = r.doc()
	case "text":
		to.Text = r.text()
	case "event":
		to.Event = readObject(r, r.event)
	case "step":
		to.Step = readObject(r, r.step)
	case "reference":
		to.Reference = readRare[*memory.RefContent](r)
	case "entry":
		to.Entry = readRare[*memory.Entry](r)
	case "task":
		to.Task = readRare[*memory.TaskContent](r)
	case "verdicts":
		to.Verdicts = readRare[*memory.VerdictCounts](r)
	case "extra":
		to.Extra = readRare[map[string]json.RawMessage](r)
	default:
		r.bad = true
	}
}

func (r *cborReader) provenance(to *memory.Provenance, key []byte) {
	switch string(key) {
	case "origin":
		to.Origin = memory.Origin(r.text())
	case "agent":
		to.Agent = r.text()
	case "session":
		to.Session = r.text()
	case "path":
		to.Path = r.text()
	default:
		r.bad = true
	}
}

func (r *cborReader) event(to *memory.Event, key []byte) {
	switch string(key) {
	case "agent_id":
		to.AgentID = r.text()
	case "event_type":
		to.Type = memory.EventType(r.text())
	case "context":
		to.Context = r.text()
	case "command":
		to.Command = r.text()
	case "lesson":
		to.Lesson = r.text()
	case "rate":
		to.Rate = readObject(r, r.rate)
	case "rate_at":
		to.RateAt = r.time()
	case "seen":
		to.Seen = r.number()
	case "tellings":
		to.Observations = readList(r, func() (o memory.Observation) {
			r.fields(func(key []byte) { r.observation(&o, key) })
			return o
		})
	case "fingerprints":
		to.Fingerprints = r.texts()
	case "anchors":
		to.Anchors = readRare[[]memory.Anchor](r)
	case "aside":
		to.Withdrawn = readRare[*memory.Withdrawal](r)
	case "private":
		to.Private = r.bool()
	case "pinned":
		to.Pinned = r.bool()
	case "team":
		to.Team = readRare[[]memory.TeamShare](r)
	default:
		r.bad = true
	}
}

func (r *cborReader) observation(to *memory.Observation, key []byte) {
	switch string(key) {
	case "at":
		to.At = r.time()
	case "agent_id":
		to.AgentID = r.text()
	case "session":
		to.Session = r.text()
	case "rate":
		to.Rate = readObject(r, r.rate)
	case "line":
		to.Line = r.doc()
	default:
		r.bad = true
	}
}

func (r *cborReader) rate(to *memory.Rate, key []byte) {
	switch string(key) {
	case "successes":
		to.Successes = r.number()
	case "attempts":
		to.Attempts = r.number()
	default:
		r.bad = true
	}
}

func (r *cborReader) step(to *memory.StepContent, key []byte) {
	switch string(key) {
	case "tool":
		r.fields(func(key []byte) { r.tool(&to.Tool, key) })
	case "outcome":
		r.fields(func(key []byte) { r.outcome(&to.Outcome, key) })
	case "observation":
		to.Observation = r.bytes()
	case "environment":
		to.Environment = r.bytes()
	case "build":
		to.Build = r.bytes()
	case "git":
		to.Git = readRare[*memory.Git](r)
	case "durationMs":
		to.DurationMs = int64(r.number())
	case "screenshot":
		to.Screenshot = r.text()
	case "labels":
		to.Labels = r.texts()
	case "screen":
		to.Screen = r.text()
	case "fingerprints":
		to.Fingerprints = r.texts()
	case "extra":
		to.Extra = readRare[map[string]json.RawMessage](r)
	default:
		r.bad = true
	}
}

func (r *cborReader) tool(to *memory.StepTool, key []byte) {
	switch string(key) {
	case "name":
		to.Name = r.text()
	case "input":
		to.Input = r.bytes()
	case "target":
		to.Target = r.bytes()
	default:
		r.bad = true
	}
}

func (r *cborReader) outcome(to *memory.Outcome, key []byte) {
	switch string(key) {
	case "ok":
		to.OK = r.bool()
	case "error":
		to.Error = readRare[*memory.StepError](r)
	default:
		r.bad = true
	}
}

func (r *cborReader) texts() []string { return readList(r, r.text) }

func (r *cborReader) number() int { return int(r.head(cborUint)) }

func (r *cborReader) doc() (id memory.DocID) {
	copy(id[:], r.take(cborBytes, len(id)))
	return id
}
