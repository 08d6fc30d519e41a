// Package filestat reads the attributes of files that tell whether a file has changed.
package filestat

import (
	"io/fs"
	"time"
)

// ChangeOf returns a file's change time and inode. The system sets the change time
// whenever content or attributes change, and no program can set it back. The inode
// tells a file from one that was put in its place. Both are zero where the platform
// does not tell them.
func ChangeOf(info fs.FileInfo) (changed time.Time, inode uint64) { return changeOf(info) }
