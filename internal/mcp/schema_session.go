package mcp

import "github.com/recalld/recalld/internal/memory"

// The schemas of session_start, record_step and session_end.

func startInputSchema(flowTags []string) schema {
	flowTag := text("", 1, memory.MaxTagText)
	if len(flowTags) > 0 {
		flowTag.with("enum", flowTags)
	}
	return object("", true, schema{
		"goal":     text("What the session is for, in a sentence.", 0, memory.MaxGoalText),
		"flowTags": list("The flows it is about, of the vocabulary in the settings.", flowTag, memory.MaxTags),
		"tags":     list("A few words of your own to group by.", text("", 1, memory.MaxTagText), memory.MaxTags),
		"sessionId": text("Letters, digits, . _ and -; made if left out.", memory.MinSessionID, memory.MaxNameText).
			with("pattern", "^[A-Za-z0-9_-][A-Za-z0-9._-]*[A-Za-z0-9_-]$"),
		"build":       typed("object", `Facts about the build, such as {"buildType": "build:test"}.`),
		"launch":      typed("object", "How the program under test was started."),
		"screenshots": typed("boolean", "Store the pictures that its steps name.").with("default", false),
		"project":     text("Project id or name; default: the one you work in.", 0, memory.MaxPathText),
	})
}

func endInputSchema() schema {
	return object("", true, schema{
		"sessionId": text("Default: the current session.", memory.MinSessionID, memory.MaxNameText),
		"project":   text("Project id or name; default: the one you work in.", 0, memory.MaxPathText),
	})
}

func sessionOutputSchema() schema {
	return answer(schema{
		"sessionId": typed("string", ""), "project": typed("string", ""), "project_name": typed("string", ""),
		"createdAt": moment(""), "endedAt": moment("Absent while it is open."),
		"goal":     typed("string", ""),
		"flowTags": list("", typed("string", ""), 0),
		"tags":     list("", typed("string", ""), 0),
		"git": object("Where the repository stood at the start.", false, schema{
			"branch": typed("string", ""), "commit": typed("string", ""), "dirty": typed("boolean", ""),
		}),
		"steps":    typed("integer", "How many are recorded."),
		"dir":      typed("string", "The folder of its files."),
		"redacted": typed("boolean", "A secret was taken out."),
		"warning":  typed("string", "What could not be done beside; the session is kept."),
		"seq":      typed("integer", "The committed batch that holds it."),
	}, "sessionId", "project", "createdAt", "steps", "seq")
}

func stepInputSchema() schema {
	return object("", true, schema{
		"tool": object("What was used, and on what.", true, schema{
			"name":   text("", 1, memory.MaxNameText),
			"input":  anything("What it was given."),
			"target": anything("What it acted on: a file, a button, a selector."),
		}, "name"),
		"outcome": object("How it ended.", true, schema{
			"ok": typed("boolean", ""),
			"error": object("Only when it failed.", true, schema{
				"code":    text("", 0, memory.MaxNameText),
				"message": text("The message as it was shown.", 0, memory.MaxErrorText),
				"details": anything("More of it."),
			}),
		}, "ok"),
		"observation": schema{
			"description": "What was seen: a text, or an object such as {state: {currentScreen}, testIds, a11y: {nodes}}.",
			"anyOf":       []schema{typed("object", ""), typed("string", "")},
		},
		"environment": typed("object", "Facts about where it ran."),
		"durationMs":  number("integer", "How long it took.", 0, memory.MaxStepDuration.Milliseconds()),
		"screenshot":  text("Name or path of a picture.", 0, memory.MaxNameText),
		"timestamp":   moment("Default: now."),
		"advise":      typed("boolean", "Answer a step that failed with lessons about its error.").with("default", true),
		"sessionId":   text("Default: the current session.", memory.MinSessionID, memory.MaxNameText),
		"project":     text("Project id or name; default: the one you work in.", 0, memory.MaxPathText),
	}, "tool", "outcome")
}

func stepOutputSchema() schema {
	return answer(schema{
		"id": typed("string", ""), "sessionId": typed("string", ""), "project": typed("string", ""),
		"timestamp": moment("Moved on by a millisecond where two steps of a tool would share it."),
		"labels":    list("Derived from tool, target and outcome.", typed("string", ""), 0),
		"redacted":  typed("boolean", "A secret was taken out."),
		"file":      typed("string", "The step's file."),
		"warning":   typed("string", "What could not be done beside; the step is kept."),
		"advice":    object("Lessons about its error, as recall answers.", false, recallFields(), recallRequired...),
		"seq":       typed("integer", "The committed batch that holds it."),
	}, "id", "sessionId", "project", "timestamp", "labels", "seq")
}
