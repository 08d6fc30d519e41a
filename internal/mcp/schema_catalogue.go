package mcp

import (
	"github.com/recalld/recalld/internal/memory"
)

// The schemas of the catalogue's tools and of search_tools.

// entryType is the type of an entry.
func entryType() schema { return typed("string", "").with("enum", memory.EntryKinds) }

// refFields are what identifies an entry.
func refFields() schema {
	return schema{
		"type":       entryType(),
		"name":       text("", 1, memory.MaxNameText),
		"serverName": text("Of a tool; rules and references have none.", 1, memory.MaxNameText),
	}
}

// refInput names an entry in a call.
func refInput() schema { return object("", true, refFields(), "type", "name") }

// include is when an entry gets into a context.
func include(description string) schema {
	return typed("string", description).with("enum", memory.Includes)
}

func registerInputSchema() schema {
	entry := refFields()
	entry["description"] = text("What it is for; it is found by this.", 0, memory.MaxDescription)
	entry["content"] = text("What a rule or reference hands out.", 0, memory.MaxContent)
	entry["guidance"] = text("How a tool is used well; told once, when it is found.", 0, memory.MaxGuidance)
	entry["inputSchema"] = typed("object", "A tool's.")
	entry["core"] = typed("boolean", "A tool that is always active.")
	entry["include"] = include("Default: the server's.")
	entry["enabled"] = typed("boolean", "Default: the server's.")
	return object("", true, schema{
		"entries": list("", object("", true, entry, "type", "name"), memory.MaxRegistered),
		"servers": list("Defaults of servers' tools.", object("", true, schema{
			"name": text("", 1, memory.MaxNameText), "include": include("Default: always."), "enabled": typed("boolean", "Default: true."),
		}, "name"), memory.MaxServers),
		"source":  text("Who registers; default: the client's name.", 0, memory.MaxNameText),
		"replace": typed("boolean", "Remove what the source registered before and does not name now."),
		"project": projectField(),
	})
}

func unregisterInputSchema() schema {
	return object("", true, schema{
		"entries": list("These.", refInput(), memory.MaxRegistered),
		"source":  text("Or all that this source registered.", 0, memory.MaxNameText),
		"project": projectField(),
	})
}

func registeredSchema() schema {
	count := typed("integer", "")
	return answer(schema{
		"project": typed("string", ""), "project_name": typed("string", ""),
		"join_later": typed("integer", "Always included from now on; running sessions hold them when they next start."),
		"added":      count, "changed": count, "unchanged": count, "removed": count,
		"total":    typed("integer", "What the catalogue holds now."),
		"redacted": typed("boolean", "A secret was taken out."),
		"seq":      typed("integer", "The committed batch that holds it."),
	}, "project", "added", "changed", "unchanged", "removed", "total", "seq")
}

func entriesInputSchema() schema {
	return object("", true, schema{
		"types":   list("Only these; default: all.", entryType(), len(memory.EntryKinds)),
		"server":  text("Only this server's tools.", 0, memory.MaxNameText),
		"content": typed("boolean", "Add texts, guidance and schemas."),
		"project": projectField(),
	})
}

func entriesOutputSchema() schema {
	word, flag := typed("string", ""), typed("boolean", "")
	return answer(schema{
		"project": word, "project_name": word,
		"entries": list("In the order in which they were registered.", object("", false, schema{
			"id": word, "type": word, "name": word, "serverName": word, "description": word, "content": word, "guidance": word,
			"inputSchema": anything(""), "core": flag, "include": word, "enabled": flag, "source": word,
			"version": typed("integer", "Counts its changes."),
			"mode":    typed("string", "When it is included, after its server's settings."),
			"on":      typed("boolean", "Whether it is enabled, after its server's settings."),
		}, "id", "type", "name", "version", "mode", "on"), 0),
		"servers": list("", object("", false, schema{"name": word, "include": word, "enabled": flag}, "name"), 0),
	}, "project", "entries", "servers")
}

func searchToolsInputSchema() schema {
	fields := whichFields()
	fields["query"] = text("What you want to do, in your own words.", 1, memory.MaxToolsQuery)
	fields["limit"] = number("integer", "Most tools to return.", 1, memory.MaxToolsFound).with("default", memory.DefaultTools)
	return object("", true, fields, "query")
}

func searchToolsOutputSchema() schema {
	word, flag := typed("string", ""), typed("boolean", "")
	return answer(schema{
		"project": word, "project_name": word, "sessionId": typed("string", "Absent when none is open."),
		"tools": list("Best first.", object("", false, schema{
			"id": word, "serverName": typed("string", OwnServer+" for recalld's own."), "name": word, "description": word,
			"inputSchema": anything("Of a host's tool."), "relevance": typed("number", "Calibrated, 0–1."),
			"active": typed("boolean", "It may be called."), "new": flag,
		}, "id", "serverName", "name", "relevance", "active"), 0),
		"guidance":   typed("string", "How the new ones are used well; told once."),
		"listed":     list("Tools of recalld's own that are listed now.", word, 0),
		"degraded":   list("Parts that did not take part.", degradedSchema(), 0),
		"incomplete": incompleteSchema(), "why": whySchema(),
		"version": typed("integer", "Of the working context."),
		"receipt": typed("string", "Names this answer in the ledger."),
	}, "project", "tools", "receipt")
}
