package memory

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// RememberRequest is a lesson to be kept.
type RememberRequest struct {
	// RequestID is made by the client; a second request with the same id is
	// answered as the first and changes nothing.
	RequestID string    `json:"request_id,omitempty" limit:"0-200"`
	Repo      string    `json:"repo,omitempty" limit:"0-200" desc:"Repository it speaks of; default: the one you work in."`
	Type      EventType `json:"event_type,omitempty" enum:"error,success,pattern" usual:"pattern" desc:"error: it went wrong before it went right; success: a known problem solved; pattern: reusable."` // default: pattern
	// AlsoType is Type under its short name. Validate puts it into Type.
	AlsoType    EventType `json:"type,omitempty" enum:"error,success,pattern" desc:"The same as event_type."`
	Context     string    `json:"context,omitempty" limit:"0-2000" desc:"What was being attempted, with the error if there was one."`
	Command     string    `json:"command,omitempty" limit:"0-2000" desc:"The exact command, where there is one."`
	Lesson      string    `json:"lesson" limit:"1-4000" desc:"What was learned, so that it can be acted on."`
	SuccessRate string    `json:"success_rate,omitempty" desc:"Successes of attempts: 9/10." pattern:"^\\d{1,7}/\\d{1,7}$"` // "9/10"
	Tags        []string  `json:"tags,omitempty" limit:"0-20" each:"1-64" desc:"A few words to group by."`
	AgentID     string    `json:"agent_id,omitempty" limit:"0-200" desc:"Who writes; default: the client's name."`
	// Supersedes are ids of lessons that this one replaces, Retracts ids of
	// lessons that were found wrong. Both stay stored and are not recalled.
	Supersedes []string `json:"supersedes,omitempty" limit:"0-20" each:"1-200" desc:"Ids of lessons that this one replaces."`
	Retracts   []string `json:"retracts,omitempty" limit:"0-20" each:"1-200" desc:"Ids of lessons that were found wrong; this one says why."`
	Project    string   `json:"project,omitempty" limit:"0-4096"`
	Caller     Caller   `json:"caller,omitzero"`
}

// Remembered says what became of a lesson.
type Remembered struct {
	ID          string `json:"id"`
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Repo        string `json:"repo"`
	// Merged says that the same lesson was there already.
	Merged   bool `json:"merged,omitempty" desc:"The same lesson was there already."`
	Redacted bool `json:"redacted,omitempty" desc:"A secret was taken out."`
	// Log is the log file that it was appended to, if logs are written; Warning
	// says why it could not be. The record is there.
	Log     string `json:"log,omitempty" desc:"The log file that it was appended to."`
	Warning string `json:"warning,omitempty" desc:"What could not be done beside; the lesson is kept."`
	// Seq is the committed batch that holds it.
	Seq uint64 `json:"seq" desc:"The committed batch that holds it."`
}

// ReferenceDoc is one text to be kept whole under a name.
type ReferenceDoc struct {
	Name    string    `json:"name"`
	Title   string    `json:"title,omitempty"`
	Text    string    `json:"text"`
	Created time.Time `json:"created_at,omitzero"`
}

// ForgetRequest names what is to be removed for good: records and sessions by id,
// or a project with all it holds.
type ForgetRequest struct {
	IDs     []string `json:"ids,omitempty" limit:"0-1000" each:"1-200"`
	Project string   `json:"project,omitempty" limit:"0-4096"`
}

// Forgotten says what was removed. The steps of sessions are among the records.
type Forgotten struct {
	Records   int `json:"records"`
	Sessions  int `json:"sessions,omitempty"`
	Files     int `json:"files"`
	Documents int `json:"documents"`
	// Note says what may still hold the text: backups and exports, logs and session
	// files of the repository.
	Note string `json:"note,omitempty"`
}

// IndexRequest asks for a folder to be indexed in the background.
type IndexRequest struct {
	Path         string    `json:"path,omitempty" limit:"0-4096" text:"exact" desc:"Folder of the repository; default: the one you work in."`
	ProjectID    string    `json:"project_id,omitempty" limit:"0-200" desc:"The project's id, where known."`
	SandboxRoot  string    `json:"sandbox_root,omitempty" limit:"0-4096" text:"exact" desc:"Another name of path."`
	ChangedFiles []string  `json:"changed_files,omitempty" limit:"0-10000" each:"1-4096" desc:"Only these files, relative to the folder; default: all that changed."`
	RequestedAt  time.Time `json:"requested_at,omitzero" text:"exact" desc:"When it was asked for; default: now."`
	Caller       Caller    `json:"caller,omitzero"`
}

// IndexQueued is answered at once.
type IndexQueued struct {
	Job string `json:"job"`
	// Position is the number of jobs ahead of it.
	Position    int    `json:"position" desc:"Place in the queue."`
	Coalesced   bool   `json:"coalesced,omitempty" desc:"Joined to a request that was waiting."`
	Project     string `json:"project"`
	ProjectName string `json:"project_name"`
	Sandbox     string `json:"sandbox"`
	Root        string `json:"root" desc:"The folder that is indexed."`
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

// SkippedRequest asks what of a folder's repository is not indexed.
type SkippedRequest struct {
	Path   string `json:"path"`
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
	Path   string `json:"path,omitempty"`
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

// TrustRequest agrees to the files of a repository being read into the memory, or takes
// that back.
type TrustRequest struct {
	// Path is a folder of the repository; the caller's if empty.
	Path   string `json:"path,omitempty"`
	Revoke bool   `json:"revoke,omitempty"`
	// List changes nothing. With a path, its repository is looked at before.
	List   bool   `json:"list,omitempty"`
	Caller Caller `json:"caller,omitzero"`
}

// TrustedFolder is a repository whose files are read into the memory.
type TrustedFolder struct {
	// Folder is the top of the repository; its linked worktrees are trusted with it.
	Folder      string    `json:"folder"`
	Project     string    `json:"project,omitempty"`
	ProjectName string    `json:"project_name,omitempty"`
	At          time.Time `json:"at,omitzero"`
	// Setting says that it is a folder, or pattern, of sources.trusted.
	Setting bool `json:"setting,omitempty"`
}

// WaitingFiles are files of a repository that are not read before somebody agrees.
type WaitingFiles struct {
	Root        string `json:"root"`
	ProjectName string `json:"project_name,omitempty"`
	// Logs are lesson logs with lines that are not known, Sessions folders of sessions
	// that are not known, ContextFiles files with rules, references or servers.
	Logs         int `json:"logs,omitempty"`
	Sessions     int `json:"sessions,omitempty"`
	ContextFiles int `json:"context_files,omitempty"`
}

// Text says what waits: "1 lesson log, 2 sessions and 1 context file".
func (w WaitingFiles) Text() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{w.Logs, "lesson log"}, {w.Sessions, "session"}, {w.ContextFiles, "context file"}} {
		if p.n > 0 {
			parts = append(parts, Count(p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	text := parts[len(parts)-1]
	if len(parts) > 1 {
		text = strings.Join(parts[:len(parts)-1], ", ") + " and " + text
	}
	return text
}

// TrustState says which repositories are trusted, and what of others waits.
type TrustState struct {
	// Root is the repository that the request was about; empty for a list.
	Root    string          `json:"root,omitempty"`
	Trusted []TrustedFolder `json:"trusted"`
	Waiting []WaitingFiles  `json:"waiting"`
	// Removed counts the records that a revocation took out of the memory.
	Removed int `json:"removed,omitempty"`
}

// CollectionState is how far the vectors of one model are.
type CollectionState struct {
	Name      string `json:"name"`
	Model     string `json:"model"`
	Dim       int    `json:"dim,omitempty"`
	Documents int    `json:"documents"`
	Embedded  int    `json:"embedded"`
	// State is one of those below.
	State string `json:"state"`
	// ReplacedBy is the model whose space takes the place of a replaced one.
	ReplacedBy string `json:"replaced_by,omitempty"`
	Error      string `json:"error,omitempty"`
}

// The states of a space.
const (
	CollectionReady       = "ready"
	CollectionBackfilling = "filling"
	// CollectionUnavailable is one whose model cannot be reached.
	CollectionUnavailable = "unavailable"
	CollectionLoading     = "loading"
	// CollectionReplaced is one of a model that another took the place of. It answers
	// nothing, and goes when the other's is filled. Embedded is as of the start.
	CollectionReplaced = "replaced"
	// CollectionUnused is one of a model that is switched off: it answers nothing, and
	// stays.
	CollectionUnused = "unused"
)

// Text is the state in words: "filling 40 %", "replaced by builtin/b".
func (s *CollectionState) Text() string {
	switch {
	case s.State == CollectionBackfilling:
		return s.State + " " + Percent(s.Embedded, s.Documents)
	case s.ReplacedBy != "":
		return s.State + " by " + s.ReplacedBy
	}
	return s.State
}

// QueueState is what waits in the queue.
type QueueState struct {
	Waiting int            `json:"waiting"`
	Running int            `json:"running"`
	Dead    int            `json:"dead"`
	Dropped int            `json:"dropped"`
	ByKind  map[string]int `json:"by_kind,omitempty"`
}

// CodeState counts what became of indexing and of questions for code. The counts
// are since the daemon started.
type CodeState struct {
	// Paused says that all work in the background is held.
	Paused    bool `json:"paused,omitempty" desc:"All work in the background is held."`
	Sandboxes int  `json:"sandboxes"`
	Stale     int  `json:"stale" desc:"Sandboxes whose index may lag behind the disk."` // sandboxes whose index may lag behind the disk
	// Waiting is the number of runs in the queue.
	Waiting int `json:"waiting" desc:"Runs in the queue."`
	Runs    int `json:"runs"`
	Failed  int `json:"failed"`
	// MeanRun is how long a run took on average.
	MeanRun Millis `json:"mean_run_ms"`
	// IndexBytes is about what all code takes on disk, of MaxBytes; 0 is no limit.
	IndexBytes int64 `json:"index_bytes"`
	MaxBytes   int64 `json:"max_bytes,omitempty"`
	Pruned     int   `json:"pruned,omitempty" desc:"Files without their chunks."` // files without their chunks
	// Asked are the questions that code could have answered, Hits those whose answer
	// held some, Fallbacks those that the file-name index answered, or that had to do
	// without code because it was missing or late.
	Asked     int `json:"asked" desc:"Questions that code could have answered."`
	Hits      int `json:"hits" desc:"Those answered with code."`
	Fallbacks int `json:"fallbacks" desc:"Those answered by the light index, or without code because it was missing or late."`
}

// Savings is how many tokens answers with lessons took less than reading the logs of
// all lessons would have: for each answer that holds lessons of its project, the tokens
// of the project's log at that time less those of the answer, at least 0.
type Savings struct {
	Answers int   `json:"answers"`
	Tokens  int64 `json:"tokens"`
	// Projects are those with the most, at most 20.
	Projects []Saving `json:"projects" desc:"Those with the most." mcp:"flat"`
}

// Saving is the share of one project.
type Saving struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Answers     int    `json:"answers"`
	Tokens      int64  `json:"tokens"`
}

// LoggedError is an error that nobody was there to be told of.
type LoggedError struct {
	At      time.Time `json:"at"`
	Part    string    `json:"part"`
	Message string    `json:"message"`
}

// Why code of a project is missing. NotIndexed needs somebody to index it; FirstIndexing
// passes when the first index is built.
const (
	NotIndexed    = "the project is not indexed; run 'recalld index'"
	FirstIndexing = "the repository is being indexed for the first time"
)

// Status is how the daemon is doing.
type Status struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	PID      int    `json:"pid"`
	Data     string `json:"data"`
	Socket   string `json:"socket"`
	TCP      string `json:"tcp,omitempty"`
	// State is loading, ready or draining.
	State     string       `json:"state" desc:"loading, ready or draining"`
	StartedAt time.Time    `json:"started_at"`
	Records   map[Kind]int `json:"records"`
	Documents int          `json:"documents"`
	Seq       uint64       `json:"seq"`
	RSSBytes  int64        `json:"rss_bytes,omitempty"`
	DiskBytes int64        `json:"disk_bytes,omitempty"`
	// Projects are the first of all sandboxes, of which there are ProjectsTotal.
	Projects      []SandboxState    `json:"projects" desc:"Sandboxes with the state of their index." mcp:"flat"`
	ProjectsTotal int               `json:"projects_total" desc:"All of them, listed or not."`
	Collections   []CollectionState `json:"spaces" desc:"How far each model's vectors are." mcp:"flat"`
	Queue         QueueState        `json:"queue"`
	Code          CodeState         `json:"code" desc:"Indexing of code and questions for it, since the daemon started."`
	// Savings are what answers with lessons have saved since the daemon started; nil
	// before the first.
	Savings *Savings `json:"savings,omitempty" desc:"What answers with lessons saved against reading their logs, since the daemon started."`
	// Adapting is how far an adaptation of the built-in model is; nil without one.
	Adapting *AdaptProgress `json:"adapting,omitempty" mcp:"-"`
	// ReadOnly says why nothing can be stored for now; empty when it can.
	ReadOnly string `json:"read_only,omitempty" mcp:"-"`
	// Notes say what the settings, or the environment, have left aside.
	Notes []string `json:"notes,omitempty" desc:"What the settings, or the environment, have left aside."`
	// Waiting are the files of repositories that are not read before somebody agrees,
	// by root, the first 100.
	Waiting []WaitingFiles `json:"waiting_files,omitempty" mcp:"-"`
	// Damage is what the store has lost; nil when nothing is known to be.
	Damage *StoreDamage  `json:"damage,omitempty" mcp:"-"`
	Errors []LoggedError `json:"errors,omitempty" desc:"The last ones." mcp:"flat"`
}

// DeadJob is a job that was given up, as seen from outside.
type DeadJob struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Key        string          `json:"key,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Attempts   int             `json:"attempts"`
	LastError  string          `json:"last_error"`
	EnqueuedAt time.Time       `json:"enqueued_at"`
}

// CheckReport is what reading the whole store came to.
type CheckReport struct {
	// Problems are what is wrong, the first MaxProblems of Total; none when the
	// store is sound.
	Problems []string `json:"problems"`
	Total    int      `json:"total"`
	// Busy says that what was found may come of writes that went on meanwhile:
	// nothing can be said.
	Busy bool   `json:"busy,omitempty"`
	Took Millis `json:"took_ms"`
}

// MaxProblems is how many problems a report lists at most.
const MaxProblems = 100

// ModelState is a model that can embed, or could.
type ModelState struct {
	Name string `json:"name"`
	Dim  int    `json:"dim,omitempty"`
	// State is active, available or missing.
	State string `json:"state"`
	Note  string `json:"note,omitempty"`
}

// PullProgress is one message of a model's download.
type PullProgress struct {
	Status    string `json:"status"`
	Completed int64  `json:"completed,omitempty"`
	Total     int64  `json:"total,omitempty"`
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
