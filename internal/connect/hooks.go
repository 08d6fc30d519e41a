package connect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// groupedHooks keeps the hooks that a client runs: commands in its settings, by event, in the
// form of Claude Code that others have taken over (code.claude.com/docs, "Hooks reference"):
// an event has groups, each with a matcher and its hooks. Other hooks stay unchanged, also in
// a group with ours.
type groupedHooks struct {
	// command is the program with its arguments, up to the event.
	command string
	// mark identifies our hooks, whatever program runs them.
	mark string
	// rest are the arguments after the event.
	rest   string
	events []string
	// timeout is when the client stops a hook, in its unit. The hook has its own, shorter
	// limit.
	timeout int
}

var _ edit = groupedHooks{}

// hookTimeout is in seconds, which most clients count in. Their defaults are a minute or
// longer; Codex allows 3 at the end of a session.
const hookTimeout = 3

// claudeEvents are the events with hooks, by Claude Code's names. A failed tool has a
// separate event.
var claudeEvents = []string{"SessionStart", "PostToolUse", "PostToolUseFailure", "SessionEnd"}

// hookCommand returns the program that hooks of a client run, up to the event, and what
// comes after it, in the words of a shell.
func hookCommand(client string, o Options, word func(string) string) (command, rest string) {
	for _, arg := range o.Server.Args[1:] {
		rest += " " + word(arg)
	}
	return word(o.Server.Command) + hookMark(client), rest
}

func hookMark(client string) string { return " hook " + client + " " }

// hooksOf returns the edit for the hooks of a client, with the event of prompts if it is
// asked for.
func hooksOf(client string, timeout int, prompt string, events ...string) func(Options) edit {
	return func(o Options) edit {
		h := groupedHooks{mark: hookMark(client), events: events, timeout: timeout}
		h.command, h.rest = hookCommand(client, o, shellWord)
		if o.Prompts {
			h.events = slices.Concat(events, []string{prompt})
		}
		return h
	}
}

// hook is one command of a group.
type hook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// group is a list of commands; without a matcher it matches everything.
type group struct {
	Hooks []hook `json:"hooks"`
}

func (h groupedHooks) want(event string) hook {
	return hook{"command", h.command + event + h.rest, h.timeout}
}

// place is the position of one hook.
type place struct {
	event       string
	group, hook int
}

func (p place) path() []string {
	return []string{"hooks", p.event, strconv.Itoa(p.group), "hooks", strconv.Itoa(p.hook)}
}

// remove removes the hook, and with the last of its group also a matcher: a client refuses a
// file in which a group has no hooks.
func (p place) remove(text []byte) ([]byte, error) {
	path := p.path()
	value, err := jsonGet(text, path[:3])
	if err != nil {
		return nil, err
	}
	g, _ := value.(map[string]any)
	if hooks, _ := g["hooks"].([]any); len(hooks) == 1 && len(g) > 1 {
		path = path[:3]
	}
	return jsonRemove(text, path)
}

// Put implements edit.
func (h groupedHooks) Put(text []byte) ([]byte, error) {
	ours, err := h.find(text)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, p := range slices.Backward(ours) { // backwards, so that the remaining places stay valid
		if slices.Contains(h.events, p.event) && !have[p.event] {
			have[p.event] = true // in its place: a matcher or a time-out there is the user's
			text, err = jsonSet(text, append(p.path(), "command"), h.want(p.event).Command)
		} else {
			text, err = p.remove(text)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, event := range h.events {
		if have[event] {
			continue
		}
		if text, err = jsonSet(text, []string{"hooks", event, "-"}, group{[]hook{h.want(event)}}); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Take implements edit.
func (h groupedHooks) Take(text []byte) ([]byte, error) {
	ours, err := h.find(text)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(ours) {
		if text, err = p.remove(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// find lists our hooks, in the order of events and places.
func (h groupedHooks) find(text []byte) ([]place, error) {
	value, err := jsonGet(text, []string{"hooks"})
	if err != nil {
		return nil, err
	}
	var all []place
	events, _ := value.(map[string]any)
	for event, value := range events {
		groups, _ := value.([]any)
		for i, value := range groups {
			g, _ := value.(map[string]any)
			hooks, _ := g["hooks"].([]any)
			for j, value := range hooks {
				one, _ := value.(map[string]any)
				command, _ := one["command"].(string)
				if strings.HasPrefix(command, h.command) || strings.Contains(command, h.mark) && strings.Contains(command, name) {
					all = append(all, place{event, i, j})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(strings.Compare(a.event, b.event), a.group-b.group, a.hook-b.hook)
	})
	return all, nil
}

// shellWord quotes a word for the shell that runs hooks. It is Bash on Windows too, where a
// path must be written with slashes because a backslash escapes.
func shellWord(word string) string { return quotedWord(word, "/._-=:,+@%", "'", `'\''`) }

// powerShellWord is shellWord for PowerShell, where a quote, also a typographic one, is doubled
// and a comma or an @ is not plain.
func powerShellWord(word string) string {
	return quotedWord(word, "/._-=:+%", "'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛")
}

// quotedWord quotes a word that has others than letters, digits and the plain characters. In
// it, quotes are replaced: pairs of what stands there and what is written.
func quotedWord(word, others string, quotes ...string) string {
	if len(word) > 2 && word[1] == ':' {
		word = strings.ReplaceAll(word, `\`, "/")
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.NewReplacer(quotes...).Replace(word) + "'"
}
