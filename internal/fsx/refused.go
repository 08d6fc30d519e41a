package fsx

import (
	"errors"
	"io/fs"
	"syscall"
)

// RefusesWrites reports whether an error comes from a disk that is full or read-only.
func RefusesWrites(err error) bool {
	for _, of := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, fs.ErrPermission} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}
