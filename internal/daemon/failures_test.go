package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestFailuresGetTheirLessons: a failed step is answered with the lesson about its error,
// and an error that no lesson is about is answered with none, not even in a line. The
// agent did not ask, so a lesson about something else costs it more than silence.
func TestFailuresGetTheirLessons(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	s := serve(t, cfg)
	ctx := t.Context()
	agent := memory.Caller{Dir: dir, Client: "claude-code", Session: "teacher"}
	for _, l := range []memory.RememberRequest{
		{Context: "npm install fails with EACCES: permission denied, mkdir '/usr/lib/node_modules/x'", Lesson: "Give the cache back to the user first", Command: "sudo chown -R $USER ~/.npm", SuccessRate: "9/10", Tags: []string{"npm"}},
		{Context: "npm ci: npm error code EUSAGE, package.json and package-lock.json are not in sync", Lesson: "Regenerate the lock file with the npm version of the pipeline", Tags: []string{"npm"}},
		{Context: "docker build: failed to solve: no space left on device", Lesson: "Prune the build cache", Command: "docker builder prune -f"},
		{Context: "cargo build: error: linker `cc` not found", Lesson: "Install build-essential"},
		{Context: "pytest: ModuleNotFoundError: No module named 'shop'", Lesson: "Install the package in editable mode", Command: "pip install -e ."},
		{Context: "go test: too many open files", Lesson: "Raise the limit of open files", Command: "ulimit -n 4096"},
		{Context: "git push: ! [rejected] main -> main (non-fast-forward)", Lesson: "Rebase on the remote branch first", Command: "git pull --rebase"},
		{Context: "psql: FATAL: role \"shop\" does not exist", Lesson: "Create the role before the migrations"},
		{Context: "error TS2345: Argument of type 'string' is not assignable to parameter of type 'Money'", Lesson: "Parse amounts with Money.parse"},
		{Context: "dev server: Error: listen EADDRINUSE: address already in use :::3000", Lesson: "Stop the old server by its pid file"},
	} {
		l.Caller, l.Type = agent, memory.EventError
		_, err := service.Remember.Do(ctx, s, l)
		must(t, err)
	}
	for i, f := range []struct {
		failure string
		want    string // in the lesson; "" is none
	}{
		{"npm ERR! code EACCES\nnpm ERR! syscall mkdir\nnpm ERR! Error: EACCES: permission denied, mkdir '/usr/lib/node_modules/left-pad'", "Give the cache back"},
		{"npm error code EACCES\nnpm error path /usr/local/lib/node_modules\nnpm error Your cache folder contains root-owned files", "Give the cache back"},
		{"npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync", "Regenerate the lock file"},
		{"ERROR: failed to solve: write /var/lib/docker/tmp/x: no space left on device", "Prune the build cache"},
		{"error: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)", "build-essential"},
		{"E   ModuleNotFoundError: No module named 'shop'\n=== short test summary info ===\nERROR tests/test_cart.py", "editable mode"},
		{"--- FAIL: TestWatch (0.01s)\n    watch_test.go:31: open /tmp/x: too many open files\nFAIL", "Raise the limit"},
		{"To github.com:acme/shop.git\n ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs", "Rebase on the remote"},
		{"psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: FATAL:  role \"shop\" does not exist", "Create the role"},
		{"src/cart.ts(14,21): error TS2345: Argument of type 'string' is not assignable to parameter of type 'Money'.", "Money.parse"},
		{"src/order.ts:7:3 - error TS2345: Argument of type 'number' is not assignable to parameter of type 'Money'.", "Money.parse"},
		{"node:net:1904\nError: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle", "pid file"},

		{"File does not exist. Note: your current working directory is /src/shop.", ""},
		{"cat: docs/plan.md: No such file or directory", ""},
		{"ENOENT: no such file or directory, open '/src/shop/config.json'", ""},
		{"String to replace not found in file.\nString: const a = 1", ""},
		{"File has not been read yet. Read it first before writing to it.", ""},
		{"ls: cannot access 'build/': No such file or directory", ""},
		{"bash: jq: command not found", ""},
		{"fatal: not a git repository (or any of the parent directories): .git", ""},
		{"SyntaxError: Unexpected token '}' in /src/shop/cart.js:12", ""},
		{"--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: total is 3, want 4\nFAIL\nFAIL\tshop/cart\t0.003s", ""},
		{"grep: Invalid regular expression", ""},
		{"curl: (6) Could not resolve host: api.example.com", ""},
	} {
		session := fmt.Sprintf("failure-%d", i) // an agent that has seen none of them
		recorded, err := service.RecordStep.Do(ctx, s, memory.RecordStepRequest{
			SessionID: session, Open: true, Advise: true, Tool: memory.StepTool{Name: "Bash"},
			Outcome: memory.Outcome{Error: &memory.StepError{Message: f.failure}},
			Caller:  memory.Caller{Dir: dir, Client: "claude-code", Session: session},
		})
		must(t, err)
		answer := recorded.Advice
		var text string
		if answer != nil {
			text = answer.Text
		}
		switch {
		case f.want == "" && text != "":
			t.Errorf("%.60q has nothing to do with any lesson and is answered with:\n%s", f.failure, text)
		case f.want != "" && !strings.Contains(text, f.want):
			t.Errorf("%.60q is answered with %q, want the lesson %q", f.failure, text, f.want)
		}
		if f.want != "" && answer != nil && !strings.Contains(answer.Items[0].Text, f.want) {
			t.Errorf("%.60q: the first lesson is %q, want %q", f.failure, answer.Items[0].Text, f.want)
		}
	}
}
