package client_test

import (
	"context"
	"encoding/json"
	"errors"
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
	op      *service.Spec
	request any // none where the operation takes none
	answer  any
}

// methods are the calls of all operations but the one that Connect makes. Every field is set,
// so that one which does not travel shows.
func methods() (all []method) {
	for _, op := range service.Operations() {
		if op != service.Hello.Spec {
			all = append(all, filled(op))
		}
	}
	return all
}

func filled(op *service.Spec) method {
	m := method{op: op, request: service.None{}, answer: fill(op.Response()).Addr().Interface()}
	if op.TakesRequest() {
		m.request = fill(op.Request()).Interface()
	}
	if wc, ok := m.answer.(*memory.WorkingContext); ok { // its JSON is its own, and escapes what HTML needs
		for i := range wc.Entities {
			wc.Entities[i].Data = json.RawMessage(`{"b":1.50,"a":[null]}`)
		}
		wc.Extra = map[string]json.RawMessage{"x": wc.Entities[0].Data}
	}
	return m
}

// invoke carries out the operation.
func (m method) invoke(ctx context.Context, svc service.Service) (any, error) {
	return svc.Call(ctx, m.op, m.request, func(any) {})
}

// fill returns an addressable value with its fields set. JSON must arrive as it was sent, key
// order and number formats included, and so must a zero behind a pointer.
func fill(t reflect.Type) reflect.Value {
	return servicetest.Value(t, "größe/ <b> \u2028 %2F?", at, func(v reflect.Value) bool {
		switch t := v.Type(); {
		case t == reflect.TypeFor[json.RawMessage]():
			v.SetBytes([]byte(`{"n":1.50,"z":"<b>","a":[null]}`))
		case t == reflect.TypeFor[memory.Millis]():
			v.SetInt(int64(1500 * time.Microsecond))
		case t == reflect.TypeFor[memory.Scope](): // one of two
			v.Set(reflect.ValueOf(memory.Scope{Session: "abcd"}))
		case v.CanInt():
			v.SetInt(1 << (t.Bits() - 4)) // more than a float64 holds
		case t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Struct:
			v.Set(reflect.New(t.Elem()))
		default:
			return false
		}
		return true
	})
}

// Every method makes the trip over the socket with all that it carries.
func TestEveryMethodSurvivesTheTrip(t *testing.T) {
	for _, m := range methods() {
		t.Run(m.op.Name, func(t *testing.T) {
			fake := &servicetest.Service{Answers: map[string]any{m.op.Name: m.answer}}
			c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
			got, err := m.invoke(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m.answer, got); diff != "" {
				t.Errorf("answer (-sent +received):\n%s", diff)
			}
			if diff := cmp.Diff([]servicetest.Call{{Operation: m.op.Name, Request: m.request}}, fake.Calls()); diff != "" {
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
	for _, m := range methods() {
		for _, code := range codes {
			sent := &memory.Error{Code: code, Field: "f", Limit: "1–2", Message: "what <went> wrong", Hint: "do this"}
			fake.Err = sent
			_, err := m.invoke(t.Context(), c)
			got, ok := errors.AsType[*memory.Error](err)
			if !ok {
				t.Errorf("%s, %s: error is %T: %v", m.op.Name, code, err, err)
				continue
			}
			if diff := cmp.Diff(sent, got); diff != "" {
				t.Errorf("%s, %s (-sent +received):\n%s", m.op.Name, code, diff)
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
			m := filled(service.Find(tc.method))
			m.request = withoutID(m.request) // the client makes one
			_, err := m.invoke(t.Context(), c)
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
