package fsx

import (
	"errors"
	"io/fs"
	"syscall"
)

// RefusesWrites reports whether an error comes from a disk that is full, read-only or broken.
func RefusesWrites(err error) bool {
	for _, of := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, fs.ErrPermission} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}
