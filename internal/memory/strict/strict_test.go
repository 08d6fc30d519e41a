package strict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
)

type inner struct {
	Tags []string `json:"tags,omitempty"`
	N    int      `json:"n,omitempty" limit:"1-5"`
}

type call struct {
	inner
	Name  string            `json:"name,omitempty" limit:"1-9"`
	Deep  *inner            `json:"deep,omitempty"`
	List  []inner           `json:"list,omitempty"`
	Rate  float64           `json:"rate,omitempty"`
	On    bool              `json:"on,omitempty"`
	At    time.Time         `json:"at,omitzero"`
	Free  json.RawMessage   `json:"free,omitempty"`
	Words map[string]string `json:"words,omitempty"`
	Doc   memory.DocID      `json:"doc,omitzero"`
	Seq   uint64            `json:"seq,omitempty"`
	Empty struct{}          `json:"empty,omitzero"`
	//lint:ignore U1000 it stands for fields that JSON must not reach
	skip int
}

func TestTaken(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]call{
		`{}`:   {},
		`null`: {},
		`{"tags":["a","b"],"n":2,"name":"x","deep":{"n":5},"list":[{},{"n":1}],"rate":1,"on":true}`: {
			inner: inner{Tags: []string{"a", "b"}, N: 2}, Name: "x", Deep: &inner{N: 5}, List: []inner{{}, {N: 1}}, Rate: 1, On: true},
		`{"name":null,"rate":0.5,"at":"2026-01-02T03:04:05Z"}`:   {Rate: .5, At: at},
		`{"name":"\ud83d\ude00\\ud800"}`:                         {Name: "😀\\ud800"},
		`{"free":{"a":1,"a":2,"b":"\ud800"}, "words":{"k":"v"}}`: {Free: json.RawMessage(`{"a":1,"a":2,"b":"\ud800"}`), Words: map[string]string{"k": "v"}},
	} {
		var got call
		if err := strict.Decode([]byte(text), &got, "body"); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got, cmp.AllowUnexported(call{}, inner{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]struct{ field, say string }{
		``: {"body", "is empty"}, ` `: {"body", "is empty"}, `{"name":`: {"body", "ends in the middle"},
		`name=x`: {"body", "is not JSON"}, `{} {}`: {"body", "something after"}, "{\"name\":\"\xff\"}": {"body", "UTF-8"},
		`[]`: {"body", "must be an object, is an array"}, `"x"`: {"body", "must be an object"},

		`{"Name":"x"}`: {"Name", "unknown"}, `{"":1}`: {`""`, "unknown"}, `{"skip":1}`: {"skip", "unknown"},
		`{"inner":{}}`: {"inner", "unknown"}, `{"deep":{"m":1}}`: {"deep.m", "unknown"}, `{"list":[{},{"m":1}]}`: {"list[1].m", "unknown"},
		`{"name":"a","name":"b"}`: {"name", "twice"}, `{"deep":{"n":1,"\u006e":2}}`: {"deep.n", "twice"},
		`{"words":{"k":"v","k":"w"}}`: {"words.k", "twice"},

		`{"name":7}`: {"name", "must be a string, is an integer"}, `{"n":"1"}`: {"n", "must be an integer, is a string"},
		`{"n":1.5}`: {"n", "must be an integer, is a number"}, `{"n":1e2}`: {"n", "must be an integer"},
		`{"n":99999999999999999999}`: {"n", "must be an integer"}, `{"seq":-1}`: {"seq", "must be an integer from 0, is -1"}, `{"rate":1e999}`: {"rate", "must be a number"},
		`{"on":1}`: {"on", "must be a boolean"}, `{"tags":"a"}`: {"tags", "must be an array"}, `{"tags":[1]}`: {"tags[0]", "must be a string"},
		`{"at":"soon"}`: {"at", "is not a time"}, `{"doc":"x"}`: {"doc", "is not a document id"},

		`{"n":0}`: {"n", "0 is out of range"}, `{"deep":{"n":0}}`: {"deep.n", "out of range"}, `{"name":""}`: {"name", "is empty"},
		`{"name":"\ud83d"}`: {"name", "surrogate"}, `{"tags":["a","\udc00x"]}`: {"tags[1]", "surrogate"}, `{"words":{"k":"\ud800"}}`: {"words.k", "surrogate"},
	} {
		var got call
		err := strict.Decode([]byte(text), &got, "body")
		e, ok := errors.AsType[*memory.Error](err)
		if !ok || e.Code != memory.CodeInvalidInput {
			t.Errorf("%s: error %v, want a refusal", text, err)
			continue
		}
		if field := e.Field; field != want.field && !(want.field == "doc" && field != "") || !strings.Contains(e.Message, want.say) {
			t.Errorf("%s: %s: %q, want %s and %q", text, e.Field, e.Message, want.field, want.say)
		}
	}
}

// TestLimitNamesFields: who gives a text in the place of an object is told its fields.
func TestLimitNamesFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"deep":"x"}`: "an object with the fields tags, n", `{"list":[1]}`: "an object with the fields tags, n", `{"words":1}`: "an object", `{"name":1}`: "a string",
		`{"empty":{"x":1}}`: "known fields: none",
	} {
		var got call
		e, ok := errors.AsType[*memory.Error](strict.Decode([]byte(text), &got, "body"))
		if !ok || e.Limit != want {
			t.Errorf("%s: %+v, want the limit %q", text, e, want)
		}
	}
	var none struct{}
	if e, ok := errors.AsType[*memory.Error](strict.Decode([]byte("[]"), &none, "body")); !ok || e.Limit != "an object without fields" {
		t.Errorf("of no fields: %+v", e)
	}
}

// The limits in the tags are those that Check knows.
func TestGivenTags(t *testing.T) {
	for _, tc := range []struct {
		of    reflect.Type
		field string
		want  string
	}{
		{reflect.TypeFor[memory.RecallRequest](), "Limit", fmt.Sprintf("1–%d", memory.MaxLimit)},
		{reflect.TypeFor[memory.RecallRequest](), "MaxTokens", fmt.Sprintf("%d–%d", memory.MinTokens, memory.MaxTokens)},
		{reflect.TypeFor[memory.Filters](), "SinceHours", fmt.Sprintf("1–%d", memory.MaxSinceHours)},
		{reflect.TypeFor[memory.Filters](), "Tag", fmt.Sprintf("1–%d characters", memory.MaxNameText)},
		{reflect.TypeFor[memory.Filters](), "Path", fmt.Sprintf("1–%d characters", memory.MaxPathText)},
	} {
		if f, _ := tc.of.FieldByName(tc.field); memory.LimitsOf(f).Given != tc.want {
			t.Errorf("%v.%s has the limit %q, want %q", tc.of, tc.field, f.Tag.Get("given"), tc.want)
		}
	}
}

// FuzzDecode: whatever is sent, it is taken as it was written or refused with an
// error that names something.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"query":"q","filters":{"tag":"t"},"scope":{"sessionId":"abcd"}}`, `{"scope":"all","limit":3}`, `[[]]`, `{"query":"\ud800"}`, `{"a`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got memory.RecallRequest
		err := strict.Decode(text, &got, "body")
		if err != nil {
			if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.CodeInvalidInput || e.Field == "" {
				t.Errorf("error %#v is no refusal that names a field", err)
			}
			return
		}
		var lax memory.RecallRequest
		if err := json.Unmarshal(text, &lax); err != nil || !reflect.DeepEqual(got, lax) {
			t.Errorf("%q was taken as %+v, encoding/json says %+v, %v", text, got, lax, err)
		}
	})
}
