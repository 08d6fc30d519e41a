package fsx

import (
	"io/fs"
	"time"
)

// ChangeOf returns a file's change time and inode. The system sets the change time
// whenever content or attributes change, and no program can set it back. The inode
// differs when another file was put in this one's place. Both are zero on platforms
// that have neither.
func ChangeOf(info fs.FileInfo) (changed time.Time, inode uint64) { return changeOf(info) }
