//go:build unix

package team

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/team/teamtest"
)

// TestWaitForOwnProjects: a member is woken by what is written to its projects and by the
// operator, not by the other projects of the server.
func TestWaitForOwnProjects(t *testing.T) {
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
	defer c.close()
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
