//go:build !windows

package project

import "syscall"

// noWindow is for Windows, where a console would flash up.
func noWindow() *syscall.SysProcAttr { return nil }
