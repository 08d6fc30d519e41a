package indexer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestTurnOf(t *testing.T) {
	const said = "Ann: we moved the database"
	for _, test := range []struct {
		name, text string
		want       turn
	}{
		{"D1:3", said, turn{"D1:", 3}},
		{"conv-26|D1:12", said, turn{"conv-26|D1:", 12}},
		{"chat/7", "**user**: why", turn{"chat/", 7}},
		{"chat/7", "[Dr. Ann Lee-O'Hara]: why", turn{"chat/", 7}},
		{"chat/7", "user_2: why", turn{"chat/", 7}},
		{"c7", said, turn{}},                              // a letter and a number is an id
		{"chat/", said, turn{}},                           // no number
		{"7", said, turn{}},                               // nothing but a number
		{"/7", said, turn{}},                              // of nothing
		{"chat/20260203040506", said, turn{}},             // a time
		{"chat/7", "we moved the database", turn{}},       // nobody speaks
		{"chat/7", "func Get(n int): x", turn{}},          // code
		{"chat/7", "what I would like to say: x", turn{}}, // a sentence
		{"chat/7", strings.Repeat(" ", 50) + said, turn{}},
		{"chat/7", "Ann: " + strings.Repeat("x", maxTurn), turn{}}, // a speech, or a log
	} {
		if got := turnOf(test.name, test.text); got != test.want {
			t.Errorf("%q %.30q: got %+v, want %+v", test.name, test.text, got, test.want)
		}
	}
}

// TestPlaces follows steps and turns through writes, removal and a restart.
func TestPlaces(t *testing.T) {
	r := newRig(t, nil)
	r.commit(memory.Batch{Sessions: []memory.Session{{ID: "sess", Project: "p", CreatedAt: testTime}}})
	step := func(id string, minute int) memory.Record {
		x := lesson(id, "p", "text of "+id)
		x.Kind, x.Event, x.Session, x.Created = memory.Step, nil, "sess", testTime.Add(time.Duration(minute)*time.Minute)
		return x
	}
	ref := func(id, name, text string) memory.Record {
		x := lesson(id, "p", text)
		x.Kind, x.Event, x.Reference = memory.Reference, nil, &memory.RefContent{Name: name}
		return x
	}
	r.remember(step("a", 1), step("c", 3), ref("t", "D1:4", "Ann: hello"), ref("plain", "notes/4", "a plain note"), lesson("l", "p", "text"))
	r.remember(step("b", 2)) // recorded late
	want := func(want string) {
		t.Helper()
		var got []string
		for _, id := range []string{"a", "b", "c", "t", "plain", "l"} {
			x, err := r.store.Record(id)
			if err != nil {
				continue
			}
			num, _ := r.index.numbers.Lookup(x.Doc)
			for _, c := range r.index.Candidates(num, memory.Selection{}) {
				got = append(got, fmt.Sprintf("%s=%s%d", id, c.Series, c.At))
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("places are %s, want %s", got, want)
		}
	}
	want("a=sess0 b=sess1 c=sess2 t=D1:4 plain=0 l=0")
	r.commit(memory.Batch{DropRecords: []string{"a"}})
	want("b=sess0 c=sess1 t=D1:4 plain=0 l=0")
	r.reopen()
	want("b=sess0 c=sess1 t=D1:4 plain=0 l=0")
}
