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
	// home is a folder that exists where the client is installed.
	home func(Machine) string
	// files returns the files of its parts.
	files func(Machine, Options) files
	// server returns the edit that adds the MCP server to its settings.
	server func(Server) edit
	// hooks returns the edit for its hooks; nil if it has no hooks.
	hooks func(Options) edit
	// preface is the beginning of a new instructions file.
	preface string
}

// files are the files of a client in one scope; empty paths do not exist.
type files struct {
	// server are the files that may contain MCP servers, the first for a new one.
	server       []string
	hooks        string
	instructions string
}

// Clients returns all clients, in the order in which they are listed. To add one, add an
// entry: its folder, its files in both scopes, and the form of a server in them.
func Clients() []Client {
	return []Client{claudeCode(), codex(), cursor(), vscode(), geminiCLI(), openCode(), zed()}
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
	parts := []part{{whatServer, f.server, c.server(o.Server)}}
	if c.hooks != nil && !o.NoHooks {
		parts = append(parts, part{whatHooks, []string{f.hooks}, c.hooks(o)})
	}
	if instructions && f.instructions != "" {
		parts = append(parts, part{whatInstructions, []string{f.instructions}, markedBlock{preface: c.preface}})
	}
	return parts
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

// claudeCode: code.claude.com/docs, "MCP installation scopes" and "Settings". A project's
// server is in a shared file; its hooks run commands of this machine and go into the local
// settings, which are not shared.
func claudeCode() Client {
	home := func(m Machine) string { return m.env("CLAUDE_CONFIG_DIR", filepath.Join(m.Home, ".claude")) }
	return Client{
		Name: "claude-code", Title: "Claude Code", home: home, server: mcpServers("mcpServers", "stdio"),
		hooks: func(o Options) edit { return newClaudeHooks(o) },
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{in(o.Dir, ".mcp.json"), filepath.Join(o.Dir, ".claude", "settings.local.json"), filepath.Join(o.Dir, "CLAUDE.md")}
			}
			state := m.env("CLAUDE_CONFIG_DIR", m.Home)
			return files{in(state, ".claude.json"), filepath.Join(home(m), "settings.json"), filepath.Join(home(m), "CLAUDE.md")}
		},
	}
}

// codex: developers.openai.com/codex, "MCP" and "AGENTS.md". A project's file is
// read in projects that the user trusts.
func codex() Client {
	home := func(m Machine) string { return m.env("CODEX_HOME", filepath.Join(m.Home, ".codex")) }
	return Client{
		Name: "codex", Title: "Codex", home: home,
		server: func(s Server) edit { return tomlTable{s} },
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".codex/config.toml"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{server: in(home(m), "config.toml"), instructions: filepath.Join(home(m), "AGENTS.md")}
		},
	}
}

// cursor: cursor.com/docs, "MCP" and "Rules". The user's rules are in its settings, not in
// a file.
func cursor() Client {
	home := func(m Machine) string { return filepath.Join(m.Home, ".cursor") }
	return Client{
		Name: "cursor", Title: "Cursor", home: home, server: mcpServers("mcpServers", ""),
		preface: "---\ndescription: When to recall and remember with recalld\nalwaysApply: true\n---\n\n",
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".cursor/mcp.json"), instructions: filepath.Join(o.Dir, ".cursor", "rules", "recalld.mdc")}
			}
			return files{server: in(home(m), "mcp.json")}
		},
	}
}

// vscode: code.visualstudio.com/docs, "MCP configuration reference". The user's file
// belongs to the default profile.
func vscode() Client {
	home := func(m Machine) string { return filepath.Join(m.config(), "Code", "User") }
	return Client{
		Name: "vscode", Title: "VS Code", home: home, server: mcpServers("servers", "stdio"),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".vscode/mcp.json"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{server: in(home(m), "mcp.json")}
		},
	}
}

// geminiCLI: geminicli.com/docs, "Configuration" and "MCP servers".
func geminiCLI() Client {
	home := func(m Machine) string { return filepath.Join(m.Home, ".gemini") }
	return Client{
		Name: "gemini-cli", Title: "Gemini CLI", home: home, server: mcpServers("mcpServers", ""),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".gemini/settings.json"), instructions: filepath.Join(o.Dir, "GEMINI.md")}
			}
			return files{server: in(home(m), "settings.json"), instructions: filepath.Join(home(m), "GEMINI.md")}
		},
	}
}

// openCode: opencode.ai/docs, "MCP servers" and "Migrate from V1". Version 2 also reads the
// older form; the new form is used if the file has it already.
func openCode() Client {
	type local struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
	home := func(m Machine) string { return filepath.Join(m.xdg(), "opencode") }
	return Client{
		Name: "opencode", Title: "OpenCode", home: home,
		server: func(s Server) edit {
			return jsonEntry{path: []string{"mcp", name}, newer: []string{"mcp", "servers", name},
				entry: local{"local", append([]string{s.Command}, s.Args...), true}}
		},
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, "opencode.json", "opencode.jsonc"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{server: in(home(m), "opencode.json", "opencode.jsonc"), instructions: filepath.Join(home(m), "AGENTS.md")}
		},
	}
}

// zed: zed.dev/docs, "Model Context Protocol" and "Configuring Zed". On macOS its settings
// are in the same place as on Linux.
func zed() Client {
	home := func(m Machine) string {
		switch m.OS {
		case "windows":
			return filepath.Join(m.config(), "Zed")
		case "darwin":
			return filepath.Join(m.Home, ".config", "zed")
		}
		return filepath.Join(m.xdg(), "zed")
	}
	return Client{
		Name: "zed", Title: "Zed", home: home, server: mcpServers("context_servers", ""),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".zed/settings.json"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{server: in(home(m), "settings.json")}
		},
	}
}
