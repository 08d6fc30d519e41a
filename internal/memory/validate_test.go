package memory_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// repeat makes a text of n characters that takes more bytes than that.
func repeat(n int) string { return strings.Repeat("é", n) }

func many(n int, text string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = text
	}
	return list
}

// Every limit is tried from both sides; the error names the field.
func TestLimits(t *testing.T) {
	recall := func(change func(*memory.RecallRequest)) any {
		r := &memory.RecallRequest{Query: "q"}
		change(r)
		return r
	}
	remember := func(change func(*memory.RememberRequest)) any {
		r := &memory.RememberRequest{Lesson: "l"}
		change(r)
		return r
	}
	index := func(change func(*memory.IndexRequest)) any {
		r := &memory.IndexRequest{Path: "/p"}
		change(r)
		return r
	}
	for name, tc := range map[string]struct {
		at, over any // at the limit, and past it
		field    string
	}{
		"query, least":   {recall(func(r *memory.RecallRequest) { r.Query = " x " }), recall(func(r *memory.RecallRequest) { r.Query = " \n" }), "query"},
		"query, most":    {recall(func(r *memory.RecallRequest) { r.Query = repeat(memory.MaxQuery) }), recall(func(r *memory.RecallRequest) { r.Query = repeat(memory.MaxQuery + 1) }), "query"},
		"query, NUL":     {recall(func(r *memory.RecallRequest) { r.Query = "a\tb" }), recall(func(r *memory.RecallRequest) { r.Query = "a\x00b" }), "query"},
		"query, UTF-8":   {recall(func(r *memory.RecallRequest) { r.Query = "\ufffd" }), recall(func(r *memory.RecallRequest) { r.Query = "a\xff" }), "query"},
		"query, seen":    {recall(func(r *memory.RecallRequest) { r.Query = "\u200b?" }), recall(func(r *memory.RecallRequest) { r.Query = "\u200b\ufeff" }), "query"},
		"lesson, seen":   {remember(func(r *memory.RememberRequest) { r.Lesson = "👩\u200d👧" }), remember(func(r *memory.RememberRequest) { r.Lesson = "\u00ad \u3164\ufe0f\u2800\x01" }), "lesson"},
		"tags, seen":     {remember(func(r *memory.RememberRequest) { r.Tags = []string{"\ue000"} }), remember(func(r *memory.RememberRequest) { r.Tags = []string{"\u202e"} }), "tags[0]"},
		"kinds":          {recall(func(r *memory.RecallRequest) { r.Kinds = []memory.Kind{memory.Task} }), recall(func(r *memory.RecallRequest) { r.Kinds = []memory.Kind{"blocker"} }), "kinds[0]"},
		"limit, least":   {recall(func(r *memory.RecallRequest) { r.Limit = 1 }), recall(func(r *memory.RecallRequest) { r.Limit = -1 }), "limit"},
		"limit, most":    {recall(func(r *memory.RecallRequest) { r.Limit = 50 }), recall(func(r *memory.RecallRequest) { r.Limit = 51 }), "limit"},
		"tokens, least":  {recall(func(r *memory.RecallRequest) { r.MaxTokens = 50 }), recall(func(r *memory.RecallRequest) { r.MaxTokens = 49 }), "max_tokens"},
		"tokens, most":   {recall(func(r *memory.RecallRequest) { r.MaxTokens = 8000 }), recall(func(r *memory.RecallRequest) { r.MaxTokens = 8001 }), "max_tokens"},
		"floor, least":   {recall(func(r *memory.RecallRequest) { r.MinRelevance = new(0.0) }), recall(func(r *memory.RecallRequest) { r.MinRelevance = new(-.01) }), "min_relevance"},
		"floor, most":    {recall(func(r *memory.RecallRequest) { r.MinRelevance = new(1.0) }), recall(func(r *memory.RecallRequest) { r.MinRelevance = new(1.01) }), "min_relevance"},
		"format":         {recall(func(r *memory.RecallRequest) { r.Format = "markdown" }), recall(func(r *memory.RecallRequest) { r.Format = "html" }), "format"},
		"scope":          {recall(func(r *memory.RecallRequest) { r.Scope = &memory.Scope{Name: "current"} }), recall(func(r *memory.RecallRequest) { r.Scope = &memory.Scope{Name: "mine"} }), "scope"},
		"session":        {recall(func(r *memory.RecallRequest) { r.Scope = &memory.Scope{Session: "abcd"} }), recall(func(r *memory.RecallRequest) { r.Scope = &memory.Scope{Session: "abc"} }), "scope.sessionId"},
		"hours, most":    {recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{SinceHours: 720} }), recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{SinceHours: 721} }), "filters.sinceHours"},
		"hours, least":   {recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{SinceHours: 1} }), recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{SinceHours: -1} }), "filters.sinceHours"},
		"filter":         {recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{Tag: repeat(200)} }), recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{Tag: repeat(201)} }), "filters.tag"},
		"lesson":         {remember(func(r *memory.RememberRequest) { r.Lesson = repeat(4000) }), remember(func(r *memory.RememberRequest) { r.Lesson = repeat(4001) }), "lesson"},
		"lesson, least":  {remember(func(r *memory.RememberRequest) { r.Lesson = "x" }), remember(func(r *memory.RememberRequest) { r.Lesson = "\t" }), "lesson"},
		"context":        {remember(func(r *memory.RememberRequest) { r.Context = repeat(2000) }), remember(func(r *memory.RememberRequest) { r.Context = repeat(2001) }), "context"},
		"command":        {remember(func(r *memory.RememberRequest) { r.Command = repeat(2000) }), remember(func(r *memory.RememberRequest) { r.Command = repeat(2001) }), "command"},
		"repo":           {remember(func(r *memory.RememberRequest) { r.Repo = repeat(200) }), remember(func(r *memory.RememberRequest) { r.Repo = repeat(201) }), "repo"},
		"type":           {remember(func(r *memory.RememberRequest) { r.Type = "success" }), remember(func(r *memory.RememberRequest) { r.Type = "failure" }), "event_type"},
		"type, short":    {remember(func(r *memory.RememberRequest) { r.AlsoType = "success" }), remember(func(r *memory.RememberRequest) { r.AlsoType = "failure" }), "type"},
		"type, twice":    {remember(func(r *memory.RememberRequest) { r.Type, r.AlsoType = "success", "success" }), remember(func(r *memory.RememberRequest) { r.Type, r.AlsoType = "success", "error" }), "type"},
		"tags":           {remember(func(r *memory.RememberRequest) { r.Tags = many(20, "t") }), remember(func(r *memory.RememberRequest) { r.Tags = many(21, "t") }), "tags"},
		"tag":            {remember(func(r *memory.RememberRequest) { r.Tags = []string{"a", repeat(64)} }), remember(func(r *memory.RememberRequest) { r.Tags = []string{"a", repeat(65)} }), "tags[1]"},
		"rate":           {remember(func(r *memory.RememberRequest) { r.SuccessRate = "0/0" }), remember(func(r *memory.RememberRequest) { r.SuccessRate = "2/1" }), "success_rate"},
		"rate, words":    {remember(func(r *memory.RememberRequest) { r.SuccessRate = "9999999/9999999" }), remember(func(r *memory.RememberRequest) { r.SuccessRate = "9 of 10" }), "success_rate"},
		"path":           {index(func(r *memory.IndexRequest) { r.Path = repeat(4096) }), index(func(r *memory.IndexRequest) { r.Path = repeat(4097) }), "path"},
		"path, least":    {index(func(r *memory.IndexRequest) { r.Path, r.SandboxRoot = "", "/p" }), index(func(r *memory.IndexRequest) { r.Path = "" }), "path"},
		"changed files":  {index(func(r *memory.IndexRequest) { r.ChangedFiles = many(10000, "f") }), index(func(r *memory.IndexRequest) { r.ChangedFiles = many(10001, "f") }), "changed_files"},
		"a changed file": {index(func(r *memory.IndexRequest) { r.ChangedFiles = []string{"f"} }), index(func(r *memory.IndexRequest) { r.ChangedFiles = []string{""} }), "changed_files[0]"},
		"told by":        {remember(func(r *memory.RememberRequest) { r.AgentID = repeat(200) }), remember(func(r *memory.RememberRequest) { r.AgentID = repeat(201) }), "agent_id"},
		"asked repo":     {recall(func(r *memory.RecallRequest) { r.Repo = repeat(200) }), recall(func(r *memory.RecallRequest) { r.Repo = repeat(201) }), "repo"},
		"filter's path":  {recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{Path: repeat(4096)} }), recall(func(r *memory.RecallRequest) { r.Filters = &memory.Filters{Path: repeat(4097)} }), "filters.path"},
		"project's id":   {index(func(r *memory.IndexRequest) { r.ProjectID = repeat(200) }), index(func(r *memory.IndexRequest) { r.ProjectID = repeat(201) }), "project_id"},
		"ids":            {&memory.ForgetRequest{IDs: many(1000, "x")}, &memory.ForgetRequest{IDs: many(1001, "x")}, "ids"},
		"ids, least":     {&memory.ForgetRequest{IDs: []string{"x"}}, &memory.ForgetRequest{}, "ids"},
		"an id":          {&memory.ForgetRequest{IDs: []string{"x"}}, &memory.ForgetRequest{IDs: []string{""}}, "ids[0]"},
		"ids or project": {&memory.ForgetRequest{Project: "p"}, &memory.ForgetRequest{IDs: []string{"x"}, Project: "p"}, "project"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := memory.Check(tc.at); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			err := memory.Check(tc.over)
			e, ok := errors.AsType[*memory.Error](err)
			if !ok || e.Code != memory.CodeInvalidInput || e.Field != tc.field {
				t.Errorf("past the limit: error %v, want %s of %s", err, memory.CodeInvalidInput, tc.field)
			} else if e.Limit == "" {
				t.Errorf("past the limit: %v names no limit", err)
			}
		})
	}
}

// A scope is written and read as contract 1 says.
func TestScopeJSON(t *testing.T) {
	for text, want := range map[string]memory.Scope{
		`"all"`:                   {Name: "all"},
		`"current"`:               {Name: "current"},
		`{"sessionId":"mm-1234"}`: {Session: "mm-1234"},
	} {
		var got memory.Scope
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("read %s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read %s (-want +got):\n%s", text, diff)
		}
		if back, err := json.Marshal(want); err != nil || string(back) != text {
			t.Errorf("write %+v: %s, %v; want %s", want, back, err, text)
		}
	}
	for _, text := range []string{`3`, `["all"]`, `{"session":"abcd"}`, `{"sessionId":7}`, `{"sessionId":"abcd","x":1}`} {
		var got memory.Scope
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was read as %+v", text, got)
		}
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "a\nb": `"a\nb"`, strings.Repeat("ü", 40): `"` + strings.Repeat("ü", 40) + `"`,
		strings.Repeat("ü", 41): `"` + strings.Repeat("ü", 40) + `…"`, "\xff": `"\xff"`,
	} {
		if got := memory.Quote(text); got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	}
	r := memory.RememberRequest{Lesson: "x", SuccessRate: strings.Repeat("secret ", 1000)}
	if err := memory.Check(&r); err == nil || len(err.Error()) > 200 {
		t.Errorf("a long rate that is none = %v, want a short error", err)
	}
}

// A lesson's type has two names, which are one field.
func TestTheTypeOfALessonHasTwoNames(t *testing.T) {
	for _, r := range []memory.RememberRequest{{Type: "success"}, {AlsoType: "success"}, {Type: "success", AlsoType: "success"}} {
		r.Lesson = "l"
		if err := memory.Check(&r); err != nil || r.Type != memory.EventSuccess || r.AlsoType != "" {
			t.Errorf("the type became %q and %q, %v; want success under its first name alone", r.Type, r.AlsoType, err)
		}
	}
	r := memory.RememberRequest{Lesson: "l", Type: "success", AlsoType: "error"}
	if err := memory.Check(&r); err == nil || !strings.Contains(err.Error(), "one of type and event_type") {
		t.Errorf("two types that differ give %v; want a refusal that names type and event_type", err)
	}
}
