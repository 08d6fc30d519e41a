package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/render"
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
	ExitIncompatible = client.ExitIncompatible
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
	{ExitUnavailable, []memory.Code{memory.CodeUnavailable, memory.CodeLimited}, "the daemon, or a part it needs, cannot be reached for now; for status, that it is not running"},
	{ExitConflict, []memory.Code{memory.CodeConflict}, "not possible now: the data folder is in use, a folder holds several repositories"},
	{ExitForbidden, []memory.Code{memory.CodeForbidden}, "not allowed, or outside a sandbox"},
	{ExitIncompatible, []memory.Code{memory.CodeIncompatible}, "the daemon or its store is of another version"},
	{ExitReadOnly, []memory.Code{memory.CodeReadOnly}, "nothing can be stored for now: the disk is full or cannot be written"},
	{ExitInterrupted, nil, "interrupted"},
}

// errReported ends a command that has already said what is wrong. An error joined with it
// gives the exit code.
var errReported = errors.New("reported")

// errNothing ends a command whose answer says what does not exist.
var errNothing = errors.Join(errReported, &memory.Error{Code: memory.CodeNotFound})

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	code := memory.CodeOf(err)
	for _, row := range exitCodes {
		if slices.Contains(row.codes, code) {
			return row.exit
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
	e = a.inFlags(e)
	text := "recalld: " + e.Error() + "\n"
	if a.shown != "" && e.Message == a.shown {
		text = "" // it stands above
	}
	if e.Hint != "" {
		text += "hint: " + e.Hint + "\n"
	}
	if a.paints(a.opts.Terminal) {
		a.flush()
		_, _ = io.WriteString(a.screen, render.PaintError(text)) // nothing more can be done
		return
	}
	io.WriteString(a.opts.Err, text)
}

// fieldFlags are the flags of fields that have another name.
var fieldFlags = map[string]string{"sessionId": "session", "gitBranch": "branch", "n": "number", "taskType": "type", "time_limit_ms": "time-limit", "vector_weight": "weights", "changed_files": "changed", "anchors": "anchor"}

// commandFlags are the flags of fields that have another name in one command.
var commandFlags = map[string]map[string]string{
	"recalld connect":   {"path": "dir"},
	"recalld doctor":    {"id": "requeue"},
	"recalld receipts":  {"receipt": "id"},
	"recalld replay":    {"min_relevance": "floor"},
	"recalld token add": {"project": "projects", "path": "projects"},
}

// inFlags names the field of an error as the command that runs does: by its flag, or by
// its argument.
func (a *App) inFlags(e *memory.Error) *memory.Error {
	if a.runs == nil || e.Field == "" || strings.HasPrefix(e.Field, "-") {
		return e
	}
	named := *e
	if project.IsAbove(e) && a.runs.Flags().Lookup("project") != nil {
		// Of the folder that the command runs in, whatever path it takes itself.
		named.Field, named.Hint = "", "name one with --project, or run the command in it"
		return &named
	}
	field, _, _ := strings.Cut(e.Field, "[") // what is wrong in an item of a list is wrong in its flag
	first, _, _ := strings.Cut(field, ".")
	name := cmp.Or(commandFlags[a.runs.CommandPath()][first], flagOf(field[strings.LastIndexByte(field, '.')+1:]))
	argument := strings.ToUpper(name)
	arguments := strings.FieldsFunc(a.runs.Use, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) })
	if argument == "PATH" && slices.Contains(arguments, "DIR") {
		argument = "DIR" // a path, of a folder
	}
	takes := slices.Contains(arguments, argument)
	switch flags := a.runs.Flags(); {
	case e.Field == "scope.sessionId" && flags.Changed("scope"):
		named.Field = "--scope"
	case flags.Lookup(name) != nil && (flags.Changed(name) || !takes):
		named.Field = "--" + name
	case takes:
		named.Field = argument
	case name == "ids":
		named.Field = "ID"
	}
	return &named
}

// flagOf is the name of a field's flag.
func flagOf(field string) string { return cmp.Or(fieldFlags[field], kebab(field)) }

// kebab writes a name of JSON as flags are written: sinceHours and min_relevance as
// since-hours and min-relevance.
func kebab(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '_':
			b.WriteByte('-')
		case unicode.IsUpper(r):
			b.WriteByte('-')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
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
