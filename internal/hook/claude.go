package hook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// claudeResult returns how a tool of Claude Code ended. A separate event reports failures;
// some tools also report a failure in an ordinary response.
func claudeResult(p payload, isFailure bool, _ Environment) result {
	if isFailure {
		return failed(p.Error, p.IsInterrupt)
	}
	var r struct {
		IsError     bool   `json:"is_error"`
		MCPError    bool   `json:"isError"`
		Success     *bool  `json:"success"`
		Interrupted bool   `json:"interrupted"`
		ExitCode    int    `json:"exit_code"`
		Error       string `json:"error"`
		Stdout      string `json:"stdout"`
		Stderr      string `json:"stderr"`
	}
	// A text or a list has none of these. A field of another type is left out.
	_ = json.Unmarshal(p.ToolResponse, &r)
	switch {
	case r.Interrupted:
		return failed("", true)
	case r.IsError, r.MCPError, r.Success != nil && !*r.Success, r.ExitCode != 0:
		failed := failure(firstText(r.Error, r.Stderr, textOf(p.ToolResponse)))
		if r.ExitCode != 0 && failed.Code == "" {
			failed.Code = fmt.Sprintf("exit %d", r.ExitCode)
		}
		return result{outcome: memory.Outcome{Error: failed}}
	}
	ok := result{outcome: memory.Outcome{OK: true}}
	if p.ToolName == "Bash" {
		ok.output = strings.TrimSpace(r.Stdout) + "\n" + strings.TrimSpace(r.Stderr)
	}
	return ok
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
