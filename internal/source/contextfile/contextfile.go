// Package contextfile reads the files of a repository that define the contexts of its
// agents: rules, references, tools, and the names of servers.
//
// A scan reads the paths below, the listed files. It returns each file's entries for the
// catalogue, and problems: what was skipped, and why. Each file is a separate source. Of two
// entries with the same type, name and server the first counts, in the order of the list.
//
//   - .recalld/context.yaml is our own format; see below.
//   - AGENTS.md and CLAUDE.md, in the repository's root and in .claude, .cursorrules and
//     .github/copilot-instructions.md are one rule each, named by their path and always
//     included. Where two of them have the same text the first is taken.
//   - .cursor/rules and the folders in it hold .mdc files, one rule each: included always
//     with alwaysApply, otherwise where relevant if a description or globs say to what,
//     otherwise by hand, as Cursor has it.
//   - .mcp.json, .cursor/mcp.json and .vscode/mcp.json are settings of MCP clients. Of
//     these nothing but the names of servers is read: no command, argument, environment,
//     header or address ever gets into a value of this package.
//
// A text over memory.MaxContent is split at its top headings, each part a rule.
//
// # .recalld/context.yaml
//
// Every list may be left out, and so may all but name, and serverName of a tool. A text is
// given as content or as the path of a file of the repository. An unknown field is a
// problem, and so is an anchor, an alias or a tag; only the entry with the problem is
// skipped.
//
//	rules:
//	  - name: Error Handling
//	    description: how errors are wrapped and logged
//	    content: Wrap every error with what was being done.
//	    include: always            # always, manual or agent; default always
//	    enabled: true              # default
//	references:
//	  - name: Database Schema
//	    file: docs/schema.md       # relative to the repository
//	    include: agent
//	servers:                       # the defaults of their tools
//	  - name: filesystem
//	    include: agent
//	    enabled: true
//	tools:
//	  - serverName: filesystem
//	    name: read_file
//	    description: reads a file
//	    guidance: Read a file once, not in parts.
//	    inputSchema: {type: object, properties: {path: {type: string}}}
//	    core: true                 # active from the start
//	    include: always
package contextfile

import (
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// listed are the paths of a scan, in the order in which their entries count. read is nil for a
// folder.
var listed = []struct {
	path string
	read func(l *scan, path, text string) memory.FileEntries
}{
	{".recalld/context.yaml", (*scan).readContext},
	{"AGENTS.md", (*scan).wholeRule},
	{"CLAUDE.md", (*scan).wholeRule},
	{".claude/AGENTS.md", (*scan).wholeRule},
	{".claude/CLAUDE.md", (*scan).wholeRule},
	{".cursorrules", (*scan).wholeRule},
	{".cursor/rules", nil},
	{".github/copilot-instructions.md", (*scan).wholeRule},
	{".mcp.json", serversIn("mcpServers")},
	{".cursor/mcp.json", serversIn("mcpServers")},
	{".vscode/mcp.json", serversIn("servers")},
}

// Result is what the files of a repository have for its catalogue.
type Result struct {
	// Files are the files with entries, in the order of the list. Together they have at most
	// memory.MaxRegistered entries and memory.MaxServers servers.
	Files []memory.FileEntries
	// Problems are what was skipped and why, in the same order: the first hundred, and
	// one that says that there are more. They quote no text of a file except names of
	// fields, entries, modes and files, because text may be a secret in the wrong place.
	Problems []memory.ImportProblem
	// Hash identifies what was read: the same hash means the same entries. It is never
	// empty.
	Hash string
}

const (
	// maxFileSize is the largest file that is read, in bytes.
	maxFileSize = 256 << 10
	// maxFiles bounds the files beyond the list: those in .cursor/rules and its folders, and
	// those that .recalld/context.yaml names.
	maxFiles = 200
)

// Scanner scans repositories and caches the results: scanning an unchanged one costs
// little more than reading each file's time and size. It is safe for concurrent use.
type Scanner struct {
	clock func() time.Time // by which a file counts as just written

	mu    sync.Mutex // guards known
	known map[string]*scanned
}

// maxKnown bounds the cached repositories.
const maxKnown = 256

// New returns a scanner.
func New() *Scanner { return &Scanner{clock: time.Now, known: map[string]*scanned{}} }
