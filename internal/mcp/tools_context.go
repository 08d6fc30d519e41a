package mcp

const registerDescription = `Register rules, references and tools of a host in the project's catalogue, and settings of servers. include says when an entry gets into a context: always, manual (where somebody added it) or agent (where it is relevant to the message); a tool's own wins over its server's, which wins over always. replace removes what the same source registered before and does not name now.`

const unregisterDescription = `Remove entries from the project's catalogue by name, or all of a source. Old records still name them.`

const listContextDescription = `List the project's catalogue of rules, references and tools: what there is, when each is included, and whether it is enabled.`

const sessionContextDescription = `Show what the session's context holds: the rules, references and tools that are always included, and those that were added by hand.`

const changeContextDescription = `Add rules, references and tools to the session's context, or take some out. Any registered entry can be, whatever its include mode. Adding what is there changes nothing.`

const assembleDescription = `Build the context of one request: the session's context, the rules, references and tools that are relevant to the message, lessons, steps and code, recent tasks and blockers, within a token budget. Returns it as text for a prompt, and records what was handed out, what was withheld, and why. For hosts, once a request.`

const workingDescription = `Show what the session has come across: discovered and used tools, entities, and the summary of the last compaction.`

const reportDescription = `Report the tools that the session used and the entities that it met (an order, a file, a pull request), so that later requests know of them. With clearDiscovered, forget the tools that search_tools found.`

const compactDescription = `Start from a clean slate when the conversation grows too long: the summary is stored; entities, discovered and used tools are cleared. Say in the summary what was done, what comes next and what is open, with names and ids, and name no tool. Answers how many recent turns to keep. Without a summary a local model writes it from the transcript, if one is configured.`

// catalogueTools say what there is.
func catalogueTools() []ownTool {
	return []ownTool{
		{name: "register_context", title: "Register rules, references and tools", description: registerDescription, group: groupCatalogue, hints: repeats,
			in: registerInputSchema(), out: registeredSchema(), bind: plain((*Server).registerContext)},
		{name: "unregister_context", title: "Remove rules, references and tools", description: unregisterDescription, group: groupCatalogue,
			hints: hints{idempotent: true, destructive: true},
			in:    unregisterInputSchema(), out: registeredSchema(), bind: plain((*Server).unregisterContext)},
		{name: "list_context", title: "List rules, references and tools", description: listContextDescription, group: groupCatalogue, hints: reads,
			in: entriesInputSchema(), out: entriesOutputSchema(), stored: true, bind: plain((*Server).listContext)},
	}
}

// contextTools say what a request is given, and what a session has come across.
func contextTools() []ownTool {
	return []ownTool{
		{name: "session_context", title: "Session context", description: sessionContextDescription, group: groupContexts, hints: reads,
			in: whichInputSchema(), out: contextOutputSchema(), stored: true, bind: plain((*Server).sessionContext)},
		{name: "change_context", title: "Change the session context", description: changeContextDescription, group: groupContexts, hints: repeats,
			in: changeInputSchema(), out: contextOutputSchema(), stored: true, bind: plain((*Server).changeContext)},
		// Not idempotent: each call is a turn of the session.
		{name: "assemble_context", title: "Assemble a context", description: assembleDescription, group: groupContexts,
			in: assembleInputSchema(), out: assembledSchema(), stored: true, bind: plain((*Server).assembleContext)},
		{name: "working_context", title: "Working context", description: workingDescription, group: groupWorking, hints: reads,
			in: whichInputSchema(), out: workingOutputSchema(), stored: true, bind: plain((*Server).workingContext)},
		{name: "report_context", title: "Report tools and entities", description: reportDescription, group: groupWorking, hints: repeats,
			in: reportInputSchema(), out: workingOutputSchema(), stored: true, bind: plain((*Server).reportContext)},
		{name: "compact_session", title: "Compact a session", description: compactDescription, group: groupWorking, hints: hints{destructive: true},
			in: compactInputSchema(), out: compactedSchema(), stored: true, bind: plain((*Server).compactSession)},
	}
}
