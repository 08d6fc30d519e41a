package lessonlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func day(n int) time.Time { return time.Date(2025, 10, n, 0, 0, 0, 0, time.UTC) }

// told is a lesson that was told on the given days.
func told(id, repo string, days ...int) memory.Record {
	r := memory.Record{ID: id, Kind: memory.Lesson, Repo: repo, Created: day(days[0]),
		Event: &memory.Event{Type: memory.EventError, Context: "context of " + id, Lesson: "lesson " + id}}
	for _, d := range days {
		r.Event.Observations = append(r.Event.Observations, memory.Observation{At: day(d), AgentID: "a"})
	}
	return r
}

func rated(r memory.Record, telling, successes, attempts int) memory.Record {
	rate := memory.Rate{Successes: successes, Attempts: attempts}
	r.Event.Observations[telling].Rate = &rate
	r.Event.Rate = &rate
	return r
}

func aside(r memory.Record, by, reason string, at int) memory.Record {
	r.Event.Withdrawn = &memory.Withdrawal{At: day(at), By: by, Reason: reason}
	return r
}

func TestExport(t *testing.T) {
	withExtra := told("l-1", "app", 3)
	withExtra.Extra = map[string]json.RawMessage{"ticket": json.RawMessage(`{"n":1.0}`)}
	withExtra.Tags = []string{"npm"}
	counted := rated(told("l-2", "app", 1, 5), 0, 1, 2)
	counted.Event.Rate, counted.Event.RateAt = &memory.Rate{Successes: 4, Attempts: 5}, day(3)
	twice := rated(rated(told("l-1", "app", 1, 1), 0, 9, 10), 1, 1, 2) // at one time
	for _, test := range []struct {
		name    string
		lessons []memory.Record
		written Exported
		files   map[string]string
	}{
		{"nothing", nil, Exported{}, nil},
		{"sorted by time, then id", []memory.Record{told("l-3", "app", 2), told("l-2", "app", 2), told("l-1", "app", 1)}, Exported{Files: 1, Lessons: 3},
			map[string]string{"app.jsonl": `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-1","lesson":"lesson l-1"}
{"timestamp":"2025-10-02T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-2","lesson":"lesson l-2"}
{"timestamp":"2025-10-02T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-3","lesson":"lesson l-3"}
`}},
		{"unknown fields and tags", []memory.Record{withExtra}, Exported{Files: 1, Lessons: 1},
			map[string]string{"app.jsonl": `{"timestamp":"2025-10-03T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-1","lesson":"lesson l-1","tags":["npm"],"ticket":{"n":1.0}}
`}},
		{"every telling, and the rate with its outcomes", []memory.Record{counted}, Exported{Files: 1, Lessons: 1},
			map[string]string{"app.jsonl": `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-2","lesson":"lesson l-2","success_rate":"1/2"}
{"timestamp":"2025-10-03T00:00:00Z","repo":"app","event_type":"error","context":"context of l-2","lesson":"lesson l-2","success_rate":"4/5","counted":true}
{"timestamp":"2025-10-05T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-2","lesson":"lesson l-2"}
`}},
		{"two tellings of one time, in their order", []memory.Record{twice}, Exported{Files: 1, Lessons: 1},
			map[string]string{"app.jsonl": `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-1","lesson":"lesson l-1","success_rate":"9/10"}
{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-1","lesson":"lesson l-1","success_rate":"1/2"}
`}},
		{"a rate that no telling changed since", []memory.Record{rated(told("l-1", "app", 1, 2), 0, 1, 2)}, Exported{Files: 1, Lessons: 1},
			map[string]string{"app.jsonl": `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-1","lesson":"lesson l-1","success_rate":"1/2"}
{"timestamp":"2025-10-02T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-1","lesson":"lesson l-1"}
`}},
		{"put aside", []memory.Record{aside(told("l-1", "app", 1), "l-3", "superseded", 4), aside(told("l-2", "app", 2), "l-3", "retracted", 6), told("l-3", "app", 3, 4, 5)},
			Exported{Files: 1, Lessons: 3},
			map[string]string{"app.jsonl": `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-1","lesson":"lesson l-1"}
{"timestamp":"2025-10-02T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-2","lesson":"lesson l-2"}
{"timestamp":"2025-10-03T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-3","lesson":"lesson l-3"}
{"timestamp":"2025-10-04T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-3","lesson":"lesson l-3","supersedes":["l-1"]}
{"timestamp":"2025-10-05T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-3","lesson":"lesson l-3","retracts":["l-2"]}
`}},
		{"put aside by what was forgotten", []memory.Record{aside(told("l-1", "app", 1), "l-9", "retracted", 2)}, Exported{LeftOut: 1}, nil},
		{"put aside by what is left out itself", []memory.Record{aside(told("l-1", "app", 1), "l-2", "superseded", 2), aside(told("l-2", "app", 2), "l-9", "superseded", 3)},
			Exported{LeftOut: 2}, nil},
		{"put aside by what the team retracted", []memory.Record{aside(told("l-1", "app", 1), "l-2", "superseded", 2), aside(told("l-2", "app", 2), "", "retracted", 3)},
			Exported{LeftOut: 2}, nil},
		{"names that only case or signs tell apart", []memory.Record{told("l-1", "App", 1), told("l-2", "app", 1), told("l-3", "a/b", 1)}, Exported{Files: 3, Lessons: 3},
			map[string]string{
				"App.jsonl":     `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"App","event_type":"error","context":"context of l-1","lesson":"lesson l-1"}` + "\n",
				"app-2.jsonl":   `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"app","event_type":"error","context":"context of l-2","lesson":"lesson l-2"}` + "\n",
				FileName("a/b"): `{"timestamp":"2025-10-01T00:00:00Z","agent_id":"a","repo":"a/b","event_type":"error","context":"context of l-3","lesson":"lesson l-3"}` + "\n",
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new", "export")
			reversed := slices.Clone(test.lessons)
			slices.Reverse(reversed)
			for i, lessons := range [][]memory.Record{test.lessons, reversed} {
				dir := filepath.Join(dir, string(rune('a'+i)))
				got, err := Export(dir, lessons)
				if err != nil || got != test.written {
					t.Fatalf("Export = %+v, %v; want %+v", got, err, test.written)
				}
				entries, err := os.ReadDir(dir)
				if err != nil || len(entries) != len(test.files) {
					t.Errorf("the folder holds %v, %v; want %d files", entries, err, len(test.files))
				}
				for name, want := range test.files {
					if got := mustRead(t, filepath.Join(dir, name)); got != want {
						t.Errorf("%s holds\n%s\nwant\n%s", name, got, want)
					}
				}
			}
		})
	}
}

// A lesson that was told once goes out as the line that it came in by, so that
// importing the export where it came from changes nothing.
func TestExportGivesTheLinesThatWereRead(t *testing.T) {
	text := `{"timestamp":"2025-10-31T04:58:01Z","agent_id":"a","repo":"app","event_type":"error","context":"c","command":"d","lesson":"x","success_rate":"9/10","tags":["t"],"ticket":7}` + "\n"
	l, err := Parse([]byte(text))
	must(t, err)
	rate, err := memory.ParseRate(l.SuccessRate)
	must(t, err)
	dir := t.TempDir()
	_, err = Export(dir, []memory.Record{{
		ID: "l-1", Kind: memory.Lesson, Repo: l.Repo, Tags: l.Tags, Created: l.Timestamp, Extra: l.Extra,
		Event: &memory.Event{AgentID: l.AgentID, Type: l.Type, Context: l.Context, Command: l.Command, Lesson: l.Lesson, Rate: &rate,
			Observations: []memory.Observation{{At: l.Timestamp, AgentID: l.AgentID, Rate: &rate, Line: l.Hash}}},
	}})
	must(t, err)
	if got := mustRead(t, filepath.Join(dir, "app.jsonl")); got != text {
		t.Errorf("exported\n%s\nwant\n%s", got, text)
	}
}

func TestExportOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "kept.txt"), "kept")
	for _, path := range []string{dir, filepath.Join(dir, "kept.txt")} {
		_, err := Export(path, []memory.Record{told("l-1", "app", 1)})
		if memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("Export to %s: %v, want conflict", path, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 || mustRead(t, filepath.Join(dir, "kept.txt")) != "kept" {
		t.Errorf("the folder was changed: %v", entries)
	}
}
