package sessiondir

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestSessionFileHasTheFieldsOfTheContractInOrder(t *testing.T) {
	s := memory.Session{
		ID: "mm-20260115-abc", Project: "p", Client: "c", CreatedAt: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC),
		EndedAt: time.Date(2026, 1, 15, 14, 0, 0, 5e6, time.FixedZone("", 3600)),
		Goal:    "Run <send> flow", FlowTags: []string{"send"}, Tags: []string{"smoke"},
		Git:   &memory.Git{Branch: "feature/foo", Commit: "abc123", Dirty: true},
		Build: json.RawMessage(`{"buildType": "build:test"}`), Launch: json.RawMessage("{\n\"ports\":{\"anvil\":8545}}"),
		Screenshots: true, Extra: map[string]json.RawMessage{"zeta": json.RawMessage(`1.50`), "alpha": json.RawMessage(`null`)},
	}
	const want = `{
  "schemaVersion": 1,
  "sessionId": "mm-20260115-abc",
  "createdAt": "2026-01-15T12:00:00.000Z",
  "endedAt": "2026-01-15T13:00:00.005Z",
  "goal": "Run <send> flow",
  "flowTags": ["send"],
  "tags": ["smoke"],
  "build": {"buildType":"build:test"},
  "git": {"branch":"feature/foo","commit":"abc123","dirty":true},
  "launch": {"ports":{"anvil":8545}},
  "screenshots": true,
  "alpha": null,
  "zeta": 1.50
}
`
	got, err := encodeSession(s)
	if err != nil || string(got) != want {
		t.Errorf("encodeSession: %v\n%s\nwant\n%s", err, got, want)
	}
}

func TestStepFileHasTheFieldsOfTheContractInOrder(t *testing.T) {
	at := time.Date(2026, 1, 15, 12, 0, 5, 250e6, time.UTC)
	full := memory.Record{Kind: memory.Step, Created: at, Step: &memory.StepContent{
		Tool:        memory.StepTool{Name: "mm_click", Input: json.RawMessage(`{"n":1}`), Target: json.RawMessage(`"confirm"`)},
		Outcome:     memory.Outcome{Error: &memory.StepError{Code: "MM_X", Message: "no & none", Details: json.RawMessage(`[1]`)}},
		Observation: json.RawMessage(`{"state":{"currentScreen":"send"}}`), Environment: json.RawMessage(`{"os":"linux"}`),
		Build: json.RawMessage(`{"b":1}`), Git: &memory.Git{Branch: "main"}, DurationMs: 12, Screenshot: "screenshots/a.png",
		Labels: []string{"interaction"}, Screen: "send", Fingerprints: []string{"f"},
	}}
	bare := memory.Record{Kind: memory.Step, Created: at, Step: &memory.StepContent{Tool: memory.StepTool{Name: "read"}, Outcome: memory.Outcome{OK: true}}}
	for _, test := range []struct {
		name string
		step memory.Record
		want string
	}{
		{"all there is", full, `{
  "schemaVersion": 1,
  "timestamp": "2026-01-15T12:00:05.250Z",
  "sessionId": "mm-1",
  "environment": {"os":"linux"},
  "git": {"branch":"main"},
  "build": {"b":1},
  "tool": {"name":"mm_click","input":{"n":1},"target":"confirm"},
  "timing": {"durationMs":12},
  "outcome": {"ok":false,"error":{"code":"MM_X","message":"no & none","details":[1]}},
  "observation": {"state":{"currentScreen":"send"}},
  "artifacts": {"screenshot":"screenshots/a.png"},
  "labels": ["interaction"]
}
`},
		{"what must be", bare, `{
  "schemaVersion": 1,
  "timestamp": "2026-01-15T12:00:05.250Z",
  "sessionId": "mm-1",
  "tool": {"name":"read"},
  "outcome": {"ok":true},
  "observation": {}
}
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := encodeStep(test.step, "mm-1")
			if err != nil || string(got) != test.want {
				t.Errorf("encodeStep: %v\n%s\nwant\n%s", err, got, test.want)
			}
		})
	}
}

// TestTheRestKeepsItsPlace writes a file again of which some fields are empty.
func TestTheRestKeepsItsPlace(t *testing.T) {
	const text = `{
  "schemaVersion": 2,
  "sessionId": "mm-1",
  "createdAt": "2026-01-15T12:00:00Z",
  "goal": "",
  "tags": [],
  "build": null,
  "git": {"branch":"main","dirty":false},
  "launch": {},
  "added": 1
}
`
	s, _, err := decodeSession([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := encodeSession(s); err != nil || string(got) != text {
		t.Errorf("written again it is, %v:\n%s\nwas\n%s", err, got, text)
	}
}

func TestDecodeStep(t *testing.T) {
	const named = "2026-01-15T12-00-05.250Z-x.json"
	for _, test := range []struct {
		name, text string
		check      func(r memory.Record) bool
	}{
		{"time of the name", `{"tool":{"name":"x"}}`,
			func(r memory.Record) bool { return r.Created.Equal(time.Date(2026, 1, 15, 12, 0, 5, 250e6, time.UTC)) }},
		{"its own time wins", `{"tool":{"name":"x"},"timestamp":"2026-02-01T01:00:00+01:00"}`,
			func(r memory.Record) bool { return r.Created.Equal(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)) }},
		{"no outcome is a success", `{"tool":{"name":"x"}}`,
			func(r memory.Record) bool { return r.Step.Outcome.OK }},
		{"an error alone is a failure", `{"tool":{"name":"x"},"outcome":{"error":{"message":"m"}}}`,
			func(r memory.Record) bool { return !r.Step.Outcome.OK && r.Step.Outcome.Error.Message == "m" }},
		{"a failure may say nothing", `{"tool":{"name":"x"},"outcome":{"ok":false}}`,
			func(r memory.Record) bool { return !r.Step.Outcome.OK && r.Step.Outcome.Error == nil }},
		{"a success has no error", `{"tool":{"name":"x"},"outcome":{"ok":true,"error":{"message":"m"}}}`,
			func(r memory.Record) bool { return r.Step.Outcome.OK && r.Step.Outcome.Error == nil }},
		{"an observation that is a text", `{"tool":{"name":"x"},"observation":"seen"}`,
			func(r memory.Record) bool { return string(r.Step.Observation) == `"seen"` }},
		{"a byte order mark", "\uFEFF" + `{"tool":{"name":"x"}}`,
			func(r memory.Record) bool { return r.Step.Tool.Name == "x" }},
		{"bytes that are no text", "{\"tool\":{\"name\":\"a\xff\"}}",
			func(r memory.Record) bool { return r.Step.Tool.Name == "a\uFFFD" }},
		{"a later version", `{"schemaVersion":2,"tool":{"name":"x"}}`,
			func(r memory.Record) bool { return string(r.Step.Extra["schemaVersion"]) == "2" }},
		{"names that differ in case are others", `{"tool":{"name":"x"},"TimeStamp":5}`,
			func(r memory.Record) bool { return string(r.Step.Extra["TimeStamp"]) == "5" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, _, err := decodeStep([]byte(test.text), named)
			if err != nil {
				t.Fatalf("decodeStep: %v", err)
			}
			if !test.check(r) {
				t.Errorf("decodeStep gives %+v %+v", r, *r.Step)
			}
			if err := r.ValidateStep(); err != nil {
				t.Errorf("it is not valid: %v", err)
			}
		})
	}
}

func TestDecodingNamesTheFieldAtFault(t *testing.T) {
	step := func(text string) error { _, _, err := decodeStep([]byte(text), "x.json"); return err }
	session := func(text string) error { _, _, err := decodeSession([]byte(text)); return err }
	for _, test := range []struct {
		decode      func(string) error
		text, field string // no field: it is no JSON object
	}{
		{step, ``, ""}, {step, `{"tool":`, ""}, {step, `null`, ""}, {step, `[]`, ""}, {step, `{} {}`, ""},
		{step, `{"tool":"x"}`, "tool"}, {step, `{"tool":{"name":1}}`, "tool.name"},
		{step, `{"timestamp":5}`, "timestamp"}, {step, `{"timestamp":"yesterday"}`, "timestamp"},
		{step, `{"timestamp":"9999-12-31T23:59:59-14:00"}`, "timestamp"},
		{step, `{"outcome":{"ok":"yes"}}`, "outcome.ok"}, {step, `{"outcome":{"ok":false,"error":"boom"}}`, "outcome.error"},
		{step, `{"outcome":{"ok":false,"error":{"code":5}}}`, "outcome.error.code"},
		{step, `{"timing":{"durationMs":"1s"}}`, "timing.durationMs"}, {step, `{"timing":{"durationMs":1e300}}`, "timing.durationMs"},
		{step, `{"labels":"a"}`, "labels"}, {step, `{"labels":[1]}`, "labels"}, {step, `{"git":[]}`, "git"},
		{step, `{"artifacts":{"screenshot":{}}}`, "artifacts.screenshot"}, {step, `{"sessionId":7}`, "sessionId"},
		{session, `{"sessionId":7}`, "sessionId"}, {session, `{"createdAt":"soon"}`, "createdAt"},
		{session, `{"goal":[]}`, "goal"}, {session, `{"tags":{}}`, "tags"}, {session, `{"git":{"dirty":1}}`, "git.dirty"},
		{session, `"mm-1"`, ""},
	} {
		err := test.decode(test.text)
		e, _ := errors.AsType[*memory.Error](err)
		switch {
		case test.field == "" && !errors.Is(err, errNotJSON):
			t.Errorf("%s: %v; want %v", test.text, err, errNotJSON)
		case test.field != "" && (e == nil || e.Field != test.field):
			t.Errorf("%s: %v; want an error of field %s", test.text, err, test.field)
		}
	}
}

// TestWhatIsKnownWinsOverTheRest tries records that were changed after they had
// been read.
func TestWhatIsKnownWinsOverTheRest(t *testing.T) {
	r, _, err := decodeStep([]byte(`{"timestamp":"2026-01-01T00:00:00Z","tool":{"name":"a","version":"2"},
		"timing":{"durationMs":1.5},"labels":[],"git":null,"observation":null}`), "")
	if err != nil {
		t.Fatal(err)
	}
	r.Created = r.Created.Add(time.Millisecond)
	r.Step.DurationMs, r.Step.Labels, r.Step.Git = 9, []string{"execution"}, &memory.Git{Branch: "main"}
	r.Step.Tool.Name, r.Step.Observation = "b", json.RawMessage(`"seen"`)
	text, err := encodeStep(r, "mm-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"timestamp": "2026-01-01T00:00:00.001Z"`, `{"name":"b","version":"2"}`, `{"durationMs":9}`,
		`"labels": ["execution"]`, `"git": {"branch":"main"}`, `"observation": "seen"`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

// TestDeepValuesDoNotGrow holds a file that is written against the size that is
// read: deep nesting laid out would grow with its square.
func TestDeepValuesDoNotGrow(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	r := memory.Record{Created: time.Unix(0, 0), Step: &memory.StepContent{Tool: memory.StepTool{Name: "x", Input: json.RawMessage(deep)}}}
	text, err := encodeStep(r, "mm-1")
	if err != nil || len(text) > len(deep)+1000 {
		t.Errorf("a value of %d bytes became a file of %d, %v", len(deep), len(text), err)
	}
}

// seeds adds the sample files to a fuzz test.
func seeds(f *testing.F, isStep bool) {
	f.Helper()
	for _, pattern := range []string{"testdata/*/*/*.json", "testdata/*/*/*/*.json"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if isStep == (filepath.Base(path) != sessionFile) {
				f.Add(text)
			}
		}
	}
	f.Add([]byte(`{"schemaVersion":1e309,"tool":{"name":"\ud800"},"timing":{"durationMs":-0},"outcome":{},"git":{"branch":null}}`))
}

func FuzzDecodeStep(f *testing.F) {
	seeds(f, true)
	f.Fuzz(func(t *testing.T, text []byte) {
		r, _, err := decodeStep(text, "2026-01-15T12-00-05.250Z-x.json")
		if err != nil {
			return
		}
		written, err := encodeStep(r, r.Session)
		if err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		again, _, err := decodeStep(written, "")
		if err != nil {
			t.Fatalf("decode what was encoded: %v\n%s", err, written)
		}
		twice, err := encodeStep(again, again.Session)
		if err != nil || !bytes.Equal(written, twice) {
			t.Errorf("written again it changes, %v:\n%s\nwas\n%s", err, twice, written)
		}
		keeps(t, text, written)
	})
}

func FuzzDecodeSession(f *testing.F) {
	seeds(f, false)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, _, err := decodeSession(text)
		if err != nil {
			return
		}
		written, err := encodeSession(s)
		if err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		again, _, err := decodeSession(written)
		if err != nil {
			t.Fatalf("decode what was encoded: %v\n%s", err, written)
		}
		twice, err := encodeSession(again)
		if err != nil || !bytes.Equal(written, twice) {
			t.Errorf("written again it changes, %v:\n%s\nwas\n%s", err, twice, written)
		}
		keeps(t, text, written)
	})
}

// keeps checks that every field of a file is in what was written of it, with the
// same value.
func keeps(t *testing.T, original, written []byte) {
	t.Helper()
	read := func(text []byte) map[string]any {
		text = bytes.TrimPrefix(bytes.ToValidUTF8(text, []byte("\uFFFD")), []byte("\uFEFF"))
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var fields map[string]any
		if err := d.Decode(&fields); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return fields
	}
	want, got := read(original), read(written)
	for name, value := range want {
		if (name == "timestamp" || name == "outcome") && (value == nil || value == "") {
			continue // it is filled in
		}
		if outcome, ok := value.(map[string]any); ok && name == "outcome" && outcome["ok"] == nil {
			delete(got["outcome"].(map[string]any), "ok")
			delete(outcome, "ok")
		}
		if !reflect.DeepEqual(got[name], value) {
			t.Errorf("%s was %v, became %v", name, value, got[name])
		}
	}
}
