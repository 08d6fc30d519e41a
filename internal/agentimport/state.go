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

// maxState bounds the file of the state, in bytes: of 200,000 logs it has some 40 MB.
const maxState = 128 << 20

// stateVersion is raised when more can be read of logs that did not change.
const stateVersion = 1

// state is what the next import needs to know.
type state struct {
	// Version is stateVersion. With another one, all logs are read again: more can be read of
	// them, and what is known is not taken twice.
	Version int `json:"version"`
	// Consent is when the user agreed; zero if not.
	Consent time.Time `json:"consent,omitzero"`
	// Logs are the stamps of logs that were read or left out, by path.
	Logs map[string]string `json:"logs,omitempty"`
}

// stamp changes when a log does. It ends with the folder of a log that was left out because
// its folder is gone.
func stamp(l agentlog.Log, dir string) string {
	read := fmt.Sprintf("%d %d", l.Size, l.Changed.UnixNano())
	if dir == "" {
		return read
	}
	return read + " " + dir
}

// known says that a log has not changed, nor come its folder back.
func (st *state) known(l agentlog.Log) bool {
	rest, same := strings.CutPrefix(st.Logs[l.Path()], stamp(l, ""))
	dir, away := strings.CutPrefix(rest, " ")
	return same && (rest == "" || away && missing(dir))
}

// missing says that there is nothing at a path.
func missing(path string) bool {
	_, err := os.Stat(path)
	return fsx.IsGone(err)
}

// dropGone drops the stamps of logs that are gone, which would add up, and says how many.
func (st *state) dropGone() (dropped int) {
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

// load reads the state. One that cannot be read is no consent, which status tells as an error,
// once: Follow would repeat it. The caller holds mu.
func (s *Service) load() *state {
	st := &state{}
	text, err := fsx.ReadFile(s.opts.State, maxState)
	if err == nil {
		err = json.Unmarshal(text, st)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && s.unread != err.Error() {
			s.unread = err.Error()
			s.opts.Logger.Error("logs of agents are not followed until 'recalld import agents' asks again", "part", "agentimport", "error", err)
		}
		st = &state{}
	} else {
		s.unread = ""
	}
	if st.Logs == nil || st.Version != stateVersion {
		st.Logs = map[string]string{}
	}
	st.Version = stateVersion
	return st
}

func (s *Service) save(st *state) error {
	err := fsx.WriteFile(s.opts.State, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(st) })
	if err != nil {
		return fmt.Errorf("write state of import: %w", err)
	}
	return nil
}
