package service_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// TestTable: the table as a listing. A new operation is a new line; a changed line
// changes what clients see.
func TestTable(t *testing.T) {
	var got strings.Builder
	names, routes := map[string]bool{}, map[string]bool{}
	for _, op := range service.Operations() {
		got.WriteString(op.String() + "\n")
		if names[op.Name] || routes[op.Method+op.Path] {
			t.Errorf("%s: name or route is declared twice", op.Name)
		}
		names[op.Name], routes[op.Method+op.Path] = true, true
		if op.Title == "" || op.Description == "" || service.Find(op.Name) != op {
			t.Errorf("%s has no title, no description, or is not found", op.Name)
		}
		if op.AnyProtocol && op.TakesRequest() {
			t.Errorf("%s takes a request, which may change, and no protocol guards it", op.Name)
		}
	}
	golden.Equal(t, "testdata/operations.golden", got.String())
}

// TestEveryOperationIsBound: a service with a handler missing, or with two of an
// operation, does not start.
func TestEveryOperationIsBound(t *testing.T) {
	status := service.Bind(service.Status, func(ctx context.Context, r service.None) (*memory.Status, error) {
		return service.Status.Do(ctx, &servicetest.Service{}, r)
	})
	_, err := service.NewHandlers(status, status)
	if err == nil || !strings.Contains(err.Error(), "operation status has two handlers") || !strings.Contains(err.Error(), "operation remember has no handler") {
		t.Errorf("handlers: %v, want that status has two and remember none", err)
	}
}

// TestIdentified: a request without an id is given one, and one with an id keeps it.
func TestIdentified(t *testing.T) {
	for before, after := range map[string]string{"": "new", "own": "own"} {
		got := service.Remember.Identified(memory.RememberRequest{RequestID: before, Lesson: "l"}, func() string { return "new" })
		if diff := cmp.Diff(memory.RememberRequest{RequestID: after, Lesson: "l"}, got); diff != "" {
			t.Errorf("request id %q (-want +got):\n%s", before, diff)
		}
	}
	if got := service.Recall.Identified(memory.RecallRequest{Query: "q"}, nil); got.(memory.RecallRequest).Query != "q" {
		t.Errorf("a request that has no id became %+v", got)
	}
}

// TestRequestSum: a handler knows the sum of a request with an id. It is equal for what a client
// sends again, by another way and from another place.
func TestRequestSum(t *testing.T) {
	var sum []byte
	handlers := service.Handlers{service.RecordStep.Spec: service.Bind(service.RecordStep, func(ctx context.Context, _ memory.RecordStepRequest) (*memory.StepRecorded, error) {
		sum = memory.RequestSum(ctx)
		return &memory.StepRecorded{}, nil
	})}
	sumOf := func(change func(*memory.RecordStepRequest)) string {
		t.Helper()
		r := memory.RecordStepRequest{RequestID: "1", Tool: memory.StepTool{Name: "grep", Input: json.RawMessage(`{"for":"<b>"}`)}}
		change(&r)
		if _, err := service.RecordStep.Do(t.Context(), handlers, r); err != nil {
			t.Fatal(err)
		}
		return string(sum)
	}
	first := sumOf(func(*memory.RecordStepRequest) {})
	for name, c := range map[string]struct {
		change func(*memory.RecordStepRequest)
		same   bool
	}{
		"the same":        {func(*memory.RecordStepRequest) {}, true},
		"another id":      {func(r *memory.RecordStepRequest) { r.RequestID = "2" }, true},
		"another caller":  {func(r *memory.RecordStepRequest) { r.Caller = memory.Caller{Dir: "/d", Window: "w"} }, true},
		"a project":       {func(r *memory.RecordStepRequest) { r.Project = "p" }, true},
		"advice":          {func(r *memory.RecordStepRequest) { r.Advise = true }, true},
		"JSON written so": {func(r *memory.RecordStepRequest) { r.Tool.Input = json.RawMessage("{ \"for\": \"\\u003cb>\"\n}") }, true},
		"another tool":    {func(r *memory.RecordStepRequest) { r.Tool.Name = "rg" }, false},
		"another input":   {func(r *memory.RecordStepRequest) { r.Tool.Input = json.RawMessage(`{"for":"<i>"}`) }, false},
		"another session": {func(r *memory.RecordStepRequest) { r.SessionID = "mm-1" }, false},
	} {
		if got := sumOf(c.change); got != first == c.same {
			t.Errorf("%s: the sum is %x, of the first %x; want them equal: %v", name, got, first, c.same)
		}
	}
	if sum = []byte("not called"); sumOf(func(r *memory.RecordStepRequest) { r.RequestID = "" }) != "" {
		t.Errorf("a request without an id has the sum %x", sum)
	}
}
