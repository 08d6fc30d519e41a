package memory

import "time"

// Selection says which records an answer may hold. Zero values do not narrow.
type Selection struct {
	Kinds   []Kind
	Project string
	// Also lets the records of a second project in, of the kinds that are asked for.
	Also string
	// Only are the ids of the records that may be found; nil lets all be.
	Only map[string]bool
	// Followed lets in what was followed from the files of Project's repository, which
	// is for questions that are asked from there. What was followed for any other
	// project is never let in.
	Followed bool
	// AllLessons lets lessons of other projects in beside Project's records.
	AllLessons bool
	// Repos are the names of one repository; a lesson of any of them passes.
	Repos   []string
	Session string
	Lang    string
	Tag     string
	// Path is a folder or file, or a glob with * and ?, relative to the
	// sandbox. Only chunks have one.
	Path  string
	Since time.Time
	// Steps narrows steps to sessions that it chooses, and to its screen; with
	// a flow tag, branch or screen, lessons to those sessions as well.
	Steps SessionFilter
}

// Candidate is a record or a chunk that hangs off a document.
type Candidate struct {
	Doc     DocID
	Kind    Kind
	Project string
	Repo    string // that a record speaks of
	Session string
	Created time.Time
	// Followed says that it was read from a file of the repository.
	Followed bool
	Rate     *Rate // of a lesson's outcomes, of another record's verdicts; nil for none
	// ID is a record's; empty for a chunk.
	ID string
	// File and Ord are a chunk's place: the file and the chunk's index in it.
	File FileKey
	Ord  int
	// Head says that it is a file preview, which the file-name index found by name or
	// first lines. It has no document, and Ord means nothing.
	Head bool
	// Fit is how much of a question such a file holds, from 0 to 1; 1 where a
	// pattern was asked for.
	Fit float64
}

// CodeCounts counts the files of a project that are held: all of them, those that are
// searched by their chunks, and those whose chunks gave way to the size limit.
type CodeCounts struct{ Files, Chunked, Pruned int }
