// Package configs embeds the settings file with every setting, the entry for MCP
// clients, and the script that logs lessons without a daemon.
//
// The folder also holds files to copy by hand: units for systemd
// (~/.config/systemd/user/recalld.service) and launchd
// (~/Library/LaunchAgents/com.github.recalld.plist; replace @RECALLD@ by the absolute
// path of the binary), and entries for clients with TOML settings or with MCP over HTTP
// (replace @TOKEN@ by the token).
package configs

import _ "embed"

// YAML is recalld.yaml: every setting with its default and its explanation. A
// test of internal/config compares it with the code.
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
