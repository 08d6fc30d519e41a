package render

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

// Level says how serious a finding is.
type Level string

// The levels. Only FindingFailed is a fault.
const (
	FindingOK     Level = "ok"
	FindingNote   Level = "note"
	FindingFailed Level = "failed"
)

// Finding is one thing that was looked at.
type Finding struct {
	Check  string `json:"check"`
	Level  Level  `json:"level"`
	Detail string `json:"detail"`
	// Hint is what to do about it.
	Hint string `json:"hint,omitempty"`
}

// Findings are what a daemon that runs says of itself, its indexes and the disk.
func Findings(s *memory.Status, repos []memory.SandboxState) []Finding {
	all := []Finding{{"daemon", FindingOK, fmt.Sprintf("%s, pid %d, version %s, protocol %d", s.State, s.PID, s.Version, s.Protocol), ""}}
	for _, c := range s.Collections {
		f := Finding{"vectors " + c.Name, FindingOK, fmt.Sprintf("%s, %d of %d embedded", c.Text(), c.Embedded, c.Documents), ""}
		if c.State == memory.CollectionUnavailable {
			f.Level, f.Hint = FindingNote, "answers come without these vectors until the model is back"
		}
		if c.Error != "" {
			f.Detail += ": " + c.Error
		}
		all = append(all, f)
	}
	labels := ProjectLabels(repos)
	for _, r := range repos {
		f := Finding{Check: "index " + labels[r.Project], Level: FindingNote}
		switch root := Printable(r.Root); {
		case !r.GoneAt.IsZero():
			f.Detail = root + ": " + GoneText(&r)
		case r.Paused:
			f.Detail, f.Hint = "indexing of "+root+" is paused", "run "+CommandWith("recalld resume", r.Root)+" to resume it"
		case r.Failed():
			f.Level, f.Detail, f.Hint = FindingFailed, r.LastError, "run "+CommandWith("recalld index --wait", r.Root)+" to try again"
		case PolledText(&r) != "":
			f.Detail = PolledText(&r)
		default:
			continue
		}
		all = append(all, f)
	}
	if s.Code.Paused {
		all = append(all, Finding{"background", FindingNote, "all background work is paused", "run 'recalld resume' to resume it"})
	}
	if s.ReadOnly != "" {
		all = append(all, Finding{"disk", FindingFailed, s.ReadOnly, "make room or make the disk writable; writing goes on by itself"})
	}
	if s.BackupError != "" {
		all = append(all, Finding{"backup", FindingFailed, "the daily backup was not made: " + s.BackupError, "make its folder writable, or name another with backup.dir; 'recalld backup' tries again"})
	}
	return all
}

// ProjectLabels are what the projects of sandboxes are called, by their ids: by name, and by
// the folder, too, where several have the name.
func ProjectLabels(repos []memory.SandboxState) map[string]string {
	labels, folders, named := map[string]string{}, map[string]string{}, map[string]int{}
	for _, r := range repos {
		if _, known := labels[r.Project]; !known {
			labels[r.Project], folders[r.Project] = memory.ProjectLabel(r.ProjectName, r.Project), Printable(r.Root)
			named[labels[r.Project]]++
		}
	}
	for id, label := range labels {
		if named[label] > 1 {
			labels[id] = label + " in " + folders[id]
		}
	}
	return labels
}

// GoneText says since when a folder is missing and what becomes of its index. To forget the
// project is no advice: it may have other folders, and has lessons.
func GoneText(r *memory.SandboxState) string {
	text := fmt.Sprintf("the folder is missing since %s; ", Time(r.GoneAt, "?"))
	if r.Files == 0 {
		return text + "nothing is indexed of it any more"
	}
	return text + "its index is dropped after a day, lessons stay"
}

// PolledText says how changes of a sandbox are noticed where the system reports none, and why
// so.
func PolledText(r *memory.SandboxState) string {
	return when(strings.HasPrefix(r.Watch, "polling"), "changes are noticed by "+r.Watch)
}

// CommandWith writes a command with a path for a sentence, in quotes unless the path needs
// quotes of its own.
func CommandWith(command, path string) string {
	line := command + " " + shellWord(path)
	if strings.Contains(line, "'") {
		return line
	}
	return "'" + line + "'"
}

// shellWord writes a path as one word of a command line that is to be copied.
func shellWord(path string) string {
	plain := "/._-+@:,=~" + string(filepath.Separator)
	for _, r := range path {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(plain, r) {
			return "'" + strings.ReplaceAll(Printable(path), "'", `'\''`) + "'"
		}
	}
	return path
}
