package agentlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/recalld/recalld/internal/fsx"
)

// OpenCode keeps the sessions of all folders in one SQLite database: tables session, message
// and part, of which a part holds the use of a tool with its result as JSON.

const openCodeDatabase = "opencode.db"

// Bounds of the database.
const (
	busyTimeout = time.Second // while OpenCode writes
	maxParts    = 1_000_000   // of a session
)

// openDatabase opens a database to read. It is the user's, and in use: nothing is written
// to it, and what its schema says is not carried out.
func openDatabase(place, name string) (*sqlite3.Conn, error) {
	root, err := fsx.OpenRoot(place)
	if err != nil {
		return nil, err
	}
	f, _, err := fsx.OpenFile(root, name) // refuses a link
	root.Close()
	if err != nil {
		return nil, err
	}
	f.Close()
	path := filepath.Join(place, name)
	address := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?mode=ro"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		address += "&immutable=1" // it is not in use; else SQLite would make files beside it
	}
	db, err := sqlite3.OpenFlags(address, sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	err = db.BusyTimeout(busyTimeout)
	if err == nil {
		err = db.Exec("PRAGMA trusted_schema=OFF; PRAGMA query_only=ON")
	}
	if err == nil {
		err = tablesOnly(db)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read database: %w", err)
	}
	return db, nil
}

// tablesOnly refuses a database whose names are views, which are programs.
func tablesOnly(db *sqlite3.Conn) error {
	return rows(db, "SELECT name FROM sqlite_schema WHERE type <> 'table' AND name IN ('session', 'message', 'part')", "", func(s *sqlite3.Stmt) error {
		return fmt.Errorf("%s is no table", s.ColumnText(0))
	})
}

// rows calls a function with each row of a query; argument is its first parameter.
func rows(db *sqlite3.Conn, query, argument string, each func(*sqlite3.Stmt) error) error {
	s, _, err := db.Prepare(query)
	if err != nil {
		return err
	}
	defer s.Close() // only read
	if s.BindCount() > 0 {
		if err := s.BindText(1, argument); err != nil {
			return err
		}
	}
	for s.Step() {
		if err := each(s); err != nil {
			return err
		}
	}
	return s.Err()
}

// findSessions lists the sessions of OpenCode's database, a log each.
func (p place) findSessions(name string) ([]Log, error) {
	db, err := openDatabase(p.folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil { // reading it says so
		return []Log{{Client: p.client, Place: p.folder, Name: name}}, nil
	}
	defer db.Close()
	var found []Log
	err = rows(db, "SELECT id, time_updated, (SELECT count(*) FROM part WHERE session_id = session.id) FROM session ORDER BY time_updated DESC LIMIT "+strconv.Itoa(maxLogs), "", func(s *sqlite3.Stmt) error {
		found = append(found, Log{Client: p.client, Place: p.folder, Name: name, Session: s.ColumnText(0),
			Size: s.ColumnInt64(2), Changed: time.UnixMilli(s.ColumnInt64(1)).UTC()})
		return nil
	})
	if err != nil {
		return []Log{{Client: p.client, Place: p.folder, Name: name}}, nil
	}
	return found, nil
}

// openCode reads a session of the database.
func (r *reader) openCode(l Log) error {
	db, err := openDatabase(l.Place, l.Name)
	if err != nil {
		return &OpenError{err}
	}
	defer db.Close()
	err = rows(db, "SELECT directory, time_created FROM session WHERE id = ?", l.Session, func(s *sqlite3.Stmt) error {
		r.begin(Session{ID: l.Session, Dir: s.ColumnText(0), Started: time.UnixMilli(s.ColumnInt64(1)).UTC()})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	parts := 0
	err = rows(db, "SELECT iif(octet_length(data) > "+strconv.Itoa(maxLine)+", NULL, data), id FROM part WHERE session_id = ? ORDER BY time_created, id", l.Session, func(s *sqlite3.Stmt) error {
		if parts++; parts > maxParts {
			return fmt.Errorf("the session has over %d parts", maxParts)
		}
		if s.ColumnType(0) == sqlite3.NULL {
			r.problem("part %s has over %d bytes", s.ColumnText(1), maxLine)
		} else if why := r.openCodePart(s.ColumnRawText(0)); why != nil {
			r.problem("part %s: %v", s.ColumnText(1), why)
		}
		return r.err
	})
	if err != nil && r.err == nil {
		r.problem("%v", err)
	}
	return r.err
}

func (r *reader) openCodePart(text []byte) error {
	var p struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		CallID string `json:"callID"`
		State  struct {
			Status   string          `json:"status"`
			Input    json.RawMessage `json:"input"`
			Output   string          `json:"output"`
			Error    string          `json:"error"`
			Metadata struct {
				Exit int `json:"exit"`
			} `json:"metadata"`
			Time struct {
				End int64 `json:"end"`
			} `json:"time"`
		} `json:"state"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if p.Type == "text" {
		r.begin(Session{Title: titleOf(p.Text)})
	}
	s := p.State
	if p.Type != "tool" || s.Status != "completed" && s.Status != "error" {
		return nil
	}
	r.asks(Call{ID: p.CallID, Tool: p.Tool, Input: s.Input})
	r.answer(p.CallID, func(c *Call) {
		if s.Time.End > 0 { // else it gets the session's
			c.At = time.UnixMilli(s.Time.End).UTC()
		}
		switch {
		case s.Status == "error":
			c.Failed, c.Error = true, head(s.Error)
		case c.Tool == "bash":
			c.command(head(s.Output), s.Metadata.Exit)
		}
	})
	return nil
}
