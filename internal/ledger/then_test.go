package ledger

import (
	"encoding/json"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// Each kind of record is told to be as it was, changed or gone by the hash of what was
// handed out of it; a receipt of before, which has no hashes, says nothing.
func TestTextsOfThen(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	records := map[string]func(text string) memory.Record{
		"u-rule":  func(text string) memory.Record { return entry(memory.Rule, memory.Entry{Name: "A", Content: text}) },
		"u-other": func(text string) memory.Record { return entry(memory.Rule, memory.Entry{Name: "B", Description: text}) },
		"e-ref": func(text string) memory.Record {
			return entry(memory.Reference, memory.Entry{Name: "X", Content: text})
		},
		"o-tool": func(text string) memory.Record {
			return entry(memory.Tool, memory.Entry{Name: "query", Server: "database", Description: text, InputSchema: schema})
		},
		"l-lesson": func(text string) memory.Record {
			return memory.Record{Kind: memory.Lesson, Text: text, Event: &memory.Event{Type: memory.EventPattern, Lesson: text, Context: "npm install", Command: "npm ci"}}
		},
		"s-step": func(text string) memory.Record {
			return memory.Record{Kind: memory.Step, Text: text, Session: "mm-one", Step: &memory.StepContent{Tool: memory.StepTool{Name: text}, Outcome: memory.Outcome{OK: true}}}
		},
		"b-blocker": func(text string) memory.Record {
			return memory.Record{Kind: memory.Blocker, Text: text, Task: &memory.TaskContent{TaskID: "t", Reason: text}}
		},
	}
	handed := map[string]string{
		"u-rule": "Old", "u-other": "Old", "e-ref": "Old", "o-tool": "Old\n" + string(schema), "l-lesson": "npm install: Old — `npm ci`", "b-blocker": "t\nOld",
	}
	for id, made := range records {
		t.Run(id, func(t *testing.T) {
			r := newRig(t)
			r.session("mm-one")
			put := func(text string) {
				record := made(text)
				record.ID, record.Project, record.Created = id, r.project.ID, r.now
				r.write(memory.Batch{Records: []memory.Record{record}})
			}
			put("Old")
			text, known := handed[id]
			if !known { // as an answer writes it
				a, err := r.recall.Recall(t.Context(), memory.RecallRequest{Query: "Old", Kinds: []memory.Kind{memory.Step}, MinRelevance: new(0.0), Project: "demo"})
				if err != nil || len(a.Items) != 1 {
					t.Fatalf("the step is not recalled: %+v, %v", a, err)
				}
				text = a.Items[0].Text
			}
			kind := made("").Kind
			r.turn("rc-1", "mm-one", 1, memory.PurposeContext, memory.ReceiptItem{ID: id, Kind: kind, Mode: memory.IncludeAlways, Hash: memory.DocumentID(text).String()},
				memory.ReceiptItem{ID: id, Kind: kind, Mode: memory.IncludeAlways})
			check := func(when string, state memory.Reason, text string) {
				t.Helper()
				got, err := r.ledger.ContextOf(t.Context(), memory.ContextOfRequest{Texts: true, SessionRef: memory.SessionRef{SessionID: "mm-one", Project: "demo"}})
				if err != nil {
					t.Fatal(err)
				}
				if item := got.Record.Items[0]; item.State != state || item.Text != text {
					t.Errorf("%s it is in state %q with the text %q, want %q and %q", when, item.State, item.Text, state, text)
				}
				if item := got.Record.Items[1]; item.State != "" || item.Text != "" {
					t.Errorf("%s an item without a hash is in state %q with the text %q, want neither", when, item.State, item.Text)
				}
			}
			check("unchanged", "", text)
			put("New")
			check("changed", memory.Changed, "")
			put("Old")
			check("changed back", "", text)
			r.write(memory.Batch{DropRecords: []string{id}})
			check("gone", memory.Gone, "")
		})
	}
}

func entry(kind memory.Kind, e memory.Entry) memory.Record {
	return memory.Record{Kind: kind, Text: e.Name, Entry: &e}
}

// A text that was followed from the files of a repository is not shown to who asks from
// elsewhere.
func TestTextsOfThenFromElsewhere(t *testing.T) {
	r := newRig(t)
	r.session("mm-one")
	record := entry(memory.Rule, memory.Entry{Name: "A", Content: "Old", Source: "file:AGENTS.md"})
	record.ID, record.Project, record.Created, record.Provenance = "u-a", r.project.ID, r.now, memory.Provenance{Origin: memory.OriginFollowed, Path: "AGENTS.md"}
	r.write(memory.Batch{Records: []memory.Record{record}})
	r.turn("rc-1", "mm-one", 1, memory.PurposeContext, memory.ReceiptItem{ID: "u-a", Kind: memory.Rule, Name: "A", Mode: memory.IncludeAlways, Hash: memory.DocumentID("Old").String()})
	for dir, want := range map[string]string{"": "Old", t.TempDir(): ""} {
		got, err := r.ledger.ContextOf(t.Context(), memory.ContextOfRequest{Texts: true, SessionRef: memory.SessionRef{SessionID: "mm-one", Project: "demo", Caller: memory.Caller{Dir: dir}}})
		if err != nil {
			t.Fatal(err)
		}
		if item := got.Record.Items[0]; item.Text != want || item.State != "" {
			t.Errorf("asked from %q the rule is %q in state %q, want %q", dir, item.Text, item.State, want)
		}
	}
}
