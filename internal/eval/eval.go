// Package eval measures retrieval on sets of documents, questions and
// judgements: it writes a set through the write path, asks its questions
// through the read path, and scores what comes back. Where it is asked to, it also counts
// what answers show.
//
// Vocabulary. A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv,
// each plain or with .gz; unanswered.jsonl has further questions that nothing in it answers,
// and the files of the folder code are indexed as code. A judgement says how well a document answers a
// question: its grade, above 0 where it does. A group names the documents that
// a question is asked over; it becomes a project. A run is the ranking that one
// retriever gave for every question of a set.
package eval
