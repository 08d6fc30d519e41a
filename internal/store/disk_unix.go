//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// diskUsage is what a file takes on disk: Badger's logs are sparse, so their
// length says nothing.
func diskUsage(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
