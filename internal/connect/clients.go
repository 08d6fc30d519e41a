package connect

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// The names of parts.
const (
	whatServer       = "MCP server"
	whatHooks        = "hooks"
	whatInstructions = "instructions"
)

// Client is a program that recalld can be connected to.
type Client struct {
	// Name is the client's name for connect, Title its product name.
	Name  string
	Title string
	// Docs is the public documentation of its files and of the form of a server in them.
	Docs string
	// programs are the names under which it is started from a terminal, homes its folders:
	// one exists where it has run.
	programs []string
	homes    func(Machine) []string
	// serverHome is the folder of the user's file of servers, if that is none of homes.
	serverHome func(Machine) string
	// desktop says that it is started without the PATH of a shell, so that it needs the
	// path of a program.
	desktop bool
	// user are the files for the user, below its homes or from ~ on, and project those of a
	// project, below its folder.
	user, project files
	// server returns the edit that adds the MCP server to its settings.
	server func(Server) edit
	// hooks returns the edit for its hooks; nil if it has no hooks.
	hooks func(Options) edit
	// note says what a user has to do before all of it works, or, with ofHooks, its hooks.
	note    string
	ofHooks bool
	// own are the arguments with which the client's program adds a server for the user; nil
	// if it is not used.
	own func(Server) []string
	// preface is the beginning of a new instructions file.
	preface string
}

// Note says what a user has to do before what a plan changes works; "" if nothing.
func (c Client) Note(plan []Change) string {
	if slices.ContainsFunc(plan, func(change Change) bool { return !change.None() && (!c.ofHooks || change.What == whatHooks) }) {
		return c.note
	}
	return ""
}

// files are the files of a client in one scope, by their names with slashes or by their
// paths. Empty ones do not exist.
type files struct {
	// server are the files that may contain MCP servers, the first for a new one. It is
	// empty if the client has no such file in this scope.
	server       []string
	hooks        string
	instructions string
}

// Find returns the client with a name. For another name it returns CodeInvalidInput and
// lists the names.
func Find(name string) (Client, error) {
	var names []string
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Client{}, memory.Invalid("client", strings.Join(names, ", "), "%q is unknown", name)
}

// files returns the paths of the client's files in a scope.
func (c Client) files(m Machine, o Options) files {
	names, dirs := c.user, c.homes(m)
	if o.Scope == Project {
		names, dirs = c.project, []string{o.Dir}
	}
	path := func(dir, name string) string {
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			dir, name = m.Home, below
		}
		if name == "" {
			return ""
		}
		return filepath.Join(dir, filepath.FromSlash(name))
	}
	paths := files{hooks: path(dirs[0], names.hooks), instructions: path(dirs[0], names.instructions)}
	if c.serverHome != nil && o.Scope != Project {
		dirs = []string{c.serverHome(m)}
	}
	for _, dir := range dirs {
		for _, name := range names.server {
			paths.server = append(paths.server, path(dir, name))
		}
	}
	return paths
}

// parts lists the parts of a client, instructions only if requested.
func (c Client) parts(m Machine, o Options, instructions bool) []part {
	f := c.files(m, o)
	var parts []part
	if len(f.server) > 0 {
		parts = append(parts, part{whatServer, f.server, c.server(c.started(o))})
	}
	if c.hooks != nil && !o.NoHooks && f.hooks != "" {
		parts = append(parts, part{whatHooks, []string{f.hooks}, c.hooks(o)})
	}
	if instructions && f.instructions != "" {
		parts = append(parts, part{whatInstructions, []string{f.instructions}, markedBlock{preface: c.preface}})
	}
	return parts
}

// started is how the client starts the server: with the path of the program, if the client
// has no PATH of a shell.
func (c Client) started(o Options) Server {
	s := o.Started()
	if c.desktop && o.Scope == User && o.Program != "" {
		s.Command = o.Program
	}
	return s
}
