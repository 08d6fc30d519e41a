package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lookAtDisk returns the state of the disk with a folder.
func lookAtDisk(dir string) (diskState, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return diskState{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return diskState{
		free:     int64(st.Bavail) * st.Bsize,
		readOnly: st.Flags&unix.ST_RDONLY != 0 || unix.Access(dir, unix.W_OK) != nil,
	}, nil
}

// allocate allocates blocks for a range of a file without changing its length. It is a
// no-op on file systems that do not support this, such as some network drives; there the
// check for free room must suffice.
func allocate(f *os.File, from, size int64) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return os.NewSyscallError("fallocate", err)
}
