package agentlog

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// The clients, by the names that they have over MCP.
const (
	Claude   = "claude-code"
	Codex    = "codex"
	Gemini   = "gemini-cli"
	Qwen     = "qwen-code"
	Copilot  = "copilot"
	OpenCode = "opencode"
)

// Clients lists the clients whose logs are read.
func Clients() []string { return []string{Claude, Codex, Gemini, Qwen, Copilot, OpenCode} }

// formats read a line of a client's log. An error says why the line cannot be read.
var formats = map[string]func(*reader, []byte) error{
	Claude: (*reader).claude, Codex: (*reader).codex, Gemini: (*reader).gemini, Qwen: (*reader).qwen, Copilot: (*reader).copilot,
}

// maxLogs and maxEntries, of one place, bound a search. Of more logs the newest count.
const (
	maxLogs    = 20_000
	maxEntries = 200_000
)

// place is where a client keeps its logs; is says which files are logs, by their parts
// below the place; nil: it has a database.
type place struct {
	client, folder string
	is             func(parts []string) bool
}

// places returns where the clients keep their logs.
func places(home string, getenv func(string) string) []place {
	in := func(variable, folder, below string) string {
		return filepath.Join(cmp.Or(getenv(variable), filepath.Join(home, folder)), below)
	}
	jsonl := func(name string) bool { return strings.HasSuffix(name, ".jsonl") }
	chats := func(parts []string) bool {
		n := len(parts)
		return n == 3 && parts[1] == "chats" && (jsonl(parts[2]) || strings.HasSuffix(parts[2], ".json"))
	}
	return []place{
		{Claude, in("CLAUDE_CONFIG_DIR", ".claude", "projects"), func(p []string) bool {
			return (len(p) == 2 || len(p) == 4 && p[2] == "subagents") && jsonl(p[len(p)-1])
		}},
		{Codex, in("CODEX_HOME", ".codex", "sessions"), func(p []string) bool {
			return jsonl(p[len(p)-1]) && strings.HasPrefix(p[len(p)-1], "rollout-")
		}},
		{Gemini, filepath.Join(home, ".gemini", "tmp"), chats},
		{Qwen, filepath.Join(home, ".qwen", "projects"), func(p []string) bool { return chats(p) && jsonl(p[2]) }},
		{Qwen, filepath.Join(home, ".qwen", "tmp"), func(p []string) bool { return chats(p) && jsonl(p[2]) }},
		{Copilot, in("COPILOT_HOME", ".copilot", "session-state"), func(p []string) bool {
			return len(p) == 1 && jsonl(p[0]) || len(p) == 2 && p[1] == "events.jsonl"
		}},
		{OpenCode, filepath.Join(cmp.Or(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share")), "opencode"), nil},
	}
}

// Find lists the logs of a user, the oldest first, so that a session comes before one that
// was forked from it. getenv returns the variables by which clients move their folders.
func Find(home string, getenv func(string) string) ([]Log, error) {
	var found []Log
	for _, p := range places(home, getenv) {
		logs, err := p.find(maxEntries)
		if err != nil {
			return nil, err
		}
		found = append(found, logs...)
	}
	slices.SortFunc(found, func(a, b Log) int {
		return cmp.Or(a.Changed.Compare(b.Changed), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Name, b.Name))
	})
	return found[max(0, len(found)-maxLogs):], nil
}

// find lists the regular files of a place that are logs, among most entries. Links are not
// followed.
func (p place) find(most int) ([]Log, error) {
	if p.is == nil {
		return p.findSessions(openCodeDatabase)
	}
	root, err := fsx.OpenRoot(p.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil { // reading it says so
		return []Log{{Client: p.client, Place: p.folder, Name: "."}}, nil
	}
	defer root.Close() // only read
	var found []Log
	entries := 0
	err = fs.WalkDir(newestFirst{root.FS()}, ".", func(name string, entry fs.DirEntry, err error) error {
		if entries++; entries > most {
			return fs.SkipAll
		}
		parts := strings.Split(name, "/")
		switch {
		case errors.Is(err, fs.ErrPermission): // reading it says so
			found = append(found, Log{Client: p.client, Place: p.folder, Name: filepath.FromSlash(name)})
			return nil
		case err != nil:
			return nil // a folder that cannot be listed holds nothing for us
		case entry.IsDir() && len(parts) > 5:
			return fs.SkipDir
		case !entry.Type().IsRegular() || !p.is(parts):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		found = append(found, Log{Client: p.client, Place: p.folder, Name: filepath.FromSlash(name), Size: info.Size(), Changed: info.ModTime().UTC()})
		return nil
	})
	return found, err
}

// newestFirst lists folders from their end, where Codex has its newest days.
type newestFirst struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (f newestFirst) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	slices.Reverse(entries)
	return entries, err
}

// Path is the whole path of a log, with its session if the file holds several.
func (l Log) Path() string {
	path := filepath.Join(l.Place, l.Name)
	if l.Session != "" {
		path += "#" + l.Session
	}
	return path
}

// projectRoot reads the file in which Gemini CLI keeps the folder of a project.
func projectRoot(place *os.Root, l Log) string {
	if l.Client != Gemini {
		return ""
	}
	folder, _, _ := strings.Cut(filepath.ToSlash(l.Name), "/")
	text, err := fsx.ReadBeginning(place, filepath.Join(folder, ".project_root"), 8<<10)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
