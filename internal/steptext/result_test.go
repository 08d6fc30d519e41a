package steptext

import "testing"

func TestResults(t *testing.T) {
	for text, want := range map[string]struct {
		output string
		code   int
	}{
		"<untrusted_context>\nOutput: cat: x: No such file\nExit Code: 1\nProcess Group PGID: 8885\n</untrusted_context>":     {"cat: x: No such file", 1},
		"<untrusted_context>\nOutput: a\nb\n</untrusted_context>":                                                             {"a\nb", 0},
		"Command: ls\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)":                        {"", 0},
		"Output: node:internal/modules\nError: Cannot find module 'x'\n    at main.js:1\nExit Code: 1\nProcess Group PGID: 7": {"node:internal/modules\nError: Cannot find module 'x'\n    at main.js:1", 1},
		"Output: Exit Code: 3\nSignal: lost\nall is well\nProcess Group PGID: 7":                                              {"Exit Code: 3\nSignal: lost\nall is well", 0},
		"Output: (empty)\nError: spawn x ENOENT\nExit Code: 127\nSignal: (none)":                                              {"Error: spawn x ENOENT", 127},
		"Output: a\nExit Code: 3\nb": {"a\nExit Code: 3\nb", 0},
		"Exit Code: 3":               {"Exit Code: 3", 3},
		"Command: grep \"Output: \" log\nDirectory: (root)\nOutput: found\nError: (none)\nExit Code: 0\nSignal: (none)": {"found", 0},
		"no list": {"no list", 0},
	} {
		if output, code := ListedResult(text); output != want.output || code != want.code {
			t.Errorf("%q is read as %q and %d", text, output, code)
		}
	}
	for text, want := range map[string]struct {
		output string
		code   int
	}{
		"gone\n<shellId: 1 completed with exit code 2>":     {"gone\n", 2},
		"gone\n<exited with exit code 1>\n":                 {"gone\n", 1},
		"<exited with exit code 1> was the output before":   {"<exited with exit code 1> was the output before", 0},
		"x\n<exited with exit code 99999999999999999999>":   {"x\n<exited with exit code 99999999999999999999>", 0},
		"fine\n<shellId: build completed with exit code 0>": {"fine\n", 0},
	} {
		if output, code := MarkedResult(text); output != want.output || code != want.code {
			t.Errorf("%q is read as %q and %d", text, output, code)
		}
	}
}
