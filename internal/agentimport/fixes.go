package agentimport

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/steptext"
)

// Bounds of what counts as a fix.
const (
	fixWindow   = 30 * time.Minute // between failure and success
	maxFailures = 8                // open at once
	maxDone     = 2                // commands or files between them; more show nothing
	maxErrors   = 400              // characters of the error that are quoted
)

// fixes finds, in the steps of one session, commands that failed and later succeeded
// because of what was done in between.
type fixes struct{ open []failure }

// failure is a command that failed, and what was done since.
type failure struct {
	subject, command, message string
	at                        time.Time
	commands, files           []string
	unclear                   bool // something else was changed
}

// step takes the next step, and returns the lesson that it completes, if any.
func (f *fixes) step(at time.Time, c *memory.StepContent) *memory.LogLine {
	f.open = slices.DeleteFunc(f.open, func(x failure) bool { return at.Sub(x.at) > fixWindow })
	command := commandOf(c)
	if command == "" {
		if c.Outcome.OK && steptext.Edits(c.Tool.Name) {
			f.edited(steptext.Target(c.Tool.Target))
		}
		return nil
	}
	subject := subjectOf(command)
	i := slices.IndexFunc(f.open, func(x failure) bool { return x.subject == subject })
	if !c.Outcome.OK {
		f.failed(i, subject, command, at, c.Outcome.Error)
		return nil
	}
	var lesson *memory.LogLine
	if i >= 0 {
		lesson = f.open[i].lesson(command)
		f.open = slices.Delete(f.open, i, i+1)
	}
	if !looks(command) {
		for j := range f.open {
			f.open[j].commands = append(f.open[j].commands, command)
		}
	}
	return lesson
}

// failed notes a failure. Where the same error comes again, what was done did not help.
func (f *fixes) failed(i int, subject, command string, at time.Time, e *memory.StepError) {
	if e == nil || e.Code == "interrupted" || subject == "" || looks(command) {
		return
	}
	x := failure{subject: subject, command: command, message: headline(withoutSecrets(e.Message)), at: at}
	if x.message == "" {
		return
	}
	if i >= 0 {
		f.open[i] = x
		return
	}
	f.open = append(f.open, x)
	f.open = f.open[max(0, len(f.open)-maxFailures):]
}

// edited notes a file that was written. Sources are the work itself: that a test passes
// after them teaches nothing for another time.
func (f *fixes) edited(file string) {
	for j := range f.open {
		x := &f.open[j]
		switch {
		case file == "" || !isSetting(file):
			x.unclear = true
		case !slices.Contains(x.files, baseOf(file)):
			x.files = append(x.files, baseOf(file))
		}
	}
}

// lesson says what made the command succeed, or nil where that cannot be told.
func (x failure) lesson(command string) *memory.LogLine {
	done := len(x.commands) + len(x.files)
	same := strings.TrimSpace(command) == strings.TrimSpace(x.command)
	if x.unclear || done > maxDone || done == 0 && same || len(command) > 500 {
		return nil
	}
	failed := withoutSecrets(x.command)
	l := &memory.LogLine{Type: memory.EventError, Context: subjectOf(failed) + " failed: " + x.message, Command: command, Tags: []string{"history"}}
	var did []string
	if len(x.files) > 0 {
		did = append(did, "edit "+strings.Join(x.files, " and "))
	}
	for _, c := range x.commands {
		if len(c) > 300 {
			return nil
		}
		did = append(did, "run `"+c+"`")
		l.Command = c
	}
	switch {
	case done == 0:
		l.Lesson = "`" + steptext.Cut(failed, 200) + "` failed, `" + command + "` worked"
	case same:
		l.Lesson = upper(strings.Join(did, ", then ")) + "; then `" + command + "` worked"
	default:
		l.Lesson = upper(strings.Join(did, ", then ")) + "; then it worked as `" + command + "`"
	}
	return l
}

// subjectOf is what a command is about.
func subjectOf(command string) string {
	return steptext.Subject(memory.StepTool{Input: steptext.Encode(command)})
}

// withoutSecrets is a text before a part of it is quoted: the part alone may not show that it is
// of a secret or of private text.
func withoutSecrets(text string) string {
	text, _ = redact.Redact(text)
	return text
}

// headline is the part of an error that is quoted: the line that names it, or else its first.
func headline(message string) string {
	first := ""
	for line := range strings.SplitSeq(message, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		low := strings.ToLower(line)
		if strings.Contains(low, "err") || strings.Contains(low, "fail") || strings.Contains(low, "not found") || strings.Contains(low, "cannot") || strings.Contains(low, "denied") {
			return steptext.Cut(line, maxErrors)
		}
		first = cmp.Or(first, line)
	}
	return steptext.Cut(first, maxErrors)
}

// commandOf is the command line of a step, or empty.
func commandOf(c *memory.StepContent) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(c.Tool.Input, &in) != nil {
		return ""
	}
	return strings.TrimSpace(in.Command)
}

// baseOf is the name of a file, whatever system its path is of.
func baseOf(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

// isSetting says that a file configures programs, other than being a source.
func isSetting(file string) bool {
	base := strings.ToLower(baseOf(file))
	switch path.Ext(base) {
	case ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".lock", ".mod", ".sum", ".properties", ".gradle":
		return true
	}
	switch base {
	case "makefile", "dockerfile", "requirements.txt", "gemfile", ".npmrc", ".nvmrc", ".env", ".tool-versions", ".python-version":
		return true
	}
	return strings.HasPrefix(base, ".env.")
}

// looks says that a command only looks at something, or records the work, so that it
// neither fixes anything nor fails for a reason worth keeping.
func looks(command string) bool {
	words := strings.Fields(subjectOf(command))
	if len(words) == 0 {
		return true
	}
	switch words[0] {
	case "ls", "cat", "head", "tail", "grep", "rg", "find", "fd", "pwd", "echo", "which", "type", "wc", "sed", "awk", "diff", "tree", "stat",
		"file", "ps", "df", "du", "env", "printenv", "whoami", "uname", "date", "sleep", "test", "true", "false", "curl", "man", "history", "jq":
		return true
	case "git":
		return len(words) < 2 || words[1] != "config" && words[1] != "submodule" && words[1] != "lfs"
	}
	return len(words) > 1 && (words[1] == "--version" || words[1] == "version" || words[1] == "list" || words[1] == "ls" || words[1] == "help")
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
