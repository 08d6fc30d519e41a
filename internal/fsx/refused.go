package fsx

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// IsGone reports whether an error says that a path, or one of its folders, does not exist.
func IsGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// RefusesWrites reports whether an error comes from a disk that is full, read-only or fails to
// write.
func RefusesWrites(err error) bool {
	causes := []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, fs.ErrPermission}
	return !FailsToRead(err) && slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
}

// FailsToRead reports whether an error comes from a disk that fails to read.
func FailsToRead(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && errors.Is(e, syscall.EIO) && slices.Contains([]string{"read", "readdir", "readdirent", "stat", "lstat", "seek"}, e.Op)
}
