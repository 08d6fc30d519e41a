package client

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// lookAt reads /proc/PID/stat, as in proc_pid_stat(5): the name stands in brackets
// and may hold anything, the parent is the second field after it and the time of the
// start, in ticks since the boot, the 20th.
func lookAt(pid int) (process, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	_, text, opened := strings.Cut(string(stat), "(")
	end := strings.LastIndex(text, ")")
	if !opened || end < 0 {
		return process{}, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 20 {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return process{parent: parent, name: text[:end], started: fields[19]}, err == nil
}
