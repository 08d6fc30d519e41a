// Package connect connects coding agents to recalld: it knows their settings files, and
// edits them to add and remove recalld.
//
// Vocabulary. A client is a program that starts MCP servers, a coding agent or an editor. A
// part is one thing that recalld adds to a client: the MCP server, the hooks, the
// instructions. Each part has a file, for the user or for one project, and an edit, which
// changes only recalld's part of that file: comments, order and layout of the rest stay
// unchanged. A plan is the list of changes that a client needs; only Apply writes.
package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// name is recalld's name in the files of clients.
const name = "recalld"

// toolsetsFlag is the flag of the bridge for the tools that it shows from the start.
const toolsetsFlag = "--toolsets"

// maxFile bounds the files that are edited, in bytes. The largest known, Claude
// Code's ~/.claude.json, reaches some megabytes.
const maxFile = 64 << 20

// Scope says for whom a connection is.
type Scope string

// The scopes.
const (
	// User connects all projects of this user.
	User Scope = "user"
	// Project connects one project, for everyone who works in it.
	Project Scope = "project"
)

// Server is how a client starts recalld's MCP bridge.
type Server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Machine describes where clients look for their files.
type Machine struct {
	// OS is a GOOS: linux, darwin, windows.
	OS string
	// Home is the user's home folder.
	Home string
	// Getenv reads the environment: it can move the folder of some clients.
	Getenv func(string) string
	// LookPath finds a program in PATH, as exec.LookPath does. Nil finds none.
	LookPath func(string) (string, error)
}

// config is the folder in which most programs of this system keep their settings.
func (m Machine) config() string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		return m.env("APPDATA", filepath.Join(m.Home, "AppData", "Roaming"))
	}
	return m.xdg()
}

// xdg is the folder of programs that follow the XDG rules on every system.
func (m Machine) xdg() string { return m.env("XDG_CONFIG_HOME", filepath.Join(m.Home, ".config")) }

// env is the folder named by a variable. A relative path is ignored, because it means
// different folders to different programs.
func (m Machine) env(variable, otherwise string) string {
	if dir := m.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return otherwise
}

// Options configure Connect. Scope and Server are needed.
type Options struct {
	Scope Scope
	// Dir is the absolute path of the project's folder, needed for the scope Project.
	Dir string
	// Server is the command of the bridge. Hooks run the same program, with "hook" in place
	// of "mcp", its first argument.
	Server Server
	// Program is the absolute path of the program, for clients without the PATH of a shell.
	// If it is empty, they start Server as it is.
	Program string
	// Toolsets are shown from the start: words of mcp.toolsets, or names of tools. If there
	// are none, those that a file already names stay.
	Toolsets []string
	// NoHooks does not add hooks.
	NoHooks bool
	// Prompts adds the hook that recalls lessons for every prompt.
	Prompts bool
	// Instructions adds the text that tells an agent when to recall and remember.
	Instructions bool
}

// Started is the command that starts the server, with its toolsets.
func (o Options) Started() Server {
	s := o.Server
	if len(o.Toolsets) > 0 {
		s.Args = slices.Concat(s.Args, []string{toolsetsFlag, strings.Join(o.Toolsets, ",")})
	}
	return s
}

// Change is the edit of one part in one file.
type Change struct {
	// What names the part: "MCP server", "hooks", "instructions".
	What string
	Path string
	// Before is the text of the file, nil if it does not exist. After is its new text, nil
	// to delete the file because it contained only recalld's part.
	Before, After []byte
	// follows says that an earlier change of the same plan is to the same file.
	follows bool
	// goes says that a later change of the same plan deletes the file.
	goes bool
	// exact says that the file becomes what it was before recalld was in it. drops are the
	// backups that are not needed once recalld is out of the file.
	exact bool
	drops []string
}

// None says that the file needs no change.
func (c Change) None() bool {
	return bytes.Equal(c.Before, c.After) && (c.Before == nil) == (c.After == nil)
}

// edit changes the text of one kind of file. A nil text is a file that does not exist, or
// is to be deleted.
type edit interface {
	// Put returns the text with recalld's part added. It keeps what the user has added to
	// that part. A text that needs no change is returned as it is.
	Put(text []byte) ([]byte, error)
	// Take returns the text without recalld's part, and nil if nothing remains.
	Take(text []byte) ([]byte, error)
}

// errAddressed is returned for a server that a client reaches by an address. With a command
// beside it some clients use the address, and others refuse their file.
var errAddressed = errors.New("its server " + name + " has an address (url), not a program; take it out first, with --remove")

// addressed says whether the entry of a server has an address.
func addressed(entry map[string]any) bool {
	return slices.ContainsFunc([]string{"url", "httpUrl", "serverUrl"}, func(key string) bool { return entry[key] != nil })
}

// part is one thing that recalld adds to a client, with its file.
type part struct {
	what string
	// paths are the files that may contain it, the first one for a new file.
	paths []string
	edit  edit
}

// Connect returns the changes that connect a client, including those that change nothing.
// It returns CodeConflict for a file that cannot be read or parsed, and CodeForbidden for
// one that must not be written.
func (c Client) Connect(m Machine, o Options) ([]Change, error) {
	if err := c.supports(m, o); err != nil {
		return nil, err
	}
	if o.Instructions && c.files(m, o).instructions == "" {
		e := &memory.Error{Code: memory.CodeInvalidInput, Field: "instructions", Message: c.Title + " has no known instructions file for all projects",
			Hint: "connect it without instructions"}
		if c.project.instructions != "" {
			e.Hint = "put them into one project: --project"
		}
		return nil, e
	}
	return plan(c.parts(m, c.keepToolsets(m, o), o.Instructions), edit.Put)
}

// supports returns CodeInvalidInput if the client has no file in a scope for what is wanted.
func (c Client) supports(m Machine, o Options) error {
	if f := c.files(m, o); len(f.server) > 0 || o.Instructions && f.instructions != "" {
		return nil
	}
	return &memory.Error{Code: memory.CodeInvalidInput, Field: "project", Message: c.Title + " has no settings file for one project",
		Hint: "connect it for all: recalld connect " + c.Name}
}

// keepToolsets fills in the toolsets that the client's file already names.
func (c Client) keepToolsets(m Machine, o Options) Options {
	files := c.files(m, o).server
	if len(o.Toolsets) > 0 || len(files) == 0 {
		return o
	}
	p := part{whatServer, files, c.server(o.Server)}
	text, err := readFile(p.path())
	if err != nil {
		return o // planning the change reports it
	}
	if e, ok := p.edit.(interface{ args([]byte) []string }); ok {
		args := e.args(text)
		if i := slices.Index(args, toolsetsFlag); i >= 0 && i+1 < len(args) {
			o.Toolsets = []string{args[i+1]}
		}
	}
	return o
}

// Disconnect returns the changes that remove everything that Connect can add. Instructions stay
// in a file that another connected client reads.
func (c Client) Disconnect(m Machine, o Options) ([]Change, error) {
	o.NoHooks = false
	parts := c.parts(m, o, !c.shares(m, o))
	changes, err := plan(parts, edit.Take)
	if err != nil {
		return nil, err
	}
	return restoreBackups(parts, changes), nil
}

// shares reports whether another client is connected that reads the same instructions: AGENTS.md
// of a project, say.
func (c Client) shares(m Machine, o Options) bool {
	instructions, _ := follow(c.files(m, o).instructions) // CLAUDE.md may be a link to AGENTS.md
	return slices.ContainsFunc(Clients(), func(other Client) bool {
		f := other.files(m, o)
		if file, err := follow(f.instructions); err != nil || other.Name == c.Name || file != instructions || len(f.server) == 0 {
			return false
		}
		state, _ := part{whatServer, f.server, other.server(other.started(o))}.state()
		return state == Connected || state == Differs
	})
}

// plan reads the files of parts and edits their texts. Two parts may have the same file.
func plan(parts []part, do func(edit, []byte) ([]byte, error)) ([]Change, error) {
	changes := make([]Change, 0, len(parts))
	for _, p := range parts {
		c := Change{What: p.what, Path: p.path()}
		var err error
		if i := lastOf(changes, c.Path); i >= 0 {
			c.Before, c.follows = changes[i].After, true
		} else if c.Before, err = readFile(c.Path); err != nil {
			return nil, err
		}
		if c, err = p.change(c, do); err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	for i, c := range changes {
		changes[i].goes = changes[lastOf(changes, c.Path)].After == nil
	}
	return changes, nil
}

// lastOf returns the index of the last change of a file, -1 if there is none.
func lastOf(changes []Change, path string) int {
	for i, c := range slices.Backward(changes) {
		if c.Path == path {
			return i
		}
	}
	return -1
}

// change edits the text of a part's file.
func (p part) change(c Change, do func(edit, []byte) ([]byte, error)) (Change, error) {
	var err error
	if c.After, err = do(p.edit, c.Before); err != nil {
		return c, &memory.Error{Code: memory.CodeConflict, Field: "file", Message: c.Path + ": " + err.Error(),
			Hint: "repair the file and try again; it was not changed", Cause: err}
	}
	if c.None() {
		return c, nil
	}
	return c, writable(c.Path)
}

// path is the first file of a part that exists, or the first one if none does.
func (p part) path() string {
	for _, path := range p.paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return p.paths[0]
}

// readFile reads a file of a client; nil without an error if there is none.
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
	if errors.Is(err, fs.ErrPermission) {
		return nil, &memory.Error{Code: memory.CodeForbidden, Field: "file", Message: path + " cannot be read", Hint: "make it readable for your user", Cause: err}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return text, nil // never nil: os.ReadFile returns an empty text for an empty file
}
