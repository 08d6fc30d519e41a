//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// alone puts a command into a process group of its own, which ends as a whole when
// the command's context does.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
