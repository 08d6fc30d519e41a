package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// TestZeroIsSaid: where zero means something it reaches the service as a zero, and
// what was left out as nothing.
func TestZeroIsSaid(t *testing.T) {
	fake := &servicetest.Service{Answers: map[string]any{
		service.Assemble.Name: &memory.Assembled{}, service.Receipts.Name: &memory.ReceiptList{}, service.CompleteTask.Name: &memory.TaskSaved{}, service.ContextOf.Name: &memory.TurnContext{},
		service.Register.Name: &memory.Registered{},
	}}
	h := api.NewHandler(fake, api.Options{})
	var want []servicetest.Call
	for _, tc := range []struct {
		path, body, method string
		request            any
	}{
		{service.Assemble.Path, `{"message":"m","includeScore":0,"requires_context":false}`, service.Assemble.Name,
			memory.AssembleRequest{Message: "m", IncludeScore: new(0.0), RequiresContext: new(false)}},
		{service.Assemble.Path, `{"message":"m","sessionId":"abcd","project":"p","caller":{"dir":"/d"}}`, service.Assemble.Name,
			memory.AssembleRequest{Message: "m", SessionRef: memory.SessionRef{SessionID: "abcd", Project: "p", Caller: memory.Caller{Dir: "/d"}}}},
		{service.Receipts.Path, `{"turn":0}`, service.Receipts.Name, memory.ReceiptsRequest{Turn: new(0)}},
		{service.Receipts.Path, `{}`, service.Receipts.Name, memory.ReceiptsRequest{}},
		{service.ContextOf.Path, `{}`, service.ContextOf.Name, memory.ContextOfRequest{}},
		{service.CompleteTask.Path, `{"task_id":"t","requires_context":false,"validation_report":{"valid":true,"n":1.50}}`, service.CompleteTask.Name,
			memory.CompleteTaskRequest{TaskID: "t", RequiresContext: new(false), ValidationReport: json.RawMessage(`{"valid":true,"n":1.50}`)}},
		{service.Register.Path, `{"entries":[{"type":"tool","name":"n","serverName":"s","enabled":false,"inputSchema":{"x-host":1}}],"servers":[{"name":"s","enabled":true}]}`, service.Register.Name,
			memory.RegisterRequest{Entries: []memory.CatalogueEntry{{Ref: memory.Ref{Type: memory.Tool, Name: "n", ServerName: "s"}, Enabled: new(false),
				InputSchema: json.RawMessage(`{"x-host":1}`)}}, Servers: []memory.Server{{Name: "s", Enabled: new(true)}}}},
	} {
		if _, e := do(t, h, request("POST", tc.path, tc.body)); e != nil {
			t.Errorf("%s %s: %v", tc.path, tc.body, e)
		}
		want = append(want, servicetest.Call{Operation: tc.method, Request: tc.request})
	}
	if diff := cmp.Diff(want, fake.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestReplayLines: a line per event, the last one with what it came to or why it
// failed; a failure before the first line is an ordinary error.
func TestReplayLines(t *testing.T) {
	const begun = `{"progress":{"done":0,"total":1}}` + "\n" + `{"progress":{"done":1,"total":1}}` + "\n"
	steps := []memory.ReplayProgress{{Done: 0, Total: 1}, {Done: 1, Total: 1}}
	replayed := &memory.Replayed{Project: "p", Answers: []memory.ReplayedAnswer{}}
	answer, err := json.Marshal(replayed)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		steps  []memory.ReplayProgress
		err    error
		status int
		mime   string
		body   string // its beginning
	}{
		"done":                {steps, nil, 200, service.MIMELine, begun + `{"done":` + string(answer) + "}\n"},
		"done at once":        {nil, nil, 200, service.MIMELine, `{"done":` + string(answer) + "}\n"},
		"failed":              {steps, memory.Errorf(memory.CodeUnavailable, "loading"), 200, service.MIMELine, begun + `{"error":{"code":"unavailable"`},
		"failed at once":      {nil, memory.Invalid("since", "", "or a session"), 400, service.MIMEJSON, `{"error":{"code":"invalid_input"`},
		"took too long":       {steps, context.DeadlineExceeded, 200, service.MIMELine, begun + `{"error":{"code":"unavailable"`},
		"not found, at once":  {nil, memory.Errorf(memory.CodeNotFound, "no session"), 404, service.MIMEJSON, `{"error":{"code":"not_found"`},
		"failed inside, late": {steps, http.ErrBodyNotAllowed, 200, service.MIMELine, begun + `{"error":{"code":"internal"`},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &servicetest.Service{Progress: map[string][]any{service.Replay.Name: servicetest.Reports(tc.steps...)}, Err: tc.err, Answers: map[string]any{service.Replay.Name: replayed}}
			w := httptest.NewRecorder()
			api.NewHandler(fake, api.Options{}).ServeHTTP(w, request("POST", service.Replay.Path, `{"sessionId":"abcd"}`))
			if w.Code != tc.status || w.Header().Get("Content-Type") != tc.mime || !strings.HasPrefix(w.Body.String(), tc.body) {
				t.Errorf("status %d, %s, %q; want %d, %s, %q", w.Code, w.Header().Get("Content-Type"), w.Body, tc.status, tc.mime, tc.body)
			}
		})
	}
}

// TestReplayIsSeenAsItGoes: a line is sent when it is written, and a client that
// goes away ends the work.
func TestReplayIsSeenAsItGoes(t *testing.T) {
	ended := make(chan struct{})
	fake := &servicetest.Service{
		Progress: map[string][]any{service.Replay.Name: {memory.ReplayProgress{Done: 1, Total: 9}}},
		Before: func(ctx context.Context, _ string) {
			<-ctx.Done() // the work hangs
			close(ended)
		},
	}
	srv := httptest.NewServer(api.NewHandler(fake, api.Options{}))
	defer srv.Close()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, "POST", srv.URL+service.Replay.Path, strings.NewReader(`{"sessionId":"abcd"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if want := `{"progress":{"done":1,"total":9}}` + "\n"; err != nil || line != want {
		t.Fatalf("the first line is %q, %v, want %q while the work goes on", line, err, want)
	}
	leave()
	<-ended
}

// FuzzAssembleBody: whatever the body, it is taken or refused with the field.
func FuzzAssembleBody(f *testing.F) {
	for _, seed := range []string{`{"message":"m"}`, `{"message":"m","sessionId":"abcd","caller":{"dir":"/d"}}`, `{"Which":{}}`, `{"topK":1e9,"topN":-1}`,
		`{"includeScore":null,"requires_context":null}`, `{"caller":[]}`, "\xff", `{"message":"\ud83d"}`} {
		f.Add(seed)
	}
	h := api.NewHandler(&servicetest.Service{Answers: map[string]any{service.Assemble.Name: &memory.Assembled{}}}, api.Options{MaxBody: 1 << 16})
	f.Fuzz(func(t *testing.T, body string) {
		w, e := do(t, h, request("POST", service.Assemble.Path, body))
		if w.Code != 200 && (e.Code != memory.CodeInvalidInput || e.Message == "" || e.Field == "") {
			t.Errorf("body %q: status %d, %+v, want success or an invalid input that names its field", body, w.Code, e)
		}
	})
}
