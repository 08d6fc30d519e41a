package mcp

const startDescription = `Open a session, one run of one agent, before work of several steps. Give the goal in a sentence, as another agent would search for it. Branch and commit are filled in. Later calls of record_step and recall on this connection use the session until session_end; if you name a project here, calls that name none are about that one until then. Not for clients whose hooks record: see the instructions.`

const stepDescription = `Record a step of the open session, what you just did: the tool used, on what, and how it ended, or failed. Log what another agent would want to know of, failures above all: a step that failed is answered with lessons about its error. Labels are derived; secrets are taken out. It is found by search as soon as this returns. Not for clients whose hooks record: see the instructions.`

const endDescription = `End the open session, when the task is done or given up. It stays searchable. Ending it again changes nothing.`

const searchDescription = `Find steps of this project's sessions by words and meaning, best first. Query with the name of a tool, a screen, a button or file, or the words of an error; narrow with filters, which choose sessions before any step is ranked. Answers {"ok":true,"result":{"query","matches"}}.`

const lastDescription = `List the newest steps, newest first: of the current session by default, of every session of the project with scope "all". Use it to see where you, or the agent before you, left off. Answers {"ok":true,"result":{"steps"}}.`

const summarizeDescription = `Summarise one session: the recipe of its steps, its goal, counts by label, screens in order, and each failure with what recovered it. Use it to repeat what worked before. Find ids with the sessions tool. Answers {"ok":true,"result":{"sessionId","stepCount","recipe",...}}.`

const sessionsDescription = `List the project's sessions, newest first, with goal, tags and branch; filters narrow them. Use it to find an earlier run of a task like yours, then summarise that. Answers {"ok":true,"result":{"sessions"}}.`

// historyTools write sessions and steps.
func historyTools(flowTags []string) []ownTool {
	return []ownTool{
		{name: startTool, title: "Start a session", description: startDescription, group: groupHistory,
			in: startInputSchema(flowTags), out: sessionOutputSchema(), bind: plain((*Server).startSession)},
		{name: "record_step", title: "Record a step", description: stepDescription, group: groupHistory,
			in: stepInputSchema(), out: stepOutputSchema(), stored: true, bind: plain((*Server).recordStep)},
		{name: endTool, title: "End a session", description: endDescription, group: groupHistory, hints: repeats,
			in: endInputSchema(), out: sessionOutputSchema(), bind: plain((*Server).endSession)},
	}
}

// knowledgeTools read sessions and steps, in the form of contract 1.
func knowledgeTools(prefix string) []ownTool {
	name := func(verb string) string { return prefix + "knowledge_" + verb }
	return []ownTool{
		{name: name("search"), title: "Search steps", description: searchDescription, group: groupKnowledge, hints: reads,
			in: searchInputSchema(), out: searchOutputSchema(), stored: true, bind: knowledge((*Server).searchSteps)},
		{name: name("last"), title: "Last steps", description: lastDescription, group: groupKnowledge, hints: reads,
			in: lastInputSchema(), out: lastOutputSchema(), stored: true, bind: knowledge((*Server).lastSteps)},
		{name: name("summarize"), title: "Summarise a session", description: summarizeDescription, group: groupKnowledge, hints: reads,
			in: summarizeInputSchema(), out: summarizeOutputSchema(), stored: true, bind: knowledge((*Server).summarize)},
		{name: name("sessions"), title: "List sessions", description: sessionsDescription, group: groupKnowledge, hints: reads,
			in: sessionsInputSchema(), out: sessionsOutputSchema(), stored: true, bind: knowledge((*Server).listSessions)},
	}
}
