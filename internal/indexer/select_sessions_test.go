package indexer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestSelectionOfSessions asks for one topic through filters of sessions. Noise
// is planted: lessons and steps that carry what a filter asks for themselves, but
// whose session does not, and sessions of another project that have it all.
func TestSelectionOfSessions(t *testing.T) {
	r := history(t)
	with := func(rec memory.Record, change func(*memory.Record)) memory.Record {
		change(&rec)
		return rec
	}
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}}})
	r.putFile("p-1", "s-1", "a.go", "topic in code")
	r.remember(
		with(lesson("of-send", "p-1", "topic learned while sending"), func(x *memory.Record) { x.Session, x.Tags = "send", []string{"ci"} }),
		with(lesson("of-swap", "p-1", "topic learned while swapping"), func(x *memory.Record) { x.Session = "swap" }),
		with(lesson("of-bare", "p-1", "topic learned in the dark"), func(x *memory.Record) { x.Session = "bare" }),
		with(lesson("of-none", "p-1", "topic learned anywhere"), func(x *memory.Record) { x.Tags = []string{"smoke", "send"} }),
		with(lesson("of-theirs", "p-2", "topic learned by others"), func(x *memory.Record) { x.Session, x.Tags = "send", []string{"smoke"} }),
		with(lesson("ref", "p-1", "topic of a reference"), func(x *memory.Record) { x.Kind, x.Event = memory.Reference, nil }),
	)
	send, swap := []string{"send-1", "send-2", "send-3"}, []string{"swap-1a", "swap-1b", "swap-2"}
	allSteps := join([]string{"bare-1"}, send, swap)
	step, lessonKind := []memory.Kind{memory.Step}, []memory.Kind{memory.Lesson}
	of := func(f memory.SessionFilter, kinds ...memory.Kind) memory.Selection {
		return memory.Selection{Project: "p-1", Kinds: kinds, Steps: f}
	}
	twice(t, r, func(t *testing.T) {
		for name, test := range map[string]struct {
			sel  memory.Selection
			want []string
		}{
			"no filter":                 {of(memory.SessionFilter{}, step...), allSteps},
			"flow tag":                  {of(memory.SessionFilter{FlowTag: "send"}, step...), send},
			"flow tag, any kind":        {of(memory.SessionFilter{FlowTag: "send"}), join([]string{"of-send"}, send)},
			"flow tag, lessons":         {of(memory.SessionFilter{FlowTag: "send"}, lessonKind...), []string{"of-send"}},
			"flow tag, code":            {of(memory.SessionFilter{FlowTag: "send"}, memory.Chunk, memory.Reference), nil},
			"unknown flow tag":          {of(memory.SessionFilter{FlowTag: "ci"}), nil},
			"branch":                    {of(memory.SessionFilter{GitBranch: "fix"}), join([]string{"of-swap"}, swap)},
			"screen":                    {of(memory.SessionFilter{Screen: "confirm"}), []string{"of-send", "of-swap", "send-2", "swap-2"}},
			"screen of steps":           {of(memory.SessionFilter{Screen: "home"}, step...), []string{"send-1", "send-3", "swap-1a"}},
			"flow tag and screen":       {of(memory.SessionFilter{FlowTag: "swap", Screen: "home"}), []string{"of-swap", "swap-1a"}},
			"flow tag and other branch": {of(memory.SessionFilter{FlowTag: "swap", GitBranch: "main"}), nil},
			"tag, steps":                {of(memory.SessionFilter{Tag: "ci"}, step...), swap},
			"tag, lessons":              {of(memory.SessionFilter{Tag: "ci"}, lessonKind...), []string{"of-send"}},
			"tag, any kind":             {of(memory.SessionFilter{Tag: "smoke"}), join([]string{"of-none"}, send, swap)},
			"tag in both places":        {memory.Selection{Project: "p-1", Tag: "smoke", Steps: memory.SessionFilter{Tag: "smoke"}}, join([]string{"of-none"}, send, swap)},
			"tag of records only":       {memory.Selection{Project: "p-1", Tag: "smoke"}, []string{"of-none"}},
			"since, steps":              {of(memory.SessionFilter{Since: testTime.Add(30 * time.Minute)}, step...), swap},
			"since, any kind":           {of(memory.SessionFilter{Since: testTime.Add(30 * time.Minute)}), join([]string{"of-bare", "of-none", "of-send", "of-swap", "ref", "s-1/a.go"}, swap)},
			"since too late":            {of(memory.SessionFilter{Since: testTime.Add(24 * time.Hour)}, step...), nil},
			"everyone's lessons, tag":   {memory.Selection{Project: "p-1", AllLessons: true, Kinds: lessonKind, Steps: memory.SessionFilter{Tag: "smoke"}}, []string{"of-none", "of-theirs"}},
			"everyone's lessons, flow":  {memory.Selection{Project: "p-1", AllLessons: true, Kinds: lessonKind, Steps: memory.SessionFilter{FlowTag: "send"}}, []string{"of-send"}},
			"all projects":              {memory.Selection{Steps: memory.SessionFilter{FlowTag: "send"}}, join([]string{"of-send", "of-theirs", "p2-1"}, send)},
			"one session":               {memory.Selection{Project: "p-1", Session: "send"}, join([]string{"of-send"}, send)},
			"one session and a filter":  {memory.Selection{Project: "p-1", Session: "send", Steps: memory.SessionFilter{Tag: "smoke", Screen: "home"}}, []string{"of-send", "send-1", "send-3"}},
			"one session, another flow": {memory.Selection{Project: "p-1", Session: "send", Steps: memory.SessionFilter{FlowTag: "swap"}}, nil},
			"since of records as well":  {memory.Selection{Project: "p-1", Since: testTime.Add(200 * time.Millisecond), Steps: memory.SessionFilter{FlowTag: "send"}}, []string{"send-2", "send-3"}},
			"path":                      {memory.Selection{Project: "p-1", Path: "a.go", Steps: memory.SessionFilter{FlowTag: "send"}}, nil},
		} {
			if diff := cmp.Diff(test.want, r.found("topic", test.sel)); diff != "" {
				t.Errorf("%s: found (-want +got):\n%s", name, diff)
			}
			// Sessions are chosen before retrieval: nothing is allowed in vain.
			allow, _ := r.index.Select(test.sel)
			for it := allow.Iterator(); it.HasNext(); {
				if num := it.Next(); len(r.index.Candidates(num, test.sel)) == 0 {
					t.Errorf("%s: document %d is allowed and holds nothing selected", name, num)
				}
			}
		}
	})
}

// TestSharedTextOfSteps: a text that steps of several sessions share is a
// candidate in each alone.
func TestSharedTextOfSteps(t *testing.T) {
	r := history(t)
	same := func(x *memory.Record) { x.Text, x.Doc = "the same topic", memory.DocumentID("the same topic") }
	r.remember(stepAt("in-send", "send", 900, same, onScreen("last")), stepAt("in-swap", "swap", 901, same))
	for name, test := range map[string]struct {
		filter memory.SessionFilter
		want   []string
	}{
		"both":                                   {memory.SessionFilter{}, []string{"in-send", "in-swap"}},
		"send":                                   {memory.SessionFilter{FlowTag: "send"}, []string{"in-send"}},
		"swap":                                   {memory.SessionFilter{FlowTag: "swap"}, []string{"in-swap"}},
		"screen":                                 {memory.SessionFilter{Screen: "last"}, []string{"in-send"}},
		"neither's flow with the other's screen": {memory.SessionFilter{FlowTag: "swap", Screen: "last"}, nil},
	} {
		if diff := cmp.Diff(test.want, r.found("same", memory.Selection{Project: "p-1", Steps: test.filter})); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
	}
}

// TestSharedTextOfLessons: with lessons of all projects asked for, a filter of
// sessions still means the project's own.
func TestSharedTextOfLessons(t *testing.T) {
	r := history(t)
	told := func(id, project string) memory.Record {
		rec := lesson(id, project, "the same topic")
		rec.Session = "send"
		return rec
	}
	r.remember(told("own", "p-1"), told("theirs", "p-2"))
	sel := memory.Selection{Project: "p-1", AllLessons: true}
	if diff := cmp.Diff([]string{"own", "theirs"}, r.found("same", sel)); diff != "" {
		t.Errorf("without a filter: found (-want +got):\n%s", diff)
	}
	sel.Steps.FlowTag = "send"
	if diff := cmp.Diff([]string{"own"}, r.found("same", sel)); diff != "" {
		t.Errorf("of sessions: found (-want +got):\n%s", diff)
	}
}

func join(parts ...[]string) []string {
	var all []string
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
