package mcp

const turnDescription = `Show what a turn of the session was given: rules, references, tools and memories, how each came in, what has changed since, and what was withheld. Without a turn the last one.`

const receiptsDescription = `List receipts of answers and contexts, newest first: what was asked, handed out and withheld, with scores, settings and verdicts. Use it to see why something was, or was not, found.`

// ledgerTools read what was handed out.
func ledgerTools() []ownTool {
	return []ownTool{
		{name: "context_of_turn", title: "Context of a turn", description: turnDescription, group: groupLedger, hints: reads,
			in: turnInputSchema(), out: turnOutputSchema(), stored: true, bind: plain((*Server).contextOfTurn)},
		{name: "receipts", title: "Receipts", description: receiptsDescription, group: groupLedger, hints: reads,
			in: receiptsInputSchema(), out: receiptsOutputSchema(), stored: true, bind: plain((*Server).receipts)},
	}
}
