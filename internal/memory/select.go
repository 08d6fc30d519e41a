package memory

import (
	"context"
	"strconv"
	"time"
)

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
	// Withdrawn chooses the lessons that are kept and not recalled, in place of the others.
	Withdrawn bool
	// Pinned chooses pinned lessons alone.
	Pinned bool
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
	// Declares and Test are those of a chunk's Document.
	Declares, Test bool
	// Head says that it is a file preview, which the file-name index found by name or
	// first lines. It has no document, and Ord means nothing.
	Head bool
	// Fit is how much of a question such a file holds, from 0 to 1; 1 where a
	// pattern was asked for.
	Fit float64
	// Series names what a step or a turn of a conversation is one of: its session, or the
	// common beginning of the turns' names. At is its place there. Empty for all others.
	Series string
	At     int
}

// NamedDoc is a document, by its number in the indexes, that has a name.
type NamedDoc struct {
	Doc uint32
	// Title says that the name is that of its title, and not one that the text declares.
	Title bool
	// Further says that the document is a further part of a reference that is stored in
	// several.
	Further bool
}

// CodeCounts counts the files of a project that are held: all of them, those that are
// searched by their chunks, and those whose chunks gave way to the size limit.
type CodeCounts struct{ Files, Chunked, Pruned int }

// Name is a name that a query asks for: "Serve", with the declaration that contains it
// if the query gives one: "Server", "http".
type Name struct{ Name, In string }

// String writes a name as it would be asked for.
func (n Name) String() string {
	if n.In == "" {
		return n.Name
	}
	return n.In + "." + n.Name
}

// Definition is a document that declares a name.
type Definition struct {
	// Places are where it lies, those inside the named declaration
	// first. There is at least one.
	Places []Candidate
	// Exact says that the name is written as it was asked for, in case and style.
	Exact bool
	// Within says that it is declared in what was asked for: in a type of that name,
	// or in a file or folder of that name. It is true if nothing was.
	Within bool
}

// ChunkRef is a chunk of code by its id, and where it is to be read.
type ChunkRef struct {
	ID       string
	Location Location
	// Head says that it is how a file begins.
	Head bool
}

// CodeLocation is a place in code that a query names: a path as its author saw it, which
// may begin above the repository or within it, and a line from 1, 0 for none.
type CodeLocation struct {
	Path string
	Line int
}

// String writes a place as compilers do.
func (p CodeLocation) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return p.Path + ":" + strconv.Itoa(p.Line)
}

// Verifier reads the text of a chunk again from disk, through every gate.
type Verifier interface {
	// Verify returns the text that is on disk now. When it must not be shown
	// the error is a *GateError with the reason.
	Verify(ctx context.Context, at Location) (Verified, error)
	// Head returns how the file begins, MaxHead characters at most. The chunk of at
	// is not looked at.
	Head(ctx context.Context, at Location) (Verified, error)
}

// Verified is the text of a chunk as it is on disk.
type Verified struct {
	Text      string
	Path      string
	StartLine int
	EndLine   int
	// Moved says that the text was found, unchanged, at another place of its
	// file.
	Moved bool
}

// GateError says which gate withheld a chunk.
type GateError struct {
	Reason Reason
	Path   string
}

func (e *GateError) Error() string { return "gate: " + e.Path + ": " + string(e.Reason) }
