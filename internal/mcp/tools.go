package mcp

import (
	"fmt"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The tools that change which agent's session a connection has: the bridge knows
// them.
const startTool, endTool = "session_start", "session_end"

// instructions is what the server tells a client's model when it connects.
func (s *Server) instructions() string {
	return fmt.Sprintf(`recalld is this project's memory across sessions and agents: lessons, earlier steps and the indexed code.

Ask it with recall before you start a task, when an error appears, and before you search the code by hand. What works as a query: an error message, pasted whole; the goal of the task in a sentence; a file, symbol or command with what you want of it. Answers are short, ranked and verified against the disk; "nothing relevant" is an answer, do not ask again in other words more than once.

Write to it with remember
- after an error that took more than one attempt,
- after a working solution to a known problem,
- after finding a reusable pattern.

For work of several steps: session_start with the goal, record_step for what another agent would want to know of, failures above all (a failing step is answered with lessons about its error), session_end. These three are for clients without recalld's hooks: where hooks are installed (recalld connect claude-code does) they record sessions and steps by themselves, and what you record is there twice. %[1]s, %[2]s, %[3]s and %[4]s look back at sessions and steps.

Never read the lesson logs (agent-knowledge/logs) themselves: recall finds what matters in them at a fraction of the tokens.`,
		s.knowledgeName("search"), s.knowledgeName("last"), s.knowledgeName("summarize"), s.knowledgeName("sessions"))
}

// knowledgeName is the name of a knowledge tool.
func (s *Server) knowledgeName(verb string) string {
	return *s.opts.KnowledgePrefix + "knowledge_" + verb
}

const recallDescription = `Search this project's memory: lessons learned, steps of earlier sessions, and code by meaning and by words. Use it before starting a task, when an error message appears (paste it whole as the query: a lesson about the same error comes first), and to find where something is implemented. Narrow with filters rather than with more words. Returns a short, ranked text within max_tokens, with file and lines for code, and says so when nothing is relevant. Use this instead of reading the lesson logs.`

const rememberDescription = `Keep a lesson for later sessions and other agents. Call it after an error that took more than one attempt, after a working solution to a known problem, and after finding a reusable pattern. Say what was attempted (context, with the error message), what was learned (lesson) and the exact command where there is one. If a lesson that recall gave you is out of date, name its id in supersedes; if it is wrong, in retracts. It is found by recall as soon as this returns. Secrets are taken out. Never read or edit the lesson log itself.`

const startDescription = `Open a session, one run of one agent, before work of several steps. Give the goal in a sentence, as another agent would search for it. Branch and commit are filled in. Later calls of record_step and recall on this connection use the session until session_end; if you name a project here, calls that name none are about that one until then. Not for clients whose hooks record: see the instructions.`

const stepDescription = `Record one step of the open session: the tool used, on what, and how it ended. Record what another agent would want to know of, failures above all: a step that failed is answered with lessons about its error. Labels are derived; secrets are taken out. It is found by search as soon as this returns. Not for clients whose hooks record: see the instructions.`

const endDescription = `End the open session, when the task is done or given up. It stays searchable. Ending it again changes nothing.`

const searchDescription = `Find steps of this project's sessions by words and meaning, best first. Query with the name of a tool, a screen, a button or file, or the words of an error; narrow with filters, which choose sessions before any step is ranked. Answers {"ok":true,"result":{"query","matches"}}.`

const lastDescription = `List the newest steps, newest first: of the current session by default, of every session of the project with scope "all". Use it to see where you, or the agent before you, left off. Answers {"ok":true,"result":{"steps"}}.`

const summarizeDescription = `Summarise one session: the recipe of its steps, its goal, counts by label, screens in order, and each failure with what recovered it. Use it to repeat what worked before. Find ids with the sessions tool. Answers {"ok":true,"result":{"sessionId","stepCount","recipe",...}}.`

const sessionsDescription = `List the project's sessions, newest first, with goal, tags and branch; filters narrow them. Use it to find an earlier run of a task like yours, then summarise that. Answers {"ok":true,"result":{"sessions"}}.`

const indexDescription = `Index a repository, or redo files that changed, in the background; answers at once with the place in the queue. Use it when recall says that a project is not indexed or its code is stale. Without a path the caller's own repository is meant. The status tool shows how far it is.`

const statusDescription = `Show how the memory daemon is doing: the state of each project's index, how far each model's vectors are, the queue and the last errors. Use it when answers look degraded or stale, or after index_repo.`

// tools lists every tool with its handler.
func (s *Server) tools() []server.ServerTool {
	reading := hints{readOnly: true, idempotent: true}
	search, last := s.knowledgeName("search"), s.knowledgeName("last")
	summarize, sessions := s.knowledgeName("summarize"), s.knowledgeName("sessions")
	return []server.ServerTool{
		{
			Tool:    tool("recall", "Recall", recallDescription, reading, recallInputSchema(), recallOutputSchema()),
			Handler: handler(s, "recall", s.recall),
		},
		{
			// Not idempotent: a lesson that is told twice counts twice.
			Tool:    tool("remember", "Remember a lesson", rememberDescription, hints{}, rememberInputSchema(), rememberOutputSchema()),
			Handler: handler(s, "remember", s.remember),
		},
		{
			Tool:    tool(startTool, "Start a session", startDescription, hints{}, startInputSchema(s.opts.FlowTags), sessionOutputSchema()),
			Handler: handler(s, startTool, s.startSession),
		},
		{
			Tool:    tool("record_step", "Record a step", stepDescription, hints{}, stepInputSchema(), stepOutputSchema()),
			Handler: handler(s, "record_step", s.recordStep),
		},
		{
			Tool:    tool(endTool, "End a session", endDescription, hints{idempotent: true}, endInputSchema(), sessionOutputSchema()),
			Handler: handler(s, endTool, s.endSession),
		},
		{
			Tool:    tool(search, "Search steps", searchDescription, reading, searchInputSchema(), searchOutputSchema()),
			Handler: knowledge(s, search, s.searchSteps),
		},
		{
			Tool:    tool(last, "Last steps", lastDescription, reading, lastInputSchema(), lastOutputSchema()),
			Handler: knowledge(s, last, s.lastSteps),
		},
		{
			Tool:    tool(summarize, "Summarise a session", summarizeDescription, reading, summarizeInputSchema(), summarizeOutputSchema()),
			Handler: knowledge(s, summarize, s.summarize),
		},
		{
			Tool:    tool(sessions, "List sessions", sessionsDescription, reading, sessionsInputSchema(), sessionsOutputSchema()),
			Handler: knowledge(s, sessions, s.listSessions),
		},
		{
			Tool:    tool("index_repo", "Index a repository", indexDescription, hints{idempotent: true}, indexInputSchema(), indexOutputSchema()),
			Handler: handler(s, "index_repo", s.indexRepo),
		},
		{
			Tool:    tool("status", "Memory status", statusDescription, reading, object("", true, schema{}), statusOutputSchema()),
			Handler: handler(s, "status", s.status),
		},
	}
}

// hints are the annotations in which the tools differ. None destroys anything
// and none reaches beyond this machine's memory.
type hints struct{ readOnly, idempotent bool }

func tool(name, title, description string, h hints, in, out schema) mcpgo.Tool {
	return mcpgo.Tool{
		Name: name, Title: title, Description: description,
		RawInputSchema: in.raw(), RawOutputSchema: out.raw(),
		Annotations: mcpgo.ToolAnnotation{
			Title:           title,
			ReadOnlyHint:    new(h.readOnly),
			DestructiveHint: new(false),
			IdempotentHint:  new(h.idempotent),
			OpenWorldHint:   new(false),
		},
	}
}
