//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/recalld/recalld/internal/fsx"
)

// PrivateFiles makes all files that this process creates from now on readable by its
// user only, whatever umask it was started with. Badger creates its files with mode
// 0666, so only a process-wide umask keeps them private at every moment: changing their
// modes afterwards would leave a gap.
func PrivateFiles() { syscall.Umask(0o077) }

// checkOwned returns an error if other users can write to a folder: they could
// replace what is in it. The error says what to do.
func checkOwned(dir string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (number %d); run as that user, or name another folder with --data", dir, st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky != 0 { // as /tmp, which all users need
		return fmt.Errorf("%s is for all users; name a folder in it with --data", dir)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("other users can write to %s (mode %04o); run: chmod go-w %s", dir, info.Mode().Perm(), quoted(dir))
	}
	return nil
}

// quoted is a path as a shell reads it.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// checkPrivate returns an error unless info is of a real folder of this user
// that no other can enter.
func checkPrivate(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("not a folder")
	}
	if !fsx.IsOwn(info) {
		return errors.New("belongs to another user; name another place with the setting socket")
	}
	if info.Mode()&fs.ModeSticky != 0 {
		return errors.New("is for all users; name a folder of your own in it with the setting socket")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New("is open to other users; close it with chmod 700, or name another place with the setting socket")
	}
	return nil
}

// Tighten takes the bits of other users from a folder of ours and all below it:
// an earlier version made files with whatever the umask left.
func Tighten(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && (info.Mode().Perm()&0o077 == 0 || info.Mode().Type() == fs.ModeSymlink) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&0o700)
	})
}
