package agentimport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/source/agentlog"
)

// maxState bounds the file of the state, in bytes.
const maxState = 16 << 20

// state is what the next import needs to know.
type state struct {
	// Consent is when the user agreed; zero if not.
	Consent time.Time `json:"consent,omitzero"`
	// Logs are the stamps of logs that were read, by path.
	Logs map[string]string `json:"logs,omitempty"`
}

// stamp changes when a log does.
func stamp(l agentlog.Log) string { return fmt.Sprintf("%d %d", l.Size, l.Changed.UnixNano()) }

// dropGone drops the stamps of logs that are gone, which would add up, and says how many.
func (st *state) dropGone() (dropped int) {
	missing := func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	for path := range st.Logs {
		file := path
		if i := strings.LastIndexByte(path, '#'); i >= 0 { // a session in a database
			file = path[:i]
		}
		if missing(path) && missing(file) {
			delete(st.Logs, path)
			dropped++
		}
	}
	return dropped
}

// load reads the state. One that cannot be read is no consent.
func (s *Service) load() *state {
	st := &state{}
	text, err := fsx.ReadFile(s.opts.State, maxState)
	if err == nil {
		err = json.Unmarshal(text, st)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.opts.Logger.Warn("what was imported of agents is not known", "part", "agentimport", "error", err)
		}
		st = &state{}
	}
	if st.Logs == nil {
		st.Logs = map[string]string{}
	}
	return st
}

func (s *Service) save(st *state) error {
	err := fsx.WriteFile(s.opts.State, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(st) })
	if err != nil {
		return fmt.Errorf("write state of import: %w", err)
	}
	return nil
}
