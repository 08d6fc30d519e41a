package fsx

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// ChangeOf returns a file's change time and inode. The system sets the change time
// whenever content or attributes change, and no program can set it back. The inode
// differs when another file was put in this one's place. Both are zero on platforms
// that have neither.
func ChangeOf(info fs.FileInfo) (changed time.Time, inode uint64) { return changeOf(info) }

// Stamp tells states of a file apart by size, mode and modification time. It is empty if
// there is no file, or none that can be looked at. A symbolic link is followed.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.Mode(), info.ModTime().UnixNano())
}

// OpenToOthers reports whether the mode of a file lets other users reach it. On Windows its
// folder keeps them out.
func OpenToOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
