package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// do sends a request to a handler and returns the answer and the error in it.
func do(t *testing.T, h http.Handler, r *http.Request) (*httptest.ResponseRecorder, *memory.Error) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		return w, nil
	}
	var body service.ErrorBody
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Error == nil {
		t.Fatalf("%s %s: status %d with body %q, want an error body", r.Method, r.URL.Path, w.Code, w.Body)
	}
	return w, body.Error
}

func request(method, path, body string) *http.Request {
	return httptest.NewRequest(method, path, strings.NewReader(body))
}

func TestStrictDecoding(t *testing.T) {
	h := api.NewHandler(&servicetest.Service{}, api.Options{MaxBody: 200})
	for name, tc := range map[string]struct {
		path, body string
		status     int
		field      string
		say        string
	}{
		"unknown field":         {service.Recall.Path, `{"query":"q","limt":3}`, 400, "limt", "unknown"},
		"unknown nested field":  {service.Recall.Path, `{"query":"q","filters":{"branch":"x"}}`, 400, "filters.branch", "unknown"},
		"unknown scope field":   {service.Recall.Path, `{"query":"q","scope":{"session":"abcd"}}`, 400, "scope.session", "unknown"},
		"scope of a wrong type": {service.Recall.Path, `{"query":"q","scope":3}`, 400, "scope", "current"},
		"wrong type":            {service.Remember.Path, `{"lesson":7}`, 400, "lesson", "must be a string, is an integer"},
		"wrong embedded type":   {service.Recall.Path, `{"query":"q","limit":"3"}`, 400, "limit", "must be an integer, is a string"},
		"fraction":              {service.Recall.Path, `{"query":"q","limit":1.5}`, 400, "limit", "an integer"},
		"wrong nested type":     {service.Recall.Path, `{"query":"q","filters":{"sinceHours":"1"}}`, 400, "filters.sinceHours", "an integer"},
		"a list for an object":  {service.Forget.Path, `[]`, 400, "body", "must be an object, is an array"},
		"empty":                 {service.Forget.Path, ``, 400, "body", "is empty"},
		"blank":                 {service.Forget.Path, "  \n", 400, "body", "is empty"},
		"truncated":             {service.Forget.Path, `{"ids":["a"`, 400, "body", "ends in the middle"},
		"not JSON":              {service.IndexRepo.Path, `path=/x`, 400, "body", "is not JSON"},
		"two objects":           {service.IndexRepo.Path, `{"path":"/a"}{"path":"/b"}`, 400, "body", "something after"},
		"rubbish behind":        {service.IndexRepo.Path, `{"path":"/a"} x`, 400, "body", "something after"},
		"not UTF-8":             {service.Remember.Path, "{\"lesson\":\"\xff\"}", 400, "body", "UTF-8"},
		"too long":              {service.Remember.Path, `{"lesson":"` + strings.Repeat("x", 200) + `"}`, 413, "body", "too long"},
		"bad time":              {service.IndexRepo.Path, `{"requested_at":"yesterday"}`, 400, "requested_at", "yesterday"},
		"adapt":                 {service.AdaptModel.Path, `{"thread":1}`, 400, "thread", "unknown"},
		"model":                 {service.PullModel.Path, `{"model":"x"}`, 400, "model", "unknown"},
		"name in capitals":      {service.Recall.Path, `{"Query":"q"}`, 400, "Query", "unknown"},
		"same name twice":       {service.Forget.Path, `{"ids":["a"],"ids":["b"]}`, 400, "ids", "twice"},
		"same filter twice":     {service.Recall.Path, `{"query":"q","filters":{"tag":"a","tag":"b"}}`, 400, "filters.tag", "twice"},
		"session twice":         {service.Recall.Path, `{"query":"q","scope":{"sessionId":"abcd","sessionId":"efgh"}}`, 400, "scope.sessionId", "twice"},
		"half a pair":           {service.Remember.Path, `{"lesson":"\ud83d"}`, 400, "lesson", "surrogate"},
		"zero limit":            {service.Recall.Path, `{"query":"q","limit":0}`, 400, "limit", "out of range"},
		"zero tokens":           {service.Recall.Path, `{"query":"q","max_tokens":0}`, 400, "max_tokens", "out of range"},
		"zero hours":            {service.Recall.Path, `{"query":"q","filters":{"sinceHours":0}}`, 400, "filters.sinceHours", "out of range"},
		"empty filter":          {service.Recall.Path, `{"query":"q","filters":{"tag":""}}`, 400, "filters.tag", "is empty"},
		"empty scope":           {service.Recall.Path, `{"query":"q","scope":""}`, 400, "scope", "is empty"},
		"session field":         {service.StartSession.Path, `{"goal":"g","flowTag":"send"}`, 400, "flowTag", "unknown"},
		"session of a list":     {service.StartSession.Path, `{"flowTags":"send"}`, 400, "flowTags", "an array, is a string"},
		"session screenshots":   {service.StartSession.Path, `{"screenshots":"yes"}`, 400, "screenshots", "a boolean"},
		"step field":            {service.RecordStep.Path, `{"tool":{"name":"x"},"outcome":{"ok":true},"labels":[]}`, 400, "labels", "unknown"},
		"step's tool field":     {service.RecordStep.Path, `{"tool":{"name":"x","args":1}}`, 400, "tool.args", "unknown"},
		"step's error field":    {service.RecordStep.Path, `{"outcome":{"error":{"text":"x"}}}`, 400, "outcome.error.text", "unknown"},
		"step's outcome":        {service.RecordStep.Path, `{"outcome":{"ok":1}}`, 400, "outcome.ok", "a boolean"},
		"step's time":           {service.RecordStep.Path, `{"timestamp":"noon"}`, 400, "timestamp", "noon"},
		"step's duration":       {service.RecordStep.Path, `{"durationMs":1.5}`, 400, "durationMs", "an integer"},
		"end field":             {service.EndSession.Path, `{"id":"abcd"}`, 400, "id", "unknown"},
		"search filter":         {service.SearchSteps.Path, `{"query":"q","filters":{"branch":"x"}}`, 400, "filters.branch", "unknown"},
		"search filter's since": {service.SearchSteps.Path, `{"query":"q","filters":{"since":"x"}}`, 400, "filters.since", "unknown"},
		"search filter's type":  {service.SearchSteps.Path, `{"query":"q","filters":{"tag":["x"]}}`, 400, "filters.tag", "a string, is an array"},
		"search hours":          {service.SearchSteps.Path, `{"query":"q","filters":{"sinceHours":2.5}}`, 400, "filters.sinceHours", "an integer"},
		"search scope field":    {service.SearchSteps.Path, `{"query":"q","scope":{"session":"abcd"}}`, 400, "scope.session", "unknown"},
		"search empty scope":    {service.SearchSteps.Path, `{"query":"q","scope":{"sessionId":""}}`, 400, "scope.sessionId", "is empty"},
		"search scope no name":  {service.SearchSteps.Path, `{"query":"q","scope":{}}`, 400, "scope.sessionId", "must be a string"},
		"search limit":          {service.SearchSteps.Path, `{"query":"q","limit":0}`, 400, "limit", "0 is out of range"},
		"search n":              {service.SearchSteps.Path, `{"query":"q","n":1}`, 400, "n", "unknown"},
		"last n":                {service.LastSteps.Path, `{"n":0}`, 400, "n", "0 is out of range"},
		"last of a wrong type":  {service.LastSteps.Path, `{"n":"5"}`, 400, "n", "an integer"},
		"last limit":            {service.LastSteps.Path, `{"limit":6}`, 400, "limit", "unknown"},
		"last query":            {service.LastSteps.Path, `{"query":"q"}`, 400, "query", "unknown"},
		"sessions query":        {service.Sessions.Path, `{"query":"q"}`, 400, "query", "unknown"},
		"sessions scope":        {service.Sessions.Path, `{"scope":"current"}`, 400, "scope", "unknown"},
		"sessions n":            {service.Sessions.Path, `{"n":5}`, 400, "n", "unknown"},
		"summary limit":         {service.SummarizeSession.Path, `{"limit":5}`, 400, "limit", "unknown"},
		"summary filters":       {service.SummarizeSession.Path, `{"filters":{"tag":"a"}}`, 400, "filters", "unknown"},
		"step without outcome":  {service.RecordStep.Path, `{"tool":{"name":"x"}}`, 400, "outcome.ok", "missing"},
		"step of no outcome":    {service.RecordStep.Path, `{"tool":{"name":"x"},"outcome":{"error":{"message":"m"}}}`, 400, "outcome.ok", "missing"},
		"step of null":          {service.RecordStep.Path, `{"tool":{"name":"x"},"outcome":{"ok":null}}`, 400, "outcome.ok", "missing"},
		"sessions limit":        {service.Sessions.Path, `{"limit":0}`, 400, "limit", "0 is out of range"},
		"summary field":         {service.SummarizeSession.Path, `{"session":"abcd"}`, 400, "session", "unknown"},
		"summary id":            {service.SummarizeSession.Path, `{"sessionId":""}`, 400, "sessionId", "is empty"},
		"import field":          {service.Import.Path, `{"file":"/x"}`, 400, "file", "unknown"},
		"export field":          {service.Export.Path, `{"dir":"/x"}`, 400, "dir", "unknown"},
		"pause field":           {service.Pause.Path, `{"project":"p"}`, 400, "project", "unknown"},
		"pause's resume":        {service.Pause.Path, `{"resume":"yes"}`, 400, "resume", "a boolean"},
		"pause's path":          {service.Pause.Path, `{"path":["/a"]}`, 400, "path", "a string, is an array"},
		"pause's caller":        {service.Pause.Path, `{"caller":{"folder":"/a"}}`, 400, "caller.folder", "unknown"},
		"files without pattern": {service.Files.Path, `{"query":"q"}`, 400, "query", "unknown"},
		"files pattern":         {service.Files.Path, `{"pattern":7}`, 400, "pattern", "a string, is an integer"},
		"files limit":           {service.Files.Path, `{"pattern":"a","limit":0}`, 400, "limit", "0 is out of range"},
		"files limit's type":    {service.Files.Path, `{"pattern":"a","limit":2.5}`, 400, "limit", "an integer"},
		"files twice":           {service.Files.Path, `{"pattern":"a","pattern":"b"}`, 400, "pattern", "twice"},
		"unknown in Which":      {service.SessionContext.Path, `{"session":"abcd"}`, 400, "session", "unknown"},
		"Which's caller":        {service.SessionContext.Path, `{"caller":{"folder":"/a"}}`, 400, "caller.folder", "unknown"},
		"Which's type":          {service.Assemble.Path, `{"message":"m","sessionId":7}`, 400, "sessionId", "a string, is an integer"},
		"Which by its name":     {service.Assemble.Path, `{"message":"m","Which":{"sessionId":"abcd"}}`, 400, "Which", "unknown"},
		"Which twice":           {service.Compact.Path, `{"sessionId":"abcd","summary":"s","sessionId":"efgh"}`, 400, "sessionId", "twice"},
		"session in snake case": {service.Report.Path, `{"session_id":"abcd"}`, 400, "session_id", "unknown"},
		"tools limit":           {service.SearchTools.Path, `{"query":"q","limit":0}`, 400, "limit", "0 is out of range"},
		"tools limit's type":    {service.SearchTools.Path, `{"query":"q","limit":"5"}`, 400, "limit", "an integer"},
		"tools' field":          {service.SearchTools.Path, `{"query":"q","topK":5}`, 400, "topK", "unknown"},
		"zero topK":             {service.Assemble.Path, `{"message":"m","topK":0}`, 400, "topK", "0 is out of range"},
		"zero topN":             {service.Assemble.Path, `{"message":"m","topN":0}`, 400, "topN", "0 is out of range"},
		"zero context tokens":   {service.Assemble.Path, `{"message":"m","max_tokens":0}`, 400, "max_tokens", "0 is out of range"},
		"score's type":          {service.Assemble.Path, `{"message":"m","includeScore":"0.7"}`, 400, "includeScore", "a number, is a string"},
		"added item's field":    {service.ChangeContext.Path, `{"add":[{"type":"rule","name":"A","include":"manual"}]}`, 400, "add[0].include", "unknown"},
		"added item's type":     {service.ChangeContext.Path, `{"add":[{"type":"rule","name":["A"]}]}`, 400, "add[0].name", "a string, is an array"},
		"removed item's field":  {service.ChangeContext.Path, `{"remove":[{"type":"rule","name":"A","includeMode":"manual"}]}`, 400, "remove[0].includeMode", "unknown"},
		"task's field":          {service.CompleteTask.Path, `{"task_id":"t","validation":{}}`, 400, "validation", "unknown"},
		"task's time":           {service.CompleteTask.Path, `{"task_id":"t","completed_at":"noon"}`, 400, "completed_at", "noon"},
		"task's context":        {service.CompleteTask.Path, `{"task_id":"t","requires_context":"no"}`, 400, "requires_context", "a boolean"},
		"blocker's field":       {service.BlockTask.Path, `{"task_id":"t","why":"x"}`, 400, "why", "unknown"},
		"unblocked's field":     {service.UnblockTask.Path, `{"task_id":"t","reason":"x"}`, 400, "reason", "unknown"},
		"window's limit":        {service.TaskWindow.Path, `{"limit":0}`, 400, "limit", "0 is out of range"},
		"loaded field":          {service.LoadTasks.Path, `{"tasks":[]}`, 400, "tasks", "unknown"},
		"entry's field":         {service.Register.Path, `{"entries":[{"type":"tool","name":"n","server":"s"}]}`, 400, "entries[0].server", "unknown"},
		"entry's core":          {service.Register.Path, `{"entries":[{"type":"tool","name":"n","core":1}]}`, 400, "entries[0].core", "a boolean"},
		"server's field":        {service.Register.Path, `{"servers":[{"name":"n","env":{}}]}`, 400, "servers[0].env", "unknown"},
		"removed entry's field": {service.Unregister.Path, `{"entries":[{"type":"rule","name":"A","content":"x"}]}`, 400, "entries[0].content", "unknown"},
		"listed types":          {service.Entries.Path, `{"types":"rule"}`, 400, "types", "an array, is a string"},
		"entity's field":        {service.Report.Path, `{"entities":[{"id":"o","kind":"order"}]}`, 400, "entities[0].kind", "unknown"},
		"used tool's field":     {service.Report.Path, `{"usedTools":[{"serverName":"s","name":"n"}]}`, 400, "usedTools[0].name", "unknown"},
		"kept turns":            {service.Compact.Path, `{"summary":"s","keepTurns":0}`, 400, "keepTurns", "0 is out of range"},
		"receipts limit":        {service.Receipts.Path, `{"limit":0}`, 400, "limit", "0 is out of range"},
		"receipts since":        {service.Receipts.Path, `{"since":"2d"}`, 400, "since", "2d"},
		"turn zero":             {service.ContextOf.Path, `{"turn":0}`, 400, "turn", "0 is out of range"},
		"turn's field":          {service.ContextOf.Path, `{"receipt":"rc"}`, 400, "receipt", "unknown"},
		"feedback's field":      {service.Feedback.Path, `{"receipt":"rc","outcome":"worked"}`, 400, "outcome", "unknown"},
		"replay's limit":        {service.Replay.Path, `{"sessionId":"abcd","limit":0}`, 400, "limit", "0 is out of range"},
		"replay's field":        {service.Replay.Path, `{"sessionId":"abcd","floor":{"chunk":0.5}}`, 400, "floor", "unknown"},
		"replay's floor":        {service.Replay.Path, `{"sessionId":"abcd","min_relevance":{"chunk":"high"}}`, 400, "min_relevance.chunk", "a number"},
		"old and new name":      {service.Recall.Path, `{"query":"a","text":"b"}`, 400, "text", "differs"},
	} {
		t.Run(name, func(t *testing.T) {
			w, e := do(t, h, request("POST", tc.path, tc.body))
			if e == nil {
				t.Fatal("accepted")
			}
			if w.Code != tc.status || e.Code != memory.CodeInvalidInput || e.Field != tc.field || !strings.Contains(e.Message, tc.say) {
				t.Errorf("status %d, %+v; want status %d, invalid_input, field %q and %q", w.Code, e, tc.status, tc.field, tc.say)
			}
			if tc.status == 413 && !strings.Contains(e.Limit, "200") {
				t.Errorf("limit %q does not name the 200 bytes", e.Limit)
			}
		})
	}
}

func TestTextIsTheOlderNameOfQuery(t *testing.T) {
	fake := &servicetest.Service{Answers: map[string]any{service.Recall.Name: &memory.RecallResponse{}}}
	h := api.NewHandler(fake, api.Options{})
	if _, e := do(t, h, request("POST", service.Recall.Path, `{"text":"why","limit":2}`)); e != nil {
		t.Fatal(e)
	}
	want := []servicetest.Call{{Operation: service.Recall.Name, Request: memory.RecallRequest{Query: "why", Limit: 2}}}
	if diff := cmp.Diff(want, fake.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestHistoryRequests: a question reaches the service with what was left out
// left out, under the names of contract 1 too.
func TestHistoryRequests(t *testing.T) {
	fake := &servicetest.Service{Answers: map[string]any{
		service.SearchSteps.Name: &memory.StepMatches{}, service.LastSteps.Name: &memory.StepList{}, service.SummarizeSession.Name: &memory.Summary{}, service.Sessions.Name: &memory.SessionList{},
	}}
	h := api.NewHandler(fake, api.Options{})
	var want []servicetest.Call
	for _, tc := range []struct {
		path, body, method string
		request            any
	}{
		{service.SearchSteps.Path, `{"query":"q"}`, service.SearchSteps.Name, memory.SearchStepsRequest{Query: "q"}},
		{service.SearchSteps.Path, `{"query":"q","limit":101,"scope":"mine","filters":{"tag":""}}`, service.SearchSteps.Name, memory.SearchStepsRequest{Query: "q", Limit: 101,
			Scope: &memory.Scope{Name: "mine"}, Filters: &memory.StepFilters{Tag: new("")}}}, // refused by the service
		{service.LastSteps.Path, `{}`, service.LastSteps.Name, memory.LastStepsRequest{}},
		{service.LastSteps.Path, `{"n":5,"filters":{"sinceHours":0}}`, service.LastSteps.Name, memory.LastStepsRequest{N: 5, Filters: &memory.StepFilters{SinceHours: new(0)}}},
		{service.LastSteps.Path, `{"n":201,"scope":{"sessionId":"abcd"}}`, service.LastSteps.Name, memory.LastStepsRequest{N: 201, Scope: &memory.Scope{Session: "abcd"}}},
		{service.SummarizeSession.Path, `{"scope":"current","project":"p"}`, service.SummarizeSession.Name, memory.SummarizeRequest{Scope: &memory.Scope{Name: "current"}, Project: "p"}},
		{service.SummarizeSession.Path, `{"scope":"all","sessionId":"abcd"}`, service.SummarizeSession.Name, memory.SummarizeRequest{Scope: &memory.Scope{Session: "abcd"}}},
		{service.Sessions.Path, `{"limit":50,"filters":{"gitBranch":"main"},"caller":{"session":"s"}}`, service.Sessions.Name, memory.SessionsRequest{Limit: 50,
			Filters: &memory.StepFilters{GitBranch: new("main")}, Caller: memory.Caller{Session: "s"}}},
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

// TestBodyOptional: an operation that had no request once is called without a body.
func TestBodyOptional(t *testing.T) {
	for body, want := range map[string]memory.TeamLeaveRequest{"": {}, "{}": {}, `{"force":true}`: {Force: true}} {
		fake := &servicetest.Service{Answers: map[string]any{service.TeamLeave.Name: &memory.TeamState{}}}
		if _, e := do(t, api.NewHandler(fake, api.Options{}), request("POST", service.TeamLeave.Path, body)); e != nil {
			t.Errorf("body %q: %v", body, e)
		} else if got := fake.Calls()[0].Request; got != want {
			t.Errorf("body %q is the request %+v, want %+v", body, got, want)
		}
	}
}

func TestStatusOfEveryCode(t *testing.T) {
	for code, want := range map[memory.Code]int{
		memory.CodeInvalidInput: 400, memory.CodeForbidden: 403, memory.CodeNotFound: 404, memory.CodeConflict: 409,
		memory.CodeIncompatible: 426, memory.CodeInternal: 500, memory.CodeCorrupt: 500, memory.CodeUnavailable: 503, "new_code": 500,
	} {
		h := api.NewHandler(&servicetest.Service{Err: fmt.Errorf("recall: %w", &memory.Error{Code: code, Message: "m"})}, api.Options{})
		w, e := do(t, h, request("GET", service.Status.Path, ""))
		if w.Code != want || e.Code != code {
			t.Errorf("%s: status %d, code %s, want %d", code, w.Code, e.Code, want)
		}
	}
	for err, want := range map[error]memory.Code{
		context.DeadlineExceeded: memory.CodeUnavailable, context.Canceled: memory.CodeUnavailable, io.ErrClosedPipe: memory.CodeInternal,
	} {
		h := api.NewHandler(&servicetest.Service{Err: fmt.Errorf("read: %w", err)}, api.Options{})
		if _, e := do(t, h, request("GET", service.Status.Path, "")); e.Code != want {
			t.Errorf("%v: code %s, want %s", err, e.Code, want)
		}
	}
}

func TestRouting(t *testing.T) {
	h := api.NewHandler(&servicetest.Service{}, api.Options{})
	for _, tc := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 404, ""}, {"GET", "/v2/recall", 404, ""}, {"POST", "/v1/receipts/a/b", 404, ""}, {"GET", "/v1/receipts/", 404, ""},
		{"GET", service.Recall.Path, 405, "POST"}, {"DELETE", service.Status.Path, 405, "GET"}, {"POST", service.Hello.Path, 405, "GET"},
	} {
		w, e := do(t, h, request(tc.method, tc.path, "{}"))
		if tc.status == 404 && (e.Field != "path" || e.Hint == "") {
			t.Errorf("%s %s: field %q, hint %q, want both", tc.method, tc.path, e.Field, e.Hint)
		}
		if w.Code != tc.status || w.Header().Get("Allow") != tc.allow {
			t.Errorf("%s %s: status %d, Allow %q, want %d, %q", tc.method, tc.path, w.Code, w.Header().Get("Allow"), tc.status, tc.allow)
		}
	}
}

func TestProtocol(t *testing.T) {
	h := api.NewHandler(&servicetest.Service{Answers: map[string]any{
		service.Hello.Name: &service.Greeting{Protocol: service.Protocol, Version: "1.2", PID: 7, Data: "/d"},
	}}, api.Options{})
	own, newer := strconv.Itoa(service.Protocol), strconv.Itoa(service.Protocol+1)
	for _, tc := range []struct {
		method, path, protocol string
		status                 int
	}{
		{"GET", service.Status.Path, "", 200}, {"GET", service.Status.Path, own, 200}, {"GET", service.Status.Path, newer, 426}, {"GET", service.Status.Path, "x", 426},
		{"GET", service.Hello.Path, newer, 200}, {"POST", service.Stop.Path, newer, 200}, {"POST", service.Remember.Path, "0", 426},
	} {
		r := request(tc.method, tc.path, "{}")
		if tc.protocol != "" {
			r.Header.Set(service.ProtocolHeader, tc.protocol)
		}
		w, e := do(t, h, r)
		if w.Code != tc.status || w.Header().Get(service.ProtocolHeader) != own {
			t.Errorf("%s with protocol %q: status %d (%v), header %q, want %d and %s", tc.path, tc.protocol, w.Code, e, w.Header().Get(service.ProtocolHeader), tc.status, own)
		}
	}
	w, _ := do(t, h, request("GET", service.Hello.Path, ""))
	if got, want := strings.TrimSpace(w.Body.String()), `{"protocol":`+own+`,"version":"1.2","pid":7,"data":"/d"}`; got != want {
		t.Errorf("hello: %s, want %s", got, want)
	}
}

// TestMetrics: the page is the status, at its own type; a status that cannot be
// had is an error like any other.
func TestMetrics(t *testing.T) {
	runs := new(metrics.Runs)
	runs.Observe(time.Second)
	fake := &servicetest.Service{Answers: map[string]any{service.Status.Name: &memory.Status{State: "ready", Queue: memory.QueueState{Waiting: 3}}}}
	h := api.NewHandler(fake, api.Options{Runs: runs})
	w, e := do(t, h, request("GET", service.Metrics, ""))
	if e != nil {
		t.Fatal(e)
	}
	if got := w.Header().Get("Content-Type"); got != metrics.ContentType {
		t.Errorf("the type is %q, want %q", got, metrics.ContentType)
	}
	for _, want := range []string{"\nrecalld_up 1\n", "\nrecalld_queue_depth 3\n", "\nrecalld_index_run_duration_seconds_count 1\n"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, w.Body)
		}
	}
	if w, e := do(t, h, request("POST", service.Metrics, "")); w.Code != http.StatusMethodNotAllowed || e == nil {
		t.Errorf("POST: status %d, %+v, want %d", w.Code, e, http.StatusMethodNotAllowed)
	}
	fake.Err = memory.Errorf(memory.CodeUnavailable, "not now")
	if w, e := do(t, h, request("GET", service.Metrics, "")); w.Code != http.StatusServiceUnavailable || e == nil || e.Message != "not now" {
		t.Errorf("without a status: %d, %+v, want %d and why", w.Code, e, http.StatusServiceUnavailable)
	}
}

func TestPanicBecomesAnErrorAndALogLine(t *testing.T) {
	var log bytes.Buffer
	h := api.NewHandler(&servicetest.Service{Before: func(context.Context, string) { panic("secret detail") }},
		api.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	w, e := do(t, h, request("GET", service.Status.Path, ""))
	if w.Code != 500 || e.Code != memory.CodeInternal || strings.Contains(e.Message, "secret") {
		t.Errorf("status %d, %+v; want 500, internal, without the panic's words", w.Code, e)
	}
	if !strings.Contains(log.String(), "secret detail") || !strings.Contains(log.String(), "api_test.go") {
		t.Errorf("log %q holds neither the panic nor where it was", log.String())
	}
}

// A panic in the middle of an answer breaks the connection: half an answer must
// not look like a whole one.
func TestPanicAfterTheAnswerBegan(t *testing.T) {
	h := api.NewHandler(&servicetest.Service{
		Progress: map[string][]any{service.PullModel.Name: {memory.PullProgress{Status: "pulling"}}},
		Before:   func(context.Context, string) { panic("late") },
	}, api.Options{})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want http.ErrAbortHandler", p)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), request("POST", service.PullModel.Path, `{"name":"m"}`))
	t.Error("the handler returned")
}

func TestUnencodableAnswer(t *testing.T) {
	h := api.NewHandler(&servicetest.Service{Answers: map[string]any{
		service.Recall.Name: &memory.RecallResponse{Items: []memory.Item{{Relevance: math.NaN()}}},
	}}, api.Options{})
	if w, e := do(t, h, request("POST", service.Recall.Path, `{"query":"q"}`)); w.Code != 500 || e.Code != memory.CodeInternal {
		t.Errorf("status %d, %+v, want an internal error", w.Code, e)
	}
}

func TestCauseIsNeverSent(t *testing.T) {
	h := api.NewHandler(&servicetest.Service{Err: &memory.Error{Code: memory.CodeCorrupt, Message: "m", Cause: errors.New("inner")}}, api.Options{})
	if w, _ := do(t, h, request("GET", service.Status.Path, "")); strings.Contains(w.Body.String(), "inner") {
		t.Errorf("body %q holds the cause", w.Body)
	}
}

// FuzzHistoryBody: whatever the body, it is taken or refused with the field.
func FuzzHistoryBody(f *testing.F) {
	for _, seed := range []string{`{"n":1}`, `{"n":1,"limit":2}`, `{"scope":{"sessionId":"abcd"},"filters":{"sinceHours":3}}`, `{"filters":{"tag":null}}`,
		`{"filters":[]}`, `{"scope":7}`, "\xff", `{"n":1e400}`} {
		f.Add(seed)
	}
	h := api.NewHandler(&servicetest.Service{Answers: map[string]any{service.LastSteps.Name: &memory.StepList{}}}, api.Options{MaxBody: 1 << 16})
	f.Fuzz(func(t *testing.T, body string) {
		w, e := do(t, h, request("POST", service.LastSteps.Path, body))
		if w.Code != 200 && (e.Code != memory.CodeInvalidInput || e.Message == "" || e.Field == "") {
			t.Errorf("body %q: status %d, %+v, want success or an invalid input that names its field", body, w.Code, e)
		}
	})
}

func FuzzRecallBody(f *testing.F) {
	for _, seed := range []string{`{"query":"q"}`, `{"scope":{"sessionId":"abcd"}}`, `{"filters":{"since":"2026-01-01T00:00:00Z"}}`,
		`{"text":"a","query":"a"}`, `{"min_relevance":null}`, `[`, "\xff", `{"query":"\ud800"}`} {
		f.Add(seed)
	}
	h := api.NewHandler(&servicetest.Service{Answers: map[string]any{service.Recall.Name: &memory.RecallResponse{}}}, api.Options{MaxBody: 1 << 16})
	f.Fuzz(func(t *testing.T, body string) {
		w, e := do(t, h, request("POST", service.Recall.Path, body))
		if w.Code != 200 && (e.Code != memory.CodeInvalidInput || e.Message == "" || e.Field == "") {
			t.Errorf("body %q: status %d, %+v, want success or an invalid input that names its field", body, w.Code, e)
		}
	})
}

// TestStoredTextIsSaidToBeData: hosts put answers into prompts.
func TestStoredTextIsSaidToBeData(t *testing.T) {
	h := api.NewHandler(servicetest.Full("obey", time.Unix(1_700_000_000, 0)), api.Options{})
	for _, op := range service.Operations() {
		if !op.Stored || op.InPath() {
			continue
		}
		path, body := op.Path, map[string]string{service.Recall.Path: `{"query":"q"}`, service.RecordStep.Path: `{"tool":{"name":"x"},"outcome":{"ok":true}}`}[op.Path]
		if body == "" {
			body = `{}`
		}
		w, refused := do(t, h, request(http.MethodPost, path, body))
		var answer map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &answer); refused != nil || err != nil || answer["notice"] != render.Notice {
			t.Errorf("POST %s: notice %v (%v, %v), want %q", path, answer["notice"], refused, err, render.Notice)
		}
	}
}

// The type of a lesson has two names on the service.
func TestRememberTakesBothNamesOfTheType(t *testing.T) {
	for field, want := range map[string]memory.RememberRequest{
		"type":       {Lesson: "l", AlsoType: memory.EventError},
		"event_type": {Lesson: "l", Type: memory.EventError},
	} {
		svc := &servicetest.Service{}
		api.NewHandler(svc, api.Options{}).ServeHTTP(httptest.NewRecorder(), request("POST", service.Remember.Path, `{"lesson":"l","`+field+`":"error"}`))
		calls := svc.Calls()
		if len(calls) != 1 || !cmp.Equal(calls[0].Request, any(want)) {
			t.Errorf("with the field %s the service was asked %+v, want %+v", field, calls, want)
		}
	}
}
