package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

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
// common share the chunks, which must not be modified.
type File struct {
	Project string `json:"project"`
	Sandbox string `json:"sandbox"`
	// Path is relative to the sandbox's root, with slashes.
	Path    string    `json:"path"`
	Hash    DocID     `json:"hash"` // of the raw bytes
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
	// ChangeTime and Inode are the values of the file on disk. Both are zero where the
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

// FileChunk is one chunk of a file. Its text is never stored.
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

// TextID names code by its text alone, where its place is not read: what an answer withholds. It
// stands for a chunk with this text.
func TextID(doc DocID) string { return "c-" + doc.String()[:16] }

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

// Failed reports whether the last run failed. The times do not tell: the clock may be set.
func (s *Sandbox) Failed() bool { return s.LastError != "" }

// IndexWait tells which end of a run over a sandbox is that of one that began after it was asked
// for. The clock may be set before and meanwhile.
type IndexWait struct {
	asked, looked      time.Time
	indexedAt, errorAt time.Time // at the first look
}

// NewIndexWait is for a run that was asked for at a time; r is the sandbox after that.
func NewIndexWait(asked time.Time, r *SandboxState) *IndexWait {
	return &IndexWait{asked: asked, looked: time.Now(), indexedAt: r.IndexedAt, errorAt: r.LastErrorAt}
}

// Indexed reports whether such a run has ended well.
func (w *IndexWait) Indexed(r *SandboxState) bool { return w.isNew(r.IndexedAt, w.indexedAt) }

// Failed reports whether such a run has failed.
func (w *IndexWait) Failed(r *SandboxState) bool { return w.isNew(r.LastErrorAt, w.errorAt) }

func (w *IndexWait) isNew(at, first time.Time) bool {
	after := !at.Before(w.asked.Truncate(time.Millisecond)) // no stored time is finer
	if at.Equal(first) {
		return after && !at.After(w.looked) // else it is of before the clock was set back
	}
	passed := time.Now().Round(0).Sub(w.asked.Round(0)) // by the clock that may be set
	return after || passed < time.Since(w.asked)-time.Second
}

// IndexState says in a word or two how far the index of a sandbox is: gone, paused,
// queued, walking, "indexing 45 %", failed, "not indexed yet", stale or ready.
func (s SandboxState) IndexState() string {
	switch p := s.Progress; {
	case !s.GoneAt.IsZero():
		return "gone"
	case s.Paused:
		return "paused"
	case p != nil && p.Phase == "indexing":
		return "indexing " + Percent(p.FilesDone, p.FilesTotal)
	case p != nil && p.Phase != "done" && p.Phase != "failed":
		return p.Phase
	case s.Failed():
		return "failed"
	case s.IndexedAt.IsZero():
		return "not indexed yet"
	case s.Stale:
		return "stale"
	}
	return "ready"
}

// Turn says when a queued run's turn is: "next", or how many jobs are ahead.
func (q IndexQueued) Turn() string {
	if q.Position == 0 {
		return "next"
	}
	return Count(q.Position, "job") + " ahead of it"
}

// IndexRequest asks for a folder to be indexed in the background.
type IndexRequest struct {
	Path         string    `json:"path,omitempty" limit:"0-4096" text:"exact" desc:"Folder of the repository; default: the one you work in."`
	ProjectID    string    `json:"project_id,omitempty" limit:"0-200" desc:"The project's id, where known."`
	SandboxRoot  string    `json:"sandbox_root,omitempty" limit:"0-4096" text:"exact" desc:"Another name of path."`
	ChangedFiles []string  `json:"changed_files,omitempty" limit:"0-10000" each:"1-4096" desc:"Only these files, relative to the folder; default: all that changed."`
	RequestedAt  time.Time `json:"requested_at,omitzero" text:"exact" desc:"When it was asked for; default: now."`
	// Wait has it answered when the run has ended. A caller that gives up ends the waiting,
	// not the run.
	Wait   bool   `json:"wait,omitempty" desc:"Answer when it is indexed, with its size; default: at once."`
	Caller Caller `json:"caller,omitzero"`
}

func (r *IndexRequest) relations(string) error {
	r.Path = cmp.Or(r.Path, r.SandboxRoot, r.Caller.Dir)
	return Text("path", r.Path, 1, MaxPathText)
}

// IndexQueued is answered at once, unless the request waits.
type IndexQueued struct {
	Job string `json:"job"`
	// Position is the number of jobs ahead of it.
	Position    int    `json:"position" desc:"Place in the queue."`
	Coalesced   bool   `json:"coalesced,omitempty" desc:"Joined to a request that was waiting."`
	Project     string `json:"project"`
	ProjectName string `json:"project_name"`
	Sandbox     string `json:"sandbox"`
	Root        string `json:"root" desc:"The folder that is indexed."`
	// Indexed is the size of the index when the run was waited for.
	Indexed *IndexedSize `json:"indexed,omitempty" desc:"The index, if it was waited for."`
}

// IndexedSize is what the index of a folder holds.
type IndexedSize struct {
	Files  int `json:"files"`
	Chunks int `json:"chunks"`
}

// Progress is how far an indexing run is.
type Progress struct {
	Phase      string    `json:"phase"` // queued, walking, indexing, done, failed
	FilesTotal int       `json:"files_total"`
	FilesDone  int       `json:"files_done"`
	Changed    int       `json:"changed"`
	Chunks     int       `json:"chunks"`
	Bytes      int64     `json:"bytes"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	Error      string    `json:"error,omitempty"`
}

// SandboxState is a sandbox with what is going on in it.
type SandboxState struct {
	Sandbox
	ProjectName string    `json:"project_name"`
	Progress    *Progress `json:"progress,omitempty"`
	Stale       bool      `json:"stale"`
	// Watch says how changes are noticed: "events", or "polling: " and why. It is
	// empty where only looks from time to time notice them.
	Watch string `json:"watch,omitempty"`
	// IndexBytes is about what the index of the sandbox takes on disk. What it shares
	// with another sandbox is counted in both.
	IndexBytes int64 `json:"index_bytes"`
	// Pruned counts the files whose chunks gave way to the size limit.
	Pruned int `json:"pruned,omitempty"`
	// UsedAt is when code of it was last shown.
	UsedAt time.Time `json:"used_at,omitzero"`
}

// SkippedRequest asks which files of a folder's repository are not indexed.
type SkippedRequest struct {
	Path   string `json:"path" text:"exact"`
	Caller Caller `json:"caller,omitzero"`
}

// MaxSkipped is how many skipped files are listed at most.
const MaxSkipped = 10_000

// SkippedFile is a file that is not indexed, or a folder with all that is in it.
type SkippedFile struct {
	// Path is relative to the root, with slashes.
	Path string `json:"path"`
	// Reason is a word of the code source: "ignored", "binary", "too_large".
	Reason string `json:"reason"`
}

// SkippedList is what a walk over a repository left out just now.
type SkippedList struct {
	Root  string        `json:"root"`
	Files []SkippedFile `json:"files"` // by path
	// Total counts all of them, listed or not; Reasons by reason.
	Total   int            `json:"total"`
	Reasons map[string]int `json:"reasons"`
}

// PauseRequest holds indexing, or lets it go on: of the project that a folder
// belongs to, or, without a path, all work in the background.
type PauseRequest struct {
	Path   string `json:"path,omitempty" text:"exact"`
	Resume bool   `json:"resume,omitempty"`
	Caller Caller `json:"caller,omitzero"`
}

// Paused says what is held now.
type Paused struct {
	// All says that all work in the background is held.
	All bool `json:"all"`
	// Sandboxes are the roots of those that are held by themselves.
	Sandboxes []string `json:"sandboxes"`
}

// FilesRequest looks for files in the file-name index.
type FilesRequest struct {
	// Pattern is words, each part of a path or of how the file begins, or a glob
	// over the path with *, ** and ?. Case is ignored.
	Pattern string `json:"pattern" limit:"1-1000"`
	Project string `json:"project,omitempty" limit:"0-4096"` // id or name; the caller's if empty
	Limit   int    `json:"limit,omitempty" limit:"1-1000" default:"20"`
	Caller  Caller `json:"caller,omitzero"`
}

// DefaultFiles and MaxFilesListed bound a list of files.
const (
	DefaultFiles   = 20
	MaxFilesListed = 1000
)

// FileMatch is a file that a pattern fits, read again just now.
type FileMatch struct {
	Path string `json:"path"`
	// Sandbox is the root folder.
	Sandbox string `json:"sandbox"`
	Lang    string `json:"lang,omitempty"`
	// Head is how the file begins on disk.
	Head string `json:"head"`
}

// FileList holds the matches of the file-name index, best first.
type FileList struct {
	Project     string      `json:"project"`
	ProjectName string      `json:"project_name"`
	Files       []FileMatch `json:"files"`
	// Total counts all that the pattern fits.
	Total int `json:"total"`
	// Withheld counts the listed ones that did not pass a gate, by reason.
	Withheld map[Reason]int `json:"withheld,omitempty"`
	// Missing says why not all files of the project are known; empty when they are.
	Missing string `json:"missing,omitempty"`
}
