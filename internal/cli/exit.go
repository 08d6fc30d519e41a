package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// The exit codes, in one table with exitCodes below. An answer that says
// "nothing relevant" is an answer: its code is 0.
const (
	ExitOK           = 0
	ExitFailure      = 1
	ExitUsage        = 2
	ExitNotFound     = 3
	ExitUnavailable  = 4
	ExitConflict     = 5
	ExitForbidden    = 6
	ExitIncompatible = 7
	ExitReadOnly     = 8
	// ExitInterrupted is what shells expect of a program ended by SIGINT.
	ExitInterrupted = 130
)

// exitCodes says what each code means and which errors end with it.
var exitCodes = []struct {
	exit    int
	codes   []memory.Code
	meaning string
}{
	{ExitOK, nil, "done; for recall also when nothing is relevant"},
	{ExitFailure, []memory.Code{memory.CodeInternal, memory.CodeCorrupt}, "failed, or doctor found something wrong"},
	{ExitUsage, []memory.Code{memory.CodeInvalidInput}, "wrong usage, a value outside its limits, a setting that is wrong"},
	{ExitNotFound, []memory.Code{memory.CodeNotFound}, "what was named does not exist"},
	{ExitUnavailable, []memory.Code{memory.CodeUnavailable, memory.CodeLimited}, "the daemon, or a part it needs, cannot be reached for now"},
	{ExitConflict, []memory.Code{memory.CodeConflict}, "not possible now: the data folder is in use, a folder holds several repositories"},
	{ExitForbidden, []memory.Code{memory.CodeForbidden}, "not allowed, or outside a sandbox"},
	{ExitIncompatible, []memory.Code{memory.CodeIncompatible}, "the daemon or its store is of another version"},
	{ExitReadOnly, []memory.Code{memory.CodeReadOnly}, "nothing can be stored for now: the disk is full or cannot be written"},
	{ExitInterrupted, nil, "interrupted"},
}

// errReported ends a command that has already said what is wrong.
var errReported = errors.New("reported")

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	if errors.Is(err, errReported) {
		return ExitFailure
	}
	code := memory.CodeOf(err)
	for _, row := range exitCodes {
		for _, c := range row.codes {
			if c == code {
				return row.exit
			}
		}
	}
	return ExitFailure
}

// asksJSON says whether --json stands anywhere among the flags of a command line.
func asksJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if value, ok := strings.CutPrefix(arg, "--json"); ok {
			yes, err := strconv.ParseBool(strings.TrimPrefix(value, "="))
			if value == "" || strings.HasPrefix(value, "=") && err == nil && yes {
				return true
			}
		}
	}
	return false
}

// reportError writes an error with its hint to standard error.
func (a *App) reportError(err error) {
	if errors.Is(err, errReported) {
		return
	}
	e := memory.AsError(err)
	if a.json {
		encoded, jsonErr := json.MarshalIndent(map[string]*memory.Error{"error": e}, "", "  ")
		if jsonErr == nil {
			fmt.Fprintf(a.opts.Err, "%s\n", encoded)
			return
		}
	}
	fmt.Fprintf(a.opts.Err, "recalld: %s\n", e.Error())
	if e.Hint != "" {
		fmt.Fprintf(a.opts.Err, "hint: %s\n", e.Hint)
	}
}

// exitCodesTopic is a page of help.
func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("Every command ends with one of these codes:\n\n")
	for _, row := range exitCodes {
		fmt.Fprintf(&text, "  %3d  %s\n", row.exit, row.meaning)
	}
	text.WriteString("\nErrors go to standard error with a hint; with --json as {\"error\": {code, field, limit, message, hint}}.")
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: text.String()}
}
