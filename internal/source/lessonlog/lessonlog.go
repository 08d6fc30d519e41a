// Package lessonlog reads and writes the lesson logs of a repository: one JSON line per
// event, one file per repository name (contract 2).
//
// A log is a file <name>.jsonl in a folder of logs; it only grows. The hash of a line is
// its name, by which a line that recalld wrote is recognised when it is read again. A
// torn line is a last line without its end, because its writer was stopped or has not
// finished. A counted line is not an event: it exports the success rate of a lesson after
// outcomes have changed it. The lock serialises the writers of a log, including the
// script log_memory.sh, which writes lines where no daemon runs. A batch is a bounded
// number of lines. A problem is a line or file that was skipped; it never stops the
// others.
//
// A folder of logs is named by a root and a path below it, as in package fsx.
package lessonlog

// MaxLine is the longest line, in bytes, with its line end. A single write of that size
// stays whole on every supported system.
const MaxLine = 64 << 10

// suffix is the extension of every log.
const suffix = ".jsonl"
