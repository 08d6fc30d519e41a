//go:build unix

package fsx

import (
	"io/fs"
	"os"
	"syscall"
)

// IsOwn reports whether a file or folder belongs to the user of this process.
func IsOwn(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
