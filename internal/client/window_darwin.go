package client

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// lookAt asks the kernel's table of processes.
func lookAt(pid int) (process, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, false
	}
	return process{
		parent: int(p.Eproc.Ppid), name: unix.ByteSliceToString(p.Proc.P_comm[:]),
		started: fmt.Sprintf("%d.%d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec),
	}, true
}
