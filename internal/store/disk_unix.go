//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// diskUsage is the size of a file's blocks. Badger's logs are sparse, so their length is
// much larger.
func diskUsage(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
