// Package agentctx manages the contexts of agents: completed tasks and blockers, the
// catalogue of rules, references and tools, the context that each request is given,
// tool discovery, and the compaction of a session.
//
// # Tasks
//
// Completed tasks and blockers are records of the kinds task and blocker; together they
// are the task state of a project. The state is bounded: the oldest completed tasks are
// dropped for new ones, a blocker never is. A task is redacted unless it requires
// context: its intent and summary are not stored. The recent-task summary, task_window
// on the wire, has the last completed tasks and all blockers. An event is one change of
// the state; the audit log keeps every event in full, so tasks that were dropped can
// still be read there. A legacy state is one that another program wrote.
//
// # Catalogue
//
// A catalogue entry is a rule, a reference or a tool of a project. Its ref is its type,
// its name and, for a tool, its server. Every entry is a record: it is embedded, found,
// forgotten and checked like any other. Its source is a host, by name, or a file, by
// "file:" and its path. An entry belongs to the source that registered it last, but files
// never override entries registered by a host. A server may have settings, which are the
// defaults of its tools; the servers of a project are one state. The version of an entry
// counts its changes from 1; a change of source is one. Registering an unchanged entry
// writes nothing. The worktrees of a repository share one catalogue, filled by the files
// of the worktree that was read last.
//
// # Contexts
//
// A session context has the entries that are always included and those that were added
// by hand. A request context is the session context and what is relevant to one message;
// it is assembled for every request, called a turn. Relevant entries have the include
// mode agent and are found by a search; relevant memories are lessons, steps and code.
// The budget is the number of tokens that a request context may take; the share of a
// kind bounds its relevant items. Results that are not handed out are withheld, with a
// reason. The receipt of a turn names exactly what was handed out.
//
// A working context is what a session has met: changes by hand, tools discovered and
// used, entities, and the tools whose guidance was handed out. It is a state of the
// store, committed together with the receipt of the turn, so that both exist or neither.
// A compaction clears it.
//
// Contexts.Assemble makes a request context in this order:
//
//  1. assemble.go: check the request, find project and session, read the catalogue
//     (service.go) and the tasks (task_read.go).
//  2. context.go: the session context, and what the session decided by hand.
//  3. search.go: search entries and memories in parallel; choose.go selects the entries
//     to search.
//  4. choose.go: take the relevant entries and withhold the others.
//  5. budget.go: count the tokens: compaction summary, session context with the task
//     summary, tool schemas, then relevant items by their shares; guidance.go adds
//     guidance that the session has not received.
//  6. record.go: write the answer and its receipt.
//  7. state.go: commit working context and receipt together. again.go answers a request
//     whose id was committed before.
//
// Every stage between search and commit is a pure function of the catalogue, the working
// context and the search results. If another writer changes the working context in the
// meantime, these stages run again on the new one; the search does not.
package agentctx
