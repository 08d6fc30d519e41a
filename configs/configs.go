// Package configs embeds the settings file that documents every setting, the
// files that put recalld under a service manager or into an MCP client, and the
// script that keeps lessons where no daemon runs.
package configs

import _ "embed"

// YAML is recalld.yaml: every setting with its default and its explanation. A
// test of internal/config holds it against the code.
//
//go:embed recalld.yaml
var YAML []byte

// SystemdUnit is a user unit for systemd; it goes to
// ~/.config/systemd/user/recalld.service.
//
//go:embed systemd/recalld.service
var SystemdUnit []byte

// LaunchdAgent is an agent for launchd; it goes to
// ~/Library/LaunchAgents/com.github.recalld.plist with @RECALLD@ replaced by
// the absolute path of the binary.
//
//go:embed launchd/com.github.recalld.plist
var LaunchdAgent []byte

// ClientJSON is the entry that most MCP clients take in their JSON settings.
//
//go:embed clients/mcp.json
var ClientJSON []byte

// ClientTOML is the same entry for clients whose settings are TOML.
//
//go:embed clients/mcp.toml
var ClientTOML []byte

// ClientHTTPJSON is the entry of a client that speaks streamable HTTP over
// loopback TCP, with @TOKEN@ in the place of the token.
//
//go:embed clients/mcp-http.json
var ClientHTTPJSON []byte

// LogScript keeps a lesson from any shell; it goes to
// agent-knowledge/scripts/log_memory.sh of a repository.
//
//go:embed scripts/log_memory.sh
var LogScript []byte
