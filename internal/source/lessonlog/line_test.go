package lessonlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// contractLine is the example of contract 2, on one line.
const contractLine = `{ "timestamp": "2025-10-31T04:58:01Z", "agent_id": "a1", "repo": "gptcoach2", "event_type": "error",
  "context": "npm install", "command": "npm i", "lesson": "what was <learned> & kept", "success_rate": "9/10", "tags": ["npm", "permissions"] }`

func TestParse(t *testing.T) {
	full := memory.LogLine{
		Timestamp: time.Date(2025, 10, 31, 4, 58, 1, 0, time.UTC), AgentID: "a1", Repo: "gptcoach2", Type: memory.EventError,
		Context: "npm install", Command: "npm i", Lesson: "what was <learned> & kept", SuccessRate: "9/10", Tags: []string{"npm", "permissions"},
	}
	at := func(s string) memory.LogLine {
		when, err := time.Parse(time.RFC3339Nano, s)
		must(t, err)
		return memory.LogLine{Timestamp: when.UTC(), Type: memory.EventPattern, Lesson: "x"}
	}
	bare := memory.LogLine{Type: memory.EventPattern, Lesson: "x"}
	with := func(change func(*memory.LogLine)) memory.LogLine {
		l := bare
		change(&l)
		return l
	}
	for _, test := range []struct {
		name, line string
		want       memory.LogLine
	}{
		{"the contract's example", strings.ReplaceAll(contractLine, "\n", ""), full},
		{"only a lesson", `{"lesson":"x"}`, bare},
		{"nulls are missing", `{"lesson":"x","timestamp":null,"tags":null,"event_type":null,"success_rate":null}`, bare},
		{"texts are trimmed", `{"lesson":" x\n","tags":[" a ",""],"success_rate":" 1/2 "}`,
			with(func(l *memory.LogLine) { l.Tags, l.SuccessRate = []string{"a"}, "1/2" })},
		{"an offset", `{"lesson":"x","timestamp":"2025-10-31T06:58:01.5+02:00"}`, at("2025-10-31T04:58:01.5Z")},
		{"no zone", `{"lesson":"x","timestamp":"2025-10-31T04:58:01.123456"}`, at("2025-10-31T04:58:01.123456Z")},
		{"a blank for the T", `{"lesson":"x","timestamp":"2025-10-31 04:58:01Z"}`, at("2025-10-31T04:58:01Z")},
		{"only a date", `{"lesson":"x","timestamp":"2025-10-31"}`, at("2025-10-31T00:00:00Z")},
		{"supersedes and retracts", `{"lesson":"x","supersedes":["l-1"],"retracts":["l-2","l-3"]}`,
			with(func(l *memory.LogLine) { l.Supersedes, l.Retracts = []string{"l-1"}, []string{"l-2", "l-3"} })},
		{"unknown fields", `{"z":1.50,"lesson":"x","Lesson":{"b":1,"a":[]}}`,
			with(func(l *memory.LogLine) {
				l.Extra = map[string]json.RawMessage{"z": json.RawMessage("1.50"), "Lesson": json.RawMessage(`{"b":1,"a":[]}`)}
			})},
		{"a line end", "{\"lesson\":\"x\"}\r\n", bare},
		{"no UTF-8", "{\"lesson\":\"x\",\"context\":\"a\xff\xfeb\"}", with(func(l *memory.LogLine) { l.Context = "a\uFFFDb" })},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse([]byte(test.line))
			if err != nil {
				t.Fatalf("Parse(%s): %v", test.line, err)
			}
			if got.Hash != Hash(got) || got.Hash.IsZero() {
				t.Errorf("hash is %s, want the hash of the line, %s", got.Hash, Hash(got))
			}
			got.Hash = memory.DocID{}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("Parse(%s)\n got %+v\nwant %+v", test.line, got, test.want)
			}
		})
	}
}

func TestParseNamesTheField(t *testing.T) {
	long := strings.Repeat("ä", 4001)
	for _, test := range []struct{ line, field string }{
		{``, "line"},
		{`null`, "line"},
		{`[]`, "line"},
		{`{"lesson":"x"`, "line"},
		{`{"lesson":"x"} {}`, "line"},
		{`{"lesson":"` + strings.Repeat("x", MaxLine) + `"}`, "line"},
		{`{}`, "lesson"},
		{`{"lesson":"  "}`, "lesson"},
		{`{"lesson":5}`, "lesson"},
		{`{"lesson":"a\u0000b"}`, "lesson"},
		{`{"lesson":"` + long + `"}`, "lesson"},
		{`{"lesson":"x","context":"` + long[:2*2001] + `"}`, "context"},
		{`{"lesson":"x","command":["ls"]}`, "command"},
		{`{"lesson":"x","repo":"` + long[:2*201] + `"}`, "repo"},
		{`{"lesson":"x","agent_id":{}}`, "agent_id"},
		{`{"lesson":"x","event_type":"warning"}`, "event_type"},
		{`{"lesson":"x","event_type":true}`, "event_type"},
		{`{"lesson":"x","success_rate":"9 of 10"}`, "success_rate"},
		{`{"lesson":"x","success_rate":"11/10"}`, "success_rate"},
		{`{"lesson":"x","success_rate":0.9}`, "success_rate"},
		{`{"lesson":"x","timestamp":"yesterday"}`, "timestamp"},
		{`{"lesson":"x","timestamp":1730350681}`, "timestamp"},
		{`{"lesson":"x","timestamp":"2025-13-01T00:00:00Z"}`, "timestamp"},
		{`{"lesson":"x","timestamp":"9999-12-31T23:59:59-01:00"}`, "timestamp"},
		{`{"lesson":"x","tags":"a,b"}`, "tags"},
		{`{"lesson":"x","tags":[1]}`, "tags"},
		{`{"lesson":"x","tags":["` + long[:2*65] + `"]}`, "tags[0]"},
		{`{"lesson":"x","tags":["a"` + strings.Repeat(`,"a"`, 20) + `]}`, "tags"},
		{`{"lesson":"x","supersedes":"l-1"}`, "supersedes"},
		{`{"lesson":"x","retracts":[{}]}`, "retracts"},
	} {
		_, err := Parse([]byte(test.line))
		problem, ok := errors.AsType[*memory.Error](err)
		if !ok {
			t.Errorf("Parse(%.80s) = %v, want a *memory.Error about %s", test.line, err, test.field)
			continue
		}
		if problem.Field != test.field || problem.Code != memory.CodeInvalidInput {
			t.Errorf("Parse(%.80s) is %s about %q, want invalid_input about %q", test.line, problem.Code, problem.Field, test.field)
		}
		if len(problem.Message) > 1000 {
			t.Errorf("Parse(%.80s): a message of %d bytes repeats the input", test.line, len(problem.Message))
		}
	}
}

func TestParseTakesTheLongest(t *testing.T) {
	line := memory.LogLine{
		Type: memory.EventError, Lesson: strings.Repeat("𝄞", 4000), Context: strings.Repeat("ä", 2000), Command: strings.Repeat("ä", 2000),
		Repo: strings.Repeat("r", 200), AgentID: strings.Repeat("a", 200), Tags: strings.Fields(strings.Repeat(strings.Repeat("t", 64)+" ", 20)),
	}
	got, err := Parse(Encode(line))
	if err != nil {
		t.Fatalf("a line at every limit: %v", err)
	}
	if got.Lesson != line.Lesson || len(got.Tags) != 20 {
		t.Error("a line at every limit came back changed")
	}
}

func TestEncode(t *testing.T) {
	l, err := Parse([]byte(`{"zz":{"b":1, "a":[1.0,2e3]},"tags":["a"],"lesson":"<a> & \"b\" é\u00e9\ttab","aa":null,"success_rate":"1/2","timestamp":"2025-10-31T06:58:01+02:00","repo":"r"}`))
	must(t, err)
	const want = `{"timestamp":"2025-10-31T04:58:01Z","repo":"r","event_type":"pattern","lesson":"<a> & \"b\" éé\ttab","success_rate":"1/2","tags":["a"],"aa":null,"zz":{"b":1,"a":[1.0,2e3]}}` + "\n"
	if got := string(Encode(l)); got != want {
		t.Errorf("Encode\n got %s\nwant %s", got, want)
	}
}

// What the write path hashes before it is cleaned must be what is read back.
func TestHashIsThatOfWhatIsReadBack(t *testing.T) {
	for name, l := range map[string]memory.LogLine{
		"plain":         {Lesson: "x"},
		"untrimmed":     {Lesson: " x\n", Context: "\t", Tags: []string{" a", ""}},
		"local time":    {Lesson: "x", Timestamp: time.Date(2025, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))},
		"no UTF-8":      {Lesson: "a\xff\xffb", Tags: []string{"\xc3"}},
		"separators":    {Lesson: "a\u2028b\u2029c\u0085"},
		"controls":      {Lesson: "a\x01\x1f\x7fb"},
		"extra":         {Lesson: "x", Extra: map[string]json.RawMessage{"b": json.RawMessage(" [1, 2]\n"), "a": json.RawMessage("no json"), "lesson": json.RawMessage("1")}},
		"extra no UTF8": {Lesson: "x", Extra: map[string]json.RawMessage{"a\xff": json.RawMessage("\"\xff\"")}},
	} {
		text := Encode(l)
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: Parse(Encode): %v", name, err)
			continue
		}
		if got.Hash != Hash(l) {
			t.Errorf("%s: the hash of what was read differs\nwritten %s   again %s", name, text, Encode(got))
		}
	}
	a, _ := Parse([]byte(`{"lesson":"x","p":1,"q":2}`))
	b, _ := Parse([]byte(`{"q":2, "p":1, "lesson":"x"}`))
	c, _ := Parse([]byte(`{"lesson":"x","p":2,"q":2}`))
	if a.Hash != b.Hash || a.Hash == c.Hash {
		t.Errorf("hashes %s, %s of one content and %s of another", a.Hash, b.Hash, c.Hash)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(contractLine))
	f.Add([]byte(`{"lesson":"x","timestamp":"2025-10-31T06:58:01.5+02:00","supersedes":["a"],"z":{"a":[null,1e5]}}`))
	f.Add([]byte("{\"lesson\":\"\xff\\ud800\",\"\xfe\":\"\xfd\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*memory.Error](err); !ok {
				t.Fatalf("Parse: %v is no *memory.Error", err)
			}
			return
		}
		encoded := Encode(l)
		if n := bytes.IndexByte(encoded, '\n'); n != len(encoded)-1 {
			t.Fatalf("Encode gives no single line: %q", encoded)
		}
		if len(encoded) > MaxLine {
			return
		}
		again, err := Parse(encoded)
		if err != nil {
			t.Fatalf("Parse of %q: %v", encoded, err)
		}
		if again.Hash != l.Hash || !bytes.Equal(Encode(again), encoded) {
			t.Fatalf("a round trip changes the line:\n%s%s", encoded, Encode(again))
		}
	})
}
