package connect

import (
	"path/filepath"
	"slices"
)

// Clients returns all clients, in the order in which they are listed. To add one, add an
// entry: its folder, its files in both scopes, and the form of a server in them.
func Clients() []Client {
	return []Client{
		{
			Name: "claude-code", Title: "Claude Code",
			Docs:     "https://code.claude.com/docs/en/mcp#mcp-installation-scopes, https://code.claude.com/docs/en/settings",
			programs: []string{"claude"}, homes: moved("CLAUDE_CONFIG_DIR", ".claude"), server: mcpServers("mcpServers", "stdio"),
			hooks: hooksOf("claude-code", hookTimeout, "UserPromptSubmit", claudeEvents...),
			own: func(s Server) []string {
				return slices.Concat([]string{"mcp", "add", "--scope", "user", name, "--", s.Command}, s.Args)
			},
			serverHome: func(m Machine) string { return m.env("CLAUDE_CONFIG_DIR", m.Home) },
			user:       files{[]string{".claude.json"}, "settings.json", "CLAUDE.md"},
			// A project's server is in a shared file; its hooks run commands of this machine and
			// go into the local settings, which are not shared.
			project: files{[]string{".mcp.json"}, ".claude/settings.local.json", "CLAUDE.md"},
		}, {
			Name: "codex", Title: "Codex",
			Docs:     "https://developers.openai.com/codex/mcp, https://developers.openai.com/codex/guides/agents-md",
			programs: []string{"codex"}, homes: moved("CODEX_HOME", ".codex"), server: func(s Server) edit { return tomlTable{s} },
			// Codex runs no hook before its user has trusted it.
			note: "Codex asks about new hooks when it starts: trust them, or nothing is recorded.", ofHooks: true,
			hooks: hooksOf("codex", hookTimeout, "UserPromptSubmit", "SessionStart", "PostToolUse", "SessionEnd"),
			user:  files{[]string{"config.toml"}, "hooks.json", "AGENTS.md"},
			// It reads a project's file in projects that the user trusts.
			project: files{server: []string{".codex/config.toml"}, instructions: "AGENTS.md"},
		}, {
			Name: "cursor", Title: "Cursor",
			Docs:     "https://cursor.com/docs/context/mcp, https://cursor.com/docs/context/rules",
			programs: []string{"cursor", "cursor-agent"}, homes: home(".cursor"), desktop: true, server: mcpServers("mcpServers", ""),
			preface: "---\ndescription: When to recall and remember with recalld\nalwaysApply: true\n---\n\n",
			user:    files{server: []string{"mcp.json"}}, // the user's rules are in its settings, not in a file
			project: files{server: []string{".cursor/mcp.json"}, instructions: ".cursor/rules/recalld.mdc"},
		}, {
			Name: "vscode", Title: "VS Code",
			Docs:     "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
			programs: []string{"code"}, homes: one(vscodeUser), desktop: true, server: mcpServers("servers", "stdio"),
			user:    files{server: []string{"mcp.json"}}, // of the default profile
			project: files{server: []string{".vscode/mcp.json"}, instructions: "AGENTS.md"},
		}, {
			Name: "gemini-cli", Title: "Gemini CLI",
			Docs:     "https://geminicli.com/docs/tools/mcp-server, https://geminicli.com/docs/get-started/configuration",
			programs: []string{"gemini"}, homes: home(".gemini"), server: mcpServers("mcpServers", ""),
			note:    "Gemini CLI starts servers and hooks only in folders that you trust; it asks when you start it in one.",
			hooks:   hooksOf("gemini-cli", 1000*hookTimeout, "BeforeAgent", "SessionStart", "AfterTool", "SessionEnd"), // it counts milliseconds
			user:    files{[]string{"settings.json"}, "settings.json", "GEMINI.md"},
			project: files{server: []string{".gemini/settings.json"}, instructions: "GEMINI.md"},
		}, {
			Name: "opencode", Title: "OpenCode",
			Docs:     "https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/rules",
			programs: []string{"opencode"}, homes: one(func(m Machine) string { return filepath.Join(m.xdg(), "opencode") }),
			server: openCodeServer, hooks: openCodeHooks,
			user:    files{[]string{"opencode.json", "opencode.jsonc"}, "plugins/recalld.js", "AGENTS.md"},
			project: files{server: []string{"opencode.json", "opencode.jsonc"}, instructions: "AGENTS.md"},
		}, {
			Name: "zed", Title: "Zed",
			Docs:     "https://zed.dev/docs/ai/mcp, https://zed.dev/docs/configuring-zed",
			programs: []string{"zed", "zeditor"}, homes: one(zedHome), desktop: true, server: mcpServers("context_servers", ""),
			user:    files{server: []string{"settings.json"}},
			project: files{server: []string{".zed/settings.json"}, instructions: "AGENTS.md"},
		}, {
			// It reads a project's servers from .mcp.json too, which Claude Code shares; only its
			// own file is written.
			Name: "qwen-code", Title: "Qwen Code",
			Docs:     "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
			programs: []string{"qwen"}, homes: moved("QWEN_HOME", ".qwen"), server: qwenServer,
			hooks:   hooksOf("qwen-code", hookTimeout, "UserPromptSubmit", claudeEvents...),
			user:    files{[]string{"settings.json"}, "settings.json", "QWEN.md"},
			project: files{server: []string{".qwen/settings.json"}, instructions: "QWEN.md"},
		}, {
			Name: "copilot-cli", Title: "Copilot CLI",
			Docs:     "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
			programs: []string{"copilot"}, homes: moved("COPILOT_HOME", ".copilot"), server: copilotServer, hooks: copilotHooks,
			user:    files{[]string{"mcp-config.json"}, "hooks/recalld.json", "copilot-instructions.md"},
			project: files{server: []string{".github/mcp.json"}, instructions: "AGENTS.md"},
		}, {
			// One file is for its extension and its command line. The extension's former file, in
			// the folder of VS Code, is used if it is the only one. It has no file for a project.
			Name: "cline", Title: "Cline",
			Docs:     "https://docs.cline.bot/mcp/mcp-overview, https://docs.cline.bot/features/cline-rules",
			programs: []string{"cline"}, desktop: true, server: mcpServers("mcpServers", ""),
			homes: func(m Machine) []string {
				return append(moved("CLINE_DATA_DIR", ".cline/data")(m), extension(m, "saoudrizwan.claude-dev"))
			},
			user:    files{server: []string{"settings/cline_mcp_settings.json"}},
			project: files{instructions: ".clinerules/recalld.md"},
		}, {
			Name: "windsurf", Title: "Windsurf",
			Docs:     "https://docs.windsurf.com/windsurf/cascade/mcp, https://docs.windsurf.com/windsurf/cascade/memories",
			programs: []string{"windsurf"}, homes: home(".codeium/windsurf"), desktop: true, server: mcpServers("mcpServers", ""),
			preface: "---\ntrigger: always_on\n---\n\n",
			user:    files{server: []string{"mcp_config.json"}},
			project: files{instructions: ".windsurf/rules/recalld.md"},
		}, {
			Name: "claude-desktop", Title: "Claude Desktop",
			Docs:  "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
			homes: one(func(m Machine) string { return filepath.Join(m.config(), "Claude") }), desktop: true, server: mcpServers("mcpServers", ""),
			user: files{server: []string{"claude_desktop_config.json"}},
		}, {
			// The agent of JetBrains' editors. AI Assistant there has no file; its settings take
			// what --print shows.
			Name: "jetbrains", Title: "JetBrains Junie",
			Docs:     "https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html, https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html",
			programs: []string{"junie"}, homes: home(".junie"), desktop: true, server: mcpServers("mcpServers", ""),
			user:    files{server: []string{"mcp/mcp.json"}, instructions: "AGENTS.md"},
			project: files{server: []string{".junie/mcp/mcp.json"}, instructions: ".junie/AGENTS.md"},
		}, {
			Name: "roo", Title: "Roo Code",
			Docs:  "https://docs.roocode.com/features/mcp/using-mcp-in-roo, https://docs.roocode.com/features/custom-instructions",
			homes: one(func(m Machine) string { return extension(m, "rooveterinaryinc.roo-cline") }), desktop: true, server: mcpServers("mcpServers", ""),
			user:    files{server: []string{"settings/mcp_settings.json"}, instructions: "~/.roo/rules/recalld.md"},
			project: files{server: []string{".roo/mcp.json"}, instructions: ".roo/rules/recalld.md"},
		},
	}
}

// one is the list of a single folder.
func one(dir func(Machine) string) func(Machine) []string {
	return func(m Machine) []string { return []string{dir(m)} }
}

// home is a folder below the user's home, and moved one that a variable can move.
func home(name string) func(Machine) []string { return moved("", name) }

func moved(variable, name string) func(Machine) []string {
	return one(func(m Machine) string { return m.env(variable, filepath.Join(m.Home, filepath.FromSlash(name))) })
}

// vscodeUser is the folder of VS Code's default profile, and extension that of an extension
// in it.
func vscodeUser(m Machine) string { return filepath.Join(m.config(), "Code", "User") }

func extension(m Machine, id string) string { return filepath.Join(vscodeUser(m), "globalStorage", id) }

// zedHome: on macOS, Zed has its settings in the same place as on Linux.
func zedHome(m Machine) string {
	switch m.OS {
	case "windows":
		return filepath.Join(m.config(), "Zed")
	case "darwin":
		return filepath.Join(m.Home, ".config", "zed")
	}
	return filepath.Join(m.xdg(), "zed")
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

// openCodeServer: version 2 also reads the older form; the new form is used if the file has
// it already.
func openCodeServer(s Server) edit {
	type local struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
	return jsonEntry{path: []string{"mcp", name}, newer: []string{"mcp", "servers", name},
		entry: local{"local", append([]string{s.Command}, s.Args...), true}}
}

// qwenServer: Qwen Code hides the tools of a server behind its own search unless the entry
// says alwaysLoadTools.
func qwenServer(s Server) edit {
	type loaded struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Load    bool     `json:"alwaysLoadTools"`
	}
	return jsonEntry{path: []string{"mcpServers", name}, chosen: []string{"alwaysLoadTools"}, entry: loaded{s.Command, s.Args, true}}
}

// copilotServer: Copilot CLI takes "local" for a program, in all versions; "stdio" is the
// newer name. It shows a model only the tools that its file names.
func copilotServer(s Server) edit {
	type local struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Tools   []string `json:"tools"`
	}
	return jsonEntry{path: []string{"mcpServers", name}, chosen: []string{"tools"}, entry: local{"local", s.Command, s.Args, []string{"*"}}}
}
