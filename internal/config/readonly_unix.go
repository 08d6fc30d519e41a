//go:build unix

package config

import (
	"errors"

	"golang.org/x/sys/unix"
)

// onReadOnlyDisk says that a folder is on a file system that takes no writes.
func onReadOnlyDisk(dir string) bool { return errors.Is(unix.Access(dir, unix.W_OK), unix.EROFS) }
