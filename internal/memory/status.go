package memory

import (
	"encoding/json"
	"time"
)

type (
	// ReceiptRequest names a receipt.
	ReceiptRequest struct {
		ID string `json:"id" limit:"1-200" text:"exact"`
	}
	// RequeueRequest names a dead job.
	RequeueRequest struct {
		ID string `json:"id" limit:"1-200" text:"exact"`
	}
	// PullRequest names the model to download.
	PullRequest struct {
		Name string `json:"name" text:"exact"`
	}
	// Pulled says that a model was downloaded.
	Pulled bool
)

// Lists are objects, so that fields can be added beside the list.
type (
	// RepoList holds the sandboxes known, by project name and root.
	RepoList struct {
		Repos []SandboxState `json:"repos"`
	}
	// DeadJobList holds the jobs that were given up.
	DeadJobList struct {
		Jobs []DeadJob `json:"jobs"`
	}
	// ModelList holds the embedding models.
	ModelList struct {
		Models []ModelState `json:"models"`
	}
)

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
	Paused    bool `json:"paused,omitempty" desc:"All work in the background is held."`
	Sandboxes int  `json:"sandboxes"`
	Stale     int  `json:"stale" desc:"Sandboxes whose index may lag behind the disk."`
	Waiting   int  `json:"waiting" desc:"Runs in the queue."`
	Runs      int  `json:"runs"`
	Failed    int  `json:"failed"`
	// MeanRun is how long a run took on average.
	MeanRun Millis `json:"mean_run_ms"`
	// IndexBytes is about what all code takes on disk, of MaxBytes; 0 is no limit.
	IndexBytes int64 `json:"index_bytes"`
	MaxBytes   int64 `json:"max_bytes,omitempty"`
	Pruned     int   `json:"pruned,omitempty" desc:"Files without their chunks."`
	// Asked are the questions that code could have answered, Hits those whose answer
	// held some, Fallbacks those that the file-name index answered, or that had to do
	// without code because it was missing or late.
	Asked     int `json:"asked" desc:"Questions that code could have answered."`
	Hits      int `json:"hits" desc:"Those answered with code."`
	Fallbacks int `json:"fallbacks" desc:"Those answered by the light index, or without code because it was missing or late."`
}

// Savings is how many tokens answers with lessons took less than reading the logs of
// all lessons would have: for each answer that holds lessons of its project, the tokens
// of the project's log at that time less the answer's tokens, at least 0.
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

// LoggedError is an error that happened in the background, where no caller could receive it.
type LoggedError struct {
	At      time.Time `json:"at"`
	Part    string    `json:"part"`
	Message string    `json:"message"`
}

// Why code of a project is missing. NotIndexed means that the user has to index it; FirstIndexing
// passes when the first index is built.
const (
	NotIndexed    = "the project is not indexed; run 'recalld index'"
	FirstIndexing = "the repository is being indexed for the first time"
)

// Status is how the daemon is doing.
type Status struct {
	Version   string       `json:"version"`
	Protocol  int          `json:"protocol"`
	PID       int          `json:"pid"`
	Data      string       `json:"data"`
	Socket    string       `json:"socket"`
	TCP       string       `json:"tcp,omitempty"`
	State     string       `json:"state" desc:"loading, ready or draining"`
	StartedAt time.Time    `json:"started_at"`
	Records   map[Kind]int `json:"records"`
	Documents int          `json:"documents"`
	Seq       uint64       `json:"seq"`
	RSSBytes  int64        `json:"rss_bytes,omitempty"`
	// LiveBytes is what was in use on the heap at the last garbage collection. Unlike
	// RSSBytes it does not depend on when the system takes memory back.
	LiveBytes  int64 `json:"live_bytes,omitempty" mcp:"-"`
	Goroutines int   `json:"goroutines,omitempty" mcp:"-"`
	DiskBytes  int64 `json:"disk_bytes,omitempty"`
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
	// Hooks are the events that hooks could not hand over at once; nil if there are none.
	Hooks *HookEvents `json:"hook_events,omitempty" desc:"Events of hooks that wait or were lost."`
	// ReadOnly says why nothing can be stored for now; empty when it can.
	ReadOnly string `json:"read_only,omitempty" mcp:"-"`
	// BackupError says why the last daily backup was not made; empty when it was.
	BackupError string `json:"backup_error,omitempty" mcp:"-"`
	// Notes say what was ignored in the settings or the environment.
	Notes []string `json:"notes,omitempty" desc:"What the settings, or the environment, have left aside."`
	// Waiting are the files of repositories that are not read before the user agrees,
	// by root, the first 100.
	Waiting []WaitingFiles `json:"waiting_files,omitempty" mcp:"-"`
	// Damage is what the store has lost; nil when nothing is known to be.
	Damage *StoreDamage  `json:"damage,omitempty" mcp:"-"`
	Errors []LoggedError `json:"errors,omitempty" desc:"The last ones." mcp:"flat"`
}

// HookEvents counts the events of hooks that were not recorded at once.
type HookEvents struct {
	Waiting int   `json:"waiting" desc:"They are recorded soon."`
	Aside   int   `json:"aside" desc:"They could not be recorded."`
	Refused int64 `json:"refused" desc:"There was no room for them."`
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

// PageRequest asks for an address of the daemon's web page. Project is shown first; by
// default the caller's.
type PageRequest struct {
	Project string `json:"project,omitempty" limit:"0-4096" desc:"That is shown first; default: the one you work in."`
	Caller  Caller `json:"caller,omitzero"`
}

// Page is an address of the daemon's web page.
type Page struct {
	URL string `json:"url"`
}
