//go:build !unix

package fsx

import (
	"errors"
	"io"
	"os"
)

// Maps says that Map maps files. Windows refuses to replace a file that is mapped or open.
const Maps = false

// Mapped is a file that is opened when it is read.
type Mapped struct {
	path string
	size int64
}

func newMapped(f *os.File, size int64) (*Mapped, error) { return &Mapped{f.Name(), size}, nil }

// Len is the size of the file.
func (m *Mapped) Len() int64 { return m.size }

// Bytes reads n bytes of the file from an offset on, which must be there.
func (m *Mapped) Bytes(at, n int64) ([]byte, error) {
	f, err := os.Open(m.path)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(io.NewSectionReader(f, at, n), b)
	return b, errors.Join(err, f.Close())
}
