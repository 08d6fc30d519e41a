package memory

import "fmt"

// ProjectLabel is what people call a project: its name, or its id if it has
// none.
func ProjectLabel(name, id string) string {
	if name == "" {
		return id
	}
	return name
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
	case s.LastErrorAt.After(s.IndexedAt):
		return "failed"
	case s.IndexedAt.IsZero():
		return "not indexed yet"
	case s.Stale:
		return "stale"
	}
	return "ready"
}

// Percent writes a share in whole percent, "45 %", rounded down, so that 100 % is
// all of it. Of nothing it is "0 %".
func Percent(part, whole int) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", 100*part/whole)
}

// Count writes a number with what is counted, in the singular for one: "1 file",
// "3 files".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Turn says when a queued run's turn is: "next", or how many jobs are ahead.
func (q IndexQueued) Turn() string {
	if q.Position == 0 {
		return "next"
	}
	return Count(q.Position, "job") + " ahead of it"
}
