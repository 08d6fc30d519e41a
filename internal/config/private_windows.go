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

// PrivateFiles does nothing: on Windows a file is as private as its folder.
func PrivateFiles() {}

// checkOwned returns nil: see checkPrivate.
func checkOwned(string, fs.FileInfo) error { return nil }

// Tighten does nothing: see PrivateFiles.
func Tighten(string) error { return nil }
