package steptext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScalars(t *testing.T) {
	type place struct {
		Kind ScalarKind
		Text string
		Keys string
		In   int
		List bool
	}
	for in, want := range map[string][]place{
		`"a\u0062"`: {{ScalarText, "ab", "", 0, false}},
		` -1.50e2 `: {{ScalarNumber, "-1.50e2", "", 0, false}},
		`{"a" : {"b":[1,{"c":true},"x"]},"d":null}`: {
			{ScalarKey, "a", "", 1, false}, {ScalarKey, "b", "a", 2, false}, {ScalarNumber, "1", "a.b", 3, true},
			{ScalarKey, "c", "a.b", 4, false}, {ScalarOther, "true", "a.b.c", 4, false}, {ScalarText, "x", "a.b", 3, true},
			{ScalarKey, "d", "", 1, false}, {ScalarOther, "null", "d", 1, false},
		},
		`[[],{},["y"]]`: {{ScalarText, "y", "", 4, true}},
		`{"a":"b"`:      nil,
		``:              nil,
	} {
		var got []place
		for s := range Scalars([]byte(in)) {
			got = append(got, place{s.Kind, s.Text, strings.Join(s.Keys, "."), s.In, s.List})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	for s := range Scalars([]byte(`["a","b"]`)) {
		if s.Text != "a" {
			t.Error("a walk that was ended goes on")
		}
		break
	}
}

// FuzzScalars: the walk finds what a decoder finds, where it stands.
func FuzzScalars(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\ud83d\ude00",{"":null}],"b":{}}`, `"\ud800"`, "\"\xff\"", `[true,-0.0]`, `{"a":1`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var got, want []string
		for s := range Scalars([]byte(in)) {
			got = append(got, s.Text)
			if part := in[s.Start:s.End]; s.Kind == ScalarText || s.Kind == ScalarKey {
				var text string
				if json.Unmarshal([]byte(part), &text) != nil || text != s.Text {
					t.Errorf("%q: %q is said to be at %q", in, s.Text, part)
				}
			} else if part != s.Text {
				t.Errorf("%q: %q is said to be at %q", in, s.Text, part)
			}
		}
		if !json.Valid([]byte(in)) {
			if got != nil {
				t.Errorf("%q is no JSON and holds %q", in, got)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader([]byte(in)))
		d.UseNumber()
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", in, err)
			}
			switch token.(type) {
			case json.Delim:
			case nil:
				want = append(want, "null")
			default:
				want = append(want, fmt.Sprint(token))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q holds %q, want %q", in, got, want)
		}
	})
}
