package fsx

import (
	"io/fs"
	"syscall"
	"time"
)

func changeOf(info fs.FileInfo) (changed time.Time, inode uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, 0
	}
	return time.Unix(s.Ctimespec.Sec, s.Ctimespec.Nsec), s.Ino
}
