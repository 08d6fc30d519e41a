// Package session puts together what each request of an agent is given, and keeps what
// a session has come across.
//
//	session context → search → choose → budget → record
//
// Vocabulary. An entry is a rule, a reference or a tool of the catalogue. A session
// holds the entries that are always included and those that somebody added by hand:
// its session context. A request context is that and what is relevant to one message,
// made anew for each: its turn. Relevant entries are those with the mode agent that a
// search finds; relevant memories are lessons, steps and code. The budget is the tokens
// that a request context may take; a kind's share of it is what relevant items of that
// kind may take. What was found and is not handed out is withheld, with a reason. The
// record of a turn is a receipt: it names exactly what was handed out.
//
// A working context is what a session has come across: the changes by hand, the tools
// that it discovered and used, the entities that it met, and which tools' guidance was
// handed out. It is a state of the store, written in one commit with what goes with it,
// so that a turn and its receipt are both there or both not. A compaction is its clean
// slate.
//
// Every stage between the search and the commit is a pure function of the catalogue,
// the working context and what was found. If another writer changes the working context
// meanwhile, they run again on the new one; nothing is searched twice.
package session
