package daemon

import (
	"os"
	"strconv"
	"strings"
)

// residentBytes is the memory that the process holds, 0 if it cannot be read;
// see proc_pid_statm(5).
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
