package mcp

import (
	"github.com/recalld/recalld/internal/memory"
)

// The schemas of the tools of contexts and of working contexts.

// projectField names the project that a call is about.
func projectField() schema {
	return text("Project id or name; default: the one you work in.", 0, memory.MaxPathText)
}

// whichFields say whose session is meant.
func whichFields() schema {
	return schema{
		"sessionId": text("Default: the current session.", memory.MinSessionID, memory.MaxNameText),
		"project":   projectField(),
	}
}

func whichInputSchema() schema { return object("", true, whichFields()) }

// contextItem is an entry in a context, with what else an answer says of it.
func contextItem(more schema) schema {
	item := schema{
		"type": typed("string", ""), "name": typed("string", ""), "serverName": typed("string", ""),
		"includeMode":     typed("string", "always, manual or agent."),
		"similarityScore": typed("number", "Its relevance to the message; agent items only."),
	}
	for name, field := range more {
		item[name] = field
	}
	return object("", false, item, "type", "name", "includeMode")
}

// toolRef names a tool in an answer.
func toolRef() schema {
	return object("", false, schema{"serverName": typed("string", ""), "toolName": typed("string", "")}, "serverName", "toolName")
}

func contextOutputSchema() schema {
	word := typed("string", "")
	return answer(schema{
		"project": word, "project_name": word, "sessionId": word,
		"items": list("Those always included, then those added, in their order.", contextItem(nil), 0),
		"rules": list("", word, 0), "references": list("", word, 0), "tools": list("", toolRef(), 0),
		"changed": typed("boolean", "The call changed anything."),
		"version": typed("integer", "Of the working context."),
	}, "project", "sessionId", "items", "rules", "references", "tools", "version")
}

func changeInputSchema() schema {
	fields, added := whichFields(), refFields()
	added["includeMode"] = typed("string", "").with("enum", []memory.Include{memory.IncludeAlways, memory.IncludeManual}).
		with("default", memory.IncludeManual)
	fields["add"] = list("", object("", true, added, "type", "name"), memory.MaxChanges)
	fields["remove"] = list("", refInput(), memory.MaxChanges)
	return object("", true, fields)
}

func assembleInputSchema() schema {
	fields := whichFields()
	fields["message"] = text("The request that the context is for.", 1, memory.MaxQuery)
	fields["task_type"] = text("Of the task that it is for.", 0, memory.MaxNameText)
	fields["requires_context"] = typed("boolean", "false leaves out history and code; default: the settings'.")
	fields["topK"] = number("integer", "Matches considered; default: the settings', 20.", 1, memory.MaxTopK)
	fields["topN"] = number("integer", "Matches taken; default: the settings', 5.", 1, memory.MaxTopN)
	fields["includeScore"] = number("number", "Relevance from which a match is always taken; default: the settings', 0.7.", 0, 1)
	fields["max_tokens"] = number("integer", "Most tokens; default: the settings', 4,000.", memory.MinBudget, memory.MaxBudget)
	fields["no_search"] = typed("boolean", "Take the session's context alone.")
	fields["schemas"] = typed("boolean", "Answer with the schemas of all active tools.")
	return object("", true, fields, "message")
}

func assembledSchema() schema {
	word, count := typed("string", ""), typed("integer", "")
	return answer(schema{
		"project": word, "project_name": word, "sessionId": word,
		"turn": typed("integer", "Counts the session's requests, from 1."),
		"items": list("", contextItem(schema{
			"id": word, "description": word, "text": typed("string", "Of a rule or reference."),
			"inputSchema": anything("Of a tool."), "tokens": count, "state": typed("string", "changed, in a repeated answer."),
		}), 0),
		"memories":    list("Lessons, steps and code.", memoryItem(), 0),
		"window":      object("Recent tasks and blockers.", false, windowFields()),
		"activeTools": list("What the session may call.", toolRef(), 0),
		"toolSchemas": list("Of active tools that are not among items, on asking.", object("", false, schema{
			"serverName": word, "toolName": word, "description": word, "inputSchema": anything(""), "tokens": count,
		}, "serverName", "toolName"), 0),
		"guidance":   typed("string", "How newly found tools are used well; told once."),
		"withheld":   list("Candidates not handed out, and why.", withheldSchema(), 0),
		"degraded":   list("Parts that did not take part.", degradedSchema(), 0),
		"incomplete": incompleteSchema(), "why": whySchema(),
		"tokens": count, "max_tokens": count,
		"record":  contextRecord("What is kept of it."),
		"receipt": typed("string", "Names it in the ledger."),
	}, "project", "sessionId", "turn", "items", "memories", "activeTools", "withheld", "tokens", "max_tokens", "record", "receipt")
}

// contextRecord is what contract 6 keeps of a request.
func contextRecord(description string) schema {
	return object(description, false, schema{
		"items": list("A memory's name is its id.", contextItem(schema{
			"state": typed("string", "changed or gone: its text."), "text": typed("string", "Of then."),
		}), 0),
		"timestamp": moment(""),
	}, "items", "timestamp")
}

func workingOutputSchema() schema {
	word, count := typed("string", ""), typed("integer", "")
	entity := object("", false, schema{"id": word, "type": word, "name": word, "data": anything("")}, "id")
	ref := object("", false, schema{"type": word, "name": word, "serverName": word}, "type", "name")
	return answer(schema{
		"sessionId": word, "version": typed("integer", "Raised by every change."), "turn": count,
		"added": list("Changes of the context by hand.", contextItem(nil), 0), "removed": list("", ref, 0),
		"discoveredTools": list("", toolRef(), 0), "usedTools": list("", toolRef(), 0), "entities": list("", entity, 0),
		"toolUse": list("How often, and when last.", object("", false, schema{
			"serverName": word, "toolName": word, "count": count, "lastUsed": moment(""),
		}, "serverName", "toolName", "count"), 0),
		"guided":  list("Tools whose guidance was told.", toolRef(), 0),
		"summary": typed("string", "Of the last compaction."), "compactions": count, "compactedAt": moment(""),
	}, "sessionId", "version", "turn", "discoveredTools", "usedTools", "entities")
}

func reportInputSchema() schema {
	fields := whichFields()
	fields["usedTools"] = list("", object("", true, schema{
		"serverName": text("", 0, memory.MaxNameText), "toolName": text("", 1, memory.MaxNameText),
	}, "toolName"), memory.MaxUsedTools)
	fields["entities"] = list("One with a known id replaces it.", object("", true, schema{
		"id": text("", 1, memory.MaxNameText), "type": text("", 0, memory.MaxEntityText),
		"name": text("", 0, memory.MaxEntityText), "data": typed("object", ""),
	}, "id"), memory.MaxEntities)
	fields["clearDiscovered"] = typed("boolean", "Forget the tools that search_tools found.")
	return object("", true, fields)
}

func compactInputSchema() schema {
	fields := whichFields()
	fields["summary"] = text("What was done and what comes next, without the name of a tool; at most 2,000 tokens.", 0, memory.MaxSummary)
	fields["transcript"] = text("The conversation, for a model that writes the summary.", 0, memory.MaxTranscript)
	fields["keepTurns"] = number("integer", "Recent turns to keep; default: the settings', 3.", 1, memory.MaxKeepTurns)
	return object("", true, fields)
}

func compactedSchema() schema {
	word, count := typed("string", ""), typed("integer", "")
	return answer(schema{
		"project": word, "project_name": word, "sessionId": word, "summary": word,
		"model":        typed("string", "What wrote the summary, if not you."),
		"keepTurns":    typed("integer", "How many recent turns to keep."),
		"clearedTools": count, "clearedEntities": count,
		"activeTools": list("The core.", toolRef(), 0),
		"version":     typed("integer", "Of the working context."),
		"redacted":    typed("boolean", "A secret was taken out."),
	}, "project", "sessionId", "summary", "keepTurns", "clearedTools", "clearedEntities", "activeTools", "version")
}
