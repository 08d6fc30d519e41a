package agentctx

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// taskRecord returns the record of a completed task. extra has the unknown fields of a
// legacy state.
func taskRecord(p memory.Project, t memory.CompletedTask, extra map[string]json.RawMessage) memory.Record {
	return memory.Record{
		ID: memory.RecordID("t", p.ID, t.TaskID), Kind: memory.Task, Project: p.ID, Repo: p.Name, Created: t.CompletedAt,
		Text: taskText(t), Extra: extra,
		Task: &memory.TaskContent{
			TaskID: t.TaskID, Type: t.TaskType, RequiresContext: t.RequiresContext, Intent: t.Intent, Summary: t.Summary,
			Report: t.ValidationReport,
		},
	}
}

// blockerRecord returns the record of a blocker.
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

// taskText returns the text by which a completed task is found. A redacted task has its id
// and type only.
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

// jsonOf encodes the task or blocker of a record as in a state, with its unknown fields.
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

func blockerID(project, taskID string) string { return memory.RecordID("b", project, taskID) }

// resolvedMark is the tombstone of a resolved blocker. It keeps a legacy state from raising
// the blocker again, but not another blocker of the same task.
func resolvedMark(r memory.Record) string {
	return memory.RecordID("v", r.Project, r.Task.TaskID, strconv.FormatInt(r.Created.UnixMilli(), 10))
}

// byAge orders records like Records.Entries, oldest first.
func byAge(a, b memory.Record) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
}

// stamp returns the time of a report that names none: now, but later than the report before,
// so that their order stays.
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
