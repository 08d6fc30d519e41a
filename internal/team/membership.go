package team

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// membership is what a member's machine keeps of its team, in a file that only the user
// can read.
type membership struct {
	URL      string    `json:"url"`
	Projects []project `json:"projects"`
}

// project is a shared project.
type project struct {
	ID     string `json:"id"`
	Name   string `json:"name"`   // of the team
	Cursor uint64 `json:"cursor"` // of Server.Since
	// Instance is the Server.Instance that Cursor is of.
	Instance string `json:"instance,omitempty"`
	// Leaving says that the user stopped sharing it, and that the server was not told yet.
	Leaving bool `json:"leaving,omitempty"`
}

const maxFile = 1 << 20

// readMembership returns nil where there is no team.
func readMembership(path string) (*membership, error) {
	text, err := fsx.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read team: %w", err)
	}
	var m membership
	if err := json.Unmarshal(text, &m); err != nil || m.URL == "" {
		return nil, &memory.Error{Code: memory.CodeCorrupt, Message: fmt.Sprintf("the file %s is damaged", path), Hint: "run 'recalld team leave', then join again", Cause: err}
	}
	return &m, nil
}

func (m *membership) write(path string) error {
	err := fsx.WriteFile(path, 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
	if err != nil {
		return fmt.Errorf("write team: %w", err)
	}
	return nil
}

func removeMembership(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("leave team: %w", err)
	}
	return nil
}

func (m *membership) find(id string) *project {
	if i := slices.IndexFunc(m.Projects, func(p project) bool { return p.ID == id }); i >= 0 {
		return &m.Projects[i]
	}
	return nil
}
