// Package config holds the settings of recalld: their types and defaults, where
// they are read from, what they must keep to, and the files of a data folder
// that follow from them.
//
// Vocabulary. A setting is named by its path in recalld.yaml: "log.level". A
// layer is one source of settings; later layers win: defaults, file,
// environment, flags. A data folder holds all that one daemon remembers;
// everything else of that daemon (socket, locks, log) derives from it, so
// several data folders mean several daemons.
//
// configs/recalld.yaml explains each setting for people; a test holds the two
// against one another.
package config

import "time"

// Config is every setting. Default fills it, Load layers over that, and Validate
// says what is wrong with it. The fields' meaning, for people, stands in
// configs/recalld.yaml.
type Config struct {
	// Data is the data folder; after Load it is never empty.
	Data string `yaml:"data"`
	// Socket overrides the socket's path; empty derives it from Data.
	Socket    string         `yaml:"socket"`
	Log       Log            `yaml:"log"`
	Daemon    Daemon         `yaml:"daemon"`
	TCP       TCP            `yaml:"tcp"`
	Sandboxes []string       `yaml:"sandboxes"`
	Index     Index          `yaml:"index"`
	Queue     Queue          `yaml:"queue"`
	Recall    Recall         `yaml:"recall"`
	Embedding Embedding      `yaml:"embedding"`
	Redact    Redact         `yaml:"redact"`
	Receipts  Receipts       `yaml:"receipts"`
	Sources   TrustedSources `yaml:"sources"`
	Lessons   Lessons        `yaml:"lessons"`
	Sessions  Sessions       `yaml:"sessions"`
	Tasks     Tasks          `yaml:"tasks"`
	Context   Context        `yaml:"context"`
	// FollowEvery is how often logs and session folders are looked at; 0 is never.
	FollowEvery time.Duration `yaml:"follow_every"`
	MCP         MCP           `yaml:"mcp"`
}

// Log is how the daemon logs.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn, error
	Format string `yaml:"format"` // text, json
	// MaxSize bounds the log file; one older file of this size is kept beside it.
	MaxSize Size `yaml:"max_size"`
}

// Daemon is the daemon's life.
type Daemon struct {
	Autostart    bool          `yaml:"autostart"`
	StartTimeout time.Duration `yaml:"start_timeout"`
	DrainTimeout time.Duration `yaml:"drain_timeout"`
}

// StopGrace is how long a daemon that has drained may take to end: requests that
// were cancelled notice it, and the store writes what it holds.
const StopGrace = 15 * time.Second

// StopTimeout is how long a daemon may take to end once it was asked to. Whoever
// waits for that, or kills what does not end, waits as long.
func (d Daemon) StopTimeout() time.Duration { return d.DrainTimeout + StopGrace }

// TCP is the optional loopback listener.
type TCP struct {
	Enabled bool `yaml:"enabled"`
	// Address is host:port, the host a loopback one.
	Address string `yaml:"address"`
	// TokenFile is empty for the one in the data folder.
	TokenFile      string   `yaml:"token_file"`
	AllowedOrigins []string `yaml:"allowed_origins"`
}

// Index is what of a repository is indexed, and how.
type Index struct {
	MaxFileSize Size `yaml:"max_file_size"`
	MaxFiles    int  `yaml:"max_files"`
	// SkipDirs are names of folders, SkipFiles patterns of path.Match for names
	// of files.
	SkipDirs      []string      `yaml:"skip_dirs"`
	SkipFiles     []string      `yaml:"skip_files"`
	SkipGenerated bool          `yaml:"skip_generated"`
	TimeLimit     time.Duration `yaml:"time_limit"`
	// Workers is the number of files in work at once.
	Workers    int           `yaml:"workers"`
	StaleAfter time.Duration `yaml:"stale_after"`
	// Full keeps chunks with words and vectors, Light names and beginnings.
	Full  bool `yaml:"full"`
	Light bool `yaml:"light"`
	// Watch notices changes as they are made.
	Watch bool `yaml:"watch"`
	// ReconcileEvery is how often everything is looked at anyway.
	ReconcileEvery time.Duration `yaml:"reconcile_every"`
	// MaxSize bounds what all code takes on disk; 0 is no bound.
	MaxSize Size `yaml:"max_size"`
}

// Queue is the queue of background work.
type Queue struct {
	Depth       int           `yaml:"depth"`
	Lease       time.Duration `yaml:"lease"`
	MaxAttempts int           `yaml:"max_attempts"`
	BackoffMin  time.Duration `yaml:"backoff_min"`
	BackoffMax  time.Duration `yaml:"backoff_max"`
}

// Recall is the read path.
type Recall struct {
	Limit         int           `yaml:"limit"`
	MaxTokens     int           `yaml:"max_tokens"`
	CodeDeadline  time.Duration `yaml:"code_deadline"`
	QueryDeadline time.Duration `yaml:"query_deadline"`
	CodeResults   int           `yaml:"code_results"`
	CodeSize      Size          `yaml:"code_size"`
	// MinRelevance is the floor, 0–1, on the calibrated scale.
	MinRelevance ByKind `yaml:"min_relevance"`
	// HalfLifeDays is the age in days that halves recency; 0 means never.
	HalfLifeDays ByKind `yaml:"half_life_days"`
	// VectorWeight is the weight of a vector retriever's z-score beside 1 for
	// the words (see index.Lexical).
	VectorWeight float64 `yaml:"vector_weight"`
}

// ByKind is one figure for every kind of record that recall looks for.
type ByKind struct {
	Lesson    float64 `yaml:"lesson"`
	Step      float64 `yaml:"step"`
	Chunk     float64 `yaml:"chunk"`
	Task      float64 `yaml:"task"`
	Reference float64 `yaml:"reference"`
	Rule      float64 `yaml:"rule"`
	Tool      float64 `yaml:"tool"`
}

// Map returns the figures by the kinds' wire names.
func (k ByKind) Map() map[string]float64 {
	return map[string]float64{
		"lesson": k.Lesson, "step": k.Step, "chunk": k.Chunk, "task": k.Task,
		"reference": k.Reference, "rule": k.Rule, "tool": k.Tool,
	}
}

// Embedding is the models beside the built-in one.
type Embedding struct {
	Ollama Ollama `yaml:"ollama"`
}

// Ollama is the embedding model on an Ollama server.
type Ollama struct {
	Enabled string `yaml:"enabled"` // auto, on, off
	// URL is empty for OLLAMA_HOST; Load puts the server's URL in its place.
	URL string `yaml:"url"`
	// Unused says why the server is left alone though nothing turns it off; Load
	// fills it, and no layer sets it.
	Unused      string        `yaml:"-"`
	Model       string        `yaml:"model"`
	Batch       int           `yaml:"batch"`
	Concurrency int           `yaml:"concurrency"`
	Timeout     time.Duration `yaml:"timeout"`
	// KeepAlive is how long the server keeps the model loaded; negative is for
	// good, zero leaves it to the server.
	KeepAlive   time.Duration `yaml:"keep_alive"`
	AllowRemote bool          `yaml:"allow_remote"`
	// Prefixes is keyed by family, the beginning of a model's name without its
	// namespace; the longest that fits counts. Load keeps the default families
	// that a file does not name.
	Prefixes map[string]Prefix `yaml:"prefixes"`
}

// Prefix is what an asymmetric model wants before a text.
type Prefix struct {
	Query    string `yaml:"query"`
	Document string `yaml:"document"`
}

// Redact is the removal of secrets.
type Redact struct {
	Enabled bool `yaml:"enabled"`
}

// Receipts is the ledger of answers.
type Receipts struct {
	RetentionDays int `yaml:"retention_days"`
}

// TrustedSources says of which repositories files may be read into the memory.
type TrustedSources struct {
	// Trusted are folders, and patterns of package path for folders, whose repositories'
	// files are read without asking.
	Trusted []string `yaml:"trusted"`
}

// Lessons is where lesson logs are.
type Lessons struct {
	Log bool `yaml:"log"`
	// Dir is relative to the repository, or absolute for one folder of all.
	Dir string `yaml:"dir"`
}

// Sessions is how sessions and their steps are kept.
type Sessions struct {
	Files bool `yaml:"files"`
	// Dir is as Lessons.Dir.
	Dir      string      `yaml:"dir"`
	FlowTags []string    `yaml:"flow_tags"`
	Labels   []LabelRule `yaml:"labels"`
}

// LabelRule gives a label to the steps that it fits.
type LabelRule struct {
	Label string `yaml:"label"`
	// Tools are names of tools or patterns of path.Match, case ignored; none
	// means all.
	Tools []string `yaml:"tools,omitempty"`
	// Target is a word that the step's target contains, case ignored; empty
	// means any.
	Target string `yaml:"target,omitempty"`
	// Failed fits only steps that failed.
	Failed bool `yaml:"failed,omitempty"`
}

// Tasks is working memory.
type Tasks struct {
	// Window is how many completed tasks are shown.
	Window int `yaml:"window"`
	// RequiresContext is of a task that does not say.
	RequiresContext bool `yaml:"requires_context"`
	// AuditFile appends every event to logs/audit.log.jsonl in the repository.
	AuditFile bool `yaml:"audit_file"`
	// Overrides are gone through in order; the last that fits a setting wins.
	Overrides []TaskOverride `yaml:"overrides"`
}

// TaskOverride changes settings for a project, a type of task, or both. Nil leaves a
// setting as it is.
type TaskOverride struct {
	Project  string `yaml:"project,omitempty"` // id or name; empty is any
	TaskType string `yaml:"task_type,omitempty"`
	Window   *int   `yaml:"window,omitempty"`
	// RequiresContext is of a task that does not say. LeaveOut assembles contexts
	// without history and code, as if the request had said so.
	RequiresContext *bool `yaml:"requires_context,omitempty"`
	LeaveOut        *bool `yaml:"leave_out,omitempty"`
}

// Context is how the context of a request is put together.
type Context struct {
	MaxTokens    int     `yaml:"max_tokens"`
	TopK         int     `yaml:"top_k"`
	TopN         int     `yaml:"top_n"`
	IncludeScore float64 `yaml:"include_score"`
	// Shares of the budget that what is relevant may take, by kind; what one leaves
	// is for those after it.
	Shares ContextShares `yaml:"shares"`
	// Files reads rules, references and servers from files of the repository.
	Files bool `yaml:"files"`
	// KeepTurns is what a host is told to keep after a compaction.
	KeepTurns int `yaml:"keep_turns"`
	// SummaryModel is a chat model of the Ollama server that writes summaries; empty
	// is none. SummaryTimeout is what it may take.
	SummaryModel   string        `yaml:"summary_model"`
	SummaryTimeout time.Duration `yaml:"summary_timeout"`
}

// ContextShares are shares of a budget, 0–1.
type ContextShares struct {
	Rule      float64 `yaml:"rule"`
	Reference float64 `yaml:"reference"`
	Tool      float64 `yaml:"tool"`
	Lesson    float64 `yaml:"lesson"`
	Step      float64 `yaml:"step"`
	Chunk     float64 `yaml:"chunk"`
}

// Map returns the shares by the kinds' wire names.
func (s ContextShares) Map() map[string]float64 {
	return map[string]float64{
		"rule": s.Rule, "reference": s.Reference, "tool": s.Tool,
		"lesson": s.Lesson, "step": s.Step, "chunk": s.Chunk,
	}
}

// Toolsets lists the words that stand for several tools.
var Toolsets = []string{"core", "knowledge", "history", "tasks", "context", "admin", "all"}

// MCP is the MCP server.
type MCP struct {
	// Prefix begins the names of the knowledge tools.
	Prefix string `yaml:"prefix"`
	// Toolsets are the tools that are listed from the start: core, knowledge, history,
	// tasks, context, admin or all. The others are found by search_tools.
	Toolsets []string `yaml:"toolsets"`
}
