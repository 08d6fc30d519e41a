package connect

import "path/filepath"

// This file has the editors, their extensions and desktop programs.

// cursor has the user's rules in its settings, not in a file.
func cursor() Client {
	home := func(m Machine) string { return filepath.Join(m.Home, ".cursor") }
	return Client{
		Name: "cursor", Title: "Cursor",
		Docs:     "https://cursor.com/docs/context/mcp, https://cursor.com/docs/context/rules",
		programs: []string{"cursor", "cursor-agent"}, homes: one(home), desktop: true, server: mcpServers("mcpServers", ""),
		preface: "---\ndescription: When to recall and remember with recalld\nalwaysApply: true\n---\n\n",
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".cursor/mcp.json"), instructions: filepath.Join(o.Dir, ".cursor", "rules", "recalld.mdc")}
			}
			return files{server: in(home(m), "mcp.json")}
		},
	}
}

// vscode: the user's file belongs to the default profile.
func vscode() Client {
	home := vscodeUser
	return Client{
		Name: "vscode", Title: "VS Code",
		Docs:     "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
		programs: []string{"code"}, homes: one(home), desktop: true, server: mcpServers("servers", "stdio"),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".vscode/mcp.json"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{server: in(home(m), "mcp.json")}
		},
	}
}

// zed has its settings on macOS in the same place as on Linux.
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
		Name: "zed", Title: "Zed",
		Docs:     "https://zed.dev/docs/ai/mcp, https://zed.dev/docs/configuring-zed",
		programs: []string{"zed", "zeditor"}, homes: one(home), desktop: true, server: mcpServers("context_servers", ""),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".zed/settings.json"), instructions: filepath.Join(o.Dir, "AGENTS.md")}
			}
			return files{server: in(home(m), "settings.json")}
		},
	}
}

// vscodeUser is the folder of VS Code's default profile.
func vscodeUser(m Machine) string { return filepath.Join(m.config(), "Code", "User") }

// cline keeps one file for its extension and its command line. The extension's former file,
// in the folder of VS Code, is used if it is the only one. It has no file for a project.
func cline() Client {
	data := func(m Machine) string { return m.env("CLINE_DATA_DIR", filepath.Join(m.Home, ".cline", "data")) }
	former := func(m Machine) string {
		return filepath.Join(vscodeUser(m), "globalStorage", "saoudrizwan.claude-dev")
	}
	return Client{
		Name: "cline", Title: "Cline",
		Docs:     "https://docs.cline.bot/mcp/mcp-overview, https://docs.cline.bot/features/cline-rules",
		programs: []string{"cline"}, desktop: true, server: mcpServers("mcpServers", ""),
		homes: func(m Machine) []string { return []string{data(m), former(m)} },
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{instructions: filepath.Join(o.Dir, ".clinerules", "recalld.md")}
			}
			const settings = "settings/cline_mcp_settings.json"
			return files{server: append(in(data(m), settings), in(former(m), settings)...)}
		},
	}
}

// windsurf has no file for a project.
func windsurf() Client {
	home := func(m Machine) string { return filepath.Join(m.Home, ".codeium", "windsurf") }
	return Client{
		Name: "windsurf", Title: "Windsurf",
		Docs:     "https://docs.windsurf.com/windsurf/cascade/mcp, https://docs.windsurf.com/windsurf/cascade/memories",
		programs: []string{"windsurf"}, homes: one(home), desktop: true, server: mcpServers("mcpServers", ""),
		preface: "---\ntrigger: always_on\n---\n\n",
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{instructions: filepath.Join(o.Dir, ".windsurf", "rules", "recalld.md")}
			}
			return files{server: in(home(m), "mcp_config.json")}
		},
	}
}

// claudeDesktop has no files for a project, and none for instructions.
func claudeDesktop() Client {
	home := func(m Machine) string { return filepath.Join(m.config(), "Claude") }
	return Client{
		Name: "claude-desktop", Title: "Claude Desktop",
		Docs:  "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
		homes: one(home), desktop: true, server: mcpServers("mcpServers", ""),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{}
			}
			return files{server: in(home(m), "claude_desktop_config.json")}
		},
	}
}

// jetBrains is Junie, the agent of JetBrains' editors. AI Assistant there has no file; its
// settings take what --print shows.
func jetBrains() Client {
	home := func(m Machine) string { return filepath.Join(m.Home, ".junie") }
	return Client{
		Name: "jetbrains", Title: "JetBrains Junie",
		Docs:     "https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html, https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html",
		programs: []string{"junie"}, homes: one(home), desktop: true, server: mcpServers("mcpServers", ""),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".junie/mcp/mcp.json"), instructions: filepath.Join(o.Dir, ".junie", "AGENTS.md")}
			}
			return files{server: in(home(m), "mcp/mcp.json"), instructions: filepath.Join(home(m), "AGENTS.md")}
		},
	}
}

// roo is an extension of VS Code.
func roo() Client {
	home := func(m Machine) string {
		return filepath.Join(vscodeUser(m), "globalStorage", "rooveterinaryinc.roo-cline")
	}
	return Client{
		Name: "roo", Title: "Roo Code",
		Docs:  "https://docs.roocode.com/features/mcp/using-mcp-in-roo, https://docs.roocode.com/features/custom-instructions",
		homes: one(home), desktop: true, server: mcpServers("mcpServers", ""),
		files: func(m Machine, o Options) files {
			if o.Scope == Project {
				return files{server: in(o.Dir, ".roo/mcp.json"), instructions: filepath.Join(o.Dir, ".roo", "rules", "recalld.md")}
			}
			return files{server: in(home(m), "settings/mcp_settings.json"), instructions: filepath.Join(m.Home, ".roo", "rules", "recalld.md")}
		},
	}
}
