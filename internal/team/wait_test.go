//go:build unix

package team

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/team/teamtest"
)

// newConnection makes a server with a team, and connects to it.
func newConnection(t *testing.T) (*teamtest.Postgres, *connection) {
	t.Helper()
	p := teamtest.New(t)
	admin, err := OpenAdmin(t.Context(), p.URL("owner", "team"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = admin.Close(t.Context())
	c, err := connect(t.Context(), p.URL("owner", "team"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return p, c
}

// TestWaitForOwnProjects: a member is woken by what is written to its projects and by the
// operator, not by the other projects of the server.
func TestWaitForOwnProjects(t *testing.T) {
	p, c := newConnection(t)
	wait := func(most time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), most)
		defer cancel()
		return c.wait(ctx, []string{"shop"})
	}
	if err := wait(100 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("nobody wrote, and it returns %v", err)
	}
	for project, want := range map[string]error{"": nil, "shop": nil, "other": context.DeadlineExceeded} {
		payload, most := "", time.Minute
		if project != "" {
			payload = notified(project)
		}
		if want != nil {
			most = 200 * time.Millisecond
		}
		p.SQL("owner", "team", `select pg_notify('recalld', '`+payload+`')`)
		if err := wait(most); !errors.Is(err, want) {
			t.Errorf("after a change of %q it returns %v, want %v", project, err, want)
		}
	}
}

// noProjects is a store without projects.
type noProjects struct{ Store }

func (noProjects) Projects() ([]memory.Project, error) { return nil, nil }

// TestLateExchange: an exchange that ends after the user has left the team changes nothing of
// what is told.
func TestLateExchange(t *testing.T) {
	_, c := newConnection(t)
	s := &Service{opts: Options{Store: noProjects{}, Logger: slog.New(slog.DiscardHandler)}} // nobody has joined
	if err := s.exchange(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if s.state.Connected || !s.state.SyncedAt.IsZero() {
		t.Errorf("after an exchange the state is %+v, want none", s.state)
	}
}

// TestLateFailure: the same holds for an exchange that fails.
func TestLateFailure(t *testing.T) {
	s := &Service{opts: Options{Logger: slog.New(slog.DiscardHandler)}} // nobody has joined
	if s.failed(errors.New("broken pipe")); s.state.LastError != "" {
		t.Errorf("after a failure the last error is %q, want none", s.state.LastError)
	}
}

// TestSharedAgainMeanwhile: a project whose lessons were taken back while the user shared it again
// is sent once more.
func TestSharedAgainMeanwhile(t *testing.T) {
	s, err := New(Options{Path: filepath.Join(t.TempDir(), "team.json"), Store: noProjects{}, Taker: noTaker{}, Projects: noResolver{},
		Redact: func(text string) (string, int) { return text, 0 }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.member = &membership{URL: "postgres://anna@localhost/team", Projects: []project{{ID: "p-1", Name: "shop", Leaving: true}}}
	if state, err := s.State(t.Context(), service.None{}); err != nil || len(state.Projects) != 1 || !strings.Contains(state.Projects[0].Problem, "no longer shared") {
		t.Errorf("until the server has been told the state is %+v, %v; want that the project is taken back", state, err)
	}
	leaving := s.projects()[0] // as an exchange has it
	s.mu.Lock()
	err = s.change(memory.Project{ID: "p-1", Remote: "shop"}, memory.TeamShareRequest{})
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	s.takeDirty("p-1") // the exchange comes to the project, and takes its lessons back
	if err := s.left(leaving); err != nil {
		t.Fatal(err)
	}
	if p := s.member.find("p-1"); p == nil || p.Leaving || !s.takeDirty("p-1") {
		t.Errorf("the project is %+v and not compared again, want that it is", p)
	}
}

type noTaker struct{ Taker }

type noResolver struct{ memory.ProjectResolver }
