package mcp

import "github.com/recalld/recalld/internal/memory"

// The schemas of the tools of working memory.

// taskID is the id of a task, as its host gave it.
func taskID() schema { return text("The task's id, of your own.", 1, memory.MaxTaskID) }

func completeInputSchema() schema {
	return object("", true, schema{
		"task_id":           taskID(),
		"validation_report": typed("object", `How it was checked; {"valid": true} says success.`),
		"completed_at":      moment("Default: now."),
		"task_type":         text("Its type, by which settings differ.", 0, memory.MaxTaskType),
		"requires_context":  typed("boolean", "Keep intent and summary for later tasks; default: the settings'."),
		"intent":            text("What it was for, in a sentence.", 0, memory.MaxIntent),
		"summary":           text("What came of it; made from the report if left out.", 0, memory.MaxTaskSummary),
		"project":           projectField(),
	}, "task_id", "validation_report")
}

func blockInputSchema() schema {
	return object("", true, schema{
		"task_id":    taskID(),
		"reason":     text("Why it cannot go on.", 1, memory.MaxReason),
		"blocked_at": moment("Default: now."),
		"project":    projectField(),
	}, "task_id", "reason")
}

func unblockInputSchema() schema {
	return object("", true, schema{
		"task_id":    taskID(),
		"resolution": text("How it was resolved.", 0, memory.MaxResolution),
		"project":    projectField(),
	}, "task_id")
}

func taskKeptSchema() schema {
	return answer(schema{
		"id": typed("string", "Of the record."), "task_id": typed("string", ""),
		"project": typed("string", ""), "project_name": typed("string", ""),
		"completed":  typed("integer", "Completed tasks that are held now."),
		"blocked":    typed("integer", "Active blockers."),
		"dropped":    typed("integer", "What gave way to the bounds; the audit log still has it."),
		"redacted":   typed("boolean", "A secret was taken out."),
		"not_kept":   list("What was given and dropped, because the task requires no context.", typed("string", ""), 0),
		"audit_file": typed("string", "The file that the event was appended to."),
		"warning":    typed("string", "What could not be done beside; the record is kept."),
		"seq":        typed("integer", "The committed batch that holds it."),
	}, "id", "task_id", "project", "completed", "blocked", "seq")
}

func windowInputSchema() schema {
	return object("", true, schema{
		"task_type": text("Show the window as the settings have it for this type.", 0, memory.MaxTaskType),
		"limit":     number("integer", "Most completed tasks; default: the settings', 5.", 1, memory.MaxWindow),
		"project":   projectField(),
	})
}

func windowOutputSchema() schema {
	return answer(windowFields(), "project", "tasks", "blockers", "total", "tokens", "text")
}

// windowFields are those of a window, which an assembled context holds too.
func windowFields() schema {
	word := typed("string", "")
	return schema{
		"project": word, "project_name": word,
		"tasks": list("Oldest first.", object("", false, schema{
			"task_id": word, "completed_at": moment(""), "task_type": word,
			"requires_context": typed("boolean", "Intent and summary are shown."), "intent": word, "summary": word,
			"validation_report": anything(""),
		}, "task_id", "completed_at", "requires_context"), 0),
		"blockers": list("All that are active.", object("", false, schema{
			"task_id": word, "reason": word, "blocked_at": moment(""),
		}, "task_id", "reason", "blocked_at"), 0),
		"total":     typed("integer", "All completed tasks that are held."),
		"tokens":    typed("integer", ""),
		"text":      typed("string", "For a prompt; empty when there is nothing."),
		"shortened": typed("integer", "Ids, intents and reasons that are cut in the text."),
		"left_out":  typed("integer", "Older blockers that are not in the text."),
	}
}

func historyInputSchema() schema {
	return object("", true, schema{
		"task_id": text("Only about this task.", 0, memory.MaxTaskID),
		"limit":   number("integer", "Most events.", 1, memory.MaxHistory).with("default", memory.DefaultHistory),
		"before":  typed("integer", "Only older ones: the before of the last answer.").with("minimum", 0),
		"project": projectField(),
	})
}

func historyOutputSchema() schema {
	word, raw := typed("string", ""), anything("")
	return answer(schema{
		"project": word, "project_name": word,
		"events": list("Newest first.", object("", false, schema{
			"event": typed("string", "task_completed, task_blocked, task_unblocked or tasks_loaded."), "timestamp": moment("When it was reported."),
			"seq": typed("integer", "The update that holds it."), "project": word, "client": word,
			"task": raw, "blocker": anything("Of an unblocked task, the one that it had."), "resolution": word,
			"completed_tasks": list("Loaded.", raw, 0), "active_blockers": list("Loaded.", raw, 0), "gave_way": list("Ids of tasks.", word, 0),
		}, "event", "timestamp", "project"), 0),
		"more":   typed("boolean", "There may be older events."),
		"before": typed("integer", "Asks for them."),
		"tokens": typed("integer", ""),
		"text":   typed("string", "A line for each event."),
	}, "project", "events", "tokens", "text")
}

func loadInputSchema() schema {
	return object("", true, schema{
		"state": schema{
			"description": "An object with completed_tasks and active_blockers, or a list of tasks.",
			"anyOf":       []schema{typed("object", ""), typed("array", "")},
		},
		"project": projectField(),
	}, "state")
}

func loadOutputSchema() schema {
	return answer(schema{
		"project": typed("string", ""), "project_name": typed("string", ""),
		"tasks": typed("integer", "Taken over."), "blockers": typed("integer", "Taken over."),
		"known":      typed("integer", "There already, and left as they were."),
		"dropped":    typed("integer", "What gave way to the bounds; the audit log still has it."),
		"settled":    typed("integer", "Forgotten or resolved here before; they do not come back."),
		"redacted":   typed("boolean", "A secret was taken out."),
		"audit_file": typed("string", "The file that the events were appended to."),
		"warning":    typed("string", "What could not be done beside; the records are kept."),
	}, "project", "tasks", "blockers", "known")
}
