package agentimport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
