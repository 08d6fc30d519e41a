package memory

// Doc is a document as it is stored: its analysed terms, encoded by whoever
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
	// RequestID is made by the client; a batch whose id was committed within
	// the last day changes nothing and is answered as the first.
	RequestID string
	// Refused refuses the batch, unless its request was committed before: that it was
	// may be why it would be refused now. Nothing is remembered of the request then.
	Refused error

	Docs      []Doc
	Records   []Record
	Files     []File
	Projects  []Project
	Sandboxes []Sandbox
	// Sessions replace those of the same key.
	Sessions []Session

	// PruneFiles take the chunks of files away and keep the rest of them; what is
	// not there, or has none, is left as it is.
	PruneFiles []FileKey

	DropRecords   []string
	DropFiles     []FileKey
	DropProjects  []string
	DropSandboxes []string
	DropReceipts  []string
	DropSessions  []SessionKey

	// Tombstones are ids of records that were forgotten and that no import may
	// bring back; DropTombstones lets them come again. With Import, records that
	// have one are left out.
	Tombstones     []string
	DropTombstones []string
	Import         bool

	// Merge is called for a record whose id exists and returns what is to be
	// kept. Nil replaces. With Existing, records whose id does not exist are left out:
	// a change of what has gone meanwhile brings nothing back.
	Merge    func(old, new Record) Record
	Existing bool
	// MergeSession is called for a session whose key exists and returns what is to
	// be kept, or an error, which refuses the batch. Nil replaces.
	MergeSession func(old, new Session) (Session, error)
	// States are edited in their order; two of one key are an error, and so is that of
	// a session which is neither stored nor among Sessions (CodeNotFound).
	States []StateEdit
	// Receipts are written with the batch, so that they are as durable as it is. One
	// whose id is there replaces it.
	Receipts []Receipt
	// Action and Detail become a line of the audit log, unless Action is empty. About
	// are the ids of the records that Detail repeats in full, and of their project.
	Action string
	Detail any
	About  []string
	// EraseDetails are ids: from the lines of the audit log that are about one of them
	// the detail is taken out.
	EraseDetails []string
}

// Committed says what became of a batch.
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
	// Dropped counts the records and files that were there to be dropped, Pruned the
	// files that lost chunks, Swept the documents that nothing holds any more.
	Dropped, Pruned, Swept int
	// Repeated says that the request was committed before.
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

// Loader is told everything that the indexes are made of: first all sessions,
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
}

// Document is a distinct text with its id.
type Document struct {
	ID   DocID
	Text string
	// Defines are the names that it declares, as they are written and without what
	// they are declared in: "ServeHTTP". A question for one finds it first.
	Defines []string
}
