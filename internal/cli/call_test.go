package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// TestCall: the request reaches the service as it was written, with the caller filled
// in, and the response is JSON.
func TestCall(t *testing.T) {
	b := newBench(t, sample())
	out := b.ok("call", "complete_task", `{"task_id": "t", "requires_context": false, "validation_report": {"valid": true, "n": 1.50}}`)
	want := memory.CompleteTaskRequest{TaskID: "t", RequiresContext: new(false), ValidationReport: json.RawMessage(`{"valid": true, "n": 1.50}`),
		Caller: memory.Caller{Dir: b.opts.Dir, Client: "cli"}}
	if diff := cmp.Diff(want, request[memory.CompleteTaskRequest](t, b, service.CompleteTask.Name)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	var saved memory.TaskSaved
	if err := json.Unmarshal([]byte(out), &saved); err != nil || saved.TaskID == "" {
		t.Errorf("the response is %q (%v), want JSON", out, err)
	}
	b.opts.In = strings.NewReader(`{"path": "/p", "caller": {"dir": "/elsewhere"}}`)
	b.ok("call", "index_repo", "-")
	if got := request[memory.IndexRequest](t, b, service.IndexRepo.Name).Caller.Dir; got != "/elsewhere" {
		t.Errorf("a caller that is given becomes %q", got)
	}
	if out := b.ok("call", "task_window"); !strings.Contains(out, render.Notice) {
		t.Errorf("stored text is not said to be data: %s", out)
	}
	b.fake.Progress = map[string][]any{service.PullModel.Name: servicetest.Reports(memory.PullProgress{Status: "pulling"})}
	if out, errs, code := b.run("call", "pull_model", `{"name": "m"}`); code != ExitOK || errs != `{"progress":{"status":"pulling"}}`+"\n" {
		t.Errorf("a download: exit %d, %q, %q", code, out, errs)
	}
}

// TestCallRefuses: a request is refused before a daemon is started for it, with the
// code and exit status of every command.
func TestCallRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"call", "nosuch"}, ExitUsage, "run 'recalld call' to list them"},
		{[]string{"call", "recall", `{"querry": "q"}`}, ExitUsage, "querry"},
		{[]string{"call", "recall", `{"query": ""}`}, ExitUsage, "query"},
		{[]string{"call", "recall", "query"}, ExitUsage, "is not JSON"},
	} {
		b := newBench(t, sample())
		if _, errs, code := b.run(tt.args...); code != tt.code || !strings.Contains(errs, tt.want) || len(b.connects) > 0 {
			t.Errorf("recalld %q: exit %d, %s, %d connections; want %d, %q and none", tt.args, code, errs, len(b.connects), tt.code, tt.want)
		}
	}
	b := newBench(t, nil)
	b.fake.Err = &memory.Error{Code: memory.CodeNotFound, Field: "id", Message: "no receipt"}
	if _, _, code := b.run("call", "receipt", `{"id": "r"}`); code != ExitNotFound {
		t.Errorf("exit %d, want that of the error's code", code)
	}
}

// TestCallDescribes: every operation is listed, described and completed.
func TestCallDescribes(t *testing.T) {
	b := newBench(t, nil)
	file := golden.Open(t, "testdata/call.golden")
	file.Equal("call", b.ok("call"))
	file.Equal("call change_context --schema", b.ok("call", "change_context", "--schema"))
	offered := b.ok("__complete", "call", "")
	for _, op := range service.Operations() {
		if out := b.ok("call", op.Name, "--schema"); !strings.Contains(out, op.Description) || op.TakesRequest() && !strings.Contains(out, "FIELD") {
			t.Errorf("%s is described by %q", op.Name, out)
		}
		if !strings.Contains(offered, op.Name+"\t") {
			t.Errorf("%s is not completed", op.Name)
		}
	}
	if len(b.connects) > 0 {
		t.Error("a daemon was started")
	}
}

// TestMoved: a command that became an operation names it, with a request that the
// operation takes, also where flags follow.
func TestMoved(t *testing.T) {
	for path, to := range moved {
		b := newBench(t, nil)
		_, errs, code := b.run(append(strings.Fields(path), "--goal", "x", "y")...)
		if want := "hint: recalld call " + to.op.Name; code != ExitUsage || !strings.Contains(errs, "recalld "+path+" is now") || !strings.Contains(errs, want) {
			t.Errorf("recalld %s: exit %d, %q; want %q", path, code, errs, want)
		}
		text, ok := strings.CutPrefix(strings.TrimSuffix(to.request, "'"), "'")
		if !ok {
			text = "{}"
		}
		if to.request != "" && !ok {
			continue // from a file
		}
		request, err := to.op.Decode([]byte(text), "JSON")
		if err != nil {
			t.Errorf("the request of %s: %v", path, err)
		}
		checked := reflect.New(to.op.Request())
		checked.Elem().Set(reflect.ValueOf(request))
		if err := memory.Check(checked.Interface()); err != nil {
			t.Errorf("the request of %s: %v", path, err)
		}
	}
}
