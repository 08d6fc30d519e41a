package mcp

import (
	"github.com/recalld/recalld/internal/memory"
)

// The schemas of the ledger's tools and of feedback.

func feedbackInputSchema() schema {
	return object("", true, schema{
		"receipt": text("The receipt that the answer named.", 1, memory.MaxNameText),
		"item":    text("Id of one item of it; default: all.", 0, memory.MaxNameText),
		"verdict": typed("string", "").with("enum", memory.Verdicts),
		"note":    text("Why, in a sentence.", 0, memory.MaxNote),
	}, "receipt", "verdict")
}

func feedbackOutputSchema() schema {
	count := typed("integer", "")
	return answer(schema{
		"receipt": typed("string", ""), "verdict": typed("string", ""),
		"items": list("", object("", false, schema{
			"id": typed("string", ""), "kind": typed("string", ""),
			"success_rate": typed("string", "Successes of attempts, now."),
			"verdicts":     verdictsSchema(),
		}, "id", "kind"), 0),
		"replaced": typed("boolean", "An earlier verdict no longer counts."),
		"seq":      count,
	}, "receipt", "verdict", "items", "seq")
}

// verdictsSchema counts the verdicts on an item.
func verdictsSchema() schema {
	count := typed("integer", "")
	return object("", false, schema{"worked": count, "failed": count, "irrelevant": count, "outdated": count})
}

func turnInputSchema() schema {
	fields := whichFields()
	fields["turn"] = number("integer", "Counted from 1; default: the last one.", 1, memory.MaxTurn)
	fields["texts"] = typed("boolean", "With the texts handed out, where they are as they were.")
	return object("", true, fields)
}

func turnOutputSchema() schema {
	record := contextRecord("Null for a turn without one.")
	record["type"] = []string{"object", "null"}
	return answer(schema{
		"project": typed("string", ""), "project_name": typed("string", ""), "sessionId": typed("string", ""),
		"turn":     typed("integer", ""),
		"record":   record,
		"withheld": list("Candidates not handed out, and why.", withheldSchema(), 0),
		"receipt":  typed("string", ""),
		"summary":  typed("string", "What it held, in a line."),
	}, "project", "sessionId", "turn", "record", "withheld", "summary")
}

func receiptsInputSchema() schema {
	return object("", true, schema{
		"sessionId": text("Only of this session.", memory.MinSessionID, memory.MaxNameText),
		"turn":      number("integer", "Only of this turn of the session; 0 is before the first.", 0, memory.MaxTurn),
		"since":     moment("Nothing older."),
		"limit":     number("integer", "Most receipts.", 1, memory.MaxReceipts).with("default", receiptsListed),
		"project":   projectField(),
	})
}

func receiptsOutputSchema() schema {
	word, count := typed("string", ""), typed("integer", "")
	return answer(schema{
		"project": word, "project_name": word,
		"receipts": list("Newest first.", object("", false, schema{
			"id": word, "at": moment(""), "project": word, "session": word, "turn": count,
			"purpose": typed("string", "context, tools, or absent for an answer of recall."),
			"request": typed("object", "What was asked."),
			"items": list("", object("", false, schema{
				"id": word, "kind": word, "relevance": typed("number", ""), "rank_factors": typed("object", ""), "tokens": count,
				"name": word, "server": word, "mode": typed("string", "How it got into a context."),
				"hash": typed("string", "Of its text."), "bytes": count, "path": word,
			}, "id", "kind", "relevance", "tokens"), 0),
			"withheld": list("", withheldSchema(), 0), "degraded": list("", degradedSchema(), 0),
			"tokens": count, "spaces": list("", word, 0), "calibration": word, "took_ms": typed("number", ""), "seq": count,
			"settings": typed("object", "Those that it was made with."),
			"judged": list("Verdicts, oldest first.", object("", false, schema{
				"item": word, "verdict": word, "at": moment(""), "note": word,
			}, "verdict", "at"), 0),
		}, "id", "at", "project", "items", "withheld", "tokens"), 0),
		"more": typed("boolean", "There are older ones."),
	}, "project", "receipts")
}
