package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// TestReplayReportsProgressInOrder: progress first, then what it came to, or why it
// failed.
func TestReplayReportsProgressInOrder(t *testing.T) {
	want := []memory.ReplayProgress{{Done: 0, Total: 2}, {Done: 1, Total: 2}, {Done: 2, Total: 2}}
	answer := &memory.Replayed{Project: "p", Answers: []memory.ReplayedAnswer{}, Tally: memory.ReplayCounts{Questions: 2}}
	fake := &servicetest.Service{Progress: map[string][]any{service.Replay.Name: servicetest.Reports(want...)}, Answers: map[string]any{service.Replay.Name: answer}}
	c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
	replay := func() (got []memory.ReplayProgress, done *memory.Replayed, err error) {
		done, err = service.Replay.Do(t.Context(), c, memory.ReplayRequest{SessionID: "abcd"}, func(p memory.ReplayProgress) { got = append(got, p) })
		return got, done, err
	}
	got, done, err := replay()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-sent +received):\n%s", diff)
	}
	if diff := cmp.Diff(answer, done); diff != "" {
		t.Errorf("answer (-sent +received):\n%s", diff)
	}
	if done, err := service.Replay.Do(t.Context(), c, memory.ReplayRequest{}, nil); err != nil || done == nil {
		t.Errorf("without a listener: %v, %v", done, err)
	}
	fake.Err = memory.Errorf(memory.CodeUnavailable, "the index is loading")
	got, done, err = replay()
	if memory.CodeOf(err) != memory.CodeUnavailable || err.Error() != "the index is loading" || done != nil {
		t.Errorf("failure after progress: %v, %v", done, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress before the failure (-sent +received):\n%s", diff)
	}
}

// TestReplayGivenUp: a caller that gives up ends the work in the daemon, also when
// the work hangs after it has reported progress.
func TestReplayGivenUp(t *testing.T) {
	hung, ended := make(chan struct{}), make(chan error, 1)
	fake := &servicetest.Service{
		Progress: map[string][]any{service.Replay.Name: {memory.ReplayProgress{Done: 1, Total: 2}}},
		Before: func(ctx context.Context, _ string) {
			close(hung)
			<-ctx.Done()
			ended <- ctx.Err()
		},
	}
	c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
	ctx, cancel := context.WithCancel(t.Context())
	reported := make(chan struct{})
	go func() {
		<-reported
		<-hung
		cancel()
	}()
	done, err := service.Replay.Do(ctx, c, memory.ReplayRequest{SessionID: "abcd"}, func(memory.ReplayProgress) { close(reported) })
	if done != nil || !errors.Is(err, context.Canceled) || memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("given up: %v, %v; want an error that is context.Canceled and unavailable", done, err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) { // hangs if the work goes on
		t.Errorf("the work ended with %v, want context.Canceled", err)
	}
	if n := len(fake.Calls()); n != 1 {
		t.Errorf("%d calls, want 1: what the caller gave up is not repeated", n)
	}
}

// TestBrokenLines: an answer of lines that ends early, or is not what it should be,
// is an error and never half an answer.
func TestBrokenLines(t *testing.T) {
	progress := `{"progress":{"done":1,"total":2}}` + "\n"
	for name, tc := range map[string]struct {
		body  string
		abort bool // the connection, after the body
		code  memory.Code
	}{
		"no last line":       {progress, false, memory.CodeUnavailable},
		"nothing":            {"", false, memory.CodeUnavailable},
		"a daemon that died": {progress + `{"done":{"project":`, true, memory.CodeUnavailable},
		"half a line":        {progress + `{"done":{"project":`, false, memory.CodeIncompatible},
		"not JSON":           {progress + "busy\n", false, memory.CodeIncompatible},
		"an endless line":    {strings.Repeat("x", 65<<20), false, memory.CodeInternal},
		"of another shape":   {`{"progress":7}` + "\n", false, memory.CodeIncompatible},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc(service.Hello.Path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"protocol": %d}`, service.Protocol) })
			mux.HandleFunc(service.Replay.Path, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, tc.body)
				if tc.abort {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			c := connect(t, client.Options{Socket: listen(t, mux)})
			done, err := service.Replay.Do(t.Context(), c, memory.ReplayRequest{}, nil)
			if done != nil || memory.CodeOf(err) != tc.code {
				t.Errorf("answer %v, error %v (%s), want %s", done, err, memory.CodeOf(err), tc.code)
			}
		})
	}
}
