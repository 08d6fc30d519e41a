package config

import (
	"errors"
	"io/fs"
)

// checkPrivate returns an error unless info is of a folder. Windows keeps the
// data and the temporary folder per user, so who owns it needs no check.
func checkPrivate(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("not a folder")
	}
	return nil
}
