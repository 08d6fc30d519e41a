//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// checkPrivate returns an error unless info is of a real folder of this user
// that no other can enter.
func checkPrivate(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("not a folder")
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return errors.New("belongs to another user; name another place with the setting socket")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New("is open to other users; close it with chmod 700, or name another place with the setting socket")
	}
	return nil
}
