// Package team shares lessons among the members of a team through a PostgreSQL server.
//
// Every member keeps a whole copy of the team's lessons in its own store: the server is
// asked in the background, and never by a recall. So an answer has the same ranking,
// relevance and speed whether or not the server can be reached, and a lesson of a colleague
// is found without a network.
//
// Vocabulary. A member is a login role of the server. A team project is named by the
// normalised address of its repository, so that the clones of all members meet in it. A
// share is what one member says of one lesson: its text, how often it worked for that
// member, and whether the member withdrew it. If the settings say so, it is also the summary
// of one session. The server has one row for each share, which only its member can write
// (row-level security).
//
// Nothing is queued. What is still to be sent follows from comparing the store with the
// member's own rows, so a share is not lost by a crash here or by a failover there: the
// next comparison sends it again. What is new on the server is found by transaction ids.
package team
