package memory

import (
	"context"
	"iter"
)

// Doc is a document as it is stored: its analysed terms, encoded by the package that
// analysed them, and its vectors by space. Its text is not among it.
type Doc struct {
	ID      DocID
	Terms   []byte
	Vectors map[string][]float32
}

// DocVector is the vector of one document.
type DocVector struct {
	Doc    DocID
	Vector []float32
}

// FileKey names a file of a sandbox.
type FileKey struct{ Sandbox, Path string }

// Holdings is all that a project holds but for its receipts.
type Holdings struct {
	Records, Sandboxes []string
	Files              []FileKey
	Sessions           []string // by id
}

// SessionHoldings is a session with the ids of its steps.
type SessionHoldings struct {
	Session Session
	Steps   []string
}

// Batch is what one update writes, all of it or nothing. The documents that
// its records and files name are in Docs, or were stored before. No record, file,
// session, state or receipt may be in it twice, put or dropped, and nothing may be
// written that goes with a session which it drops.
type Batch struct {
	// The request. RequestID is made by the client: a batch whose id was committed within
	// the last day changes nothing and returns the first result, or OtherRequest if that was
	// of another request: of one with another sum (WithRequestSum) or another Subject, which is
	// the project, or project/session, that a request turned out to be about. A Subject without
	// a session is that of one with it, too: the session may have ended since.
	RequestID, Subject string
	// Partial batches are followed by others of their request: only the last keeps the id.
	Partial bool
	// Refused is returned, and nothing is written, unless RequestID was committed before.
	// The caller cannot tell: the first commit may be the very reason for the refusal.
	Refused error

	// What to write. A document must be referenced by a record or file. A session, and a
	// receipt, replaces the one with its key.
	Docs      []Doc
	Records   []Record
	Files     []File
	Projects  []Project
	Sandboxes []Sandbox
	Sessions  []Session
	Receipts  []Receipt
	// States are edited in order. Two edits of one state are an error, and so is the state
	// of a session that is neither stored nor in Sessions (CodeNotFound).
	States []StateEdit

	// What to remove, by id or key. Unknown ones are ignored. PruneFiles removes only the
	// chunks of files.
	PruneFiles    []FileKey
	DropRecords   []string
	DropFiles     []FileKey
	DropProjects  []string
	DropSandboxes []string
	DropReceipts  []string
	DropSessions  []SessionKey

	// Tombstones. They are the ids of forgotten records. With Import, records that have a
	// tombstone are left out.
	Tombstones     []string
	DropTombstones []string
	Import         bool

	// What happens to existing records and sessions. Merge returns the record to store; nil
	// replaces. MergeSession does so for sessions; its error refuses the batch. With
	// Existing, records that do not exist are left out: a change must not restore a record
	// that was removed meanwhile.
	Merge        func(old, new Record) Record
	MergeSession func(old, new Session) (Session, error)
	Existing     bool

	// The audit log. Action and Detail become a line unless Action is empty; About are the
	// ids of the records that Detail repeats, and of their project. EraseDetails are ids:
	// lines about them lose their detail.
	Action       string
	Detail       any
	About        []string
	EraseDetails []string
}

type requestSumKey struct{}

// WithRequestSum returns a context for carrying out a request whose operation and content have
// this sum. It goes through the context so that no operation can leave it out.
func WithRequestSum(ctx context.Context, sum []byte) context.Context {
	return context.WithValue(ctx, requestSumKey{}, sum)
}

// RequestSum returns the sum of the request that is carried out, nil if there is none.
func RequestSum(ctx context.Context) []byte {
	sum, _ := ctx.Value(requestSumKey{}).([]byte)
	return sum
}

// Committed is the result of a batch.
type Committed struct {
	// Seq is the number of the update that holds it.
	Seq uint64
	// Put are the ids of the sessions and then of the records that were written,
	// in the batch's order.
	Put []string
	// Merged are the ids of the records that existed already.
	Merged []string
	// Left are the ids of the records that have a tombstone, or are gone.
	Left []string
	// Dropped counts the removed records and files, Pruned the files that lost chunks,
	// Swept the removed documents without a reference.
	Dropped, Pruned, Swept int
	// Repeated is set if the request was committed before.
	Repeated bool
}

// Change is what one committed update changed, for the indexes. Old and New
// are nil where there was or is nothing.
type Change struct {
	Seq uint64
	// Docs were written, their vectors as they will be read back. Terms are
	// nil where only vectors were added.
	Docs    []Doc
	Records []RecordChange
	Files   []FileChange
	// Sessions were put or dropped.
	Sessions []SessionChange
	// Swept documents are no longer referenced and were removed.
	Swept []DocID
}

// RecordChange is one record put or dropped.
type RecordChange struct{ Old, New *Record }

// FileChange is one file put or dropped.
type FileChange struct{ Old, New *File }

// SessionChange is one session put or dropped.
type SessionChange struct{ Old, New *Session }

// Loader receives everything that the indexes are made of: first all sessions,
// records and files, then, in parallel and only for documents that these reference,
// terms and vectors. Byte slices must not be kept.
type Loader struct {
	Session func(Session) error
	Record  func(Record) error
	File    func(File) error
	Terms   func(doc DocID, terms []byte) error
	// Collection chooses the spaces whose vectors are wanted; nil wants all.
	Collection func(name string) bool
	Vector     func(space string, doc DocID, v []float32) error
	// Saved are records that need not be read, nil for none.
	Saved *SavedRecords
	// Held returns what the loader has already, nil for nothing. It is called after all
	// records and files. Without Held, the loader has nothing.
	Held func() *Held
}

// SavedRecords are what a loader has of the records of an earlier state of the store. Of
// those, only what was written since is read. A store that drops a saved record has no saved
// records any more.
type SavedRecords struct {
	// Since is a version of the store's database. The saved records are of that version or of
	// a later one.
	Since uint64
	// Documents is how many documents are saved, also of files. Others are the ids of the
	// records that were there and are not saved.
	Documents int
	Others    []string
	// Load loads the saved records but those of which written reports true, and passes what
	// the store counts of each. It is called once, before all records that are read.
	Load func(written func(id string) bool, count func(RecordOutline))
}

// Saved says that saved records have those of this kind. All others are few, and more is
// derived from them.
func (k Kind) Saved() bool { return k == Lesson || k == Step }

// RecordOutline is what the store counts of a record.
type RecordOutline struct {
	Kind    Kind
	Project string
	Doc     DocID
	// LogBytes is the approximate size of its line in a lesson log, 0 if it has none.
	LogBytes uint32
}

// Outline returns the outline of a record.
func (r *Record) Outline() RecordOutline {
	o := RecordOutline{Kind: r.Kind, Project: r.Project, Doc: r.Doc}
	if e := r.Event; e != nil {
		o.LogBytes = uint32(len(r.Repo) + len(e.Context) + len(e.Command) + len(e.Lesson) + lineRest)
	}
	return o
}

// lineRest is the approximate size of a lesson log's line without its texts, in bytes:
// field names, time, agent, rate and tags.
const lineRest = 180

// SavedIndexes are indexes as they were saved beside the store, in parts.
type SavedIndexes struct {
	// Since is the version of the store's database that they hold at least, see Held.
	Since uint64
	// Part returns the bytes of a part, from 0 on, whose checksum matches. They must not be
	// changed, and can be read as long as the SavedIndexes can be reached: they may lie in the
	// file.
	Part func(n int) ([]byte, error)
}

// Held is what a loader has of an earlier state of the store. It gets only terms and vectors
// that were written since, and those of referenced documents that it lacks.
type Held struct {
	// Since is the version of the store's database whose terms and vectors are held.
	Since uint64
	// Has reports whether the terms of a document are held, All yields these documents.
	Has func(DocID) bool
	All iter.Seq[DocID]
	// Vectors reports whether the vectors of a collection are held. DropVectors drops those of
	// a document in all collections.
	Vectors     func(collection string) bool
	DropVectors func(DocID)
}

// Document is a distinct text with its id.
type Document struct {
	ID   DocID
	Text string
	// Defines are the names that it declares, as they are written and without what
	// they are declared in: "ServeHTTP". A question for one finds it first.
	Defines []string
	// Declares says of code that it has no statement, Test that it is a test within a file
	// that is none.
	Declares, Test bool
}

// StateKey names a state: a small JSON value that belongs to a project and is
// changed by editing it.
type StateKey struct{ Project, Kind, ID string }

// The kinds of states.
const (
	// StateSession is a session's working context; the id is the session's. It
	// goes with the session.
	StateSession = "session"
	// StateServers are the settings of a catalogue's servers; it has no id.
	StateServers = "servers"
	// StateTrust are the folders whose files the user agreed to; it has no id.
	StateTrust = "trust"
)

// StateEdit changes a state. Edit gets what is stored, nil for nothing, and returns
// what is to be; nil removes it, and an error refuses the batch. It may be called
// more than once.
type StateEdit struct {
	Key  StateKey
	Edit func(old []byte) ([]byte, error)
}
