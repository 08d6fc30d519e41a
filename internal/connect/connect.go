// Package connect knows how coding agents are told of recalld: which of their
// files hold what, and the edits that put recalld in and take it out again.
//
// Vocabulary. A client is a program that starts MCP servers, a coding agent or an
// editor. A part is one thing that a client is given: the MCP server, the hooks,
// the instructions. Each part has its place, a file for the user or for one
// project, and its edit, which changes the text of that file and nothing in it
// that is another's: comments, order and layout stay as they are. A plan is the
// list of changes that a client needs; only Apply writes.
package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// name is what recalld is called in the files of clients.
const name = "recalld"

// maxFile bounds the files that are edited, in bytes. The largest known, Claude
// Code's ~/.claude.json, reaches some megabytes.
const maxFile = 64 << 20

// Scope says whom a connection is for.
type Scope string

// The scopes.
const (
	// User is every project of this user.
	User Scope = "user"
	// Project is one project, whoever works in it.
	Project Scope = "project"
)

// Server is how a client starts recalld's MCP bridge.
type Server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Machine is where clients look for their files.
type Machine struct {
	// OS is a GOOS: linux, darwin, windows.
	OS string
	// Home is the user's home folder.
	Home string
	// Getenv reads the environment: some clients let it move their folder.
	Getenv func(string) string
}

// config is the folder in which most programs of this system keep settings.
func (m Machine) config() string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		return m.env("APPDATA", filepath.Join(m.Home, "AppData", "Roaming"))
	}
	return m.xdg()
}

// xdg is the folder of programs that keep to the XDG rules on every system.
func (m Machine) xdg() string { return m.env("XDG_CONFIG_HOME", filepath.Join(m.Home, ".config")) }

// env is a folder that a variable may name. A relative one is no folder that two
// programs agree on, and is passed over.
func (m Machine) env(variable, otherwise string) string {
	if dir := m.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return otherwise
}

// Options say what a client is given. The zero value of each field but Server is
// its default.
type Options struct {
	// Scope is by default User.
	Scope Scope
	// Dir is the project's folder, needed for the scope Project.
	Dir string
	// Server is how the bridge is started. Hooks run the same program, with "hook"
	// in the place of "mcp", which is its first argument.
	Server Server
	// NoHooks leaves the client's hooks alone.
	NoHooks bool
	// Prompts adds the hook that recalls lessons for every prompt.
	Prompts bool
	// Instructions adds the text that tells an agent when to recall and remember.
	Instructions bool
}

func (o *Options) validate() error {
	switch {
	case o.Scope == "":
		o.Scope = User
	case o.Scope != User && o.Scope != Project:
		return memory.Invalid("scope", "user or project", "%q is neither", o.Scope)
	}
	if o.Scope == Project && !filepath.IsAbs(o.Dir) {
		return memory.Invalid("dir", "an absolute path", "%q is not one", o.Dir)
	}
	if o.Server.Command == "" || len(o.Server.Args) == 0 {
		return memory.Invalid("server", "a command and its arguments", "is required")
	}
	return nil
}

// Change is what one part needs in one file.
type Change struct {
	// What is the part: "MCP server", "hooks", "instructions".
	What string
	Path string
	// Before is the text of the file, nil without one. After is what it is to be,
	// nil when the file is to go: nothing but recalld was in it.
	Before, After []byte
}

// None says that the file is as it is to be.
func (c Change) None() bool {
	return bytes.Equal(c.Before, c.After) && (c.Before == nil) == (c.After == nil)
}

// edit changes the text of one kind of file. Text that is nil is of a file that
// does not exist, or is to go.
type edit interface {
	// Put returns the text with recalld's part in it. What the user has added to
	// that part stays. Text that needs no change is returned as it is.
	Put(text []byte) ([]byte, error)
	// Take returns the text without recalld's part, and nil when nothing is left.
	Take(text []byte) ([]byte, error)
}

// part is one thing that a client is given, with its file.
type part struct {
	what string
	// paths are the files that may hold it, the first one for a new file.
	paths []string
	edit  edit
}

// Connect returns the changes that connect a client, those that are not needed
// included. CodeConflict for a file that cannot be read or understood,
// CodeForbidden for one that must not be written.
func (c Client) Connect(m Machine, o Options) ([]Change, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Instructions && c.files(m, o).instructions == "" {
		return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "instructions", Message: "no file is known from which " + c.Title + " takes instructions for every project",
			Hint: "put them into one project: --project"}
	}
	return plan(c.parts(m, o, o.Instructions), edit.Put)
}

// Disconnect returns the changes that take out all that Connect has put in,
// whatever it was asked for.
func (c Client) Disconnect(m Machine, o Options) ([]Change, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.NoHooks = false
	return plan(c.parts(m, o, true), edit.Take)
}

// plan reads the files of parts and edits their texts.
func plan(parts []part, do func(edit, []byte) ([]byte, error)) ([]Change, error) {
	changes := make([]Change, 0, len(parts))
	for _, p := range parts {
		change, err := p.change(do)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// change reads a part's file and edits its text.
func (p part) change(do func(edit, []byte) ([]byte, error)) (Change, error) {
	c := Change{What: p.what, Path: p.path()}
	var err error
	if c.Before, err = readFile(c.Path); err != nil {
		return c, err
	}
	if c.After, err = do(p.edit, c.Before); err != nil {
		return c, &memory.Error{Code: memory.CodeConflict, Field: "file", Message: c.Path + ": " + err.Error(),
			Hint: "mend the file and try again; nothing was changed", Cause: err}
	}
	if c.None() {
		return c, nil
	}
	return c, writable(c.Path)
}

// path is the first file of a part that exists, or else the first one.
func (p part) path() string {
	for _, path := range p.paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return p.paths[0]
}

// readFile reads a file of a client's; nil without an error if there is none.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, memory.Errorf(memory.CodeConflict, "%s is not a regular file", path)
	case info.Size() > maxFile:
		return nil, memory.Errorf(memory.CodeConflict, "%s has %d bytes, too many for a settings file", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if text == nil {
		text = []byte{}
	}
	return text, nil
}

// State is how a client stands.
type State string

// The states.
const (
	// Connected: as Connect would have it.
	Connected State = "connected"
	// Differs: recalld is in the file, with another command or other hooks.
	Differs State = "differs"
	// NotConnected: recalld is not in the file.
	NotConnected State = "not connected"
	// Unreadable: the file is there and is not understood.
	Unreadable State = "unreadable"
)

// Status is how one part of a client stands in one file.
type Status struct {
	What  string `json:"what"`
	Path  string `json:"path"`
	Scope Scope  `json:"scope"`
	State State  `json:"state"`
	// Error says why the file is unreadable.
	Error string `json:"error,omitempty"`
}

// Status says how the parts of a client stand, instructions left out where they
// are not there: nobody misses them.
func (c Client) Status(m Machine, o Options) ([]Status, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	withPrompts := o
	withPrompts.Prompts = true
	var all []Status
	for _, p := range c.parts(m, o, true) {
		s := Status{What: p.what, Path: p.path(), Scope: o.Scope}
		s.State, s.Error = p.state()
		if p.what == whatHooks && s.State == Differs { // with the hook for prompts, perhaps
			s.State, s.Error = part{p.what, p.paths, c.hooks(withPrompts)}.state()
		}
		if s.State != NotConnected || p.what != whatInstructions {
			all = append(all, s)
		}
	}
	return all, nil
}

// state says how a part stands, and why its file is not understood.
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
	if err != nil {
		return Unreadable, err.Error()
	}
	if bytes.Equal(text, with) {
		return Connected, ""
	}
	return Differs, ""
}

// Installed says whether there is a trace of the client on this machine.
func (c Client) Installed(m Machine) bool {
	_, err := os.Stat(c.home(m))
	return err == nil
}

// Snippet is a part as it would stand in an empty file, to be pasted.
type Snippet struct {
	What string `json:"what"`
	Path string `json:"path"`
	Text string `json:"text"`
}

// Snippets returns what Connect would write into empty files.
func (c Client) Snippets(m Machine, o Options) ([]Snippet, error) {
	if err := o.validate(); err != nil {
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
