package project

import "syscall"

// createNoWindow is CREATE_NO_WINDOW of the Windows API.
const createNoWindow = 0x08000000

// noWindow keeps a console from flashing up where this process has none.
func noWindow() *syscall.SysProcAttr { return &syscall.SysProcAttr{CreationFlags: createNoWindow} }
