package lessonlog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Exported counts what an export wrote.
type Exported struct {
	Files   int
	Lessons int
	// LeftOut counts lessons superseded by a lesson that is not exported: importing them
	// would bring them back.
	LeftOut int
}

// Export writes lessons as new logs, one for every repository name, into a folder that is
// empty or does not exist. The lines of a log are sorted by time and the lesson's id, so
// that the same lessons always give the same bytes. A lesson has a line for each of its
// observations, in order, and one for its current rate if outcomes have changed it since.
// A superseded lesson is named by a line of the lesson that superseded it. Importing an
// export gives the same results, and importing it where it came from changes nothing. It
// returns CodeConflict if the folder is not empty or is a file.
func Export(dir string, lessons []memory.Record) (Exported, error) {
	if err := fsx.MakeEmpty(dir); err != nil {
		return Exported{}, err
	}
	logs, w := linesByRepo(lessons)
	at, err := fsx.OpenRoot(dir)
	if err != nil {
		return Exported{}, fmt.Errorf("open folder of export: %w", err)
	}
	defer at.Close() // only its handle
	names := fileNames{}
	for _, repo := range slices.Sorted(maps.Keys(logs)) {
		var text []byte
		for _, l := range logs[repo] {
			text = append(text, Encode(l.LogLine)...)
		}
		if err := fsx.Replace(at, names.of(repo), text, 0o666); err != nil {
			return Exported{}, fmt.Errorf("write log: %w", err)
		}
		w.Files++
	}
	return w, nil
}

// exported is a line with its sort key.
type exported struct {
	memory.LogLine
	id string // of the lesson
}

// linesByRepo makes the lines of all lessons.
func linesByRepo(lessons []memory.Record) (map[string][]exported, Exported) {
	by := map[string]*memory.Record{} // by id
	for i := range lessons {
		if r := &lessons[i]; r.Event != nil {
			by[r.ID] = r
		}
	}
	var w Exported
	lines := map[string][]exported{} // by lesson
	for id, r := range by {
		if !goesOut(by, r) {
			w.LeftOut++
			continue
		}
		lines[id] = observations(r)
		w.Lessons++
	}
	// The order of ids makes lists of several stable.
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		if a := by[id].Event.Withdrawn; a != nil {
			putAside(lines[a.By], id, a)
		}
	}
	logs := map[string][]exported{}
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		log := append(lines[id], outcomes(by[id])...)
		logs[by[id].Repo] = append(logs[by[id].Repo], log...)
	}
	// The sort is stable: of lines of one lesson and time the later observation stays
	// last.
	for _, log := range logs {
		slices.SortStableFunc(log, func(a, b exported) int {
			return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.id, b.id))
		})
	}
	return logs, w
}

// goesOut says that a lesson is exported: it is not superseded, or each that superseded the one
// before is there. In a circle of lessons all are.
func goesOut(by map[string]*memory.Record, r *memory.Record) bool {
	seen := map[string]bool{}
	for r.Event.Withdrawn != nil && !seen[r.ID] {
		seen[r.ID] = true
		next := by[r.Event.Withdrawn.By]
		if next == nil || next == r {
			return false
		}
		r = next
	}
	return true
}

// observations makes the lines of a lesson's history, oldest first.
func observations(r *memory.Record) []exported {
	var lines []exported
	for _, t := range history(r) {
		l := lineOf(r, t.At)
		l.AgentID, l.Tags, l.Extra = t.AgentID, r.Tags, r.Extra
		if t.Rate != nil {
			l.SuccessRate = t.Rate.String()
		}
		lines = append(lines, exported{l, r.ID})
	}
	return lines
}

// history returns a lesson's observations in order of time. A lesson stored before they
// were kept has one, of its creation.
func history(r *memory.Record) []memory.Observation {
	e := r.Event
	if len(e.Observations) == 0 {
		return []memory.Observation{{At: r.Created, AgentID: e.AgentID, Rate: e.Rate}}
	}
	return slices.SortedStableFunc(slices.Values(e.Observations), func(a, b memory.Observation) int { return a.At.Compare(b.At) })
}

// lineOf makes a line with the content of a lesson.
func lineOf(r *memory.Record, at time.Time) memory.LogLine {
	e := r.Event
	return memory.LogLine{Timestamp: at, Repo: r.Repo, Type: e.Type, Context: e.Context, Command: e.Command, Lesson: e.Lesson}
}

// outcomes makes the line of a lesson's current rate, at the time of the last outcome.
// There is none if an observation has that rate.
func outcomes(r *memory.Record) []exported {
	now, at := r.Event.Rate, r.Event.RateAt
	if now == nil {
		return nil
	}
	var told memory.Observation // the last with a rate
	for _, t := range history(r) {
		if t.Rate != nil {
			told = t
		}
	}
	if !at.After(told.At) {
		if told.Rate != nil && *told.Rate == *now {
			return nil
		}
		at = told.At
	}
	l := lineOf(r, at)
	l.SuccessRate, l.Counted = now.String(), true
	return []exported{{l, r.ID}}
}

// putAside names a superseded lesson in the line that superseded it: the first observed
// no earlier than that, else the last.
func putAside(lines []exported, id string, a *memory.Withdrawal) {
	at := len(lines) - 1
	if i := slices.IndexFunc(lines, func(l exported) bool { return !l.Timestamp.Before(a.At) }); i >= 0 {
		at = i
	}
	if a.Reason == "superseded" {
		lines[at].Supersedes = append(lines[at].Supersedes, id)
	} else {
		lines[at].Retracts = append(lines[at].Retracts, id)
	}
}

// fileNames gives every repository its own file, also on systems that ignore case.
type fileNames map[string]bool

func (n fileNames) of(repo string) string {
	name := FileName(repo)
	for i := 2; n[strings.ToLower(name)]; i++ {
		name = strings.TrimSuffix(FileName(repo), suffix) + "-" + strconv.Itoa(i) + suffix
	}
	n[strings.ToLower(name)] = true
	return name
}
