package project

import (
	"fmt"
	"syscall"
)

// markOf is a folder's inode and its creation time.
func markOf(folder string) string {
	var stat syscall.Stat_t
	if err := syscall.Lstat(folder, &stat); err != nil || stat.Birthtimespec.Sec <= 0 {
		return ""
	}
	return fmt.Sprintf("%d-%d.%09d", stat.Ino, stat.Birthtimespec.Sec, stat.Birthtimespec.Nsec)
}
