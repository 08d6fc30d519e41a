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
	// Name is what connect calls it, Title what its makers call it.
	Name  string
	Title string
	// home is a folder that is there where the client is.
	home func(Machine) string
	// files says where its parts are.
	files func(Machine, Options) files
	// server makes the edit that puts the MCP server into its settings.
	server func(Server) edit
	// hooks makes the edit for its hooks; nil without hooks.
	hooks func(Options) edit
	// preface is what a new file of instructions begins with.
	preface string
}

// files are the files of a client in one scope; empty ones do not exist.
type files struct {
	// server are the files that may hold MCP servers, the first for a new one.
	server       []string
	hooks        string
	instructions string
}

// Clients are all clients, in the order in which they are listed. To add one,
// add an entry: its folder, its files in both scopes, and the form of a server
// in them.
func Clients() []Client {
	return []Client{claudeCode(), codex(), cursor(), vscode(), geminiCLI(), openCode(), zed()}
}

// Find returns the client of a name. CodeInvalidInput with the names otherwise.
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

// parts lists what a client is given, instructions only if asked for.
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

// stdio is a server as most clients write it.
type stdio struct {
	// Type is "stdio" where the client's reference asks for it.
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// mcpServers is the edit of the clients that share one form: an object of
// servers by name.
func mcpServers(key, kind string) func(Server) edit {
	return func(s Server) edit {
		return jsonEntry{path: []string{key, name}, entry: stdio{kind, s.Command, s.Args}}
	}
}

// claudeCode: code.claude.com/docs, "MCP installation scopes" and "Settings". A
// project's server is in a file that is shared; its hooks run commands of this
// machine and go into the settings that are not.
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

// cursor: cursor.com/docs, "MCP" and "Rules". Rules of the user's are in its
// settings, in no file.
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

// vscode: code.visualstudio.com/docs, "MCP configuration reference". The user's
// file is that of the default profile.
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

// openCode: opencode.ai/docs, "MCP servers" and "Migrate from V1". Version 2
// reads the older form too; its own is used where the file has it already.
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

// zed: zed.dev/docs, "Model Context Protocol" and "Configuring Zed". On macOS it
// keeps its settings where it does on Linux.
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
