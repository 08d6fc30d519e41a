// Package spool keeps events in a folder until they are taken out: those of hooks that found
// the daemon late or not at all. A writer is a process that lives for milliseconds, and many
// write at once; one reader takes the events out in the order in which they were put in.
//
// An event is a file of its own. It is written under another name and then renamed, so a
// reader sees whole events only, and a writer that is killed leaves none. Its name begins
// with the time. Its first line is a checksum: what does not agree with it is set aside and
// never ends the reader. Nothing is synced, because a hook must not wait for a disk: a crash
// of the machine may lose the events of its last seconds.
package spool

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Bounds of a spool: an hour of a busy agent has some thousand events of a few kilobytes.
const (
	maxEvents = 20_000
	maxBytes  = 64 << 20
	// maxEvent bounds one event, in bytes. A hook's payload is at most 1 MiB, and an event
	// holds a shortened part of it.
	maxEvent = 2 << 20
)

// ErrFull is returned by Put if the spool has no room. The event is counted as refused.
var ErrFull = errors.New("the spool is full")

const (
	suffix = ".event"
	half   = ".part" // of an event that is being written
	// asideDir holds what could not be read or carried out, for people to look at.
	asideDir = "aside"
	// refusedName is a file with a byte for each refused event.
	refusedName = "refused"
	// maxAside bounds the files that are kept aside.
	maxAside = 1000
)

// Spool is a folder of events. It is created by the first event.
type Spool struct{ dir string }

// In returns the spool in a folder.
func In(dir string) Spool { return Spool{dir} }

// Put adds an event. It returns ErrFull without room, and otherwise an error of the disk.
func (s Spool) Put(at time.Time, event []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("create spool: %w", err)
	}
	names, size, err := s.list()
	if err != nil {
		return err
	}
	if len(event) > maxEvent || len(names) >= maxEvents || size+int64(len(event)) > maxBytes {
		s.countRefused()
		return ErrFull
	}
	sum := sha256.Sum256(event)
	text := append([]byte(hex.EncodeToString(sum[:])+"\n"), event...)
	// Zeros keep names of one length, so that they sort by time.
	name := fmt.Sprintf("%020d-%s", max(0, at.UnixNano()), rand.Text()[:8])
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path+half, text, 0o600); err != nil {
		return errors.Join(fmt.Errorf("write event: %w", err), os.Remove(path+half))
	}
	if err := os.Rename(path+half, path+suffix); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// countRefused adds to the count. A count that cannot be written is not worth an error.
func (s Spool) countRefused() {
	path := filepath.Join(s.dir, refusedName)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe waits
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.Write([]byte{'.'})
		_ = f.Close()
	}
}

// list returns the names of the waiting events, oldest first, and their size in bytes.
func (s Spool) list() (names []string, size int64, err error) {
	entries, err := os.ReadDir(s.dir) // sorted
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list spool: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) || !e.Type().IsRegular() {
			continue
		}
		names = append(names, e.Name())
		if info, err := e.Info(); err == nil { // else it was just taken out
			size += info.Size()
		}
	}
	return names, size, nil
}

// Waiting returns how many events there are.
func (s Spool) Waiting() int {
	names, _, _ := s.list()
	return len(names)
}

// Refused returns how many events found no room, ever.
func (s Spool) Refused() int64 {
	info, err := os.Lstat(filepath.Join(s.dir, refusedName))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Aside returns how many events are set aside.
func (s Spool) Aside() int {
	entries, _ := os.ReadDir(filepath.Join(s.dir, asideDir))
	return len(entries)
}

// Verdict is what becomes of an event that was handed out.
type Verdict int

const (
	Done  Verdict = iota // it is removed
	Bad                  // it is set aside
	Later                // it stays, and so does what follows
)

// clean removes what writers left that were killed. A writer takes milliseconds.
func (s Spool) clean() {
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != half {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

// Drain hands out the events, oldest first, until there is none or one is for later. It
// returns how many are done. Only one process may drain a spool.
func (s Spool) Drain(take func(event []byte) Verdict) (done int, err error) {
	names, _, err := s.list()
	if err != nil {
		return 0, err
	}
	if len(names) > 0 {
		s.clean()
	}
	for _, name := range names {
		path := filepath.Join(s.dir, name)
		verdict := Bad
		event, err := read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil:
			verdict = take(event)
		}
		switch verdict {
		case Later:
			return done, nil
		case Bad:
			err = s.setAside(name)
		default:
			done++
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, fmt.Errorf("take event out of the spool: %w", err)
		}
	}
	return done, nil
}

// errBad is the error of a file that is no whole event.
var errBad = errors.New("no event, or not all of it")

func read(path string) ([]byte, error) {
	// A link is not followed: an event lies in the folder itself.
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errBad
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEvent+2*sha256.Size+2))
	if err != nil {
		return nil, err
	}
	sum, event, found := bytes.Cut(text, []byte("\n"))
	want := sha256.Sum256(event)
	if !found || !bytes.Equal(sum, []byte(hex.EncodeToString(want[:]))) {
		return nil, errBad
	}
	return event, nil
}

// setAside moves an event out of the way, and removes the oldest that lie there.
func (s Spool) setAside(name string) error {
	dir := filepath.Join(s.dir, asideDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries[:max(0, len(entries)-maxAside+1)] {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(s.dir, name), filepath.Join(dir, name))
}
