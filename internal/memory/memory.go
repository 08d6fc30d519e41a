// Package memory is the domain of recalld: records and where they come from,
// questions and their answers, receipts, the errors, and the service
// interfaces that the daemon implements and its clients speak.
//
// Vocabulary. A project is a repository's identity, so that worktrees and
// clones of one repository are one project. A sandbox is one folder of a
// project on disk. A record is something remembered: a lesson, a step, a chunk
// of code, a reference. A session is one run of one agent, and its steps are
// records; an imported one was read from files. A document is one distinct text, named by its hash;
// records hang off it. A space holds the vectors of one model. Relevance is a
// calibrated 0–1 figure that means the same for every model. A receipt says
// what an answer held, what it withheld and why; the ledger holds all receipts.
//
// The package holds types, their validation and errors, and imports the
// standard library only. Its JSON tags are the wire between client and daemon.
package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Kind says what a record is.
type Kind string

// The kinds of records.
const (
	Lesson    Kind = "lesson"
	Step      Kind = "step"
	Chunk     Kind = "chunk"
	Task      Kind = "task"
	Blocker   Kind = "blocker"
	Rule      Kind = "rule"
	Reference Kind = "reference"
	Tool      Kind = "tool"
)

// Kinds lists every kind, in the order in which answers show them.
var Kinds = []Kind{Lesson, Step, Task, Blocker, Rule, Reference, Tool, Chunk}

// DocID names a document: the first 16 bytes of the SHA-256 of its text.
type DocID [16]byte

// DocumentID returns the id of a text.
func DocumentID(text string) DocID {
	sum := sha256.Sum256([]byte(text))
	return DocID(sum[:16])
}

// String returns the id in hexadecimal.
func (d DocID) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes the id in hexadecimal.
func (d DocID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *DocID) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(d[:], text); err != nil || n != len(d) || len(text) != 2*len(d) {
		return Invalid("doc", "32 hexadecimal digits", "%s is not a document id", Quote(string(text)))
	}
	return nil
}

// IsZero says that the id names no document.
func (d DocID) IsZero() bool { return d == DocID{} }

// Record is one memory, except for code, which is kept by file (see File).
type Record struct {
	ID      string `json:"id"`
	Kind    Kind   `json:"kind"`
	Project string `json:"project"`
	// Repo is the name of the repository it speaks of, as the writer gave it.
	Repo    string    `json:"repo,omitempty"`
	Session string    `json:"session,omitempty"`
	Tags    []string  `json:"tags,omitempty"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at,omitzero"`
	// Provenance is where it comes from.
	Provenance Provenance `json:"provenance,omitzero"`

	// Doc names the document, the hash of Text.
	Doc DocID `json:"doc"`
	// Text is exactly what was analysed and embedded, already redacted.
	Text string `json:"text"`

	Event     *Event       `json:"event,omitempty"`     // kind lesson
	Step      *StepContent `json:"step,omitempty"`      // kind step
	Reference *RefContent  `json:"reference,omitempty"` // kind reference
	Entry     *Entry       `json:"entry,omitempty"`     // kinds rule, reference and tool, of a catalogue
	Task      *TaskContent `json:"task,omitempty"`      // kinds task and blocker
	// Verdicts count what came of it where it was handed out. A lesson's move its rate
	// as well.
	Verdicts *VerdictCounts `json:"verdicts,omitempty"`
	// Extra holds fields that this version does not know, from imported files.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// EventType classifies a lesson.
type EventType string

// The types of lessons.
const (
	EventError   EventType = "error"
	EventSuccess EventType = "success"
	EventPattern EventType = "pattern"
)

// Event is what a lesson's log line says.
type Event struct {
	AgentID string    `json:"agent_id,omitempty"`
	Type    EventType `json:"event_type"`
	Context string    `json:"context"`
	Command string    `json:"command,omitempty"`
	Lesson  string    `json:"lesson"`
	// Rate counts outcomes; nil when none is known. It is what the latest
	// telling with a rate said, and the outcomes since. RateAt is when it last
	// changed: a telling of before does not replace it.
	Rate   *Rate     `json:"rate,omitempty"`
	RateAt time.Time `json:"rate_at,omitzero"`
	// Seen counts how often the same lesson was remembered.
	Seen int `json:"seen,omitempty"`
	// Observations are its history, oldest first: the first and the latest, MaxObservations
	// in all.
	Observations []Observation `json:"tellings,omitempty"`
	// Fingerprints name the errors that it is about (package fingerprint).
	Fingerprints []string `json:"fingerprints,omitempty"`
	// Withdrawn says that the lesson is kept but no longer recalled.
	Withdrawn *Withdrawal `json:"aside,omitempty"`
}

// MaxObservations bounds a lesson's history.
const MaxObservations = 32

// Observation is one time that a lesson was told.
type Observation struct {
	At      time.Time `json:"at"`
	AgentID string    `json:"agent_id,omitempty"`
	Session string    `json:"session,omitempty"`
	Rate    *Rate     `json:"rate,omitempty"`
	// Line names the log line that told it, so that reading the line again
	// counts nothing twice.
	Line DocID `json:"line,omitzero"`
}

// Withdrawn says why a lesson is no longer recalled: another one superseded it, or
// it was retracted. By is that other lesson, or the one that says why.
type Withdrawal struct {
	At     time.Time `json:"at"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason"` // superseded, retracted
	// Followed says that a line of a repository's file put it aside: a later line of a
	// file may bring it back, which no file does with what was put aside here.
	Followed bool `json:"followed,omitempty"`
}

// RefContent is a reference's own content: a text kept whole, for instance a
// document of an evaluation set. Part is its place when a long one was split.
type RefContent struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Part  int    `json:"part,omitempty"`
}

// Rate is a success rate: Successes of Attempts.
type Rate struct {
	Successes int `json:"successes"`
	Attempts  int `json:"attempts"`
}

// Project is a repository's identity.
type Project struct {
	ID string `json:"id"`
	// Name is what people call it: the repository's folder or remote name.
	Name string `json:"name"`
	// Names are all names it has had, the present one first.
	Names  []string `json:"names,omitempty"`
	Remote string   `json:"remote,omitempty"`
	// Roots are folders that it was met in, the newest first, at most MaxRoots:
	// what other programs write into their files is followed.
	Roots []string `json:"roots,omitempty"`
	// FolderRef is what a project is known by that has no remote: a folder that was
	// moved is known again by it.
	Place FolderRef `json:"place,omitzero"`
	// Folders are where git keeps the data of its clones, at most MaxRoots: folders
	// that were found to belong to it. History are ids of commits that they have, by
	// which another clone is known. Projects that an earlier version stored have none.
	Folders []FolderRef `json:"folders,omitempty"`
	History []string    `json:"history,omitempty"`
	// Apart says why the folder of the project is not of another one whose address
	// its .git has.
	Apart string `json:"apart,omitempty"`
}

// FolderRef is where the folder of a project is: the one that git keeps its data in,
// without git the folder itself.
type FolderRef struct {
	Folder string `json:"folder"`
	// Mark stays the same when the folder is renamed, and no other folder has it.
	// It is empty where the file system tells nothing of the kind.
	Mark string `json:"mark,omitempty"`
}

// MaxRoots bounds the folders that a project is remembered in.
const MaxRoots = 16

// Sandbox is one folder of a project on disk, and the state of its index.
type Sandbox struct {
	ID      string `json:"id"`
	Project string `json:"project"`
	Root    string `json:"root"`
	// RequestedAt is when indexing was last asked for, IndexedAt when a run
	// last ended well.
	RequestedAt time.Time      `json:"requested_at,omitzero"`
	IndexedAt   time.Time      `json:"indexed_at,omitzero"`
	Files       int            `json:"files"`
	Chunks      int            `json:"chunks"`
	Bytes       int64          `json:"bytes"`
	Skipped     map[string]int `json:"skipped,omitempty"` // reason → files
	LastError   string         `json:"last_error,omitempty"`
	LastErrorAt time.Time      `json:"last_error_at,omitzero"`
	// LastRun is how long the last run took.
	LastRun Millis `json:"last_run_ms,omitempty"`
	// Paused says that nothing of it is indexed until it is resumed.
	Paused bool `json:"paused,omitempty"`
	// GoneAt is when its folder was first found missing.
	GoneAt time.Time `json:"gone_at,omitzero"`
	// Note says how the last run had to look where that is not the usual way: by
	// ignore files, because git refuses the repository of another user.
	Note string `json:"note,omitempty"`
}

// File is one indexed file of a sandbox with its chunks, which are replaced as one;
// Generation grows with every replacement. Files that have their text and language in
// common share the chunks, which nobody may write to.
type File struct {
	Project string `json:"project"`
	Sandbox string `json:"sandbox"`
	// Path is relative to the sandbox's root, with slashes.
	Path    string    `json:"path"`
	Hash    DocID     `json:"hash"` // of the raw bytes
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
	// ChangeTime and Inode are those of the file on disk. Both are zero where the
	// platform does not tell them, and in files that an earlier version stored.
	ChangeTime time.Time `json:"change_time,omitzero"`
	Inode      uint64    `json:"inode,omitempty"`
	Lang       string    `json:"lang,omitempty"`
	Generation uint64    `json:"generation"`
	// Chunker is the version of the rules that cut it; another one redoes it.
	Chunker int         `json:"chunker"`
	Chunks  []FileChunk `json:"chunks"`
	// Head is how the file begins, at most MaxHead characters without secrets: what
	// the file-name index holds of it. A file may have a head and no chunks.
	Head string `json:"head,omitempty"`
	// Pruned says that the chunks gave way when the index was over its limit. They
	// come back when the file changes or the repository is asked to be indexed.
	Pruned bool `json:"pruned,omitempty"`
}

// FileMetadata is what is known of a file without its chunks: enough to tell whether it
// must be looked at again, and small enough to be held for every file of a
// repository at once.
type FileMetadata struct {
	Project    string
	Hash       DocID
	Size       int64 // bytes
	ModTime    time.Time
	ChangeTime time.Time
	Inode      uint64
	Lang       string
	Generation uint64
	Chunker    int
	Chunks     int // how many there are
	Head       bool
	Pruned     bool
}

// Brief returns what a FileMetadata says of the file.
func (f *File) Brief() FileMetadata {
	return FileMetadata{
		Project: f.Project, Hash: f.Hash, Size: f.Size, ModTime: f.ModTime, ChangeTime: f.ChangeTime, Inode: f.Inode, Lang: f.Lang, Generation: f.Generation,
		Chunker: f.Chunker, Chunks: len(f.Chunks), Head: f.Head != "", Pruned: f.Pruned,
	}
}

// IndexSize counts what is indexed of a sandbox.
type IndexSize struct {
	Files, Chunks int
	Pruned        int   // files whose chunks gave way
	Bytes         int64 // of the files themselves
	// Disk is about what the index takes on disk, in bytes.
	Disk int64
	// UsedAt is when code of it was last shown; zero is never.
	UsedAt time.Time
}

// MaxHead is how much of a file the file-name index holds, in characters.
const MaxHead = 100

// FileChunk is one piece of a file. Its text is never stored.
type FileChunk struct {
	// Doc names the document that was analysed and embedded.
	Doc DocID `json:"doc"`
	// Hash is of the raw bytes between Start and End.
	Hash DocID `json:"hash"`
	// Start and End are byte offsets, StartLine and EndLine count from 1, both
	// ends included.
	Start     int `json:"start"`
	End       int `json:"end"`
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Symbol is the path of the enclosing declarations or headings.
	Symbol string `json:"symbol,omitempty"`
}

// ChunkID names a chunk by where it is and what it says, so that it stays the
// same while neither changes.
func ChunkID(sandbox, path string, c FileChunk) string {
	h := sha256.New()
	for _, s := range []string{sandbox, path, c.Symbol} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write(c.Hash[:])
	return "c-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// Location is where the text of a chunk is to be read.
type Location struct {
	Project string    `json:"project"`
	Sandbox string    `json:"sandbox"`
	Root    string    `json:"root"`
	Path    string    `json:"path"`
	Lang    string    `json:"lang,omitempty"`
	Chunk   FileChunk `json:"chunk"`
	// Head is how the file began when it was indexed, of a Candidate that is a head.
	Head string `json:"head,omitempty"`
}
