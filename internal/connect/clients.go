package connect

import (
	"path/filepath"
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
	// programs are the names under which it is started from a terminal, homes the folders
	// of which one exists where it has run.
	programs []string
	homes    func(Machine) []string
	// desktop says that it is started without the PATH of a shell, so that it needs the
	// path of a program.
	desktop bool
	// files returns the files of its parts.
	files func(Machine, Options) files
	// server returns the edit that adds the MCP server to its settings.
	server func(Server) edit
	// hooks returns the edit for its hooks; nil if it has no hooks.
	hooks func(Options) edit
	// Note says what a user has to do before all of it works.
	Note string
	// own are the arguments with which the client's program adds a server for the user; nil
	// if it is not used.
	own func(Server) []string
	// preface is the beginning of a new instructions file.
	preface string
}

// files are the files of a client in one scope; empty paths do not exist.
type files struct {
	// server are the files that may contain MCP servers, the first for a new one. It is
	// empty if the client has no such file in this scope.
	server       []string
	hooks        string
	instructions string
}

// Clients returns all clients, in the order in which they are listed. To add one, add an
// entry: its folder, its files in both scopes, and the form of a server in them.
func Clients() []Client {
	return []Client{
		claudeCode(), codex(), cursor(), vscode(), geminiCLI(), openCode(), zed(),
		qwenCode(), copilotCLI(), cline(), windsurf(), claudeDesktop(), jetBrains(), roo(),
	}
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

// one is the list of a single folder.
func one(dir func(Machine) string) func(Machine) []string {
	return func(m Machine) []string { return []string{dir(m)} }
}

// in returns the paths of files below a folder.
func in(dir string, names ...string) []string {
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = filepath.Join(dir, filepath.FromSlash(n))
	}
	return paths
}

// stdio is a server in the form that most clients use.
type stdio struct {
	// Type is "stdio" if the client's reference requires it.
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// mcpServers is the edit for clients with the common form: an object of servers by name.
func mcpServers(key, kind string) func(Server) edit {
	return func(s Server) edit {
		return jsonEntry{path: []string{key, name}, entry: stdio{kind, s.Command, s.Args}}
	}
}
