package archive

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestLongProjectName: an archive of a project whose folder has the longest name that a file
// system allows can be imported.
func TestLongProjectName(t *testing.T) {
	for length, taken := range map[int]bool{255: true, memory.MaxPathText + 1: false} {
		value, err := json.Marshal(memory.Project{ID: "p-1", Name: strings.Repeat("x", length)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Importer{}).newValues().decode(line{Kind: memory.ArchivedProject, Value: value}); (err == nil) != taken {
			t.Errorf("a name of %d characters: %v", length, err)
		}
	}
}
