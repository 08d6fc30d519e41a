package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestTablesMarkWhatIsFollowed: steps and sessions from a repository's files are told
// from those that were recorded here.
func TestTablesMarkWhatIsFollowed(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	file := &memory.Provenance{Origin: memory.OriginFollowed, Path: "/src/shop/s"}
	steps := stepRows([]memory.StepView{{Timestamp: now, Snippet: "from a file", Provenance: file}, {Timestamp: now, Snippet: "recorded"}}, wideSteps)
	sessions := sessionRows([]memory.SessionView{{SessionID: "file", CreatedAt: now, Goal: "from a file", Provenance: file}, {SessionID: "here", CreatedAt: now, Goal: "recorded"}}, now)
	for name, rows := range map[string][][]string{"steps": steps, "sessions": sessions} {
		for _, row := range rows[1:] {
			line := strings.Join(row, " ")
			if marked := strings.Contains(line, memory.FollowedMark); marked != strings.Contains(line, "from a file") {
				t.Errorf("%s: %q is marked: %v, want the mark for what is from a file alone", name, line, marked)
			}
		}
	}
}

// TestWaitingText reads well of one file and of several.
func TestWaitingText(t *testing.T) {
	one := waitingText(memory.WaitingFiles{Root: "/src/shop", Logs: 1})
	if want := "1 lesson log of /src/shop, by another author. Run 'recalld trust /src/shop' to read this."; one != want {
		t.Errorf("it says %q, want %q", one, want)
	}
}
