package client

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached has a child outlive this process and its console.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}

// isRefusedBySystem knows Winsock's own codes: refused, and no such file, which
// it reports as a bad argument or an unreachable network.
func isRefusedBySystem(err error) bool {
	return errors.Is(err, windows.WSAECONNREFUSED) || errors.Is(err, windows.WSAEINVAL) ||
		errors.Is(err, windows.WSAENETUNREACH)
}
