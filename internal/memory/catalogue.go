package memory

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Limits of a catalogue.
const (
	MaxEntries      = 5000   // of a project
	MaxRegistered   = 2000   // in one request
	MaxContent      = 20_000 // characters of a rule or reference
	MaxDescription  = 4000
	MaxGuidance     = 8000
	DefaultTools    = 5
	MaxToolsFound   = 20
	MaxServers      = 500
	GuidanceHeading = "[TOOL GUIDANCE] Instructions for discovered tools"
)

// OwnProject holds the tools of recalld itself; every search for tools sees them.
const OwnProject = "recalld:own"

// CatalogueEntry is a rule, a reference or a tool, as a host registers and lists it.
type CatalogueEntry struct {
	Ref
	Description string          `json:"description,omitempty" limit:"0-4000" desc:"What it is for; it is found by this." out:"-"`
	Content     string          `json:"content,omitempty" limit:"0-20000" desc:"What a rule or reference hands out." out:"-"`
	Guidance    string          `json:"guidance,omitempty" limit:"0-8000" desc:"How a tool is used well; told once, when it is found." out:"-"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty" limit:"0-65536" form:"object" desc:"A tool's." out:"-"`
	Core        bool            `json:"core,omitempty" desc:"A tool that is always active." out:"-"`
	// Include and Enabled are the entry's own settings; empty and nil leave them to
	// the server's.
	Include Include `json:"include,omitempty" enum:"always,manual,agent" desc:"Default: the server's." out:"-"`
	Enabled *bool   `json:"enabled,omitempty" desc:"Default: the server's." out:"-"`
}

// Validate checks the limits and trims the texts; errors name fields that begin with
// at. A rule or reference has a content or at least a description, or it would hand
// out nothing.
func (e *CatalogueEntry) Validate(at string) error {
	return checkStruct(reflect.ValueOf(e).Elem(), at)
}

func (e *CatalogueEntry) relations(at string) error {
	if err := e.Ref.relations(at); err != nil {
		return err
	}
	switch {
	case e.Type == Tool && e.Content != "":
		return Invalid(at+"content", "rules and references only", "a tool has none: it has guidance")
	case e.Type == Tool:
		e.InputSchema = compact(e.InputSchema)
	case e.Guidance != "":
		return Invalid(at+"guidance", "tools only", "a %s has none: it has content", e.Type)
	case len(e.InputSchema) > 0:
		return Invalid(at+"inputSchema", "tools only", "a %s has none", e.Type)
	case e.Core:
		return Invalid(at+"core", "tools only", "a %s is not called", e.Type)
	case isBlank(e.Content) && isBlank(e.Description):
		return Invalid(at+"content", fmt.Sprintf("1–%d characters, or a description", MaxContent), "is empty")
	}
	return nil
}

// Server holds the settings of a server: the defaults of its tools.
type Server struct {
	Name    string  `json:"name" limit:"1-200"`
	Include Include `json:"include,omitempty" enum:"always,manual,agent" desc:"Default: always." out:"-"`
	Enabled *bool   `json:"enabled,omitempty" desc:"Default: true." out:"-"`
}

// Validate checks the limits and trims the name; errors name fields that begin with
// at.
func (s *Server) Validate(at string) error { return checkStruct(reflect.ValueOf(s).Elem(), at) }

func (s *Server) relations(at string) error { return oneLine(at+"name", s.Name) }

// RegisterRequest registers entries and settings of servers. Two entries of the same type,
// name and server are an error, and so are two servers of one name.
type RegisterRequest struct {
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	// Source says who registers: a host's name; by default the caller's client. What
	// two sources register is the newest writer's; only a file takes nothing over.
	Source  string           `json:"source,omitempty" limit:"0-200" desc:"Who registers; default: the client's name."`
	Entries []CatalogueEntry `json:"entries,omitempty" limit:"0-2000"`
	Servers []Server         `json:"servers,omitempty" limit:"0-500" desc:"Defaults of servers' tools."`
	Replace bool             `json:"replace,omitempty" desc:"Remove what the source registered before and does not name now."`
	Project string           `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller           `json:"caller,omitzero"`
}

func (r *RegisterRequest) relations(string) error {
	if len(r.Entries) == 0 && len(r.Servers) == 0 && !r.Replace {
		return Invalid("entries", "entries or servers", "nothing is named")
	}
	if err := validSource(r.Source); err != nil {
		return err
	}
	if err := distinct("entries", r.Entries, func(e CatalogueEntry) Ref { return e.Ref }); err != nil {
		return err
	}
	return distinct("servers", r.Servers, func(s Server) string { return s.Name })
}

// UnregisterRequest removes entries, or all of a source.
type UnregisterRequest struct {
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	Entries   []Ref  `json:"entries,omitempty" limit:"0-2000" desc:"These."`
	Source    string `json:"source,omitempty" limit:"0-200" desc:"Or all that this source registered."`
	Project   string `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller `json:"caller,omitzero"`
}

func (r *UnregisterRequest) relations(string) error {
	if err := either("entries", len(r.Entries) > 0, "source", r.Source != ""); err != nil {
		return err
	}
	if err := validSource(r.Source); err != nil {
		return err
	}
	return distinct("entries", r.Entries, func(ref Ref) Ref { return ref })
}

// FilePrefix begins the source of what was read from a file of the repository; the
// file's path follows.
const FilePrefix = "file:"

// FileEntries is what one file of a repository has for its project's catalogue. It is
// handed over within the daemon; no request holds one.
type FileEntries struct {
	// Path is relative to the repository, with slashes.
	Path    string
	Entries []CatalogueEntry
	// Servers are those that the file configures, or only names.
	Servers []Server
}

// Registered says what became of a catalogue. The counts are of entries; settings of
// servers are not among them.
type Registered struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Added       int    `json:"added"`
	Changed     int    `json:"changed"`
	Unchanged   int    `json:"unchanged"`
	Removed     int    `json:"removed"`
	Total       int    `json:"total" desc:"What the catalogue holds now."`
	// JoinLater counts the entries that are always included since this request: sessions
	// that run already hold them when they next start, or when a host adds them.
	JoinLater int  `json:"join_later,omitempty" desc:"Always included from now on; running sessions hold them when they next start."`
	Redacted  bool `json:"redacted,omitempty" desc:"A secret was taken out."`
	// Seq is of the update that wrote it; 0 when there was nothing to write.
	Seq uint64 `json:"seq" desc:"The committed batch that holds it."`
}

// EntriesRequest lists a catalogue.
type EntriesRequest struct {
	Types  []Kind `json:"types,omitempty" limit:"0-3" enum:"rule,reference,tool" desc:"Only these; default: all."`
	Server string `json:"server,omitempty" limit:"0-200" desc:"Only this server's tools."`
	// Content adds texts, guidance and schemas, which are left out otherwise.
	Content bool   `json:"content,omitempty" desc:"Add texts, guidance and schemas."`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

// EntryState is an entry with what applies to it.
type EntryState struct {
	ID string `json:"id"` // of the record
	CatalogueEntry
	Source  string `json:"source,omitempty"`
	Version int    `json:"version" desc:"Counts its changes."`
	// Mode and On are the include mode and whether it is enabled after the server's
	// settings.
	Mode Include `json:"mode" desc:"When it is included, after its server's settings."`
	On   bool    `json:"on" desc:"Whether it is enabled, after its server's settings."`
	// Since is when they became what they are, where that is known. A session that
	// started before does not hold an entry that is always included since.
	Since time.Time `json:"since,omitzero" mcp:"-"`
}

// Followed says that the entry was read from a file of the repository.
func (e EntryState) Followed() bool { return strings.HasPrefix(e.Source, FilePrefix) }

// EntryList is a catalogue.
type EntryList struct {
	Project     string       `json:"project"`
	ProjectName string       `json:"project_name,omitempty"`
	Entries     []EntryState `json:"entries" desc:"In the order in which they were registered."`
	Servers     []Server     `json:"servers"`
}

// SearchToolsRequest looks for tools.
type SearchToolsRequest struct {
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	Query     string `json:"query" limit:"1-1000" desc:"In your own words."`
	Limit     int    `json:"limit,omitempty" limit:"1-20" default:"5" desc:"Most tools to return."`
	// Own lets recalld's own tools in beside the host's catalogue.
	Own bool `json:"own,omitempty" mcp:"-"`
	// Hidden are names of recalld's own tools that are not found. The daemon fills them in.
	Hidden []string `json:"-"`
	// ReadOnly makes nothing active: who searches may change nothing. It is filled in, too.
	ReadOnly bool `json:"-"`
	SessionRef
}

// FoundTool is a tool that a search found.
type FoundTool struct {
	ID          string          `json:"id"`
	ServerName  string          `json:"serverName" desc:"recalld for recalld's own."`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty" desc:"Of a host's tool."`
	Relevance   float64         `json:"relevance" desc:"Calibrated, 0–1."`
	Strength    Strength        `json:"strength,omitempty" desc:"sure, likely or maybe."`
	// Followed says that it is in a file of the repository.
	Followed bool `json:"followed,omitempty" mcp:"-"`
	// Active says that the session may call it from now on; New that it could not
	// before.
	Active bool `json:"active" desc:"It may be called."`
	New    bool `json:"new,omitempty"`
}

// ToolMatches is what a search for tools found, best first.
type ToolMatches struct {
	Project     string      `json:"project"`
	ProjectName string      `json:"project_name,omitempty"`
	SessionID   string      `json:"sessionId,omitempty" desc:"Absent when none is open."`
	Tools       []FoundTool `json:"tools" desc:"Best first."`
	// Guidance is the block for the tools that are new; empty when there is none.
	Guidance string     `json:"guidance,omitempty" desc:"How the new ones are used well; told once."`
	Degraded []Degraded `json:"degraded,omitempty" desc:"Parts that did not take part."`
	// Incomplete and Why are as in RecallResponse.
	Incomplete bool   `json:"incomplete,omitempty" desc:"Not all was searched, so what is missing here may exist; ask again."`
	Why        string `json:"why,omitempty" desc:"Why it is incomplete."`
	Version    uint64 `json:"version,omitempty" desc:"Of the working context."`
	Receipt    string `json:"receipt" desc:"Names this answer in the ledger."`
	Text       string `json:"text,omitempty" mcp:"-"`
}

// Include says when an entry of the catalogue gets into a context.
type Include string

// The include modes. A tool's own wins over its server's, which wins over
// IncludeAlways.
const (
	IncludeAlways Include = "always" // in every context
	IncludeManual Include = "manual" // where a host or user added it
	IncludeAgent  Include = "agent"  // where it is relevant to the message
)

// Entry is what the record of a rule, a reference or a tool holds beside the text
// that it is found by. A record with the same kind, name and server replaces it.
type Entry struct {
	Name string `json:"name"`
	// Server is the tool's; rules and references have none.
	Server string `json:"server,omitempty"`
	// Source says who registered it: a host's name, or "file:" and the path of the
	// file in the repository. What a source no longer has is removed with it.
	Source      string `json:"source,omitempty"`
	Description string `json:"description,omitempty"`
	// Content is what a rule or reference hands out.
	Content string `json:"content,omitempty"`
	// Guidance tells how a tool is used well; it is handed out once.
	Guidance    string          `json:"guidance,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	// Core tools are active in every session from the start.
	Core bool `json:"core,omitempty"`
	// Include and Enabled are the entry's own; empty and nil leave them to its
	// server's, which leave them to always and enabled.
	Include Include `json:"include,omitempty"`
	Enabled *bool   `json:"enabled,omitempty"`
	// Since is when Include or Enabled were last set to something else, or the entry
	// registered; zero where that was before anybody could have a session.
	Since time.Time `json:"since,omitzero"`
	// Version counts the entry's changes, from 1.
	Version int `json:"version"`
	// Ord is its place among what was registered with it.
	Ord int `json:"ord"`
}

// EntryText is the text that a context hands out of an entry: of a rule or reference
// its content, or its description if it has nothing else; of a tool its description and
// its schema.
func EntryText(kind Kind, description, content string, schema json.RawMessage) string {
	switch {
	case kind != Tool && content != "":
		return content
	case kind != Tool || len(schema) == 0:
		return description
	case description == "":
		return string(schema)
	}
	return description + "\n" + string(schema)
}

// EntryKinds are the types of entries, in the order in which contexts show them.
var EntryKinds = []Kind{Rule, Reference, Tool}

func validSource(source string) error {
	if strings.HasPrefix(source, FilePrefix) {
		return Invalid("source", "a name that does not begin with "+FilePrefix, "%s is taken for a file", Quote(source))
	}
	return nil
}

// ValidEntries checks the limits of entries that are registered at once, and trims
// their texts in place.
func ValidEntries(entries []CatalogueEntry) error {
	r := RegisterRequest{Entries: entries, Replace: true}
	err := Check(&r)
	copy(entries, r.Entries)
	return err
}
