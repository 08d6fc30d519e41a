//go:build !linux && !darwin

package fsx

import (
	"io/fs"
	"time"
)

// changeOf returns zeros: this platform has neither change time nor inode.
func changeOf(fs.FileInfo) (changed time.Time, inode uint64) { return time.Time{}, 0 }
