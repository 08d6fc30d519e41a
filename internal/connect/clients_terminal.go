package connect

import (
	"path/filepath"
	"slices"
)

// This file has the clients that run in a terminal.

// claudeCode: a project's server is in a shared file; its hooks run commands of this machine and go into the local
// settings, which are not shared.
func claudeCode() Client {
	home := func(m Machine) string { return m.env("CLAUDE_CONFIG_DIR", filepath.Join(m.Home, ".claude")) }
	return Client{
		Name: "claude-code", Title: "Claude Code",
		Docs:     "https://code.claude.com/docs/en/mcp#mcp-installation-scopes, https://code.claude.com/docs/en/settings",
		programs: []string{"claude"}, homes: one(home), server: mcpServers("mcpServers", "stdio"),
		hooks: hooksOf("claude-code", hookTimeout, "UserPromptSubmit", claudeEvents...),
		own: func(s Server) []string {
			return slices.Concat([]string{"mcp", "add", "--scope", "user", name, "--", s.Command}, s.Args)
		},
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{in(o.Dir, ".mcp.json"), filepath.Join(o.Dir, ".claude", "settings.local.json"), filepath.Join(o.Dir, "CLAUDE.md")}
			}
			state := m.env("CLAUDE_CONFIG_DIR", m.Home)
			return files{in(state, ".claude.json"), filepath.Join(home(m), "settings.json"), filepath.Join(home(m), "CLAUDE.md")}
		},
	}
}

// codex reads a project's file in projects that the user trusts.
func codex() Client {
	home := func(m Machine) string { return m.env("CODEX_HOME", filepath.Join(m.Home, ".codex")) }
	return Client{
		Name: "codex", Title: "Codex",
		Docs:     "https://developers.openai.com/codex/mcp, https://developers.openai.com/codex/guides/agents-md",
		programs: []string{"codex"}, homes: one(home),
		server: func(s Server) edit { return tomlTable{s} },
		// Codex runs no hook before its user has trusted it.
		Note:  "Codex asks about new hooks when it starts: trust them, or nothing is recorded.",
		hooks: hooksOf("codex", hookTimeout, "UserPromptSubmit", "SessionStart", "PostToolUse", "SessionEnd"),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".codex/config.toml"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{in(home(m), "config.toml"), filepath.Join(home(m), "hooks.json"), filepath.Join(home(m), "AGENTS.md")}
		},
	}
}

func geminiCLI() Client {
	home := func(m Machine) string { return filepath.Join(m.Home, ".gemini") }
	return Client{
		Name: "gemini-cli", Title: "Gemini CLI",
		Docs:     "https://geminicli.com/docs/tools/mcp-server, https://geminicli.com/docs/get-started/configuration",
		programs: []string{"gemini"}, homes: one(home), server: mcpServers("mcpServers", ""),
		Note:  "Gemini CLI starts servers and hooks only in folders that you trust; it asks when you start it in one.",
		hooks: hooksOf("gemini-cli", 1000*hookTimeout, "BeforeAgent", "SessionStart", "AfterTool", "SessionEnd"), // it counts milliseconds
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".gemini/settings.json"), instructions: filepath.Join(o.Dir, "GEMINI.md")}
			}
			settings := filepath.Join(home(m), "settings.json")
			return files{[]string{settings}, settings, filepath.Join(home(m), "GEMINI.md")}
		},
	}
}

// openCode: version 2 also reads the older form; the new form is used if the file has it already.
func openCode() Client {
	type local struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
	home := func(m Machine) string { return filepath.Join(m.xdg(), "opencode") }
	return Client{
		Name: "opencode", Title: "OpenCode",
		Docs:     "https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/rules",
		programs: []string{"opencode"}, homes: one(home), hooks: openCodeHooks,
		server: func(s Server) edit {
			return jsonEntry{path: []string{"mcp", name}, newer: []string{"mcp", "servers", name},
				entry: local{"local", append([]string{s.Command}, s.Args...), true}}
		},
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, "opencode.json", "opencode.jsonc"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{in(home(m), "opencode.json", "opencode.jsonc"), filepath.Join(home(m), "plugins", "recalld.js"), filepath.Join(home(m), "AGENTS.md")}
		},
	}
}

// qwenCode reads a project's servers from .mcp.json too, which Claude Code shares; only its
// own file is written. It hides the tools of a server behind its own search unless the
// entry says alwaysLoadTools.
func qwenCode() Client {
	type loaded struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Load    bool     `json:"alwaysLoadTools"`
	}
	home := func(m Machine) string { return m.env("QWEN_HOME", filepath.Join(m.Home, ".qwen")) }
	return Client{
		Name: "qwen-code", Title: "Qwen Code",
		Docs:     "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
		programs: []string{"qwen"}, homes: one(home),
		server: func(s Server) edit {
			return jsonEntry{path: []string{"mcpServers", name}, chosen: []string{"alwaysLoadTools"}, entry: loaded{s.Command, s.Args, true}}
		},
		hooks: hooksOf("qwen-code", hookTimeout, "UserPromptSubmit", claudeEvents...),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".qwen/settings.json"), instructions: filepath.Join(o.Dir, "QWEN.md")}
			}
			settings := filepath.Join(home(m), "settings.json")
			return files{[]string{settings}, settings, filepath.Join(home(m), "QWEN.md")}
		},
	}
}

// copilotCLI takes "local" for a program, in all versions; "stdio" is the newer name. It
// shows a model only the tools that its file names.
func copilotCLI() Client {
	type local struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Tools   []string `json:"tools"`
	}
	home := func(m Machine) string { return m.env("COPILOT_HOME", filepath.Join(m.Home, ".copilot")) }
	return Client{
		Name: "copilot-cli", Title: "Copilot CLI",
		Docs:     "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
		programs: []string{"copilot"}, homes: one(home), hooks: copilotHooks,
		server: func(s Server) edit {
			return jsonEntry{path: []string{"mcpServers", name}, chosen: []string{"tools"}, entry: local{"local", s.Command, s.Args, []string{"*"}}}
		},
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".github/mcp.json"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{in(home(m), "mcp-config.json"), filepath.Join(home(m), "hooks", "recalld.json"), filepath.Join(home(m), "copilot-instructions.md")}
		},
	}
}
