// Package lessonlog reads and writes the lesson logs of a repository: one JSON
// line per event, one file per repository name (contract 2).
//
// Vocabulary. A log is one file, <name>.jsonl, of a folder of logs; it only
// grows. A line is one event of it, and its hash names it by its content: a
// line that recalld wrote is known by its hash when it is read again. A torn
// line is a last line without its end, because its writer was stopped or has
// not finished. A counted line is no event: by it an export tells what outcomes
// have made of a lesson's rate. The lock orders the writers of a log, the script
// of other programs among them. A part is a bounded run of lines; a problem is a line or
// file that was passed over, which never stops the rest. The script is
// log_memory.sh, which writes lines where no daemon runs.
//
// A folder of logs is named as package folder has it.
package lessonlog

// MaxLine is the longest line, in bytes, its line end included. One write of
// that size stays whole on every system that recalld runs on.
const MaxLine = 64 << 10

// suffix is what the name of every log ends in.
const suffix = ".jsonl"
