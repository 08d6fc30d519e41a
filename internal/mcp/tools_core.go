package mcp

const recallDescription = `Search this project's memory: lessons learned, steps of earlier sessions, and code by meaning and by words. Use it before starting a task, when an error message appears (paste it whole as the query: a lesson about the same error comes first), and to find where something is implemented. Narrow with filters rather than with more words. Returns a short, ranked text within max_tokens, with file and lines for code, and says so when nothing is relevant. Use this instead of reading the lesson logs.`

const rememberDescription = `Keep a lesson for later sessions and other agents. Call it after an error that took more than one attempt, after a working solution to a known problem, and after finding a reusable pattern. Say what was attempted (context, with the error message), what was learned (lesson) and the exact command where there is one. If a lesson that recall gave you is out of date, name its id in supersedes; if it is wrong, in retracts. It is found by recall as soon as this returns. Secrets are taken out. Never read or edit the lesson log itself.`

const feedbackDescription = `Say what came of an answer: worked, failed, irrelevant or outdated, for its receipt or for one item of it. Call it once you know. Verdicts move an item's rank; being found never does.`

const searchToolsDescription = `Find tools by what you want to do: those of this project's catalogue, and recalld's own, which are not all listed (sessions and steps, tasks and blockers, contexts, compaction, index and status). What it finds can be called from then on, and stays so until the session is compacted. Use it before you decide that there is no tool for something.`

// coreTools are listed to every client from the start.
func coreTools() []ownTool {
	return []ownTool{
		{name: "recall", title: "Recall", description: recallDescription, group: groupCore, hints: reads,
			in: recallInputSchema(), out: recallOutputSchema(), stored: true, bind: plain((*Server).recall)},
		// Not idempotent: a lesson that is told twice counts twice.
		{name: "remember", title: "Remember a lesson", description: rememberDescription, group: groupCore,
			in: rememberInputSchema(), out: rememberOutputSchema(), bind: plain((*Server).remember)},
		{name: "feedback", title: "Give feedback", description: feedbackDescription, group: groupCore, hints: repeats,
			in: feedbackInputSchema(), out: feedbackOutputSchema(), bind: plain((*Server).feedback)},
		// Read-only: all that it changes is what its own session is shown and may call.
		{name: "search_tools", title: "Search tools", description: searchToolsDescription, group: groupCore, hints: reads,
			in: searchToolsInputSchema(), out: searchToolsOutputSchema(), stored: true, bind: plain((*Server).searchTools)},
	}
}
