package steptext_test

import (
	"encoding/json"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

func TestSubject(t *testing.T) {
	for name, tc := range map[string]struct{ target, input, want string }{
		"a target":             {target: `{ "testId": "send" }`, input: `{"command":"x"}`, want: `{"testId":"send"}`},
		"a text as target":     {target: `"send-button"`, want: `"send-button"`},
		"no target":            {target: `null`, input: `"make build"`, want: "make build"},
		"a command":            {input: `{"command":"npm install"}`, want: "npm install"},
		"flags":                {input: `{"command":"npm  install --legacy-peer-deps -D"}`, want: "npm install"},
		"a folder before":      {input: `{"command":"cd /src && go vet ./..."}`, want: "go vet ./..."},
		"another after":        {input: `{"command":"cd /src; ls -la"}`, want: "ls"},
		"variables and sudo":   {input: `{"command":"CI=1 sudo /usr/bin/make test | tee log"}`, want: "make test"},
		"lines":                {input: `{"cmd":"export A=1\npytest tests/a.py -x"}`, want: "pytest tests/a.py"},
		"a file":               {input: `{"file_path":"/a/b.go","content":"x"}`, want: "/a/b.go"},
		"a page":               {input: `{"url":"https://example.org"}`, want: "https://example.org"},
		"only a folder":        {input: `{"command":"cd /src"}`, want: ""},
		"nothing that is told": {input: `{"count":3}`, want: ""},
		"no object":            {input: `[1,2]`, want: ""},
		"nothing":              {want: ""},
	} {
		got := steptext.Subject(memory.StepTool{Target: json.RawMessage(tc.target), Input: json.RawMessage(tc.input)})
		if got != tc.want {
			t.Errorf("%s: the subject is %q, want %q", name, got, tc.want)
		}
	}
}
