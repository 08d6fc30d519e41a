// Package configs embeds the settings file that documents every setting, the
// entry that puts recalld into an MCP client, and the script that keeps lessons
// where no daemon runs. Beside them lie files for people to copy: units for
// service managers (systemd: ~/.config/systemd/user/recalld.service; launchd:
// ~/Library/LaunchAgents/com.github.recalld.plist, with @RECALLD@ replaced by the
// absolute path of the binary), and the entry of clients whose settings are TOML
// or that speak HTTP, with @TOKEN@ in the place of the token.
package configs

import _ "embed"

// YAML is recalld.yaml: every setting with its default and its explanation. A
// test of internal/config holds it against the code.
//
//go:embed recalld.yaml
var YAML []byte

// ClientJSON is the entry that most MCP clients take in their JSON settings; up
// prints it, with the command and arguments that fit the machine.
//
//go:embed clients/mcp.json
var ClientJSON []byte

// LogScript keeps a lesson from any shell; it goes to
// agent-knowledge/scripts/log_memory.sh of a repository.
//
//go:embed scripts/log_memory.sh
var LogScript []byte
