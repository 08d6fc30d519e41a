package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// maxSocketPath is the longest path that recalld gives a socket, in bytes. The
// systems' own limits are 104 (macOS, BSD) and 108 (Linux, Windows), the final
// NUL included.
const maxSocketPath = 100

// Paths are the files of one data folder.
type Paths struct {
	Data string // the folder itself, 0700
	// Store is the database's folder.
	Store string
	// Lock is held by the daemon for its life, StartLock by the one client that
	// is starting it.
	Lock      string
	StartLock string
	Socket    string
	Log       string
	Token     string
	// Clients is the list of clients with policies.
	Clients string
	// Spool is the folder of events that wait for the daemon.
	Spool string
	// Backups is the folder of backups.
	Backups string
	// Team is the file of the membership in a team, with its secret.
	Team string
	// Models is the folder of models that were adapted.
	Models string
}

// Paths returns the files of the data folder. Nothing is created.
func (c *Config) Paths() Paths {
	p := Paths{
		Data:      c.Data,
		Store:     filepath.Join(c.Data, "store"),
		Lock:      filepath.Join(c.Data, "recalld.lock"),
		StartLock: filepath.Join(c.Data, "start.lock"),
		Socket:    c.Socket,
		Log:       filepath.Join(c.Data, "log", "recalld.log"),
		Token:     cmp.Or(c.TCP.TokenFile, filepath.Join(c.Data, "token")),
		Clients:   filepath.Join(c.Data, "clients.json"),
		Spool:     filepath.Join(c.Data, "spool"),
		Backups:   cmp.Or(c.Backup.Dir, filepath.Join(c.Data, "backups")),
		Team:      filepath.Join(c.Data, "team.json"),
		Models:    filepath.Join(c.Data, "models"),
	}
	if p.Socket == "" {
		p.Socket = socketPath(c.Data)
	}
	return p
}

// socketPath is the socket of a data folder: inside it where its path is short
// enough and its disk is not read-only, else under a name hashed from the folder. That
// one follows from the data folder and the user alone: the environment's folders
// (XDG_RUNTIME_DIR, TMPDIR) differ between a login, a service and a hook, which must
// meet.
func socketPath(data string) string {
	inside := filepath.Join(data, "run", "recalld.sock")
	if len(inside) <= maxSocketPath && (!onReadOnlyDisk(data) || listens(inside)) {
		return inside
	}
	sum := sha256.Sum256([]byte(data))
	return filepath.Join(sharedTemp(), "recalld-"+userID(), hex.EncodeToString(sum[:8])+".sock")
}

// listens says that a daemon listens on a socket. It is asked of a disk that has become
// read-only under the daemon.
func listens(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was asked
	return true
}

// sharedTemp is the folder for temporary files that is the same for every
// process of a user: /tmp, which is on every Unix, or the user's own on Windows.
// Prepare keeps others out of what is made in it.
func sharedTemp() string {
	if runtime.GOOS == "windows" {
		return os.TempDir()
	}
	return "/tmp"
}

// userID tells users apart in a folder that they share. Windows has a temporary
// folder per user, and no number.
func userID() string {
	if uid := os.Getuid(); uid >= 0 {
		return strconv.Itoa(uid)
	}
	return "user"
}

// Prepare creates the folders, readable by their owner alone. It refuses a data
// folder that another user owns or can write to, who could replace the store, and a
// folder for the socket that another user can enter, who could answer in the
// daemon's place. It never changes the mode of a folder that it finds, which may be
// a shared one. Daemon and clients call it before they listen or dial.
func (p Paths) Prepare() error {
	for _, dir := range []string{p.Data, filepath.Dir(p.Log)} {
		err := os.MkdirAll(dir, 0o700)
		if info, statErr := os.Stat(p.Data); statErr == nil && err != nil { // why it may be refused
			err = cmp.Or(checkOwned(p.Data, info), err)
		}
		if err != nil {
			return &Error{Field: "data", Message: err.Error(), Cause: err}
		}
	}
	for _, dir := range []string{p.Data, p.Store, p.Models} {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = checkOwned(dir, info)
		}
		if err != nil {
			return &Error{Field: "data", Message: err.Error(), Cause: err}
		}
	}
	dir := filepath.Dir(p.Socket)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create socket folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check socket folder: %w", err)
	}
	if err := checkPrivate(info); err != nil {
		return fmt.Errorf("check socket folder %s: %w", dir, err)
	}
	if len(p.Socket) > maxSocketPath {
		return &Error{Field: "socket", Limit: fmt.Sprintf("at most %d bytes", maxSocketPath),
			Message: fmt.Sprintf("%q has %d", p.Socket, len(p.Socket))}
	}
	return nil
}
