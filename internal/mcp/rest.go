//go:build !linux

package mcp

import "runtime/debug"

// giveMemoryBack returns what the process does not use to the system.
func giveMemoryBack() { debug.FreeOSMemory() }
