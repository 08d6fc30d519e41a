package mcp

import "github.com/recalld/recalld/internal/memory"

// The schemas of recall, remember, index_repo and status.

func recallInputSchema() schema {
	name := func(description string) schema { return text(description, 1, memory.MaxNameText) }
	query := text("What you want to know, in your own words, or an error message.", 1, memory.MaxQuery)
	return object("", true, schema{
		"query": query,
		"text":  text("Older name of query.", 1, memory.MaxQuery).with("deprecated", true),
		"ids": list("Ids of memories, as answers give them, or beginnings of ids, to be shown in full: lessons, steps, tasks, entries, code. No query is needed.",
			text("", memory.MinIDPrefix, memory.MaxNameText), memory.MaxRecallIDs),
		"kinds": list("Kinds to look for; default lesson, step, chunk (code), task (with what blocks).",
			typed("string", "").with("enum", []memory.Kind{
				memory.Lesson, memory.Step, memory.Chunk, memory.Task, memory.Reference, memory.Rule, memory.Tool}), 7),
		"project": text("Project id or name; default: the one you work in.", 0, memory.MaxPathText),
		"repo":    text("Only lessons of this repository; an unknown one is an error with near names.", 0, memory.MaxNameText),
		"scope": scope("Whose steps: of all sessions of the project, the current one, or one by id.").
			with("default", memory.ScopeAll),
		"filters": object("Narrow the search; all given filters must hold.", true, schema{
			"flowTag":    name("A session's flow tag."),
			"tag":        name("A tag, of a lesson or of a step's session."),
			"screen":     name("A step's screen."),
			"gitBranch":  name("A session's branch."),
			"sinceHours": number("integer", "Sessions created in the last hours.", 1, memory.MaxSinceHours),
			"lang":       name("Language of code."),
			"path":       text("Path prefix or glob of code.", 1, memory.MaxPathText),
			"since":      typed("string", "Nothing older than this RFC 3339 time.").with("format", "date-time"),
		}),
		"limit": number("integer", "Most items to return.", 1, memory.MaxLimit).with("default", memory.DefaultLimit),
		"max_tokens": number("integer", "Most tokens of the answer.", memory.MinTokens, memory.MaxTokens).
			with("default", memory.DefaultTokens),
		"min_relevance": number("number", "Floor of relevance; default 0.75 for code, 0.5 for lessons and steps.", 0, 1),
		"format": typed("string", "How the answer is written out.").
			with("enum", []memory.Format{memory.FormatText, memory.FormatJSON, memory.FormatMarkdown}).
			with("default", memory.FormatText),
		"explain": typed("boolean", "Give the factors of each rank."),
		// query is not listed as required: text may stand in its place.
	})
}

func recallOutputSchema() schema { return answer(recallFields(), recallRequired...) }

var recallRequired = []string{"project", "items", "withheld", "stale", "tokens", "receipt"}

// recallFields are those of an answer, which record_step gives as advice too.
func recallFields() schema {
	return schema{
		"project":          typed("string", "The project that was searched."),
		"project_name":     typed("string", ""),
		"items":            list("Lessons, steps, then code.", memoryItem(), 0),
		"withheld":         list("Candidates not shown, and why, as far as the budget has room for them.", withheldSchema(), 0),
		"degraded":         list("Parts that did not take part.", degradedSchema(), 0),
		"stale":            typed("boolean", "The code index lags behind the disk."),
		"nothing_relevant": typed("boolean", "The search was complete and found nothing relevant."),
		"incomplete":       incompleteSchema(), "why": whySchema(),
		"redacted": typed("boolean", "A secret was taken out."),
		"tokens":   typed("integer", ""),
		"receipt":  typed("string", "Names this answer in the ledger, for feedback."),
	}
}

// memoryItem is one memory of an answer.
func memoryItem() schema {
	retriever := object("", false, schema{"score": typed("number", ""), "relevance": typed("number", "")}, "score", "relevance")
	return object("", false, schema{
		"id":   typed("string", ""),
		"kind": typed("string", ""),
		"text": typed("string", "What the budget has room for; empty for a lesson whose fields have it."),
		"source": object("", false, schema{
			"path": typed("string", ""), "lines": list("First and last line, from 1.", typed("integer", ""), 2),
			"session": typed("string", ""), "repo": typed("string", ""), "sandbox": typed("string", ""), "symbol": typed("string", ""),
		}),
		"project":   typed("string", ""),
		"relevance": typed("number", "Calibrated, 0–1."),
		"rank_factors": object("Why it ranks where it does. Score = its match, the fused score as a share of the best one, × the factors.", false, schema{
			"score": typed("number", ""), "recency": typed("number", ""), "success": typed("number", ""),
			"project": typed("number", ""), "session": typed("number", ""),
			"error":      typed("boolean", "It tells of the very error that was asked about."),
			"definition": typed("string", "The name that was asked for, which it declares."),
			"place":      typed("string", "The place that was asked for."),
			"retrievers": typed("object", "").with("additionalProperties", retriever),
			"verdicts":   verdictsSchema(),
		}),
		"created_at": typed("string", "").with("format", "date-time"),
		"timestamp":  typed("string", "The same as created_at.").with("format", "date-time"),
		"lesson":     typed("string", "The whole of it, and so context and command; left out where text is cut and there is no room."),
		"context":    typed("string", ""), "command": typed("string", ""),
		"success_rate": typed("string", "Successes of attempts: 9/10."),
		"foreign":      typed("boolean", "It is of another repository than the one that asked; of code, that another worktree or clone has it so."),
		"state":        typed("string", ""),
		"cut":          typed("boolean", "Text is not all of it; recall with its id gives the rest."),
		"similar":      typed("integer", "Near-duplicates collapsed into this one."),
		"tokens":       typed("integer", ""),
		"ok":           typed("boolean", "Of a step: whether it worked."),
		"target":       typed("string", "Of a step: what the tool was used on, in a line."),
		"error":        stepErrorSchema(),
		"step":         typed("object", "The whole step, asked for by its id."),
		"task":         typed("object", "The whole task or blocker, asked for by its id."),
	}, "id", "kind", "text", "source", "project", "relevance")
}

// withheldSchema is a candidate that was not shown.
func withheldSchema() schema {
	return object("", false, schema{
		"id": typed("string", ""), "kind": typed("string", ""), "reason": typed("string", ""),
		"nearest_score": typed("number", ""), "path": typed("string", ""),
		"name": typed("string", "Of a rule, reference, tool or task."), "server": typed("string", ""),
		"note": typed("string", "More about the reason, of what was asked for by its id."),
	}, "id", "kind", "reason", "nearest_score")
}

// incompleteSchema and whySchema say that a search was not complete.
func incompleteSchema() schema {
	return typed("boolean", "Not all was searched, so what is missing here may exist; ask again.")
}

func whySchema() schema { return typed("string", "Why it is incomplete.") }

// degradedSchema is a part that did not take part in an answer.
func degradedSchema() schema {
	return object("", false, schema{"part": typed("string", ""), "reason": typed("string", "")}, "part", "reason")
}

func rememberInputSchema() schema {
	return object("", true, schema{
		"lesson":  text("What was learned, so that it can be acted on.", 1, memory.MaxLessonText),
		"context": text("What was being attempted, with the error if there was one.", 0, memory.MaxContextText),
		"command": text("The exact command, where there is one.", 0, memory.MaxCommandText),
		"event_type": typed("string", "error: it went wrong before it went right; success: a known problem solved; pattern: reusable.").
			with("enum", []memory.EventType{memory.EventError, memory.EventSuccess, memory.EventPattern}).
			with("default", memory.EventPattern),
		"type": typed("string", "The same as event_type.").
			with("enum", []memory.EventType{memory.EventError, memory.EventSuccess, memory.EventPattern}),
		"success_rate": typed("string", "Successes of attempts: 9/10.").with("pattern", `^\d{1,7}/\d{1,7}$`),
		"tags":         list("A few words to group by.", text("", 1, memory.MaxTagText), memory.MaxTags),
		"supersedes":   list("Ids of lessons that this one replaces.", text("", 1, memory.MaxNameText), memory.MaxAside),
		"retracts":     list("Ids of lessons that were found wrong; this one says why.", text("", 1, memory.MaxNameText), memory.MaxAside),
		"repo":         text("Repository it speaks of; default: the one you work in.", 0, memory.MaxNameText),
		"project":      text("Project id or name; default: the one you work in.", 0, memory.MaxPathText),
		"agent_id":     text("Who writes; default: the client's name.", 0, memory.MaxNameText),
	}, "lesson")
}

func rememberOutputSchema() schema {
	return answer(schema{
		"id": typed("string", ""), "project": typed("string", ""), "project_name": typed("string", ""), "repo": typed("string", ""),
		"merged":   typed("boolean", "The same lesson was there already."),
		"redacted": typed("boolean", "A secret was taken out."),
		"log":      typed("string", "The log file that it was appended to."),
		"warning":  typed("string", "What could not be done beside; the lesson is kept."),
		"seq":      typed("integer", "The committed batch that holds it."),
	}, "id", "project", "repo", "seq")
}

func indexInputSchema() schema {
	path := func(description string) schema { return text(description, 0, memory.MaxPathText) }
	return object("", true, schema{
		"path":         path("Folder of the repository; default: the one you work in."),
		"project_id":   text("The project's id, where known.", 0, memory.MaxNameText),
		"sandbox_root": path("Another name of path."),
		"changed_files": list("Only these files, relative to the folder; default: all that changed.",
			text("", 1, memory.MaxPathText), memory.MaxChangedFiles),
		"requested_at": typed("string", "When it was asked for; default: now.").with("format", "date-time"),
	})
}

func indexOutputSchema() schema {
	return answer(schema{
		"job": typed("string", ""), "position": typed("integer", "Place in the queue."),
		"coalesced": typed("boolean", "Joined to a request that was waiting."),
		"project":   typed("string", ""), "project_name": typed("string", ""),
		"sandbox": typed("string", ""), "root": typed("string", "The folder that is indexed."),
	}, "job", "position", "project", "sandbox", "root")
}

func statusOutputSchema() schema {
	count := typed("object", "").with("additionalProperties", typed("integer", ""))
	return answer(schema{
		"version": typed("string", ""), "protocol": typed("integer", ""), "pid": typed("integer", ""),
		"data": typed("string", ""), "socket": typed("string", ""), "tcp": typed("string", ""),
		"state":      typed("string", "loading, ready or draining"),
		"started_at": typed("string", "").with("format", "date-time"),
		"records":    count, "documents": typed("integer", ""), "seq": typed("integer", ""),
		"rss_bytes": typed("integer", ""), "disk_bytes": typed("integer", ""),
		"projects":       list("Sandboxes with the state of their index.", typed("object", ""), maxStatusProjects),
		"projects_total": typed("integer", "All of them, listed or not."),
		"spaces":         list("How far each model's vectors are.", typed("object", ""), 0),
		"queue": object("", false, schema{
			"waiting": typed("integer", ""), "running": typed("integer", ""), "dead": typed("integer", ""),
			"dropped": typed("integer", ""), "by_kind": count,
		}, "waiting", "running", "dead", "dropped"),
		"savings": object("What answers with lessons saved against reading their logs, since the daemon started.", false, schema{
			"answers": typed("integer", ""), "tokens": typed("integer", ""),
			"projects": list("Those with the most.", typed("object", ""), 20),
		}),
		"notes":  list("What the settings, or the environment, have left aside.", typed("string", ""), 0),
		"errors": list("The last ones.", typed("object", ""), maxStatusErrors),
		"code": object("Indexing of code and questions for it, since the daemon started.", false, schema{
			"paused": typed("boolean", "All work in the background is held."), "sandboxes": typed("integer", ""),
			"stale": typed("integer", "Sandboxes whose index may lag behind the disk."), "waiting": typed("integer", "Runs in the queue."),
			"runs": typed("integer", ""), "failed": typed("integer", ""), "mean_run_ms": typed("number", ""),
			"index_bytes": typed("integer", ""), "max_bytes": typed("integer", ""), "pruned": typed("integer", "Files without their chunks."),
			"asked": typed("integer", "Questions that code could have answered."), "hits": typed("integer", "Those answered with code."),
			"fallbacks": typed("integer", "Those answered by the light index, or without code because it was missing or late."),
		}),
	}, "version", "protocol", "state", "records", "projects", "spaces", "queue")
}
