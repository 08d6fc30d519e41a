package steptext

import (
	"strconv"
	"strings"
)

// ListedResult reads the result of a command as Gemini CLI and Qwen Code list it for their
// model: lines "Output: …", "Exit Code: 1" and others. Where the code is missing, it is 0.
func ListedResult(text string) (output string, code int) {
	// At the beginning of a line: the command, which may be listed before, may have it, too.
	_, output, ok := strings.Cut("\n"+text, "\nOutput: ")
	if !ok {
		for line := range strings.SplitSeq(text, "\n") {
			if n, ok := ExitCode(line, "Exit Code: "); ok {
				code = n
			}
		}
		return text, code
	}
	if i := strings.LastIndex(output, "\n</untrusted_context>"); i >= 0 {
		output = output[:i]
	}
	// The output may have such lines, too: only those that end the list are the list's own. An
	// error of the tool itself stays beside the output, as it looks like one of a program.
	rest, told := strings.TrimRight(output, " \r\n"), 0
	for _, name := range []string{"Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ", "Error: (none)"} {
		i := strings.LastIndexByte(rest, '\n')
		if i < 0 || !strings.HasPrefix(rest[i+1:], name) {
			continue
		}
		if n, ok := ExitCode(rest[i+1:], "Exit Code: "); ok {
			told = n
		}
		rest = rest[:i]
		output, code = rest, told
	}
	if output == "(empty)" {
		return "", code
	}
	return strings.TrimPrefix(output, "(empty)\n"), code
}

// MarkedResult takes the exit code out of the output of a command in Copilot, which ends
// with <exited with exit code 1>, in newer versions <shellId: 0 completed with exit code 1>.
func MarkedResult(text string) (output string, code int) {
	trimmed := strings.TrimRight(text, " \r\n")
	i := strings.LastIndexByte(trimmed, '<')
	mark, closed := strings.CutSuffix(trimmed[max(i, 0):], ">")
	_, number, said := strings.Cut(mark, " with exit code ")
	code, err := strconv.Atoi(number)
	if i < 0 || !closed || !said || err != nil || !strings.HasPrefix(mark, "<exited") && !strings.HasPrefix(mark, "<shellId: ") {
		return text, 0
	}
	return text[:i], code
}

// ExitCode reads the number after a prefix of a line.
func ExitCode(line, before string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), before)
	if !ok {
		return 0, false
	}
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	code, err := strconv.Atoi(number)
	return code, err == nil
}
