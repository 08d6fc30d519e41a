package store

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// fillValue sets a value and all that it holds to something that is not zero.
func fillValue(v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Date(2026, 3, 1, 10, 30, 0, 5_000_000, time.UTC)
		return
	case *json.RawMessage:
		*at = json.RawMessage(`{"größe":[1,null]}`)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillValue(v.Index(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(key)
		fillValue(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("größe " + strings.Repeat("x", 20))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(200)
	default:
		v.SetInt(70_000)
	}
}

// encodedRecords returns records as they are stored: one with all fields, and such as are
// usual.
func encodedRecords(t testing.TB) map[string][]byte {
	t.Helper()
	at := time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC)
	text := "Running tests: pass -count=1, or the cache hides the failure."
	lesson := memory.Record{
		ID: "lesson-1", Kind: memory.Lesson, Project: "p", Tags: []string{"go", "test"}, Created: at, Doc: memory.DocumentID(text), Text: text,
		Provenance: memory.Provenance{Origin: memory.OriginTold, Agent: "codex", Session: "s"},
		Event: &memory.Event{
			AgentID: "codex", Type: "pattern", Context: "Running tests", Command: "go test -count=1", Lesson: "the cache hides the failure", Seen: 2,
			Rate: &memory.Rate{Successes: 3, Attempts: 4}, RateAt: at.Add(time.Second / 3),
			Observations: []memory.Observation{{At: at, Line: memory.DocumentID("line")}, {At: at, Session: "s", Rate: &memory.Rate{}}},
		},
	}
	step := memory.Record{
		ID: "step-1", Kind: memory.Step, Project: "p", Session: "s", Created: at.Local(), Doc: memory.DocumentID("ran go test"), Text: "ran go test",
		Step: &memory.StepContent{
			Tool:       memory.StepTool{Name: "Bash", Input: json.RawMessage(`{"command":"go test"}`)},
			Outcome:    memory.Outcome{Error: &memory.StepError{Message: "exit status 1"}},
			DurationMs: 300, Labels: []string{}, Fingerprints: []string{"go:FAIL"},
		},
	}
	var full memory.Record
	fillValue(reflect.ValueOf(&full).Elem())
	all := map[string][]byte{}
	for name, record := range map[string]memory.Record{"full": full, "lesson": lesson, "step": step} {
		payload, err := encode(record)
		must(t, err)
		all[name] = payload
	}
	return all
}

// libraryRecord decodes a record by reflection.
func libraryRecord(payload []byte) (r memory.Record, err error) {
	return r, codec().dec.Unmarshal(payload, &r)
}

// TestReadRecord fails when a record has a field that its reader does not know: it would be
// decoded by reflection, rightly but slowly.
func TestReadRecord(t *testing.T) {
	for name, payload := range encodedRecords(t) {
		want, err := libraryRecord(payload)
		must(t, err)
		var got memory.Record
		if !readRecord(payload, &got) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// TestReadRecordRefused: what encode does not write is left to the library, which takes it
// or says what is wrong.
func TestReadRecordRefused(t *testing.T) {
	valid := string(encodedRecords(t)["lesson"])
	for name, payload := range map[string]string{
		"nothing": "", "no map": "\x00", "cut": valid[:len(valid)-3], "more behind it": valid + "\x00",
		"an unknown field":         "\xa1\x63new\x00",
		"a field twice":            "\xa2\x62id\x61a\x62id\x61b",
		"fields in another order":  "\xa2\x64kind\x61a\x62id\x61b",
		"a field in capitals":      "\xa1\x62ID\x61a",
		"another type":             "\xa1\x62id\x01",
		"no UTF-8":                 "\xa1\x62id\x61\xff",
		"a list longer than it is": "\xa1\x64tags\x9a\xff\xff\xff\xff",
		"no time":                  "\xa1\x6acreated_at\x65today",
		"an endless map":           "\xbf\xff",
	} {
		before := memory.Record{ID: "before"}
		if got := before; readRecord([]byte(payload), &got) || got.ID != before.ID {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// FuzzReadRecord: what is read at all is read as the library reads it.
func FuzzReadRecord(f *testing.F) {
	for _, payload := range encodedRecords(f) {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var got memory.Record
		if !readRecord(payload, &got) {
			return
		}
		want, err := libraryRecord(payload)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, the library %+v (error %v)", got, want, err)
		}
	})
}

func BenchmarkDecodeRecord(b *testing.B) {
	payload := encodedRecords(b)["lesson"]
	for name, decode := range map[string]func([]byte) (memory.Record, error){"library": libraryRecord, "own": decode[memory.Record]} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decode(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
