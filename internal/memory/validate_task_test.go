package memory_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Every limit of working memory from both sides; the error names the field and its
// limit.
func TestLimitsOfTasks(t *testing.T) {
	complete := func(change func(*memory.CompleteTaskRequest)) any {
		r := &memory.CompleteTaskRequest{TaskID: "t", ValidationReport: json.RawMessage(`{}`)}
		change(r)
		return r
	}
	block := func(change func(*memory.BlockTaskRequest)) any {
		r := &memory.BlockTaskRequest{TaskID: "t", Reason: "r"}
		change(r)
		return r
	}
	unblock := func(change func(*memory.UnblockTaskRequest)) any {
		r := &memory.UnblockTaskRequest{TaskID: "t"}
		change(r)
		return r
	}
	window := func(change func(*memory.TaskWindowRequest)) any {
		r := &memory.TaskWindowRequest{}
		change(r)
		return r
	}
	history := func(change func(*memory.TaskHistoryRequest)) any {
		r := &memory.TaskHistoryRequest{}
		change(r)
		return r
	}
	load := func(state string) any { return &memory.LoadTasksRequest{State: json.RawMessage(state)} }
	// Characters are counted, not bytes.
	long := func(n int) string { return strings.Repeat("ü", n) }
	report := func(bytes int) json.RawMessage {
		return json.RawMessage(`{"x":"` + strings.Repeat("x", bytes-len(`{"x":""}`)) + `"}`)
	}
	first, last := time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	for name, test := range map[string]struct {
		at, over any // at the limit, and past it
		field    string
	}{
		"complete: task_id, least":    {complete(func(r *memory.CompleteTaskRequest) { r.TaskID = " x " }), complete(func(r *memory.CompleteTaskRequest) { r.TaskID = " \n" }), "task_id"},
		"complete: task_id, most":     {complete(func(r *memory.CompleteTaskRequest) { r.TaskID = long(200) }), complete(func(r *memory.CompleteTaskRequest) { r.TaskID = long(201) }), "task_id"},
		"complete: task_id, NUL":      {complete(func(r *memory.CompleteTaskRequest) { r.TaskID = "a\tb" }), complete(func(r *memory.CompleteTaskRequest) { r.TaskID = "a\x00b" }), "task_id"},
		"complete: task_type":         {complete(func(r *memory.CompleteTaskRequest) { r.TaskType = long(200) }), complete(func(r *memory.CompleteTaskRequest) { r.TaskType = long(201) }), "task_type"},
		"complete: intent":            {complete(func(r *memory.CompleteTaskRequest) { r.Intent = long(2000) }), complete(func(r *memory.CompleteTaskRequest) { r.Intent = long(2001) }), "intent"},
		"complete: intent, UTF-8":     {complete(func(r *memory.CompleteTaskRequest) { r.Intent = "\ufffd" }), complete(func(r *memory.CompleteTaskRequest) { r.Intent = "\xff" }), "intent"},
		"complete: summary":           {complete(func(r *memory.CompleteTaskRequest) { r.Summary = long(4000) }), complete(func(r *memory.CompleteTaskRequest) { r.Summary = long(4001) }), "summary"},
		"complete: report, is needed": {complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = json.RawMessage(" {}\n") }), complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = nil }), "validation_report"},
		"complete: report, an object": {complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = json.RawMessage(`{"valid":1}`) }), complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = json.RawMessage(`[]`) }), "validation_report"},
		"complete: report, JSON":      {complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = json.RawMessage(`{"a":{}}`) }), complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = json.RawMessage(`{"a":{}`) }), "validation_report"},
		"complete: report, UTF-8":     {complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = json.RawMessage(`{"a":"\ufffd"}`) }), complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = json.RawMessage("{\"a\":\"\xff\"}") }), "validation_report"},
		"complete: report, most":      {complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = report(65536) }), complete(func(r *memory.CompleteTaskRequest) { r.ValidationReport = report(65537) }), "validation_report"},
		"complete: first time":        {complete(func(r *memory.CompleteTaskRequest) { r.CompletedAt = first }), complete(func(r *memory.CompleteTaskRequest) { r.CompletedAt = first.Add(-time.Second) }), "completed_at"},
		"complete: last time":         {complete(func(r *memory.CompleteTaskRequest) { r.CompletedAt = last }), complete(func(r *memory.CompleteTaskRequest) { r.CompletedAt = last.Add(time.Second) }), "completed_at"},
		"complete: request_id":        {complete(func(r *memory.CompleteTaskRequest) { r.RequestID = long(200) }), complete(func(r *memory.CompleteTaskRequest) { r.RequestID = long(201) }), "request_id"},
		"complete: project":           {complete(func(r *memory.CompleteTaskRequest) { r.Project = long(4096) }), complete(func(r *memory.CompleteTaskRequest) { r.Project = long(4097) }), "project"},
		"complete: caller":            {complete(func(r *memory.CompleteTaskRequest) { r.Caller.Client = long(200) }), complete(func(r *memory.CompleteTaskRequest) { r.Caller.Client = long(201) }), "caller.client"},
		"block: task_id":              {block(func(r *memory.BlockTaskRequest) { r.TaskID = long(200) }), block(func(r *memory.BlockTaskRequest) { r.TaskID = "" }), "task_id"},
		"block: reason, least":        {block(func(r *memory.BlockTaskRequest) { r.Reason = " x " }), block(func(r *memory.BlockTaskRequest) { r.Reason = "  " }), "reason"},
		"block: reason, seen":         {block(func(r *memory.BlockTaskRequest) { r.Reason = "é" }), block(func(r *memory.BlockTaskRequest) { r.Reason = "\u2060" }), "reason"},
		"block: reason, most":         {block(func(r *memory.BlockTaskRequest) { r.Reason = long(2000) }), block(func(r *memory.BlockTaskRequest) { r.Reason = long(2001) }), "reason"},
		"block: time":                 {block(func(r *memory.BlockTaskRequest) { r.BlockedAt = first }), block(func(r *memory.BlockTaskRequest) { r.BlockedAt = last.Add(time.Second) }), "blocked_at"},
		"block: caller":               {block(func(r *memory.BlockTaskRequest) { r.Caller.Dir = long(4096) }), block(func(r *memory.BlockTaskRequest) { r.Caller.Dir = long(4097) }), "caller.dir"},
		"unblock: task_id":            {unblock(func(r *memory.UnblockTaskRequest) { r.TaskID = long(200) }), unblock(func(r *memory.UnblockTaskRequest) { r.TaskID = long(201) }), "task_id"},
		"unblock: resolution":         {unblock(func(r *memory.UnblockTaskRequest) { r.Resolution = long(2000) }), unblock(func(r *memory.UnblockTaskRequest) { r.Resolution = long(2001) }), "resolution"},
		"unblock: request_id":         {unblock(func(r *memory.UnblockTaskRequest) { r.RequestID = long(200) }), unblock(func(r *memory.UnblockTaskRequest) { r.RequestID = long(201) }), "request_id"},
		"window: limit, least":        {window(func(r *memory.TaskWindowRequest) { r.Limit = 1 }), window(func(r *memory.TaskWindowRequest) { r.Limit = -1 }), "limit"},
		"window: limit, most":         {window(func(r *memory.TaskWindowRequest) { r.Limit = 100 }), window(func(r *memory.TaskWindowRequest) { r.Limit = 101 }), "limit"},
		"window: task_type":           {window(func(r *memory.TaskWindowRequest) { r.TaskType = long(200) }), window(func(r *memory.TaskWindowRequest) { r.TaskType = long(201) }), "task_type"},
		"history: limit, least":       {history(func(r *memory.TaskHistoryRequest) { r.Limit = 1 }), history(func(r *memory.TaskHistoryRequest) { r.Limit = -1 }), "limit"},
		"history: limit, most":        {history(func(r *memory.TaskHistoryRequest) { r.Limit = 200 }), history(func(r *memory.TaskHistoryRequest) { r.Limit = 201 }), "limit"},
		"history: task_id":            {history(func(r *memory.TaskHistoryRequest) { r.TaskID = long(200) }), history(func(r *memory.TaskHistoryRequest) { r.TaskID = long(201) }), "task_id"},
		"window: project":             {window(func(r *memory.TaskWindowRequest) { r.Project = long(4096) }), window(func(r *memory.TaskWindowRequest) { r.Project = long(4097) }), "project"},
		"load: a list":                {load(` []`), load(`7`), "state"},
		"load: an object":             {load(`{}`), load(``), "state"},
		"load: JSON":                  {load(`{"a":[]}`), load(`{"a":[}`), "state"},
		"load: most":                  {load("[]" + strings.Repeat(" ", 1<<20-2)), load("[]" + strings.Repeat(" ", 1<<20-1)), "state"},
		"kept: its time":              {&memory.CompletedTask{TaskID: "t", CompletedAt: first, ValidationReport: json.RawMessage(`{}`)}, &memory.CompletedTask{TaskID: "t", ValidationReport: json.RawMessage(`{}`)}, "completed_at"},
		"kept: a blocker's time":      {&memory.BlockedTask{TaskID: "t", Reason: "r", BlockedAt: first}, &memory.BlockedTask{TaskID: "t", Reason: "r"}, "blocked_at"},
	} {
		if err := memory.Check(test.at); err != nil {
			t.Errorf("%s: at the limit: %v", name, err)
		}
		err := memory.Check(test.over)
		if e := memory.AsError(err); e == nil || e.Code != memory.CodeInvalidInput || e.Field != test.field || e.Limit == "" {
			t.Errorf("%s: past the limit: %v, want the field %s and its limit", name, err, test.field)
		}
	}
	r := memory.CompleteTaskRequest{TaskID: " t ", TaskType: " fix\n", Intent: " i ", Summary: " s ", ValidationReport: json.RawMessage(`{}`)}
	if err := memory.Check(&r); err != nil || r.TaskID != "t" || r.TaskType != "fix" || r.Intent != "i" || r.Summary != "s" {
		t.Errorf("validated, a request is %+v, %v; want no space around its texts", r, err)
	}
}
