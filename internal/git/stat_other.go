//go:build !linux && !darwin

package git

import (
	"io/fs"
	"time"
)

// ChangeOf is zero here: this platform tells neither change time nor inode.
func ChangeOf(fs.FileInfo) (changed time.Time, inode uint64) { return time.Time{}, 0 }
