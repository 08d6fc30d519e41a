// Package eval measures retrieval on sets of documents, questions and
// judgements: it writes a set through the write path, asks its questions
// through the read path, and scores what comes back.
//
// Vocabulary. A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv,
// each plain or with .gz. A judgement says how well a document answers a
// question: its grade, above 0 where it does. A group names the documents that
// a question is asked over; it becomes a project. A run is the ranking that one
// retriever gave for every question of a set.
package eval
