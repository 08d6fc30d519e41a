package client

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// lookAt asks the kernel's table of processes. fs.ErrNotExist says that there is no such process.
func lookAt(pid int) (process, error) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) { // the table has nothing of it
		err = fs.ErrNotExist
	}
	if err != nil {
		return process{}, err
	}
	return process{
		parent: int(p.Eproc.Ppid), name: unix.ByteSliceToString(p.Proc.P_comm[:]),
		started: fmt.Sprintf("%d.%d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec),
	}, nil
}
