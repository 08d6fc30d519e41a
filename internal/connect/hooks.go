package connect

import (
	"slices"
	"strconv"
	"strings"
)

// claudeHooks keeps the hooks that Claude Code runs: commands in its settings, by event.
// The form is documented at code.claude.com/docs, "Hooks reference": an event has groups,
// each with a matcher and its hooks. Other hooks stay unchanged, also in a group with ours.
type claudeHooks struct {
	// command is the program with its arguments, up to the event.
	command string
	// rest are the arguments after the event.
	rest   string
	events []string
}

var _ edit = claudeHooks{}

const (
	// hookMark identifies our hooks, whatever program runs them.
	hookMark = " hook claude-code "
	// hookTimeout is the number of seconds after which Claude Code stops a hook. The hook
	// has its own, shorter limit. Claude Code's default is a minute.
	hookTimeout = 5
)

// The events with hooks, by Claude Code's names. A failed tool has a separate event.
var (
	hookEvents   = []string{"SessionStart", "PostToolUse", "PostToolUseFailure", "SessionEnd"}
	promptEvents = []string{"UserPromptSubmit"}
)

func newClaudeHooks(o Options) claudeHooks {
	h := claudeHooks{command: shellWord(o.Server.Command) + hookMark, events: hookEvents}
	for _, arg := range o.Server.Args[1:] {
		h.rest += " " + shellWord(arg)
	}
	if o.Prompts {
		h.events = slices.Concat(hookEvents, promptEvents)
	}
	return h
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

func (h claudeHooks) want(event string) hook {
	return hook{"command", h.command + event + h.rest, hookTimeout}
}

// place is the position of one hook.
type place struct {
	event       string
	group, hook int
	command     string
}

func (p place) path() []string {
	return []string{"hooks", p.event, strconv.Itoa(p.group), "hooks", strconv.Itoa(p.hook)}
}

// Put implements edit.
func (h claudeHooks) Put(text []byte) ([]byte, error) {
	ours, err := h.find(text)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, p := range slices.Backward(ours) { // backwards, so that the remaining places stay valid
		if slices.Contains(h.events, p.event) && p.command == h.want(p.event).Command && !have[p.event] {
			have[p.event] = true
			continue
		}
		if text, err = jsonRemove(text, p.path()); err != nil {
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
func (h claudeHooks) Take(text []byte) ([]byte, error) {
	ours, err := h.find(text)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(ours) {
		if text, err = jsonRemove(text, p.path()); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// find lists our hooks, in the order of events and places.
func (h claudeHooks) find(text []byte) ([]place, error) {
	value, _, err := jsonGet(text, []string{"hooks"})
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
				if strings.Contains(command, hookMark) && strings.Contains(command, name) {
					all = append(all, place{event, i, j, command})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		if c := strings.Compare(a.event, b.event); c != 0 {
			return c
		}
		if a.group != b.group {
			return a.group - b.group
		}
		return a.hook - b.hook
	})
	return all, nil
}

// shellWord quotes a word for the shell that runs hooks. It is Bash on Windows too, where a
// path must be written with slashes because a backslash escapes.
func shellWord(word string) string {
	if len(word) > 2 && word[1] == ':' {
		word = strings.ReplaceAll(word, `\`, "/")
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-=:,+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
