package mcp

import "github.com/recalld/recalld/internal/memory"

// The schemas of the knowledge tools: names, defaults and limits are those of
// contract 1.

// stepFilters is the object filters of contract 1.
func stepFilters() schema {
	name := func(description string) schema { return text(description, 1, memory.MaxNameText) }
	return object("All that are given must hold.", true, schema{
		"flowTag":    name("Sessions with this flow tag."),
		"tag":        name("Sessions with this tag."),
		"screen":     name("Steps on this screen; in a list of sessions, those that have such a step."),
		"gitBranch":  name("Sessions started on this branch."),
		"sinceHours": number("integer", "Sessions created in the last hours.", 1, memory.MaxSinceHours),
	})
}

func searchInputSchema() schema {
	return object("", true, schema{
		"query":   text("A tool, a screen, a target, words of an error or of a goal.", 1, memory.MaxStepQuery),
		"scope":   scope("Whose steps.").with("default", memory.ScopeAll),
		"filters": stepFilters(),
		"limit":   number("integer", "Most steps to return.", 1, memory.MaxMatches).with("default", memory.DefaultMatches),
	}, "query")
}

func searchOutputSchema() schema {
	return knowledgeOutput(object("", false, schema{
		"query":      typed("string", ""),
		"matches":    list("Best first.", stepSchema(), memory.MaxMatches),
		"incomplete": incompleteSchema(), "why": whySchema(),
	}, "query", "matches"))
}

func lastInputSchema() schema {
	return object("", true, schema{
		"n":       number("integer", "Most steps to return, counted after the filters.", 1, memory.MaxLast).with("default", memory.DefaultLast),
		"scope":   scope("Whose steps.").with("default", memory.ScopeCurrent),
		"filters": stepFilters(),
	})
}

func lastOutputSchema() schema {
	return knowledgeOutput(object("", false, schema{
		"steps": list("Newest first.", stepSchema(), memory.MaxLast),
	}, "steps"))
}

func summarizeInputSchema() schema {
	return object("", true, schema{
		"scope": scope("Which session; all is refused.").with("default", memory.ScopeCurrent),
		"sessionId": text("Older form of scope; it wins over it.", memory.MinSessionID, memory.MaxNameText).
			with("deprecated", true),
	})
}

func summarizeOutputSchema() schema {
	count, number := typed("integer", ""), typed("integer", "Its place in the session, from 1.")
	return knowledgeOutput(object("", false, schema{
		"sessionId": typed("string", ""), "stepCount": count, "goal": typed("string", ""),
		"createdAt": moment(""), "endedAt": moment("Absent while it is open."),
		"recipe": list("The steps in order.", object("", false, schema{
			"stepNumber": number, "tool": typed("string", ""), "notes": typed("string", ""),
		}, "stepNumber", "tool", "notes"), 0),
		"omittedSteps": typed("integer", "The last steps, which the recipe has no room for."),
		"labels":       typed("object", "How many steps have each label.").with("additionalProperties", count),
		"screens":      list("In the order in which they were first seen.", typed("string", ""), 0),
		"failures": list("Steps that failed, and what recovered them.", object("", false, schema{
			"stepNumber": number, "tool": typed("string", ""), "error": typed("string", ""),
			"recoveredBy": typed("integer", "The number of the step that did."),
			"recovery":    typed("string", "What was done."),
		}, "stepNumber", "tool", "error"), 0),
	}, "sessionId", "stepCount", "recipe", "labels", "screens", "failures"))
}

func sessionsInputSchema() schema {
	return object("", true, schema{
		"limit":   number("integer", "Most sessions to return.", 1, memory.MaxSessions).with("default", memory.DefaultSessions),
		"filters": stepFilters(),
	})
}

func sessionsOutputSchema() schema {
	word := typed("string", "")
	return knowledgeOutput(object("", false, schema{
		"sessions": list("Newest first.", object("", false, schema{
			"sessionId": word, "createdAt": moment(""), "goal": word,
			"flowTags": list("", word, 0), "tags": list("", word, 0),
			"git": object("", false, schema{"branch": word, "commit": word, "dirty": typed("boolean", "")}),
		}, "sessionId", "createdAt", "goal", "flowTags", "tags", "git"), memory.MaxSessions),
	}, "sessions"))
}

// stepSchema is a step in a result.
func stepSchema() schema {
	return object("", false, schema{
		"id": typed("string", ""), "timestamp": moment(""), "tool": typed("string", ""),
		"screen":        typed("string", "Empty where the step has none."),
		"snippet":       typed("string", "The parts that matter, in a line."),
		"labels":        list("", typed("string", ""), 0),
		"ok":            typed("boolean", "Whether it worked."),
		"target":        typed("string", "What the tool was used on, in a line."),
		"error":         stepErrorSchema(),
		"sessionId":     typed("string", ""),
		"sessionGoal":   typed("string", ""),
		"matchedFields": list("The parts of the step that hold words of the query.", typed("string", ""), 0),
	}, "timestamp", "tool", "screen", "snippet", "labels", "ok", "sessionId")
}

// stepErrorSchema is what a step failed with.
func stepErrorSchema() schema {
	return object("What it failed with.", false, schema{"code": typed("string", ""), "message": typed("string", "In a line.")})
}

// knowledgeOutput is the form of every knowledge tool's answer: a result, or an
// error. Both are part of the schema, as they are in answer.
func knowledgeOutput(result schema) schema {
	return object("", false, schema{
		"ok":     typed("boolean", ""),
		"result": result,
		"error": object("Why the call failed.", false, schema{
			"code":    typed("string", "MM_INVALID_INPUT, MM_NOT_FOUND, MM_CONFLICT, MM_FORBIDDEN, MM_UNAVAILABLE, MM_CORRUPT, MM_INCOMPATIBLE or MM_INTERNAL"),
			"message": typed("string", ""),
			"field":   typed("string", "The field at fault."),
			"limit":   typed("string", "What the field must keep to."),
			"hint":    typed("string", "The next step."),
		}, "code", "message"),
	}, "ok").with("anyOf", []schema{
		{"required": []string{"result"}}, {"required": []string{"error"}},
	})
}
