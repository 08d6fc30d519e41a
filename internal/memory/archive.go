package memory

import (
	"encoding/json"
	"time"
)

// LogLine is one event of a lesson log (contract 2), as a file holds it and as
// it is written to one.
type LogLine struct {
	Timestamp   time.Time
	AgentID     string
	Repo        string
	Type        EventType
	Context     string
	Command     string
	Lesson      string
	SuccessRate string
	// Counted says that the line does not report the lesson, but the rate that outcomes had
	// given it by then. An export writes such lines.
	Counted bool
	Tags    []string
	// Supersedes and Retracts name lessons by id that this line withdraws.
	Supersedes []string
	Retracts   []string
	// Extra holds fields that this version does not know; they are exported
	// unchanged.
	Extra map[string]json.RawMessage
	// Hash names the line by its content.
	Hash DocID
}

// ImportRequest names what to take over: a lesson log, a folder of logs, a
// session's folder or a tree of them.
type ImportRequest struct {
	Path    string `json:"path" limit:"1-4096" text:"absolute"`
	Project string `json:"project,omitempty" limit:"0-4096" text:"exact"`
	Caller  Caller `json:"caller,omitzero"`
}

// Imported says what an import found.
type Imported struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Lessons     int    `json:"lessons"`
	Sessions    int    `json:"sessions"`
	Steps       int    `json:"steps"`
	// Known were there already.
	Known int `json:"known"`
	// Forgotten were forgotten here, and stay out.
	Forgotten int `json:"forgotten,omitempty"`
	// Skipped could not be read; Problems says why, for the first hundred.
	Skipped  int             `json:"skipped"`
	Problems []ImportProblem `json:"problems,omitempty"`
}

// ImportProblem is something that was skipped. Line counts from 1 and is 0
// where the whole file is meant.
type ImportProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// ExportRequest asks for a project's lessons as logs, one file for every
// repository, and its sessions as a tree, in a folder.
type ExportRequest struct {
	// Path is a folder that is empty or does not exist.
	Path    string `json:"path" limit:"1-4096" text:"absolute"`
	Project string `json:"project,omitempty" limit:"0-4096" text:"exact"`
	Caller  Caller `json:"caller,omitzero"`
}

// Exported says what was written.
type Exported struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Path        string `json:"path"`
	Lessons     int    `json:"lessons"`
	Sessions    int    `json:"sessions"`
	Steps       int    `json:"steps"`
	Files       int    `json:"files"`
	// LeftOut counts lessons that are no longer recalled and stay out of the export:
	// what withdrew them is not in it, so importing would bring them back.
	LeftOut int `json:"left_out,omitempty"`
}

// ArchiveKind is the kind of a line of an archive.
type ArchiveKind string

// The kinds of lines, in the order of an archive.
const (
	ArchivedHeader    ArchiveKind = "recalld-archive"
	ArchivedSettings  ArchiveKind = "settings"
	ArchivedProject   ArchiveKind = "project"
	ArchivedForgotten ArchiveKind = "forgotten"
	ArchivedSession   ArchiveKind = "session"
	ArchivedRecord    ArchiveKind = "record"
	ArchivedStateOf   ArchiveKind = "state"
	ArchivedReceipt   ArchiveKind = "receipt"
	ArchivedEnd       ArchiveKind = "end"
)

// ArchivedState is a state with its key.
type ArchivedState struct {
	Project string          `json:"project"`
	Kind    string          `json:"kind"`
	ID      string          `json:"id,omitempty"`
	Value   json.RawMessage `json:"value"`
}

// ArchiveRequest names the file of an archive, by its absolute path.
type ArchiveRequest struct {
	Path string `json:"path" limit:"1-4096" text:"absolute"`
	// DryRun only reads and verifies; of an import.
	DryRun bool   `json:"dry_run,omitempty"`
	Caller Caller `json:"caller,omitzero"`
}

// ArchiveProgress counts the lines that are done; Total is 0 while it is unknown.
type ArchiveProgress struct {
	Phase string `json:"phase"`
	Done  int    `json:"done"`
	Total int    `json:"total,omitempty"`
}

// Archive says what an archive holds, and after an import what of it was new.
type Archive struct {
	Path      string    `json:"path"`
	Format    int       `json:"format"`
	Version   string    `json:"version,omitempty"`
	Store     string    `json:"store,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Bytes     int64     `json:"bytes"`
	// Counts are the lines of each kind.
	Counts map[ArchiveKind]int `json:"counts"`
	// Added counts the lines that were new here. What is known already, or was forgotten
	// here, is left as it is.
	Added map[ArchiveKind]int `json:"added,omitempty"`
	// LeftOut are records that were forgotten here.
	LeftOut int `json:"left_out,omitempty"`
	// Redacted counts the lines in which secrets were found and removed.
	Redacted int  `json:"redacted,omitempty"`
	DryRun   bool `json:"dry_run,omitempty"`
}
