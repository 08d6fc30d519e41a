package finder

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// binding says what a key does. Keys and actions are named as in the setting search.keys.
type binding struct{ key, action string }

// usual are the keys without a setting. Keys that edit the query have no action.
var usual = []binding{
	{"up", "up"}, {"ctrl-p", "up"}, {"down", "down"}, {"ctrl-n", "down"}, {"enter", "open"}, {"ctrl-o", "show"},
	{"pgup", "scroll-up"}, {"pgdn", "scroll-down"}, {"tab", "next-kind"}, {"shift-tab", "former-kind"},
	{"ctrl-t", "next-project"}, {"ctrl-y", "copy"}, {"ctrl-x", "forget"}, {"esc", "leave"}, {"f1", "keys"}, {"ctrl-g", "keys"},
}

// keymap are the keys in force, those of the setting first.
type keymap []binding

// newKeymap returns the usual keys with some changed: texts such as ctrl-j=down.
func newKeymap(changes []string) keymap {
	var m keymap
	for _, change := range changes {
		key, action, _ := strings.Cut(change, "=")
		m = append(m, binding{key, action})
	}
	own := len(m)
	for _, b := range usual {
		if !slices.ContainsFunc(m[:own], func(changed binding) bool { return changed.key == b.key }) {
			m = append(m, b)
		}
	}
	return m
}

// action returns what a key does; empty is that it may edit the query.
func (m keymap) action(e *tcell.EventKey) string {
	name := strings.ToLower(tcell.KeyNames[e.Key()])
	switch {
	case e.Key() == tcell.KeyBacktab:
		name = "shift-tab"
	case e.Key() == tcell.KeyRune && e.Modifiers()&tcell.ModAlt != 0:
		name = "alt-" + strings.ToLower(string(e.Rune()))
	}
	if at := slices.IndexFunc(m, func(b binding) bool { return b.key == name }); at >= 0 {
		return m[at].action
	}
	return ""
}

// labels writes the keys of some actions as a screen names them, at most so many of each.
func (m keymap) labels(actions string, most int) string {
	var all []string
	for action := range strings.FieldsSeq(actions) {
		n := 0
		for _, b := range m {
			if b.action == action && n < most {
				all = append(all, label(b.key))
				n++
			}
		}
	}
	return strings.Join(all, " ")
}

// edits writes the keys that still remove a part of the query, and the parts.
func (m keymap) edits() (keys, parts string) {
	var names, removed []string
	for _, edit := range [][2]string{{"ctrl-u", "the line"}, {"ctrl-w", "the word"}, {"ctrl-k", "the rest"}} {
		if !slices.ContainsFunc(m, func(b binding) bool { return b.key == edit[0] }) {
			names, removed = append(names, label(edit[0])), append(removed, edit[1])
		}
	}
	return strings.Join(names, " "), strings.Join(removed, ", ")
}

// label writes a key's name as it stands on keys: Ctrl-T, PgUp.
func label(key string) string {
	if name := map[string]string{"up": "↑", "down": "↓", "pgup": "PgUp", "pgdn": "PgDn"}[key]; name != "" {
		return name
	}
	parts := strings.Split(key, "-")
	for i, part := range parts {
		parts[i] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "-")
}
