package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// listen serves a handler on a socket for as long as the test runs.
func listen(t testing.TB, h http.Handler) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return socket
}

func connect(t *testing.T, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), opts)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var at = time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)

// method is an operation, called with a request, to be answered.
type method struct {
	request any
	answer  any
}

var half = 0.5

// raw is JSON that must arrive as it was sent, key order and number formats
// included.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

// What several methods carry, with every field set.
var (
	opened = memory.Session{ID: "abcd", Project: "p", Client: "c", CreatedAt: at, EndedAt: at, Goal: "g", FlowTags: []string{"send"}, Tags: []string{"a"},
		Git: &memory.Git{Branch: "main", Commit: "abc123", Dirty: true}, Build: raw(`{"n":1.50}`), Launch: raw(`{}`), Screenshots: true,
		Extra: map[string]json.RawMessage{"x": raw(`{"b":1,"a":2}`)}}
	allFilters = &memory.StepFilters{FlowTag: new("send"), Tag: new("a"), Screen: new("home"), GitBranch: new("main"), SinceHours: new(720)}
	view       = memory.StepView{ID: "s-1", Timestamp: at, Tool: "bash", Screen: "home", Snippet: "a <b>", Labels: []string{"execution"}, SessionID: "abcd",
		SessionGoal: "g", MatchedFields: []string{"tool"}, StepEnd: ended}
	ended = memory.StepEnd{OK: true, Target: "confirm", Error: &memory.StepError{Code: "E1", Message: "m", Details: raw(`{"a":1}`)}}
)

// methods holds calls with values of their own: all that the types can say, or what their
// limits allow. filled makes the calls of the other operations.
var methods = merged(sessionMethods, map[string]method{
	service.Recall.Name: {
		request: memory.RecallRequest{Query: "größe <b> \u2028", Kinds: []memory.Kind{memory.Lesson}, Project: "p", Repo: "r",
			Scope: &memory.Scope{Session: "abcd"}, Filters: &memory.Filters{Tag: "t", Since: at}, Limit: 3, MaxTokens: 60,
			MinRelevance: &half, Format: memory.FormatJSON, Explain: true, Caller: memory.Caller{Dir: "/d", Client: "c"}},
		answer: &memory.RecallResponse{Project: "p", Items: []memory.Item{{ID: "1", Kind: memory.Chunk, Text: "a\n\tb", Relevance: .25,
			Source: memory.Source{Path: "a.go", Lines: &[2]int{1, 2}}, RankFactors: &memory.RankFactors{Score: 1,
				Retrievers: map[string]memory.RetrieverScore{"lexical": {Score: 3, Relevance: .5}}}, CreatedAt: at}},
			Withheld: []memory.Withheld{{ID: "2", Kind: memory.Step, Reason: memory.BelowThreshold, NearestScore: .1}},
			Degraded: []memory.Degraded{{Part: "index", Reason: "loading"}}, Tokens: 9, Receipt: "rc", Text: "x"},
	},
	service.Receipt.Name: {request: memory.ReceiptRequest{ID: "id/with %2F slash"}, answer: &memory.Receipt{ID: "rc", At: at, Request: memory.RecallRequest{Query: "q"},
		Items: []memory.ReceiptItem{{ID: "1", Kind: memory.Chunk}}, Withheld: []memory.Withheld{}, Took: memory.Millis(time.Second), Seq: 1 << 60}},
	service.Remember.Name: {request: memory.RememberRequest{RequestID: "made by the caller", Lesson: "l", Tags: []string{"a"}, Type: memory.EventError, AlsoType: memory.EventError,
		Supersedes: []string{"l-1"}, Retracts: []string{"l-2"}},
		answer: &memory.Remembered{ID: "1", Project: "p", Repo: "r", Merged: true, Redacted: true, Log: "/r/a.jsonl", Warning: "full", Seq: 7}},
	service.Lessons.Name: {request: memory.LessonsRequest{Stale: true, Limit: 20}, answer: &memory.LessonList{Total: 3}},
	service.Forget.Name:  {request: memory.ForgetRequest{IDs: []string{"1"}}, answer: &memory.Forgotten{Records: 1, Note: "backups"}},
	service.StartSession.Name: {request: memory.StartSessionRequest{RequestID: "made by the caller", SessionID: "abcd", Goal: "größe <b>", FlowTags: []string{"send"},
		Tags: []string{"a"}, Build: raw(`{"n":1.50,"z":"<b>","a":[null]}`), Launch: raw(`{}`), Screenshots: true, Project: "p", Caller: memory.Caller{Session: "old1"}},
		answer: &memory.SessionState{Session: opened, ProjectName: "demo", Steps: 3, Dir: "/d", Redacted: true, Warning: "w", Seq: 8}},
	service.RecordStep.Name: {request: memory.RecordStepRequest{RequestID: "made by the caller", SessionID: "abcd", Open: true, Timestamp: at,
		Tool:    memory.StepTool{Name: "bash", Input: raw(`{"command":"a && b"}`), Target: raw(`"web"`)},
		Outcome: memory.Outcome{Error: &memory.StepError{Code: "E1", Message: "m", Details: raw(`[1]`)}}, Observation: raw(`"red"`),
		Environment: raw(`{"os":"linux"}`), DurationMs: 5, Screenshot: "a.png", Advise: true, Project: "p"},
		answer: &memory.StepRecorded{ID: "s-1", SessionID: "abcd", Project: "p", Timestamp: at, Labels: []string{"execution"}, Redacted: true, File: "/f", Warning: "w",
			Advice: &memory.RecallResponse{Project: "p", Items: []memory.Item{{ID: "1", Kind: memory.Lesson, Timestamp: at, RankFactors: &memory.RankFactors{Error: true}}},
				Withheld: []memory.Withheld{}, Receipt: "rc"}, Seq: 9}},
	service.EndSession.Name: {request: memory.EndSessionRequest{RequestID: "made by the caller", SessionID: "abcd", Project: "p"},
		answer: &memory.SessionState{Session: opened, Seq: 10}},
	service.SearchSteps.Name: {request: memory.SearchStepsRequest{Query: "größe <b>", Scope: &memory.Scope{Session: "abcd"}, Filters: allFilters, Limit: 100, Project: "p", Caller: memory.Caller{Session: "old1"}},
		answer: &memory.StepMatches{Query: "größe <b>", Matches: []memory.StepView{view}}},
	service.LastSteps.Name: {request: memory.LastStepsRequest{Scope: &memory.Scope{Name: "current"}, Filters: &memory.StepFilters{}, N: 200},
		answer: &memory.StepList{Steps: []memory.StepView{view}}},
	service.SummarizeSession.Name: {request: memory.SummarizeRequest{Scope: &memory.Scope{Name: "current"}},
		answer: &memory.Summary{SessionID: "abcd", StepCount: 2, Recipe: []memory.RecipeStep{{StepNumber: 1, Tool: "bash", Notes: "n"}}, Goal: "g", CreatedAt: at, EndedAt: at,
			Labels: map[string]int{"execution": 1}, Screens: []string{"home"},
			Failures: []memory.Failure{{StepNumber: 1, Tool: "bash", Error: "e", RecoveredBy: 2, Recovery: "r"}}}},
	service.Sessions.Name: {request: memory.SessionsRequest{Filters: allFilters, Limit: 50},
		answer: &memory.SessionList{Sessions: []memory.SessionView{{SessionID: "abcd", CreatedAt: at, Goal: "g", FlowTags: []string{"send"}, Tags: []string{}, Git: *opened.Git}}}},
	service.Import.Name: {request: memory.ImportRequest{Path: "/p", Project: "p"},
		answer: &memory.Imported{Project: "p", ProjectName: "demo", Lessons: 1, Sessions: 2, Steps: 3, Known: 4, Skipped: 5,
			Problems: []memory.ImportProblem{{File: "/p/a.jsonl", Line: 6, Message: "not JSON"}}}},
	service.Export.Name: {request: memory.ExportRequest{Path: "/p", Project: "p"},
		answer: &memory.Exported{Project: "p", ProjectName: "demo", Path: "/p", Lessons: 1, Sessions: 2, Steps: 3, Files: 4}},
	service.IndexRepo.Name: {request: memory.IndexRequest{Path: "/p", ChangedFiles: []string{"a"}, RequestedAt: at}, answer: &memory.IndexQueued{Job: "j", Position: 3, Root: "/p"}},
	service.Repos.Name: {answer: &memory.RepoList{Repos: []memory.SandboxState{{Sandbox: memory.Sandbox{ID: "s", Root: "/p", IndexedAt: at, Skipped: map[string]int{"big": 1}, Paused: true, GoneAt: at},
		ProjectName: "p", Progress: &memory.Progress{Phase: "walking"}, Stale: true, Watch: "polling: no watches left", IndexBytes: 1 << 40, Pruned: 3, UsedAt: at}}}},
	service.Trust.Name: {request: memory.TrustRequest{Path: "/p", Revoke: true, List: true, Caller: memory.Caller{Dir: "/d"}},
		answer: &memory.TrustState{Root: "/p", Trusted: []memory.TrustedFolder{{Folder: "/p", Project: "p", ProjectName: "demo", At: at, Setting: true}},
			Waiting: []memory.WaitingFiles{{Root: "/q", ProjectName: "q", Logs: 1, Sessions: 2, ContextFiles: 3}}, Removed: 4}},
	service.Team.Name: {answer: &memory.TeamState{Member: "ann", Server: "db:5432/team", Connected: true, LastError: "e", SyncedAt: at, Allowed: []string{"*"},
		Projects: []memory.TeamProject{{Project: "p", ProjectName: "demo", TeamName: "github.com/acme/demo", Shared: 1, Received: 2, Problem: "q"}}}},
	service.TeamJoin.Name:  {request: memory.TeamJoinRequest{URL: "postgres://ann@db/team"}, answer: &memory.TeamState{Member: "ann", Projects: []memory.TeamProject{}}},
	service.TeamShare.Name: {request: memory.TeamShareRequest{Project: "p", As: "größe", Stop: true, Caller: memory.Caller{Dir: "/d"}}, answer: &memory.TeamState{Projects: []memory.TeamProject{}}},
	service.TeamLeave.Name: {request: memory.TeamLeaveRequest{Force: true}, answer: &memory.TeamState{Projects: []memory.TeamProject{}}},
	service.Skipped.Name: {request: memory.SkippedRequest{Path: "/p", Caller: memory.Caller{Dir: "/d"}},
		answer: &memory.SkippedList{Root: "/p", Files: []memory.SkippedFile{{Path: "a/b.bin", Reason: "binary"}}, Total: 3, Reasons: map[string]int{"binary": 3}}},
	service.Pause.Name: {request: memory.PauseRequest{Path: "/p", Resume: true, Caller: memory.Caller{Dir: "/d", Client: "c"}},
		answer: &memory.Paused{All: true, Sandboxes: []string{"/p", "/größe <b>"}}},
	service.Files.Name: {request: memory.FilesRequest{Pattern: "größe <b> **/*.go", Project: "p", Limit: 1000, Caller: memory.Caller{Dir: "/d"}},
		answer: &memory.FileList{Project: "p", ProjectName: "demo", Total: 7, Withheld: map[memory.Reason]int{memory.Gone: 1},
			Files: []memory.FileMatch{{Path: "a/größe.go", Sandbox: "/p", Lang: "go", Head: "package a\n\n// <b>"}}}},
	service.Check.Name: {answer: &memory.CheckReport{Problems: []string{"a value is missing"}, Total: 4, Busy: true, Took: memory.Millis(time.Second)}},
	service.Status.Name: {answer: &memory.Status{Version: "v", Protocol: 1, PID: 5, State: "ready", StartedAt: at, Records: map[memory.Kind]int{memory.Lesson: 2}, Projects: []memory.SandboxState{}, Collections: []memory.CollectionState{{Name: "builtin"}}, Queue: memory.QueueState{ByKind: map[string]int{"x": 1}},
		Adapting: &memory.AdaptProgress{Phase: "reading", Done: 1, Total: 2},
		Code:     memory.CodeState{Paused: true, Sandboxes: 1, Stale: 2, Waiting: 3, Runs: 4, Failed: 5, MeanRun: memory.Millis(1500 * time.Microsecond), IndexBytes: 6, MaxBytes: 7, Pruned: 8, Asked: 9, Hits: 10, Fallbacks: 11}}},
	service.DeadJobs.Name:   {answer: &memory.DeadJobList{Jobs: []memory.DeadJob{{ID: "j", Kind: "k", Payload: []byte(`{"a":1}`), LastError: "e", EnqueuedAt: at}}}},
	service.RequeueJob.Name: {request: memory.RequeueRequest{ID: "job 1?"}, answer: &service.None{}},
	service.Stop.Name:       {answer: &service.None{}},
	service.OpenPage.Name:   {request: memory.PageRequest{Caller: memory.Caller{Dir: "/d"}}, answer: &memory.Page{URL: "http://127.0.0.1:1/ui/login?key=k"}},
	service.Models.Name:     {answer: &memory.ModelList{Models: []memory.ModelState{{Name: "m", Dim: 3, State: "active"}}}},
	service.PullModel.Name:  {request: memory.PullRequest{Name: "m"}, answer: new(memory.Pulled(true))},
	service.AdaptModel.Name: {request: memory.AdaptRequest{Threads: 3, TimeLimit: memory.Millis(time.Minute)},
		answer: &memory.Adaptation{Kept: true, Model: "m", Refused: "r", Base: "b", BaseSum: "s", At: at, Took: memory.Millis(time.Second), Pairs: 1, Judged: 2, Documents: 3,
			General: 4, Steps: 5, OutOfTime: true, Share: .3, Before: memory.ModelFigures{R1: .1, R10: .2, MRR: .3}, After: memory.ModelFigures{R1: .4}, GeneralBefore: memory.ModelFigures{R10: .5},
			GeneralAfter: memory.ModelFigures{MRR: .6}, Gain: .7, Error: .8}},
	service.ResetModel.Name: {answer: &memory.BuiltinModel{InUse: "a", Next: "b", Shipped: "b"}},
	service.BuiltinModel.Name: {answer: &memory.BuiltinModel{InUse: "a", Next: "b", Shipped: "b", Adapted: &memory.Adaptation{Model: "a"}, Trouble: "t",
		Running: &memory.AdaptProgress{Phase: "training", Done: 1, Total: 2}}},
})

// merged joins two tables of methods.
func merged(a, b map[string]method) map[string]method {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// invoke carries out an operation by its name.
func (m method) invoke(ctx context.Context, svc service.Service, name string) (any, error) {
	return svc.Call(ctx, service.Find(name), m.sent(), func(any) {})
}

// sent is the request, or that there is none.
func (m method) sent() any {
	if m.request == nil {
		return service.None{}
	}
	return m.request
}

// filled is a call of an operation that methods has no values for: every field that has
// no limits of its own is set.
func filled(op *service.Spec) method {
	m := method{answer: fill(op.Response(), 0).Addr().Interface()}
	if op.TakesRequest() {
		m.request = fill(op.Request(), 0).Interface()
	}
	return m
}

// fill returns an addressable value with its fields set.
func fill(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case depth > 4: // a type that holds itself
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(at))
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes(raw(`{"a":1}`))
	case t.Kind() == reflect.String:
		v.SetString("größe <b>")
	case t.Kind() == reflect.Bool:
		v.SetBool(true)
	case t == reflect.TypeFor[memory.Millis]():
		v.SetInt(int64(time.Second))
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(.5)
	case t.Kind() == reflect.Pointer:
		v.Set(fill(t.Elem(), depth+1).Addr())
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, fill(t.Elem(), depth+1)))
	case t.Kind() == reflect.Struct:
		for f := range t.NumField() {
			if field := t.Field(f); field.IsExported() && field.Tag.Get("enum") == "" && field.Tag.Get("form") == "" {
				v.Field(f).Set(fill(field.Type, depth+1))
			}
		}
	}
	return v
}

// Every method makes the trip over the socket with all that it carries.
func TestEveryMethodSurvivesTheTrip(t *testing.T) {
	for _, op := range service.Operations() {
		if op == service.Hello.Spec { // Connect says it
			continue
		}
		name := op.Name
		t.Run(name, func(t *testing.T) {
			m, ok := methods[name]
			if !ok {
				m = filled(op)
			}
			fake := &servicetest.Service{Answers: map[string]any{}}
			if m.answer != nil {
				fake.Answers[name] = m.answer
			}
			c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
			got, err := m.invoke(t.Context(), c, name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m.answer, got); diff != "" {
				t.Errorf("answer (-sent +received):\n%s", diff)
			}
			if diff := cmp.Diff([]servicetest.Call{{Operation: name, Request: m.sent()}}, fake.Calls()); diff != "" {
				t.Errorf("calls (-sent +received):\n%s", diff)
			}
		})
	}
}

// Every code survives the trip of every method, with field, limit and hint.
func TestEveryErrorSurvivesTheTrip(t *testing.T) {
	codes := []memory.Code{memory.CodeInvalidInput, memory.CodeNotFound, memory.CodeConflict, memory.CodeUnavailable,
		memory.CodeForbidden, memory.CodeCorrupt, memory.CodeIncompatible, memory.CodeInternal}
	fake := &servicetest.Service{}
	c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
	for name, m := range methods {
		for _, code := range codes {
			sent := &memory.Error{Code: code, Field: "f", Limit: "1–2", Message: "what <went> wrong", Hint: "do this"}
			fake.Err = sent
			_, err := m.invoke(t.Context(), c, name)
			got, ok := errors.AsType[*memory.Error](err)
			if !ok {
				t.Errorf("%s, %s: error is %T: %v", name, code, err, err)
				continue
			}
			if diff := cmp.Diff(sent, got); diff != "" {
				t.Errorf("%s, %s (-sent +received):\n%s", name, code, diff)
			}
		}
	}
}

func TestPullReportsProgressInOrder(t *testing.T) {
	want := []memory.PullProgress{{Status: "pulling", Completed: 1, Total: 3}, {Status: "pulling", Completed: 3, Total: 3}, {Status: "success"}}
	fake := &servicetest.Service{Progress: map[string][]any{service.PullModel.Name: servicetest.Reports(want...)}}
	c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
	var got []memory.PullProgress
	pull := func() error {
		got = nil
		_, err := service.PullModel.Do(t.Context(), c, memory.PullRequest{Name: "m"}, func(p memory.PullProgress) { got = append(got, p) })
		return err
	}
	if err := pull(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-sent +received):\n%s", diff)
	}
	fake.Err = memory.Errorf(memory.CodeUnavailable, "disk full")
	if err := pull(); memory.CodeOf(err) != memory.CodeUnavailable || err.Error() != "disk full" {
		t.Errorf("failure after progress: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress before the failure (-sent +received):\n%s", diff)
	}
}

// breakFirst breaks the connection of a method's first n calls.
func breakFirst(method string, n int) *servicetest.Service {
	var calls atomic.Int64
	return &servicetest.Service{
		Answers: map[string]any{
			service.Remember.Name: &memory.Remembered{ID: "1"}, service.Recall.Name: &memory.RecallResponse{}, service.Forget.Name: &memory.Forgotten{},
			service.StartSession.Name: &memory.SessionState{}, service.RecordStep.Name: &memory.StepRecorded{}, service.EndSession.Name: &memory.SessionState{},
			service.LastSteps.Name: &memory.StepList{}, service.Import.Name: &memory.Imported{}, service.Export.Name: &memory.Exported{},
		},
		Before: func(_ context.Context, m string) {
			if m == method {
				if calls.Add(1) <= int64(n) {
					panic(http.ErrAbortHandler)
				}
			}
		},
	}
}

func TestBrokenConnections(t *testing.T) {
	for name, tc := range map[string]struct {
		method string
		breaks int
		calls  int // wanted
		fails  bool
	}{
		"a write is repeated once":         {service.Remember.Name, 1, 2, false},
		"a start is repeated":              {service.StartSession.Name, 1, 2, false},
		"a step is repeated":               {service.RecordStep.Name, 1, 2, false},
		"an end is repeated":               {service.EndSession.Name, 1, 2, false},
		"an import is repeated":            {service.Import.Name, 1, 2, false},
		"an export is not":                 {service.Export.Name, 1, 1, true},
		"a list is asked for again":        {service.LastSteps.Name, 1, 2, false},
		"not twice":                        {service.Remember.Name, 2, 2, true},
		"a question is repeated":           {service.Recall.Name, 1, 2, false},
		"what is not safe is not":          {service.Forget.Name, 1, 1, true},
		"a dead job is not requeued twice": {service.RequeueJob.Name, 1, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			fake := breakFirst(tc.method, tc.breaks)
			c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
			m := methods[tc.method]
			m.request = withoutID(m.request) // the client makes one
			_, err := m.invoke(t.Context(), c, tc.method)
			if (err != nil) != tc.fails {
				t.Errorf("error %v, want one: %v", err, tc.fails)
			}
			if err != nil && memory.CodeOf(err) != memory.CodeUnavailable {
				t.Errorf("code %s, want unavailable: %v", memory.CodeOf(err), err)
			}
			calls := fake.Calls()
			if len(calls) != tc.calls {
				t.Fatalf("the daemon got %d calls, want %d", len(calls), tc.calls)
			}
			for _, call := range calls {
				id, has := requestID(call.Request)
				if first, _ := requestID(calls[0].Request); has && (id == "" || id != first) {
					t.Errorf("request ids %q and %q, want one and the same", first, id)
				}
			}
		})
	}
}

// requestID returns the id of a write; has is false for other requests.
func requestID(request any) (id string, has bool) {
	if v := reflect.ValueOf(request); v.Kind() == reflect.Struct {
		if field := v.FieldByName("RequestID"); field.IsValid() {
			return field.String(), true
		}
	}
	return "", false
}

// withoutID is a copy of a request without its id.
func withoutID(request any) any {
	if _, has := requestID(request); !has {
		return request
	}
	v := reflect.New(reflect.TypeOf(request)).Elem()
	v.Set(reflect.ValueOf(request))
	v.FieldByName("RequestID").SetString("")
	return v.Interface()
}

func TestNoDaemon(t *testing.T) {
	_, err := client.Connect(t.Context(), client.Options{Socket: filepath.Join(t.TempDir(), "none")})
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Code != memory.CodeUnavailable || e.Hint == "" {
		t.Errorf("error %#v, want unavailable with a hint", err)
	}
}

func TestCallerGivesUp(t *testing.T) {
	entered := make(chan struct{}, 1)
	fake := &servicetest.Service{Before: func(ctx context.Context, m string) {
		entered <- struct{}{}
		<-ctx.Done()
	}}
	c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	_, err := service.Status.Do(ctx, c, service.None{})
	if !errors.Is(err, context.Canceled) || memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("error %v, want one that is context.Canceled and unavailable", err)
	}
	if n := len(fake.Calls()); n != 1 {
		t.Errorf("%d calls, want 1: what the caller gave up is not repeated", n)
	}
}

func TestNewerProtocol(t *testing.T) {
	stopped := false
	mux := http.NewServeMux()
	mux.HandleFunc(service.Hello.Path, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"protocol": 9999, "version": "99.0", "pid": 5, "new_field": 1}`))
	})
	mux.HandleFunc(service.Stop.Path, func(http.ResponseWriter, *http.Request) { stopped = true })
	_, err := client.Connect(t.Context(), client.Options{Socket: listen(t, mux)})
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Code != memory.CodeIncompatible || e.Hint == "" {
		t.Errorf("error %v, want incompatible with a hint", err)
	}
	if stopped {
		t.Error("an older client stopped a newer daemon")
	}
}

func TestSomethingElseOnTheSocket(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"other words":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
		"other errors": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Connect(t.Context(), client.Options{Socket: listen(t, h)})
			if memory.CodeOf(err) != memory.CodeIncompatible {
				t.Errorf("error %v, want incompatible", err)
			}
		})
	}
}
