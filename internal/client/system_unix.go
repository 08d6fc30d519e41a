//go:build unix

package client

import "syscall"

// detached has a child outlive this process and its terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// isRefusedBySystem knows errors that the portable names do not cover.
func isRefusedBySystem(error) bool { return false }
