package connect

import (
	"bytes"
	"strings"
	"testing"
)

func TestHooksBesideTheUsers(t *testing.T) {
	text := `{
  // formatting
  "hooks": {
    "PostToolUse": [
      { "matcher": "Edit|Write", "hooks": [ { "type": "command", "command": "gofmt -w ." } ] }
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "say hook claude-code done"}]}]
  },
  "permissions": {"allow": ["Bash(ls:*)"]}
}
`
	h := newRig(t, "claude-code").client.hooks(Options{Server: server, Prompts: true}).(groupedHooks)
	with, err := h.Put([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gofmt -w .", "// formatting", "Bash(ls:*)", "say hook claude-code done",
		`"recalld hook claude-code UserPromptSubmit"`, `"recalld hook claude-code PostToolUse"`, `"recalld hook claude-code PostToolUseFailure"`,
		`"recalld hook claude-code SessionStart"`, `"recalld hook claude-code SessionEnd"`} {
		if strings.Count(string(with), want) != 1 {
			t.Errorf("%s is there %d times in\n%s", want, strings.Count(string(with), want), with)
		}
	}
	if again, err := h.Put(with); err != nil || !bytes.Equal(again, with) {
		t.Errorf("a second time it became %v\n%s", err, again)
	}
	if without, err := h.Take(with); err != nil || string(without) != text {
		t.Errorf("left is %v\n%s\nwant\n%s", err, without, text)
	}

	// Another program, and no hook for prompts any more.
	other := newRig(t, "claude-code").client.hooks(Options{Server: Server{"/my apps/recalld", []string{"mcp", "--data", "/d"}}}).(groupedHooks)
	moved, err := other.Put(with)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(moved, []byte("UserPromptSubmit")) || bytes.Contains(moved, []byte(`"recalld hook`)) {
		t.Errorf("the old hooks are left in\n%s", moved)
	}
	if !bytes.Contains(moved, []byte(`"'/my apps/recalld' hook claude-code PostToolUse --data /d"`)) {
		t.Errorf("the new command is not in\n%s", moved)
	}
	if without, err := h.Take(moved); err != nil || string(without) != text {
		t.Errorf("left is %v\n%s", err, without)
	}
}

// TestHooksTwice: what was copied by hand is there once afterwards; a group
// shared with another's hook keeps that one.
func TestHooksTwice(t *testing.T) {
	text := `{"hooks": {"SessionEnd": [{"matcher": "x", "hooks": [{"command": "recalld hook claude-code SessionEnd"}, {"command": "theirs"}, {"command": "recalld hook claude-code SessionEnd"}]}]}}`
	h := newRig(t, "claude-code").client.hooks(Options{Server: server}).(groupedHooks)
	with, err := h.Put([]byte(text))
	if err != nil || strings.Count(string(with), "claude-code SessionEnd") != 1 {
		t.Errorf("got %v\n%s", err, with)
	}
	want := `{"hooks": {"SessionEnd": [{"matcher": "x", "hooks": [{"command": "theirs"}]}]}}`
	if without, err := h.Take(with); err != nil || string(without) != want {
		t.Errorf("left is %v\n%s\nwant\n%s", err, without, want)
	}
}

// TestHooksKeepTheirGroup: what the user has added around a hook stays with it when its command
// changes, and goes with it: a group without hooks makes a client refuse its file.
func TestHooksKeepTheirGroup(t *testing.T) {
	const text = `{"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/old/recalld hook claude-code PostToolUse", "timeout": 9}]}, {"hooks": [{"command": "theirs"}]}]}}`
	h := newRig(t, "claude-code").client.hooks(Options{Server: server}).(groupedHooks)
	with, err := h.Put([]byte(text))
	if err != nil || !strings.Contains(string(with), `[{"matcher": "Bash", "hooks": [{"type": "command", "command": "recalld hook claude-code PostToolUse", "timeout": 9}]}, {"hooks"`) {
		t.Errorf("it became %v\n%s", err, with)
	}
	const want = `{"hooks": {"PostToolUse": [{"hooks": [{"command": "theirs"}]}]}}`
	if left, err := h.Take(with); err != nil || string(left) != want {
		t.Errorf("left is %v\n%s\nwant\n%s", err, left, want)
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"recalld": "recalld", "/opt/bin/recalld": "/opt/bin/recalld", "/my apps/r": "'/my apps/r'", "": "''", "it's": `'it'\''s'`,
		`C:\Users\me\recalld.exe`: "C:/Users/me/recalld.exe", "a$b": "'a$b'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
}

func TestMarkedBlock(t *testing.T) {
	cursorRule := markedBlock{preface: "---\nalwaysApply: true\n---\n\n"}
	for name, test := range map[string]struct {
		block      markedBlock
		text, left string
	}{
		"missing":          {markedBlock{}, "", ""},
		"with a preface":   {cursorRule, "", ""},
		"the user's text":  {markedBlock{}, "# Rules\n\nBe kind.\n", "same"},
		"no line end":      {markedBlock{}, "Be kind.", "Be kind.\n"},
		"Windows":          {markedBlock{}, "Be kind.\r\n", "same"},
		"an older block":   {markedBlock{}, "a\n\n<!-- recalld:begin -->\nold\n<!-- recalld:end -->\n\nb\n", "a\n\nb\n"},
		"on the last line": {markedBlock{}, "a\n\n<!-- recalld:begin -->\nold\n<!-- recalld:end --> mine\nb\n", "a\n\n mine\nb\n"},
		"the user's after": {cursorRule, "---\nalwaysApply: false\n---\n\nmine\n", "same"},
	} {
		with, err := test.block.Put([]byte(test.text))
		if err != nil || strings.Count(string(with), blockBegin) != 1 || !strings.HasPrefix(string(with), test.block.preface) && test.text == "" {
			t.Errorf("%s: got %v\n%s", name, err, with)
			continue
		}
		if again, err := test.block.Put(with); err != nil || !bytes.Equal(again, with) {
			t.Errorf("%s: a second time it became %v\n%q\nfrom\n%q", name, err, again, with)
		}
		left := test.left
		if left == "same" {
			left = test.text
		}
		if without, err := test.block.Take(with); err != nil || string(without) != left {
			t.Errorf("%s: left is %v\n%q\nwant\n%q", name, err, without, left)
		}
	}
}

// TestPowerShellWord: PowerShell doubles a quote where Bash ends the word.
func TestPowerShellWord(t *testing.T) {
	text, err := copilotHooks(Options{Server: Server{Command: `C:\Users\O'Brien\recalld.exe`, Args: []string{"mcp", "--data", "it’s"}}}).Put(nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"powershell": "& 'C:/Users/O''Brien/recalld.exe' hook copilot-cli sessionEnd --data 'it’’s'"`
	if !strings.Contains(string(text), want) {
		t.Errorf("%s\nis not in\n%s", want, text)
	}
}

// TestHooksKeyTwice: of a key that is there twice a client reads the last, so ours goes there
// and the hooks of the first stay.
func TestHooksKeyTwice(t *testing.T) {
	text := `{"hooks": {"SessionEnd": [{"hooks": [{"command": "theirs"}]}]}, "hooks": {"SessionEnd": [{"hooks": [{"command": "recalld hook claude-code SessionEnd"}]}, {"hooks": [{"command": "last"}]}]}}`
	h := newRig(t, "claude-code").client.hooks(Options{Server: server}).(groupedHooks)
	without, err := h.Take([]byte(text))
	if err != nil || !strings.Contains(string(without), "theirs") || !strings.Contains(string(without), "last") || strings.Contains(string(without), "recalld") {
		t.Errorf("left is %v\n%s", err, without)
	}
	with, err := h.Put([]byte(`{"hooks": {}, "hooks": {}}`))
	if err != nil || !strings.Contains(string(with), `"hooks": {}, "hooks": {"SessionStart"`) {
		t.Errorf("got %v\n%s", err, with)
	}
	text = `{"hooks": {"SessionEnd": [{"hooks": [{"command": "theirs"}]}], "SessionEnd": [{"hooks": [{"command": "recalld hook claude-code SessionEnd"}]}]}}`
	without, err = h.Take([]byte(text))
	if err != nil || !strings.Contains(string(without), "theirs") || strings.Contains(string(without), "recalld") {
		t.Errorf("left is %v\n%s", err, without)
	}
}

// TestHooksOfAnotherName: hooks of a program that is called something else are known again, too.
func TestHooksOfAnotherName(t *testing.T) {
	h := newRig(t, "claude-code").client.hooks(Options{Server: Server{Command: "/opt/bin/memory", Args: []string{"mcp"}}})
	with, err := h.Put([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.Put(with); err != nil || !bytes.Equal(again, with) {
		t.Errorf("a second time it became %v\n%s\nfrom\n%s", err, again, with)
	}
	if without, err := h.Take(with); err != nil || without != nil {
		t.Errorf("left is %v\n%s", err, without)
	}
}
