package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lookAtDisk asks the file system of a folder.
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

// allocate gives a file its blocks in a range, and leaves its length. A file system
// that cannot do that, as some network drives, is no error: there the room that is
// watched must do.
func allocate(f *os.File, from, size int64) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return os.NewSyscallError("fallocate", err)
}
