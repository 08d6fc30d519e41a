package git

import (
	"io/fs"
	"syscall"
	"time"
)

// ChangeOf returns a file's change time and inode. The system sets the change time
// whenever content or attributes change, and no program can set it back. Both are
// zero where the platform does not tell them.
func ChangeOf(info fs.FileInfo) (changed time.Time, inode uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, 0
	}
	return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec)), s.Ino
}
