//go:build unix

package fsx

import (
	"errors"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Maps says that Map maps files.
const Maps = true

// Mapped is a file in memory.
type Mapped struct{ all []byte }

func newMapped(f *os.File, size int64) (*Mapped, error) {
	if size > math.MaxInt {
		return nil, errors.New("it is too large")
	}
	m := &Mapped{}
	if size == 0 { // the system refuses to map nothing
		return m, nil
	}
	var err error
	if m.all, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	runtime.AddCleanup(m, func(all []byte) { _ = unix.Munmap(all) }, m.all)
	return m, nil
}

// Len is the size of the file.
func (m *Mapped) Len() int64 { return int64(len(m.all)) }

// Bytes returns n bytes of the file from an offset on, which must be there. They can be read
// as long as m can be reached.
func (m *Mapped) Bytes(at, n int64) ([]byte, error) { return m.all[at : at+n : at+n], nil }
