package mcp

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// taskText says what became of a task, and what is held now.
func taskText(verb string) func(*memory.TaskSaved) string {
	return func(kept *memory.TaskSaved) string {
		var text strings.Builder
		fmt.Fprintf(&text, "%s task %s in project %s: %s, %s held.", verb, kept.TaskID, projectLabel(kept.ProjectName, kept.Project),
			memory.Count(kept.Completed, "completed task"), memory.Count(kept.Blocked, "active blocker"))
		if kept.Dropped > 0 {
			fmt.Fprintf(&text, " %s gave way to the bounds; task_history still has it all.", memory.Count(kept.Dropped, "older task"))
		}
		if len(kept.NotKept) > 0 {
			fmt.Fprintf(&text, " Not kept: %s, because requires_context is false; report the task again with requires_context true to keep it.", strings.Join(kept.NotKept, " and "))
		}
		writeNotes(&text, kept.Redacted, kept.Warning)
		return text.String()
	}
}

func windowText(window *memory.TaskWindow) string {
	return cmp.Or(fence(window.Text), "No completed tasks and no blockers.")
}

func historyText(found *memory.TaskHistory) string {
	text := cmp.Or(fence(found.Text), "No event of a task.")
	if found.More {
		text = strings.TrimRight(text, "\n") + fmt.Sprintf("\nThere may be older ones: before %d.", found.Before)
	}
	return text
}

func loadedText(loaded *memory.TasksLoaded) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Took over %s and %s in project %s; %d known.", memory.Count(loaded.Tasks, "task"), memory.Count(loaded.Blockers, "blocker"),
		projectLabel(loaded.ProjectName, loaded.Project), loaded.Known)
	if loaded.Dropped > 0 {
		fmt.Fprintf(&text, " %s gave way to the bounds; task_history still has it all.", memory.Count(loaded.Dropped, "task"))
	}
	if loaded.Settled > 0 {
		fmt.Fprintf(&text, " %d were forgotten or resolved before, and stay so.", loaded.Settled)
	}
	writeNotes(&text, loaded.Redacted, loaded.Warning)
	return text.String()
}
