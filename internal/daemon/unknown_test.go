package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestUnknownProject: every call that takes a project refuses one that there is not,
// with the names near to it, instead of answering that there is nothing.
func TestUnknownProject(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	s.keep(dir, "npm install needs no root here")
	ctx, in, name := t.Context(), memory.Caller{Dir: dir, Client: "test"}, "shpo"
	which := memory.SessionRef{Project: name, Caller: in}
	for call, do := range map[string]func() error{
		"recall": func() error {
			_, err := service.Recall.Do(ctx, s, memory.RecallRequest{Query: "npm", Project: name, Caller: in})
			return err
		},
		"recall by ids": func() error {
			_, err := service.Recall.Do(ctx, s, memory.RecallRequest{IDs: []string{"l-1234"}, Project: name, Caller: in})
			return err
		},
		"recall, repo": func() error {
			_, err := service.Recall.Do(ctx, s, memory.RecallRequest{Query: "npm", Repo: name, Caller: in})
			return err
		},
		"steps": func() error {
			_, err := service.SearchSteps.Do(ctx, s, memory.SearchStepsRequest{Query: "npm", Project: name, Caller: in})
			return err
		},
		"last": func() error {
			_, err := service.LastSteps.Do(ctx, s, memory.LastStepsRequest{Project: name, Caller: in})
			return err
		},
		"sessions": func() error {
			_, err := service.Sessions.Do(ctx, s, memory.SessionsRequest{Project: name, Caller: in})
			return err
		},
		"summarize": func() error {
			_, err := service.SummarizeSession.Do(ctx, s, memory.SummarizeRequest{Project: name, Caller: in})
			return err
		},
		"files": func() error {
			_, err := service.Files.Do(ctx, s, memory.FilesRequest{Pattern: "*", Project: name, Caller: in})
			return err
		},
		"import": func() error {
			_, err := service.Import.Do(ctx, s, memory.ImportRequest{Path: dir, Project: name, Caller: in})
			return err
		},
		"export": func() error {
			_, err := service.Export.Do(ctx, s, memory.ExportRequest{Path: filepath.Join(t.TempDir(), "x"), Project: name, Caller: in})
			return err
		},
		"remember": func() error {
			_, err := service.Remember.Do(ctx, s, memory.RememberRequest{Lesson: "l", Project: name, Caller: in})
			return err
		},
		"forget": func() error { _, err := service.Forget.Do(ctx, s, memory.ForgetRequest{Project: name}); return err },
		"replay": func() error {
			_, err := service.Replay.Do(ctx, s, memory.ReplayRequest{SessionID: "abcd", Project: name, Caller: in}, func(memory.ReplayProgress) {})
			return err
		},
		"search tools": func() error {
			_, err := service.SearchTools.Do(ctx, s, memory.SearchToolsRequest{Query: "npm", SessionRef: which})
			return err
		},
		"entries": func() error {
			_, err := service.Entries.Do(ctx, s, memory.EntriesRequest{Project: name, Caller: in})
			return err
		},
		"session context": func() error {
			_, err := service.SessionContext.Do(ctx, s, memory.ContextRequest{SessionRef: which})
			return err
		},
	} {
		e := memory.AsError(orNone(do()))
		if e.Code != memory.CodeNotFound || e.Field != "project" && e.Field != "repo" || !strings.Contains(e.Hint, `near names: "shop"`) {
			t.Errorf("%s of the project %q = %q %v (hint %q), want not_found with the near name shop", call, name, e.Code, e, e.Hint)
		}
	}
}

// orNone is an error for none.
func orNone(err error) error {
	if err == nil {
		return &memory.Error{Code: "no error"}
	}
	return err
}
