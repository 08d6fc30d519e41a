package agentctx

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// taskRecord makes the record of a completed task. Extra are fields that an old state
// had and this version does not know.
func taskRecord(p memory.Project, t memory.CompletedTask, extra map[string]json.RawMessage) memory.Record {
	return memory.Record{
		ID: identify("t", p.ID, t.TaskID), Kind: memory.Task, Project: p.ID, Repo: p.Name, Created: t.CompletedAt,
		Text: taskText(t), Extra: extra,
		Task: &memory.TaskContent{
			TaskID: t.TaskID, Type: t.TaskType, RequiresContext: t.RequiresContext, Intent: t.Intent, Summary: t.Summary,
			Report: t.ValidationReport,
		},
	}
}

// blockerRecord makes the record of a blocker.
func blockerRecord(p memory.Project, b memory.BlockedTask, extra map[string]json.RawMessage) memory.Record {
	return memory.Record{
		ID: blockerID(p.ID, b.TaskID), Kind: memory.Blocker, Project: p.ID, Repo: p.Name, Created: b.BlockedAt,
		Text: b.TaskID + "\n" + b.Reason, Extra: extra, Task: &memory.TaskContent{TaskID: b.TaskID, Reason: b.Reason},
	}
}

func taskOf(r *memory.Record) memory.CompletedTask {
	t := r.Task
	return memory.CompletedTask{
		TaskID: t.TaskID, CompletedAt: r.Created, TaskType: t.Type, RequiresContext: t.RequiresContext,
		Intent: t.Intent, Summary: t.Summary, ValidationReport: t.Report,
	}
}

func blockerOf(r *memory.Record) memory.BlockedTask {
	return memory.BlockedTask{TaskID: r.Task.TaskID, Reason: r.Task.Reason, BlockedAt: r.Created}
}

// taskText is what a completed task is found by. Of an opaque one that is its name
// and type: what it was about is nobody's business.
func taskText(t memory.CompletedTask) string {
	parts := []string{t.TaskID, t.TaskType}
	if t.RequiresContext {
		parts = append(parts, t.Intent, t.Summary)
		for _, point := range readReport(t.ValidationReport).points {
			if !strings.Contains(t.Summary, point) {
				parts = append(parts, point)
			}
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}

// jsonOf writes the task or blocker of a record as the state has it, with its other
// fields.
func jsonOf(r memory.Record) json.RawMessage {
	var raw []byte
	if r.Kind == memory.Blocker {
		raw, _ = json.Marshal(blockerOf(&r)) // checked to be valid JSON
	} else {
		raw, _ = json.Marshal(taskOf(&r))
	}
	if len(r.Extra) == 0 || len(raw) == 0 {
		return raw
	}
	b := bytes.NewBuffer(raw[:len(raw)-1])
	for _, name := range slices.Sorted(maps.Keys(r.Extra)) {
		key, _ := json.Marshal(name)
		b.WriteByte(',')
		b.Write(key)
		b.WriteByte(':')
		b.Write(r.Extra[name])
	}
	b.WriteByte('}')
	return b.Bytes()
}

func blockerID(project, taskID string) string { return identify("b", project, taskID) }

// resolvedMark is the tombstone of a blocker that was resolved: the same one is not
// raised again by an old state, and another one of the same task is.
func resolvedMark(r memory.Record) string {
	return identify("v", r.Project, r.Task.TaskID, strconv.FormatInt(r.Created.UnixMilli(), 10))
}

// identify makes an id of a kind's letter and what the record is known by, in the
// form of all ids.
func identify(letter string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return letter + "-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// byAge orders records as the shelf does, oldest first.
func byAge(a, b memory.Record) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
}

// inMillis is a time as records have it; zero stays zero.
func inMillis(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// stamp is the time of what does not say it: now, and later than what was reported a
// moment ago, so that the order of reports stays.
func stamp(now time.Time, newest []memory.Record) time.Time {
	if len(newest) == 0 {
		return now
	}
	last := newest[len(newest)-1].Created
	if !last.Before(now) && last.Sub(now) < time.Second {
		return last.Truncate(time.Millisecond).Add(time.Millisecond)
	}
	return now
}
