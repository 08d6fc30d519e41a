package connect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// State is the state of a part in a file.
type State string

// The states.
const (
	// Connected: the file is as Connect would write it.
	Connected State = "connected"
	// Differs: recalld is in the file, but with another command, an address or other hooks.
	Differs State = "differs"
	// NotConnected: recalld is not in the file.
	NotConnected State = "not connected"
	// Unreadable: the file exists but cannot be parsed.
	Unreadable State = "unreadable"
)

// Status is the state of one part of a client in one file.
type Status struct {
	What  string `json:"what"`
	Path  string `json:"path"`
	Scope Scope  `json:"scope"`
	State State  `json:"state"`
	// Error says why the file is unreadable.
	Error string `json:"error,omitempty"`
}

// Status returns the state of a client's parts. Missing instructions are left out, since
// they are optional.
func (c Client) Status(m Machine, o Options) ([]Status, error) {
	o = c.keepToolsets(m, o)
	withPrompts := o
	withPrompts.Prompts = true
	var all []Status
	for _, p := range c.parts(m, o, true) {
		s := Status{What: p.what, Path: p.path(), Scope: o.Scope}
		s.State, s.Error = p.state()
		if p.what == whatHooks && s.State == Differs { // perhaps with the hook for prompts
			s.State, s.Error = part{p.what, p.paths, c.hooks(withPrompts)}.state()
		}
		if s.State != NotConnected || p.what != whatInstructions {
			all = append(all, s)
		}
	}
	return all, nil
}

// state returns the state of a part, and why its file cannot be parsed.
func (p part) state() (State, string) {
	text, err := readFile(p.path())
	if err != nil {
		return Unreadable, err.Error()
	}
	without, err := p.edit.Take(text)
	if err != nil {
		return Unreadable, err.Error()
	}
	if (Change{Before: text, After: without}).None() {
		return NotConnected, ""
	}
	with, err := p.edit.Put(text)
	if errors.Is(err, errAddressed) {
		return Differs, ""
	}
	if err != nil {
		return Unreadable, err.Error()
	}
	if bytes.Equal(text, with) {
		return Connected, ""
	}
	return Differs, ""
}

// Found is where a client was found on this machine; empty if it was not.
type Found struct {
	// Program is its program in PATH, Folder a folder that it keeps its settings in.
	Program string `json:"program,omitempty"`
	Folder  string `json:"folder,omitempty"`
}

// Here says whether the client is on this machine.
func (f Found) Here() bool { return f != Found{} }

// Found looks for the client in PATH and by its folders.
func (c Client) Found(m Machine) (f Found) {
	if m.LookPath != nil {
		for _, program := range c.programs {
			if path, err := m.LookPath(program); err == nil {
				f.Program = path
				break
			}
		}
	}
	for _, dir := range c.homes(m) {
		if _, err := os.Stat(dir); err == nil {
			f.Folder = dir
			break
		}
	}
	return f
}

// Snippet is a part as it would be in an empty file, for pasting.
type Snippet struct {
	What string `json:"what"`
	Path string `json:"path"`
	Text string `json:"text"`
}

// Snippets returns what Connect would write into empty files.
func (c Client) Snippets(m Machine, o Options) ([]Snippet, error) {
	if err := c.supports(m, o); err != nil {
		return nil, err
	}
	var all []Snippet
	for _, p := range c.parts(m, o, o.Instructions) {
		text, err := p.edit.Put(nil)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", p.what, err)
		}
		all = append(all, Snippet{What: p.what, Path: p.path(), Text: strings.TrimRight(string(text), "\n")})
	}
	return all, nil
}
