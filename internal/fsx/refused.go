package fsx

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// RefusesWrites reports whether an error comes from a disk that is full, read-only or fails to
// write.
func RefusesWrites(err error) bool {
	if FailsToRead(err) {
		return false
	}
	for _, of := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, fs.ErrPermission} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// FailsToRead reports whether an error comes from a disk that fails to read.
func FailsToRead(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && errors.Is(e, syscall.EIO) && slices.Contains([]string{"read", "readdir", "readdirent", "stat", "lstat", "seek"}, e.Op)
}
