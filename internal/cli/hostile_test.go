package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// hostile is a text that takes over a terminal which acts on it: it writes to the
// clipboard, deletes what was written, turns the direction of text and hides some.
const hostile = "x\x1b]52;c;cm0gLXJm\a\x1b[2J\x9b1A\u009b1A\b\b\r\x00\x7f\u202e\u2066\u200f\u061c\u200b\ufeff\u2028\u2029\U000E0041\xff y"

// acted returns what a terminal would act on or hide in a text.
func acted(text string) string {
	if !utf8.ValidString(text) {
		return "bytes that are no UTF-8"
	}
	for _, r := range text {
		if r == '\n' || r == '\t' {
			continue
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// examples returns the command lines of a command's examples, taken apart as a shell
// does it, without pipes and redirections.
func examples(c *cobra.Command) [][]string {
	var lines [][]string
	for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", " ")) {
		_, line, ok := strings.Cut(line, "recalld ")
		if !ok || strings.Contains(line, `"args"`) {
			continue
		}
		var words []string
		word, quote, begun := "", rune(0), false
	scan:
		for _, r := range strings.TrimSpace(line) + " " {
			switch {
			case quote != 0 && r == quote:
				quote = 0
			case quote == 0 && (r == '"' || r == '\''):
				quote, begun = r, true
			case quote == 0 && strings.ContainsRune("<>|)", r):
				break scan
			case quote == 0 && r == ' ':
				if begun {
					words = append(words, word)
				}
				word, begun = "", false
			default:
				word, begun = word+string(r), true
			}
		}
		lines = append(lines, words)
	}
	return lines
}

// TestTerminalIsSafe runs every example of every command against a daemon whose every
// text is hostile, with answers and with errors, for people and as JSON.
func TestTerminalIsSafe(t *testing.T) {
	underrace.Skip(t, "one command after the other")
	shown := map[string]bool{}
	full := servicetest.Full(hostile, noon)
	for _, c := range append(commands(t), completions(t)...) {
		name := strings.TrimPrefix(c.CommandPath(), "recalld ")
		lines := examples(c)
		if len(lines) == 0 {
			t.Errorf("%s has no example to run", name)
		}
		if operator[name] {
			continue
		}
		for _, line := range lines {
			for _, asJSON := range []bool{false, true} {
				for _, fails := range []bool{false, true} {
					args := slices.Clone(line)
					if asJSON {
						args = append(args, "--json")
					}
					out, errs := runHostile(t, full, args, fails)
					for _, text := range []string{out, errs} {
						if bad := acted(text); bad != "" {
							t.Errorf("recalld %q (errors: %v) hands %s to a terminal, want it shown:\n%q", args, fails, bad, text)
						}
						if strings.Contains(text, `\x1b`) || strings.Contains(text, `\u001b`) {
							shown[name] = true
						}
					}
				}
			}
		}
	}
	if fresh := servicetest.Full(hostile, noon); !reflect.DeepEqual(full.Answers, fresh.Answers) || !reflect.DeepEqual(full.Progress, fresh.Progress) {
		t.Error("a command changed what the daemon answers, so the next ones were not shown the hostile texts")
	}
	// The texts got there: of these commands alone nothing hostile is to be seen.
	for _, c := range commands(t) {
		name := strings.TrimPrefix(c.CommandPath(), "recalld ")
		if quiet := []string{"backup list", "backup verify", "restore", "completion", "config", "config edit", "config get", "config list", "config set", "connect", "eval", "man", "mcp", "token", "token list", "token remove", "ui", "version"}; !shown[name] && !operator[name] && !slices.Contains(quiet, name) {
			t.Errorf("%s shows nothing of the hostile texts, so nothing was tested", name)
		}
	}
}

// operator are the commands that speak to the server of a team instead of a daemon: their
// examples name a real one.
var operator = map[string]bool{"team init": true, "team add": true, "team remove": true}

// completions are the calls that shells make.
func completions(t *testing.T) []*cobra.Command {
	app, err := newApp(Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := &cobra.Command{Use: "recalld __complete"}
	for _, c := range app.root().Commands() {
		calls.Example += "recalld __complete " + c.Name() + " x\nrecalld __complete " + c.Name() + " --project x\n"
	}
	calls.Example += "recalld __complete summarize x\nrecalld __complete task unblock x\nrecalld __complete context add tool x\n"
	return []*cobra.Command{calls}
}

// runHostile runs a command line against a daemon that answers and reports what full does.
func runHostile(t *testing.T, full *servicetest.Service, args []string, fails bool) (out, errs string) {
	t.Helper()
	b := newBench(t, nil)
	fake := &servicetest.Service{Answers: full.Answers, Progress: full.Progress}
	failure := &memory.Error{Code: memory.CodeInternal, Field: hostile, Limit: hostile, Message: hostile, Hint: hostile}
	if fails {
		fake.Err = failure
	}
	b.service, b.fake = fake, fake
	b.opts.Dir = t.TempDir()
	for name, text := range map[string]string{
		"main.go": "package main\n\n// Serve answers requests until it is told to stop.\nfunc Serve() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(b.opts.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.opts.In = strings.NewReader("text")
	switch args[0] {
	case "hook":
		b.opts.In = strings.NewReader(`{"session_id": "abcd", "cwd": "/src", "tool_name": "Bash", "tool_input": {"command": "npm i"}, "error": "EACCES"}`)
	case "forget":
		b.opts.In = strings.NewReader("y\n")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	fake.Before = func(context.Context, string) {
		if calls++; calls > 50 { // it waits for a state that never comes
			cancel()
		}
	}
	b.opts.Serve = func(_ context.Context, _ config.Config, _ bool) error { return failure }
	b.opts.Stop = func(context.Context, config.Config) (service.Greeting, error) { return service.Greeting{}, failure }
	var stdout, stderr bytes.Buffer
	b.opts.Out, b.opts.Err = &stdout, &stderr
	Run(ctx, args, b.opts)
	return stdout.String(), stderr.String()
}

// TestBarsStillDraw: a bar on a terminal is made of control sequences of our own; the
// name of its phase has none.
func TestBarsStillDraw(t *testing.T) {
	b := newBench(t, nil)
	b.fake.Progress = map[string][]any{service.PullModel.Name: {memory.PullProgress{Status: hostile, Completed: 1, Total: 2}}}
	b.opts.Terminal = true
	var stderr bytes.Buffer
	b.opts.Out, b.opts.Err = new(bytes.Buffer), &stderr
	Run(t.Context(), []string{"model", "pull", "x"}, b.opts)
	if text := stderr.String(); !strings.Contains(text, "\r") || !strings.Contains(text, `\x1b]52`) || strings.Contains(text, "\x1b]52") || strings.Contains(text, "\u202e") {
		t.Errorf("the bar is %q, want one that shows the phase as it is", text)
	}
}

// TestFencedUnlessTerminal: a program that reads what a command writes is told that
// it is data; a person at a terminal is not.
func TestFencedUnlessTerminal(t *testing.T) {
	answers := sample()
	answers[service.Recall.Name].(*memory.RecallResponse).Items = []memory.Item{{ID: "l-1", Kind: memory.Lesson, Text: "npm: use npm ci"}}
	const open, end = "<recalld note=", "</recalld>\n"
	for _, args := range [][]string{{"recall", "npm"}, {"last"}, {"summarize"}, {"tasks"}, {"catalogue", "--content"}, {"receipts"}, {"files", "x"}} {
		piped := newBench(t, answers)
		if out := piped.ok(args...); !strings.HasPrefix(out, open) || !strings.HasSuffix(out, end) {
			t.Errorf("recalld %v in a pipe says %q, want it fenced", args, out)
		}
		terminal := newBench(t, answers)
		terminal.opts.OutTerminal = true
		if out := terminal.ok(args...); strings.Contains(out, open) || strings.Contains(out, end) {
			t.Errorf("recalld %v at a terminal says %q, want no fence", args, out)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(newBench(t, answers).ok(append(args, "--json")...)), &object); err != nil || object["notice"] == nil {
			t.Errorf("recalld %v --json has no notice: %v, %v", args, object, err)
		}
	}
}

// TestHookSpeaksJSON: what a client reads is JSON with escapes, not a text about it.
func TestHookSpeaksJSON(t *testing.T) {
	out, _ := runHostile(t, servicetest.Full(hostile, noon), []string{"hook", "claude-code", "PostToolUseFailure"}, false)
	var answer map[string]any
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Errorf("the hook says %q, want JSON: %v", out, err)
	}
}
