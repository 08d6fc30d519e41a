package agentimport

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// run is a fixture: a part of a session, and whether a person would keep a lesson of it.
type run struct {
	Name string `json:"name"`
	// Half is "a", which rules may be tuned by, or "b", which is kept aside and only measured.
	Half  string `json:"half"`
	Keep  bool   `json:"keep"`
	Steps []struct {
		Run   string `json:"run"`
		Edit  string `json:"edit"`
		Error string `json:"error"`
	} `json:"steps"`
}

// lessons returns what is learned of a run.
func (r run) lessons(t *testing.T) []memory.LogLine {
	t.Helper()
	var f fixes
	var out []memory.LogLine
	at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for _, s := range r.Steps {
		at = at.Add(10 * time.Second)
		c := memory.StepContent{Tool: memory.StepTool{Name: "Bash"}, Outcome: memory.Outcome{OK: s.Error == ""}}
		c.Tool.Input = rawJSON(t, map[string]string{"command": s.Run})
		if s.Edit != "" {
			c.Tool = memory.StepTool{Name: "Edit", Target: rawJSON(t, s.Edit)}
		}
		if s.Error != "" {
			c.Outcome.Error = &memory.StepError{Code: "exit 1", Message: s.Error}
		}
		if l := f.step(at, &c); l != nil {
			out = append(out, *l)
		}
	}
	return out
}

func rawJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func runs(t *testing.T) []run {
	t.Helper()
	f, err := os.Open("testdata/runs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []run
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r run
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestFixes counts, for both halves of the judged runs, the lessons that a person would
// keep. docs/agents.md has the figures.
func TestFixes(t *testing.T) {
	got := map[string]*struct{ right, wrong, missed int }{"a": {}, "b": {}}
	for _, r := range runs(t) {
		learned := r.lessons(t)
		switch n := got[r.Half]; {
		case r.Keep && len(learned) > 0:
			n.right++
		case r.Keep:
			n.missed++
			t.Logf("%s %s: nothing was learned", r.Half, r.Name)
		case len(learned) > 0:
			n.wrong++
			t.Logf("%s %s: learned %q", r.Half, r.Name, learned[0].Lesson)
		}
	}
	var lines []string
	for _, half := range []string{"a", "b"} {
		lines = append(lines, fmt.Sprintf("%s: %d right, %d wrong, %d missed", half, got[half].right, got[half].wrong, got[half].missed))
	}
	want, err := os.ReadFile("testdata/precision.txt")
	if err != nil || strings.TrimSpace(string(want)) != strings.Join(lines, "\n") {
		t.Errorf("measured\n%s\nwant what testdata/precision.txt says (%v):\n%s", strings.Join(lines, "\n"), err, want)
	}
}

// TestFixesKnowEditors: what any client's tool changed between a failure and a success is part of
// the fix.
func TestFixesKnowEditors(t *testing.T) {
	for _, editor := range []string{"Edit", "edit", "str_replace", "notebook_edit", "apply_patch"} {
		var f fixes
		at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
		test := memory.StepTool{Name: "Bash", Input: rawJSON(t, map[string]string{"command": "npm test"})}
		f.step(at, &memory.StepContent{Tool: test, Outcome: memory.Outcome{Error: &memory.StepError{Code: "exit 1", Message: "no such script"}}})
		f.step(at, &memory.StepContent{Tool: memory.StepTool{Name: editor, Target: rawJSON(t, "/src/package.json")}, Outcome: memory.Outcome{OK: true}})
		if l := f.step(at, &memory.StepContent{Tool: test, Outcome: memory.Outcome{OK: true}}); l == nil || l.Lesson != "Edit package.json; then `npm test` worked" {
			t.Errorf("after %s it learns %+v, want that package.json was edited", editor, l)
		}
	}
}

// TestFixesQuoteNoSecrets: a lesson quotes parts of errors and commands, and none is of a secret or
// of private text that only the whole shows.
func TestFixesQuoteNoSecrets(t *testing.T) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for name, text := range map[string]string{
		"an error in private text": `{"steps":[{"run":"make deploy","error":"<private>\nerror: door 4711\n</private>\nmake failed"},{"edit":"/src/deploy.yaml"},{"run":"make deploy"}]}`,
		"a token that is cut":      `{"steps":[{"run":"npm install --note=` + strings.Repeat("n", 156) + ` --auth=` + secret + `","error":"it failed"},{"run":"npm install --dry"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var r run
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			got := r.lessons(t)
			if all := fmt.Sprintf("%+v", got); len(got) != 1 || strings.Contains(all, "4711") || strings.Contains(all, secret[:8]) {
				t.Errorf("the lessons are %s, want one without the secret", all)
			}
		})
	}
}

// TestFixesNameNoPasswords: the context of a lesson leaves options out of a command, and with
// them what says that a word is a password.
func TestFixesNameNoPasswords(t *testing.T) {
	var r run
	if err := json.Unmarshal([]byte(`{"steps":[{"run":"mysql -u root --password hunter2 shop","error":"it failed"},{"edit":"my.conf"},{"run":"mysql -u root --password hunter2 shop"}]}`), &r); err != nil {
		t.Fatal(err)
	}
	if got := r.lessons(t); len(got) != 1 || strings.Contains(got[0].Context, "hunter2") || !strings.Contains(got[0].Context, "mysql") {
		t.Errorf("the lessons are %+v, want one with a context without the password", got)
	}
}

// TestFixesNameFilesOfWindows: a lesson names a file without its folder.
func TestFixesNameFilesOfWindows(t *testing.T) {
	var r run
	if err := json.Unmarshal([]byte(`{"steps":[{"run":"npm ci","error":"it failed"},{"edit":"C:\\Users\\me\\shop\\package.json"},{"run":"npm ci"}]}`), &r); err != nil {
		t.Fatal(err)
	}
	if got := r.lessons(t); len(got) != 1 || got[0].Lesson != "Edit package.json; then `npm ci` worked" {
		t.Errorf("the lessons are %+v, want one that names package.json alone", got)
	}
}
