package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name string
	mode fs.FileMode
	text []byte
}

// released is the time of all files in archives, so that two builds have the same bytes.
var released = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// writeZip writes entries as a zip file.
func writeZip(path string, entries []entry) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := zip.NewWriter(f)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: released}
		header.SetMode(e.mode)
		part, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(e.text); err != nil {
			return err
		}
	}
	return w.Close()
}

// writeTar writes entries as a compressed tar file.
func writeTar(path string, entries []entry) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	squeeze := gzip.NewWriter(f)
	w := tar.NewWriter(squeeze)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(e.text)), ModTime: released, Format: tar.FormatPAX}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(e.text); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), squeeze.Close())
}

// readProgram returns the program in an archive.
func readProgram(path string, t target) ([]byte, error) {
	if filepath.Ext(path) == ".zip" {
		z, err := zip.OpenReader(path)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return fs.ReadFile(z, t.program())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	squeezed, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	files := tar.NewReader(squeezed)
	for {
		switch header, err := files.Next(); {
		case err != nil:
			return nil, fmt.Errorf("%s has no %s: %w", path, t.program(), err)
		case header.Name == t.program():
			return io.ReadAll(files)
		}
	}
}

// writeChecksums lists the SHA-256 of every archive and package in the folder, as
// sha256sum does.
func writeChecksums(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, file := range files {
		if !slices.ContainsFunc([]string{".tar.gz", ".zip", ".deb", ".rpm"}, func(end string) bool { return strings.HasSuffix(file.Name(), end) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(text), file.Name()))
	}
	return os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(strings.Join(lines, "")), 0o644)
}
