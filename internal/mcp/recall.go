package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// recallInput is what recall takes. Fields whose zero the service would take
// for the default are pointers, so that a zero that was sent is refused.
type recallInput struct {
	Query        *string       `json:"query"`
	Text         *string       `json:"text"` // the older name of query
	IDs          []string      `json:"ids"`
	Kinds        []memory.Kind `json:"kinds"`
	Project      string        `json:"project"`
	Repo         string        `json:"repo"`
	Scope        *scopeInput   `json:"scope"`
	Filters      *filtersInput `json:"filters"`
	Limit        *int          `json:"limit"`
	MaxTokens    *int          `json:"max_tokens"`
	MinRelevance *float64      `json:"min_relevance"`
	Format       memory.Format `json:"format"`
	Explain      bool          `json:"explain"`
}

func (s *Server) recall(ctx context.Context, c call, in recallInput) (string, any, error) {
	request, err := in.request()
	if err != nil {
		return "", nil, err
	}
	request.Project, request.Caller = c.agent.project(in.Project), c.caller
	answer, err := service.Recall.Do(ctx, s.svc, request)
	if err != nil {
		return "", nil, err
	}
	budget := cmp.Or(request.MaxTokens, memory.DefaultTokens)
	if len(request.IDs) > 0 {
		budget = cmp.Or(request.MaxTokens, memory.MaxTokens)
	}
	return withReceipt(answer, request.Format, budget), structured(answer, budget), nil
}

// withReceipt is an answer's text with the receipt that feedback asks for: many clients
// show the model nothing but the text. It is left out where the text has it, and where
// the budget has no room for it.
func withReceipt(answer *memory.RecallResponse, format memory.Format, tokens int) string {
	text := strings.TrimRight(answer.Text, "\n")
	line := "\n\nReceipt, for feedback: " + answer.Receipt
	if len(answer.Items) == 0 || answer.Receipt == "" || format == memory.FormatJSON || strings.Contains(text, answer.Receipt) ||
		len(text)+len(line) > maxBytes(tokens) {
		return answer.Text
	}
	return text + line
}

// maxBytes is the longest text of so many tokens, as recall counts them.
func maxBytes(tokens int) int { return tokens * 7 / 2 }

// structured is an answer as structured content, which a client may hand to its
// model as it does the text: it keeps to the budget too. The answer's text is left out.
// A lesson has its fields, so its line goes first where room is short; then the fields
// of a lesson that was cut, whose line is what the budget has room for; then the last
// items, which are withheld. How items were ranked and what was withheld is told as far
// as there is room beside them. Where no item has room, the first that was withheld is
// told in any case: without it the content reads as if nothing were there.
func structured(answer *memory.RecallResponse, tokens int) *memory.RecallResponse {
	out := *answer
	out.Text, out.Withheld = "", []memory.Withheld{}
	out.Items = make([]memory.Item, len(answer.Items))
	for i, item := range answer.Items {
		item.RankFactors = nil
		out.Items[i] = item
	}
	most := maxBytes(tokens) - render.NoticeBytes
	room := most - size(out)
	shorten := func(change func(*memory.Item)) {
		for i := len(out.Items) - 1; i >= 0 && room < 0; i-- {
			before := size(out.Items[i])
			change(&out.Items[i])
			room += before - size(out.Items[i])
		}
	}
	shorten(func(item *memory.Item) {
		item.Step, item.Task, item.StepEnd = nil, nil, nil // their text says the same
		if item.Kind == memory.Lesson && !item.Cut {
			item.Text = ""
		}
	})
	shorten(func(item *memory.Item) {
		if item.Kind == memory.Lesson && item.Cut {
			item.Lesson, item.Context, item.Command = "", "", ""
		}
	})
	for last := len(out.Items) - 1; room < 0 && last >= 0; last-- {
		out.Items = out.Items[:last]
		room = most - size(out)
	}
	for i, item := range answer.Items[:len(out.Items)] {
		if n := size(item.RankFactors) + len(`,"rank_factors":`); item.RankFactors != nil && n <= room {
			out.Items[i].RankFactors = item.RankFactors
			room -= n
		}
	}
	var withheld []memory.Withheld
	for _, item := range answer.Items[len(out.Items):] {
		withheld = append(withheld, memory.Withheld{
			ID: item.ID, Kind: item.Kind, Reason: memory.OverBudget, NearestScore: item.Relevance, Path: item.Source.Path,
		})
	}
	for i, w := range append(withheld, answer.Withheld...) {
		room -= size(w) + len(",")
		if isEmpty := len(out.Items) == 0 && !out.NothingRelevant; room < 0 && (i > 0 || !isEmpty) {
			break
		}
		out.Withheld = append(out.Withheld, w)
	}
	return &out
}

// size is how long a value is as JSON, in bytes.
func size(value any) int {
	text, err := json.Marshal(value)
	if err != nil { // never: texts, flags and finite numbers
		return 0
	}
	return len(text)
}

func (in *recallInput) request() (memory.RecallRequest, error) {
	request := memory.RecallRequest{
		IDs: in.IDs, Kinds: in.Kinds, Repo: in.Repo,
		MinRelevance: in.MinRelevance, Format: in.Format, Explain: in.Explain,
	}
	query := in.Query
	if query == nil {
		query = in.Text
	} else if in.Text != nil && *in.Text != *query {
		return request, memory.Invalid("text", "one of query and text", "is the older name of query and says something else")
	}
	if query != nil {
		request.Query = *query
	}
	var err error
	if request.Limit, err = within("limit", in.Limit, 1, memory.MaxLimit); err != nil {
		return request, err
	}
	if request.MaxTokens, err = within("max_tokens", in.MaxTokens, memory.MinTokens, memory.MaxTokens); err != nil {
		return request, err
	}
	request.Scope = in.Scope.scope()
	if in.Filters != nil {
		request.Filters, err = in.Filters.filters()
	}
	return request, err
}

// scopeInput is "current", "all" or {"sessionId": "…"}.
type scopeInput struct{ name, session string }

// scope returns what the service takes; nil stays nil.
func (s *scopeInput) scope() *memory.Scope {
	if s == nil {
		return nil
	}
	return &memory.Scope{Name: s.name, Session: s.session}
}

// UnmarshalJSON reads either form.
func (s *scopeInput) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		if err := json.Unmarshal(raw, &s.name); err != nil {
			return memory.Invalid("scope", "current, all or {sessionId}", "must be a string or an object")
		}
		if s.name == "" {
			return memory.Invalid("scope", "current, all or {sessionId}", "is empty")
		}
		return nil
	}
	var object struct {
		SessionID string `json:"sessionId"`
	}
	if err := strict.Field(raw, &object, "scope"); err != nil {
		return err
	}
	s.session = object.SessionID
	return memory.Text("scope.sessionId", s.session, memory.MinSessionID, memory.MaxNameText)
}

// filtersInput is what filters takes.
type filtersInput struct {
	FlowTag    *string `json:"flowTag"`
	Tag        *string `json:"tag"`
	Screen     *string `json:"screen"`
	GitBranch  *string `json:"gitBranch"`
	SinceHours *int    `json:"sinceHours"`
	Lang       *string `json:"lang"`
	Path       *string `json:"path"`
	Since      *string `json:"since"`
}

func (in *filtersInput) filters() (*memory.Filters, error) {
	var f memory.Filters
	for _, t := range []struct {
		field string
		from  *string
		to    *string
		max   int
	}{
		{"flowTag", in.FlowTag, &f.FlowTag, memory.MaxNameText},
		{"tag", in.Tag, &f.Tag, memory.MaxNameText},
		{"screen", in.Screen, &f.Screen, memory.MaxNameText},
		{"gitBranch", in.GitBranch, &f.GitBranch, memory.MaxNameText},
		{"lang", in.Lang, &f.Lang, memory.MaxNameText},
		{"path", in.Path, &f.Path, memory.MaxPathText},
	} {
		if t.from == nil {
			continue
		}
		if err := memory.Text("filters."+t.field, *t.from, 1, t.max); err != nil {
			return nil, err
		}
		*t.to = *t.from
	}
	var err error
	if f.SinceHours, err = within("filters.sinceHours", in.SinceHours, 1, memory.MaxSinceHours); err != nil {
		return nil, err
	}
	if in.Since != nil {
		if f.Since, err = time.Parse(time.RFC3339, *in.Since); err != nil {
			return nil, memory.Invalid("filters.since", "RFC 3339: 2026-01-31T15:04:05Z", "%q is not a time", *in.Since)
		}
	}
	return &f, nil
}
