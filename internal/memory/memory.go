// Package memory is the domain of recalld: records and where they come from, questions
// and their answers, receipts, the errors, and the requests and responses of all
// operations. Package service declares the operations.
//
// Vocabulary. A project is a repository's identity, so that worktrees and clones of one
// repository are one project. A sandbox is one folder of a project on disk. A record is
// something remembered: a lesson, a step, a task, a reference. Code is no record: it is
// stored as files with chunks (File), and in answers a chunk has the kind "chunk". A
// session is one run of one agent, and its steps are records; an imported one was read
// from files. A document is one distinct text, named by its hash; records and chunks refer
// to it. A space, elsewhere called a vector collection, holds the vectors of one model.
// Relevance is a calibrated figure from 0 to 1 that means the same for every model. A
// receipt says what an answer held, what it withheld and why; the ledger holds all
// receipts.
//
// Contracts. Other programs rely on some formats, limits and defaults. Comments call them
// contracts and number them: 0 the request and answer of recall; 1 session folders and the
// knowledge tools; 2 lesson logs, the script log_memory.sh, and lessons in text answers; 3
// tasks and their window; 4 the code index, and code in answers; 5 discovery of tools,
// guidance and compaction; 6 the contexts of requests and what is kept of them. The code
// and its tests define them.
//
// The package holds types, their validation and errors. It imports the standard library
// and the table of languages only. Its JSON tags are the wire between client and daemon.
package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Kind says what a record, or an item of an answer, is.
type Kind string

// The kinds. All but Chunk are of records; a chunk is a part of a file.
const (
	Lesson    Kind = "lesson"
	Step      Kind = "step"
	Chunk     Kind = "chunk"
	Task      Kind = "task"
	Blocker   Kind = "blocker"
	Rule      Kind = "rule"
	Reference Kind = "reference"
	Tool      Kind = "tool"
	// SessionSummary is what a member of the team shares of a session. Summaries of the user's
	// own sessions are no records.
	SessionSummary Kind = "session_summary"
)

// Words is a kind as people read it.
func (k Kind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// Kinds lists every kind, in the order in which answers show them.
var Kinds = []Kind{Lesson, Step, SessionSummary, Task, Blocker, Rule, Reference, Tool, Chunk}

// DocID names a document: the first 16 bytes of the SHA-256 of its text.
type DocID [16]byte

// DocumentID returns the id of a text.
func DocumentID(text string) DocID {
	sum := sha256.Sum256([]byte(text))
	return DocID(sum[:16])
}

// RecordID makes a record's id from the letter of its kind and the parts that identify it.
func RecordID(letter string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return letter + "-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// String returns the id in hexadecimal.
func (d DocID) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes the id in hexadecimal.
func (d DocID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *DocID) UnmarshalText(text []byte) error {
	if len(text) == hex.EncodedLen(len(d)) { // hex.Decode panics for a longer one
		if _, err := hex.Decode(d[:], text); err == nil {
			return nil
		}
	}
	return Invalid("doc", "32 hexadecimal digits", "%s is not a document id", Quote(string(text)))
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

// ValidateStep checks the limits of a step that was read from a file. They are those
// of one that is recorded.
func (r *Record) ValidateStep() error {
	if r.Step == nil {
		return Invalid("tool", "", "is missing")
	}
	if r.Created.IsZero() {
		return Invalid("timestamp", timeLimit, "is missing")
	}
	for i, label := range r.Step.Labels {
		if err := Text(fmt.Sprintf("labels[%d]", i), label, 1, MaxTagText); err != nil {
			return err
		}
	}
	if n := len(r.Step.Labels); n > MaxTags {
		return Invalid("labels", fmt.Sprintf("at most %d", MaxTags), "%d of them", n)
	}
	if err := r.Step.Git.validate(); err != nil {
		return err
	}
	if n := ExtraSize(r.Step.Extra); n > maxStepJSON {
		return Invalid("tool", fmt.Sprintf("at most %d bytes of other fields", maxStepJSON), "the step has %d bytes of other fields", n)
	}
	c := *r.Step
	// Other programs write environments of any form; validStep bounds them.
	request := RecordStepRequest{
		Timestamp: r.Created, Tool: c.Tool, Outcome: Outcome{Error: c.Outcome.Error}, Observation: c.Observation,
		DurationMs: c.DurationMs, Screenshot: c.Screenshot,
	}
	if err := Check(&request); err != nil {
		return err
	}
	return validStep(c)
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
	// Place identifies a project without a remote, also after its folder was moved.
	Place FolderRef `json:"place,omitzero"`
	// Folders are where git keeps the data of its clones, at most MaxRoots: folders
	// that were found to belong to it. History are ids of commits that they have, by
	// which another clone is known. Projects that an earlier version stored have none.
	Folders []FolderRef `json:"folders,omitempty"`
	History []string    `json:"history,omitempty"`
	// Apart says why the project is not the one whose address its .git has.
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
