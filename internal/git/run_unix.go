//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// alone puts a command into a separate process group, which ends with the command's
// context.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
