package cli

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

func TestCompletion(t *testing.T) {
	b := newBench(t, sample())
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
