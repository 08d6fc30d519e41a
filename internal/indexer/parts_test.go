package indexer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

func TestSplitParts(t *testing.T) {
	line := strings.Repeat("word ", 20) + "\n"
	for name, text := range map[string]string{
		"lines":            strings.Repeat(line, 40),
		"one line":         strings.Repeat("word ", 900),
		"one word":         strings.Repeat("x", 5000),
		"runes":            strings.Repeat("äöü", 1200),
		"a long last line": strings.Repeat(line, 10) + strings.Repeat("word ", 600),
		"short":            "a note",
	} {
		parts := splitParts(text)
		if got := strings.Join(parts, ""); got != text {
			t.Errorf("%s: the parts have %d bytes together, the text %d", name, len(got), len(text))
		}
		for i, p := range parts {
			if len(p) > 2*partSize || !utf8.ValidString(p) {
				t.Errorf("%s: part %d has %d bytes, valid %v", name, i, len(p), utf8.ValidString(p))
			}
		}
		if want := (len(text) + partSize/2) / partSize; len(parts) < want-1 || len(parts) > want+1 && want > 0 {
			t.Errorf("%s: %d parts, want about %d", name, len(parts), want)
		}
	}
	if got := splitParts(strings.Repeat("\n", 3000)); len(got) != 0 {
		t.Errorf("a blank text has %d parts", len(got))
	}
}

func TestJoinPartsWithTheirDocument(t *testing.T) {
	p := newParts()
	p.put(1, []uint32{11, 12})
	p.put(2, []uint32{21})
	for name, test := range map[string]struct {
		docs, found []index.Hit
		limit       int
		want        []index.Hit
	}{
		"the mean with the best part":       {[]index.Hit{{Doc: 1, Score: 4}}, []index.Hit{{Doc: 12, Score: 8}, {Doc: 11, Score: 6}}, 9, []index.Hit{{Doc: 1, Score: 6}}},
		"without parts as before":           {[]index.Hit{{Doc: 3, Score: 4, Held: 1}}, []index.Hit{{Doc: 11, Score: 1}}, 9, []index.Hit{{Doc: 3, Score: 4, Held: 1}, {Doc: 1, Score: .5}}},
		"no part has a word":                {[]index.Hit{{Doc: 1, Score: 4}}, nil, 9, []index.Hit{{Doc: 1, Score: 2}}},
		"a part beyond the limit":           {[]index.Hit{{Doc: 1, Score: 4}, {Doc: 3, Score: 3}}, []index.Hit{{Doc: 21, Score: 3}, {Doc: 99, Score: 2}}, 2, []index.Hit{{Doc: 1, Score: 3}, {Doc: 2, Score: 3}}},
		"a part that was removed meanwhile": {[]index.Hit{{Doc: 3, Score: 4}}, []index.Hit{{Doc: 99, Score: 8}}, 9, []index.Hit{{Doc: 3, Score: 4}}},
	} {
		if diff := cmp.Diff(test.want, p.join(test.docs, test.found, test.limit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// longText returns a text of many subjects; what is at the end is in one part only.
func longText(subject, end string) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%s section %d says %x and %x\n", subject, i, r.Uint32(), r.Uint32())
	}
	return b.String() + end
}

// TestPartsFollowTheirDocument takes long references through writes, removal and a
// restart. check compares all parts with those that a fresh load makes.
func TestPartsFollowTheirDocument(t *testing.T) {
	r := newRig(t, nil)
	reference := func(id, text string) memory.Record {
		x := lesson(id, "p", text)
		x.Kind, x.Event, x.Reference = memory.Reference, nil, &memory.RefContent{Name: id}
		return x
	}
	parts := func(want int) {
		t.Helper()
		if got := len(r.index.parts.of); got != want {
			t.Errorf("%d documents have parts, want %d", got, want)
		}
		if got, want := r.index.parts.vectors.Len(), int(r.index.parts.all.GetCardinality()); got != want {
			t.Errorf("%d parts have a vector, want %d", got, want)
		}
		r.check()
	}
	text := longText("storage", "the tombstone is swept at midnight")
	r.remember(reference("long", text), reference("short", "a short one about tombstones"), lesson("lesson", "p", longText("other", "")))
	parts(1)
	r.remember(reference("same", text)) // the same document
	parts(1)
	if got := r.found("tombstone swept midnight", memory.Selection{Kinds: []memory.Kind{memory.Reference}}); !cmp.Equal(got, []string{"long", "same", "short"}) {
		t.Errorf("found %v, want each reference once", got)
	}
	if got := r.found("tombstone", memory.Selection{Kinds: []memory.Kind{memory.Lesson}}); len(got) != 0 {
		t.Errorf("a part is found under a filter that leaves its document out: %v", got)
	}
	r.commit(memory.Batch{DropRecords: []string{"same"}})
	parts(1)
	r.reopen()
	parts(1)
	r.remember(reference("long", longText("new", "")))
	parts(1)
	r.remember(lesson("keeps", "p", longText("new", ""))) // as a lesson the text has no parts
	r.commit(memory.Batch{DropRecords: []string{"long"}})
	parts(0)
}
