package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lookAt reads /proc/PID/stat, as in proc_pid_stat(5): the name stands in brackets
// and may hold anything, the parent is the second field after it and the time of the
// start, in ticks since the boot, the 20th. fs.ErrNotExist says that there is no such process.
func lookAt(pid int) (process, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, syscall.ESRCH) { // it ended between opening and reading
		err = fs.ErrNotExist
	}
	if err != nil {
		return process{}, err
	}
	_, text, opened := strings.Cut(string(stat), "(")
	end := strings.LastIndex(text, ")")
	if !opened || end < 0 {
		return process{}, errors.ErrUnsupported
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 20 {
		return process{}, errors.ErrUnsupported
	}
	parent, err := strconv.Atoi(fields[1])
	return process{parent: parent, name: text[:end], started: fields[19]}, err
}
