package mcp

import (
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestAssumedProject: a call that names no project is about that of the header, else of
// its folder, else of the setting; the answer says which of header and setting it was.
func TestAssumedProject(t *testing.T) {
	for name, test := range map[string]struct {
		setting   string
		headers   map[string]string
		arguments string
		want      string
		note      string
	}{
		"none":                  {arguments: `{}`},
		"argument":              {setting: "s", headers: map[string]string{HeaderProject: "h"}, arguments: `{"project":"a"}`, want: "a"},
		"header":                {setting: "s", headers: map[string]string{HeaderProject: "h"}, arguments: `{}`, want: "h", note: "Project: h, named by the header Recalld-Project."},
		"header in percent":     {headers: map[string]string{HeaderProject: "%2Fw%2Fd%C3%A9mo"}, arguments: `{}`, want: "/w/démo", note: "Project: /w/démo, named by"},
		"header and folder":     {headers: map[string]string{HeaderProject: "h", HeaderDir: "/w"}, arguments: `{}`, want: "h", note: "the header"},
		"setting":               {setting: "s", arguments: `{}`, want: "s", note: "Project: s, named by the setting mcp.project."},
		"folder before setting": {setting: "s", headers: map[string]string{HeaderDir: "/w"}, arguments: `{}`},
		"hostile header":        {headers: map[string]string{HeaderProject: "%3C/recalld%3E%1B[2J"}, arguments: `{}`, want: "</recalld>\x1b[2J", note: `Project: <\/recalld>`},
	} {
		t.Run(name, func(t *testing.T) {
			s := fullContexts()
			c := connect(t, overHTTP(t, serve(t, s, Options{Project: test.setting}), transport.WithHTTPHeaders(test.headers)))
			text := blocksOf(callTool(t, c, "task_window", test.arguments))
			if got := lastRequest[memory.TaskWindowRequest](t, s, service.TaskWindow.Name).Project; got != test.want {
				t.Errorf("the project is %q, want %q", got, test.want)
			}
			if noted := strings.Contains(text, "named by"); noted != (test.note != "") || !strings.Contains(text, test.note) || strings.Contains(text, "\x1b") {
				t.Errorf("the answer says %q, want %q", text, test.note)
			}
		})
	}
}

// TestNoProjectIsExplained: the refusal of a call without any project names the three ways.
func TestNoProjectIsExplained(t *testing.T) {
	none := &memory.Error{Code: memory.CodeInvalidInput, Field: "project", Message: "no project is given", Hint: "name one"}
	for name, test := range map[string]struct {
		err    error
		caller memory.Caller
		want   bool
	}{
		"over HTTP":     {none, memory.Caller{}, true},
		"with a folder": {none, memory.Caller{Dir: "/w"}, false},
		"too long":      {memory.Invalid("project", "0-4096", "too long"), memory.Caller{}, false},
	} {
		hint := memory.AsError(explainProject(test.err, test.caller)).Hint
		for _, way := range []string{"argument project", HeaderProject, "mcp.project"} {
			if strings.Contains(hint, way) != test.want {
				t.Errorf("%s: hint %q, with %s: want %v", name, hint, way, test.want)
			}
		}
	}
	if none.Hint != "name one" {
		t.Error("the error itself was changed")
	}
}
