// Package config holds the settings of recalld: their types, defaults and limits,
// where they are read from, and the files of a data folder that follow from them.
//
// A setting is named by its path in recalld.yaml: "log.level". Settings come from
// several layers, of which later ones win: defaults, file, environment, flags. A data
// folder holds everything that one daemon remembers. The daemon's socket, locks and
// log derive from it, so several data folders mean several daemons.
//
// The tags of the fields are the only list of settings: yaml is the name, default the
// default as the environment would spell it, limit the range (or "0," and a range, where
// 0 turns something off), enum the words to choose from. configs/recalld.yaml explains
// each setting for people; a test compares the two.
package config

import "time"

// Config is every setting. Default fills it, Load adds the layers, and Validate checks
// the result.
type Config struct {
	// Data is the data folder; Load never leaves it empty.
	Data string `yaml:"data"`
	// Socket is the socket's path; empty derives it from Data.
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
	// FollowEvery is how often logs and session folders are read; 0 is never.
	FollowEvery time.Duration `yaml:"follow_every" default:"2s" limit:"0,100ms-1h"`
	Backup      Backup        `yaml:"backup"`
	Limits      Limits        `yaml:"limits"`
	Team        Team          `yaml:"team"`
	MCP         MCP           `yaml:"mcp"`
	Search      Search        `yaml:"search"`
	// Notices name the former settings that Load ignored.
	Notices []string `yaml:"-"`
}

// Log is how the daemon logs.
type Log struct {
	Level  string `yaml:"level" default:"info" enum:"debug,info,warn,error"`
	Format string `yaml:"format" default:"text" enum:"text,json"`
}

// Daemon is how the daemon is started.
type Daemon struct {
	Autostart bool `yaml:"autostart" default:"true"`
}

// How a daemon ends. Commands that wait for the end use these times too.
const (
	// DrainTimeout is how long a daemon that stops waits for work in progress. Work that
	// is cancelled then is repeated after the next start.
	DrainTimeout = 10 * time.Second
	// StopGrace is how long a drained daemon may take to end: cancelled requests notice
	// it, and the store closes.
	StopGrace = 15 * time.Second
	// StopTimeout is how long a daemon may take to end after it was asked to.
	StopTimeout = DrainTimeout + StopGrace
)

// TCP is the optional loopback listener.
type TCP struct {
	Enabled bool `yaml:"enabled"`
	// Address is host:port with a loopback host, or any address with a certificate.
	Address string `yaml:"address" default:"127.0.0.1:7420"`
	// Certificate and Key are files in PEM for TLS; both or none are set.
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	// TokenFile is empty for the file in the data folder.
	TokenFile      string   `yaml:"token_file"`
	AllowedOrigins []string `yaml:"allowed_origins"`
}

// Limits are what the daemon may take, and what one client may ask.
type Limits struct {
	// Memory is the most that the daemon should hold; 0 is no bound.
	Memory Size `yaml:"memory" default:"0" limit:"0,64MB-1000GB"`
	// Processors are how many work at the same time; 0 is all.
	Processors int `yaml:"processors" default:"0" limit:"0,1-1024"`
	// Rate is how many calls a second, Concurrent how many at the same time, one client may
	// make; 0 is no limit.
	Rate       int `yaml:"rate" default:"2000" limit:"0,1-1000000"`
	Concurrent int `yaml:"concurrent" default:"256" limit:"0,1-1024"`
}

// Index is what is indexed of a repository, and how.
type Index struct {
	MaxFileSize Size `yaml:"max_file_size" default:"500KB" limit:"1KB-100MB"`
	MaxFiles    int  `yaml:"max_files" default:"50000" limit:"1-10000000"`
	// SkipDirs are names of folders, SkipFiles patterns of path.Match for names of
	// files.
	SkipDirs      []string      `yaml:"skip_dirs" default:".git,.hg,.svn,.idea,.vscode,.cache,.gradle,.mypy_cache,.next,.nuxt,.pytest_cache,.terraform,.tox,.venv,__pycache__,bower_components,build,coverage,dist,node_modules,out,target,vendor,venv,agent-knowledge,llm-knowledge"`
	SkipFiles     []string      `yaml:"skip_files" default:"*.min.js,*.min.css,*.map,*.pb.go,*_pb2.py,*.generated.*,*.snap,*.lock,go.sum,go.work.sum,package-lock.json,npm-shrinkwrap.json,pnpm-lock.yaml,packages.lock.json,.terraform.lock.hcl,Package.resolved,gradle.lockfile"`
	SkipGenerated bool          `yaml:"skip_generated" default:"true"`
	TimeLimit     time.Duration `yaml:"time_limit" default:"10m" limit:"1s-24h"`
	StaleAfter    time.Duration `yaml:"stale_after" default:"5m" limit:"1s-24h"`
	// Full keeps chunks with words and vectors, Light names and first characters.
	Full  bool `yaml:"full" default:"true"`
	Light bool `yaml:"light" default:"true"`
	// History ranks code by what the commits that changed its file said.
	History bool `yaml:"history" default:"true"`
	// Watch notices changes when they are made.
	Watch bool `yaml:"watch" default:"true"`
	// MaxSize bounds the disk space of all code; 0 is no bound.
	MaxSize Size `yaml:"max_size" default:"10GB" limit:"0,1MB-1000GB"`
}

// Queue is the queue of background work.
type Queue struct {
	Depth int `yaml:"depth" default:"1000" limit:"10-1000000"`
}

// Recall is the read path.
type Recall struct {
	Limit        int           `yaml:"limit" default:"5" limit:"1-50"`
	MaxTokens    int           `yaml:"max_tokens" default:"1000" limit:"50-8000"`
	CodeDeadline time.Duration `yaml:"code_deadline" default:"200ms" limit:"1ms-500ms"`
	CodeResults  int           `yaml:"code_results" default:"3" limit:"0-50"`
	CodeSize     Size          `yaml:"code_size" default:"2KiB" limit:"0-64KiB"`
	MinRelevance Thresholds    `yaml:"min_relevance"`
}

// Thresholds are the least relevance, 0–1, by kind.
type Thresholds struct {
	Lesson    float64 `yaml:"lesson" default:"0.5" limit:"0-1"`
	Step      float64 `yaml:"step" default:"0.5" limit:"0-1"`
	Chunk     float64 `yaml:"chunk" default:"0.75" limit:"0-1"`
	Task      float64 `yaml:"task" default:"0.5" limit:"0-1"`
	Reference float64 `yaml:"reference" default:"0.5" limit:"0-1"`
	Rule      float64 `yaml:"rule" default:"0.5" limit:"0-1"`
	Tool      float64 `yaml:"tool" default:"0.5" limit:"0-1"`
}

// Map returns the thresholds by the kinds' wire names.
func (k Thresholds) Map() map[string]float64 {
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
	Enabled string `yaml:"enabled" default:"auto" enum:"auto,on,off"`
	// URL is empty for OLLAMA_HOST; Load replaces that by the server's URL.
	URL string `yaml:"url"`
	// Unused says why the server is not used although no setting turns it off.
	Unused      string        `yaml:"-"`
	Model       string        `yaml:"model" default:"nomic-embed-text"`
	Timeout     time.Duration `yaml:"timeout" default:"2m" limit:"1s-10m"`
	AllowRemote bool          `yaml:"allow_remote"`
	// Prefixes are added to ollama.DefaultPrefixes, by family: the beginning of a
	// model's name without its namespace.
	Prefixes map[string]Prefix `yaml:"prefixes"`
}

// Prefix is the text that a model expects before a query or a document.
type Prefix struct {
	Query    string `yaml:"query"`
	Document string `yaml:"document"`
}

// Redact is the removal of secrets.
type Redact struct {
	Enabled bool `yaml:"enabled" default:"true"`
}

// Receipts is the ledger of answers.
type Receipts struct {
	RetentionDays int `yaml:"retention_days" default:"90" limit:"0-36500"`
}

// TrustedSources are the repositories whose files may be read into the memory.
type TrustedSources struct {
	// Trusted are folders, or patterns of path.Match for folders. Repositories in them
	// are read without asking.
	Trusted []string `yaml:"trusted"`
}

// Lessons is where lesson logs are.
type Lessons struct {
	Log bool `yaml:"log" default:"true"`
	// Dir is relative to the repository, or absolute for one folder for all.
	Dir string `yaml:"dir" default:"agent-knowledge/logs"`
	// Shared has new logs show in git status: the team commits them.
	Shared bool `yaml:"shared" default:"false"`
}

// Sessions is how sessions and their steps are kept.
type Sessions struct {
	Files bool `yaml:"files" default:"true"`
	// HookFiles writes files of what hooks record, too.
	HookFiles bool `yaml:"hook_files" default:"false"`
	// Dir is relative or absolute like Lessons.Dir.
	Dir      string      `yaml:"dir" default:"test-artifacts/llm-knowledge"`
	FlowTags []string    `yaml:"flow_tags" default:"send,swap,connect,sign,onboarding,settings,tx-confirmation"`
	Labels   []LabelRule `yaml:"labels"`
}

// LabelRule gives a label to the steps that it matches.
type LabelRule struct {
	Label string `yaml:"label"`
	// Tools are names of tools or patterns of path.Match, ignoring case; none means all.
	Tools []string `yaml:"tools,omitempty"`
	// Target is a word in the step's target, ignoring case; empty means any.
	Target string `yaml:"target,omitempty"`
	// Failed matches only steps that failed.
	Failed bool `yaml:"failed,omitempty"`
}

// Tasks is working memory.
type Tasks struct {
	// Window is how many completed tasks are shown.
	Window int `yaml:"window" default:"5" limit:"1-100"`
	// RequiresContext applies to tasks that do not say.
	RequiresContext bool `yaml:"requires_context"`
	// AuditFile appends every event to logs/audit.log.jsonl in the repository.
	AuditFile bool `yaml:"audit_file"`
	// Overrides apply in order; the last match of a setting wins.
	Overrides []TaskOverride `yaml:"overrides"`
}

// TaskOverride changes settings for a project, a type of task, or both. Nil changes
// nothing.
type TaskOverride struct {
	Project  string `yaml:"project,omitempty"` // id or name; empty is any
	TaskType string `yaml:"task_type,omitempty"`
	Window   *int   `yaml:"window,omitempty"`
	// RequiresContext is as in Tasks. LeaveOut assembles contexts without history and
	// code, as if the request had said so.
	RequiresContext *bool `yaml:"requires_context,omitempty"`
	LeaveOut        *bool `yaml:"leave_out,omitempty"`
}

// Context is how the context of a request is assembled.
type Context struct {
	MaxTokens    int     `yaml:"max_tokens" default:"4000" limit:"50-100000"`
	TopK         int     `yaml:"top_k" default:"20" limit:"1-200"`
	TopN         int     `yaml:"top_n" default:"5" limit:"1-50"`
	IncludeScore float64 `yaml:"include_score" default:"0.7" limit:"0-1"`
	// Files reads rules, references and servers from files of the repository.
	Files bool `yaml:"files" default:"true"`
	// KeepTurns is how many turns a host is told to keep after a compaction.
	KeepTurns int `yaml:"keep_turns" default:"3" limit:"1-100"`
	// SummaryModel is a chat model of the Ollama server that writes summaries; empty
	// is none. SummaryTimeout is how long it may take.
	SummaryModel   string        `yaml:"summary_model"`
	SummaryTimeout time.Duration `yaml:"summary_timeout" default:"1m" limit:"1s-10m"`
}

// Backup is how the store is backed up.
type Backup struct {
	// Dir is empty for the folder backups in the data folder.
	Dir string `yaml:"dir"`
	// Daily makes a backup a day while the daemon runs.
	Daily bool `yaml:"daily" default:"true"`
	// KeepDays and MaxSize bound the backups of a store; 0 is no bound.
	KeepDays int  `yaml:"keep_days" default:"7" limit:"0-3650"`
	MaxSize  Size `yaml:"max_size" default:"10GB" limit:"0,1MB-1000GB"`
}

// Team is what is shared with a team beside lessons.
type Team struct {
	// Summaries shares the session summaries of shared projects.
	Summaries bool `yaml:"summaries"`
}

// Toolsets lists the words that stand for several tools.
var Toolsets = []string{"core", "knowledge", "history", "tasks", "context", "admin", "all"}

// MCP is the MCP server.
type MCP struct {
	// Prefix begins the names of the knowledge tools.
	Prefix string `yaml:"prefix" default:"mm_"`
	// Toolsets are listed from the start: names of sets or of tools. search_tools finds
	// the others.
	Toolsets []string `yaml:"toolsets" default:"core"`
	// StaticLists are the beginnings of the names of clients whose model sees only the tools
	// that were listed when they connected.
	StaticLists []string `yaml:"static_lists" default:"codex,qwen"`
	// Project is that of calls without a folder (HTTP without roots) that name none.
	Project string `yaml:"project"`
	// StructuredContent sends answers as structured content too, and lists its schemas.
	StructuredContent string `yaml:"structured_content" default:"off" enum:"off,on"`
}

// SearchActions are what keys do in the interactive search.
var SearchActions = []string{"up", "down", "open", "show", "scroll-up", "scroll-down", "next-kind", "former-kind", "next-project", "copy", "forget", "leave", "keys", "nothing"}

// Search is the interactive search. It is no setting of the daemon.
type Search struct {
	// Keys are KEY=ACTION: keys that do something else than usually.
	Keys []string `yaml:"keys"`
}
