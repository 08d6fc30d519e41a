package cli

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

func TestCompletion(t *testing.T) {
	answers := sample()
	answers[service.Lessons.Name] = &memory.LessonList{Lessons: []memory.Item{{ID: "l-4f2a9c", Kind: memory.Lesson, Text: "npm: use npm ci"}}}
	b := newBench(t, answers)
	for _, shell := range shells {
		if out := b.ok("completion", shell); !strings.Contains(out, "recalld") {
			t.Errorf("the script for %s does not mention recalld", shell)
		}
	}
	for _, tt := range []struct {
		args, want []string
	}{
		{[]string{"recall", "--project", ""}, []string{"demo", "new", "p3"}},
		{[]string{"files", "--project", "n"}, []string{"new", ":4"}},
		{[]string{"forget", "--project", "de"}, []string{"demo", ":4"}},
		{[]string{"pause", "/src/de"}, []string{"/src/demo", "/src/demo worktree", ":4"}},
		{[]string{"resume", "/elsewhere"}, []string{":16"}}, // the shell completes folders
		{[]string{"index", ""}, []string{":16"}},
		{[]string{"up", "/src", ""}, []string{":4"}},
		{[]string{"recall", "--project", "d"}, []string{"demo"}},
		{[]string{"recall", "--kinds", ""}, []string{"lesson", "step", "chunk"}},
		{[]string{"recall", "--kinds", "lesson,c"}, []string{"lesson,chunk", ":4"}},
		{[]string{"catalogue", "--types", "rule,"}, []string{"rule,reference", "rule,tool", ":4"}},
		{[]string{"mcp", "--toolsets", "k"}, []string{"knowledge", ":4"}},
		{[]string{"mcp", "--toolsets", "core,h"}, []string{"core,history", ":4"}},
		{[]string{"model", "pull", ""}, []string{"ollama/nomic-embed-text"}},
		{[]string{"summarize", "mm-"}, []string{"mm-20260114-xyz", "mm-20260115-abc\tRun send flow smoke test"}},
		{[]string{"steps", "--session", "mm-20260114"}, []string{"mm-20260114-xyz", ":4"}},
		{[]string{"sessions", "--flow-tag", ""}, []string{"send", "swap", "connect"}},
		{[]string{"context", "for", "--session", "mm-20260114"}, []string{"mm-20260114-xyz", ":4"}},
		{[]string{"receipts", "r-1"}, []string{"r-1\tHow do I authenticate?", ":4"}},
		{[]string{"feedback", "r-1", "w"}, []string{"worked", ":4"}},
		{[]string{"feedback", "r-1", "worked", ""}, []string{":4"}},
		{[]string{"show", "l-4"}, []string{"l-4f2a9c\tnpm: use npm ci", ":4"}},
		{[]string{"forget", "l-4f2a9c", ""}, []string{":4"}},
		{[]string{"remember", "x", "--supersedes", "l-"}, []string{"l-4f2a9c\tnpm: use npm ci", ":4"}},
		{[]string{"config", "set", "log.l"}, []string{"log.level", ":4"}},
		{[]string{"help", "rec"}, []string{"recall\tAsk for lessons, steps and code"}},
		{[]string{"help", "config", "e"}, []string{"edit\tEdit the settings file", ":4"}},
		{[]string{"help", "recall", "nope", ""}, []string{":4"}},
		{[]string{"help", "env"}, []string{"environment\tWhich variables the program reads", ":4"}},
		{[]string{"restore", ""}, []string{":4"}}, // and no names of files
		{[]string{"recall", "--color", ""}, []string{"auto", "always", "never", ":4"}},
		{[]string{"replay", "--embedder", ""}, []string{"builtin", "none", ":4"}},
	} {
		out := b.ok(append([]string{"__complete"}, tt.args...)...)
		got := strings.Split(out, "\n")
		for i, want := range tt.want {
			if got[i] != want {
				t.Errorf("completing %q gives %q, want %q", tt.args, got, tt.want)
				break
			}
		}
	}
	for _, tt := range []struct {
		args    []string
		project func() string
	}{
		{[]string{"receipts"}, func() string { return request[memory.ReceiptsRequest](t, b, service.Receipts.Name).Project }},
		{[]string{"summarize"}, func() string { return request[memory.SessionsRequest](t, b, service.Sessions.Name).Project }},
	} {
		b.ok(append(append([]string{"__complete"}, tt.args...), "--project", "p3", "")...)
		if got := tt.project(); got != "p3" {
			t.Errorf("completing %q --project p3 asks of project %q", tt.args, got)
		}
	}
	b.absent = true
	b.ok("__complete", "recall", "--project", "") // says nothing, and is no error
}

// TestProjectsOfOneName are told apart by their folders, in completions and in lists.
func TestProjectsOfOneName(t *testing.T) {
	repos := []memory.SandboxState{
		{ProjectName: "shop", Sandbox: memory.Sandbox{Project: "p1", Root: "/src/shop"}},
		{ProjectName: "shop", Sandbox: memory.Sandbox{Project: "p1", Root: "/src/shop worktree"}},
		{ProjectName: "shop", Sandbox: memory.Sandbox{Project: "p2", Root: "/old/shop"}},
		{ProjectName: "mail", Sandbox: memory.Sandbox{Project: "p3", Root: "/src/mail"}},
	}
	b := newBench(t, map[string]any{service.Repos.Name: &memory.RepoList{Repos: repos}})
	if out := b.ok("__complete", "recall", "--project", ""); !strings.HasPrefix(out, "mail\np1\tshop in /src/shop\np1\tshop in /src/shop worktree\np2\tshop in /old/shop\n") {
		t.Errorf("the projects are completed as %q", out)
	}
	for _, tt := range []struct{ name, id, want string }{{"shop", "p1", "shop in /src/shop"}, {"shop", "p2", "shop in /old/shop"}, {"mail", "p3", "mail"}} {
		if got := render.ProjectLabels(repos)[tt.id]; got != tt.want {
			t.Errorf("%s is called %q, want %q", tt.id, got, tt.want)
		}
	}
}
