package agents

import (
	"os"
	"path/filepath"
)

// client is an agent program: where it is from, and how a turn of it is run against
// an endpoint on loopback.
type client struct {
	// name is the client's name for recalld connect.
	name, title string
	pkg         string
	version     string
	program     string
	// shell is the client's own tool that runs a command, and arguments are those of a call.
	shell     string
	arguments func(command string) map[string]any
	// files are settings that a person would have, by path below the home folder.
	files func(endpoint string) map[string]string
	env   func(endpoint string) []string
	args  func(endpoint, prompt string) []string
}

func commandAs(name string) func(string) map[string]any {
	return func(command string) map[string]any {
		return map[string]any{name: command, "description": "runs a command of the script"}
	}
}

// The versions are those of the table in docs/agents.md. To measure a newer one,
// change it here and run make agents.
var clients = []client{
	{
		name: "claude-code", title: "Claude Code", pkg: "@anthropic-ai/claude-code", version: "2.1.330", program: "claude",
		shell: "Bash", arguments: commandAs("command"),
		env: func(endpoint string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + endpoint, "ANTHROPIC_API_KEY=none", "IS_SANDBOX=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
		args: func(_, prompt string) []string {
			return []string{"-p", prompt, "--dangerously-skip-permissions"}
		},
	},
	{
		name: "codex", title: "Codex", pkg: "@openai/codex", version: "0.169.0", program: "codex",
		shell: "exec_command", arguments: func(command string) map[string]any { return map[string]any{"cmd": command} },
		env: func(string) []string { return []string{"OPENAI_API_KEY=none"} },
		args: func(endpoint, prompt string) []string {
			return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox",
				"-c", "model_provider=scripted", "-c", "model=gpt-5",
				"-c", `model_providers.scripted={name="scripted",base_url="` + endpoint + `/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`, prompt}
		},
	},
	{
		name: "gemini-cli", title: "Gemini CLI", pkg: "@google/gemini-cli", version: "0.61.0", program: "gemini",
		shell: "run_shell_command", arguments: commandAs("command"),
		files: func(string) map[string]string {
			return map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`}
		},
		env: func(endpoint string) []string {
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + endpoint}
		},
		args: func(_, prompt string) []string {
			return []string{"--skip-trust", "-y", "-m", "gemini-2.5-pro", "-p", prompt}
		},
	},
	{
		name: "opencode", title: "OpenCode", pkg: "opencode-ai", version: "1.18.33", program: "opencode",
		shell: "bash", arguments: commandAs("command"),
		files: func(endpoint string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{
  "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "` + endpoint + `/v1", "apiKey": "none"}, "models": {"m": {}}}}
}
`}
		},
		env: func(string) []string { return []string{"OPENCODE_DISABLE_MODELS_FETCH=1"} },
		args: func(_, prompt string) []string {
			return []string{"run", "-m", "scripted/m", prompt}
		},
	},
	{
		name: "qwen-code", title: "Qwen Code", pkg: "@qwen-code/qwen-code", version: "0.24.4", program: "qwen",
		shell: "run_shell_command", arguments: func(command string) map[string]any {
			return map[string]any{"command": command, "is_background": false}
		},
		env: func(endpoint string) []string {
			return []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + endpoint + "/v1", "OPENAI_MODEL=scripted"}
		},
		args: func(_, prompt string) []string {
			return []string{"-y", "--auth-type", "openai", "-p", prompt}
		},
	},
	{
		name: "copilot-cli", title: "Copilot CLI", pkg: "@github/copilot", version: "1.0.102", program: "copilot",
		shell: "bash", arguments: commandAs("command"),
		env: func(endpoint string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + endpoint + "/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_MODEL=scripted", "COPILOT_OFFLINE=true"}
		},
		args: func(_, prompt string) []string {
			return []string{"--allow-all-tools", "-p", prompt}
		},
	},
}

// settle writes the settings that the client needs for the endpoint.
func (c client) settle(home, endpoint string) error {
	if c.files == nil {
		return nil
	}
	for name, text := range c.files(endpoint) {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
