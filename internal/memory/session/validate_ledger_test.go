package session

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestLedgerRequests(t *testing.T) {
	long := strings.Repeat("ü", memory.MaxNameText+1)
	early := time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	caller := memory.Caller{Client: long}
	for name, test := range map[string]struct {
		req   interface{ Validate() error }
		field string // of the error; empty for none
	}{
		"receipts":                   {&ReceiptsRequest{}, ""},
		"receipts of a turn":         {&ReceiptsRequest{SessionID: "mm-1", Turn: new(0), Limit: MaxReceipts, Since: since}, ""},
		"receipts, limit":            {&ReceiptsRequest{Limit: MaxReceipts + 1}, "limit"},
		"receipts, negative limit":   {&ReceiptsRequest{Limit: -1}, "limit"},
		"receipts, negative turn":    {&ReceiptsRequest{SessionID: "mm-1", Turn: new(-1)}, "turn"},
		"receipts, high turn":        {&ReceiptsRequest{SessionID: "mm-1", Turn: new(MaxTurn + 1)}, "turn"},
		"receipts, turn of nothing":  {&ReceiptsRequest{Turn: new(1)}, "turn"},
		"receipts, session":          {&ReceiptsRequest{SessionID: "mm"}, "sessionId"},
		"receipts, project":          {&ReceiptsRequest{Project: strings.Repeat("p", memory.MaxPathText+1)}, "project"},
		"receipts, time":             {&ReceiptsRequest{Since: early}, "since"},
		"receipts, caller":           {&ReceiptsRequest{Caller: caller}, "caller.client"},
		"context of the last turn":   {&ContextOfRequest{}, ""},
		"context of a turn":          {&ContextOfRequest{Turn: MaxTurn, SessionRef: SessionRef{SessionID: "mm-1"}}, ""},
		"context, negative turn":     {&ContextOfRequest{Turn: -1}, "turn"},
		"context, high turn":         {&ContextOfRequest{Turn: MaxTurn + 1}, "turn"},
		"context, session":           {&ContextOfRequest{SessionRef: SessionRef{SessionID: "a/../b"}}, "sessionId"},
		"context, caller":            {&ContextOfRequest{SessionRef: SessionRef{Caller: caller}}, "caller.client"},
		"feedback":                   {&FeedbackRequest{Receipt: "rc-1", Verdict: memory.Worked}, ""},
		"feedback, all there is":     {&FeedbackRequest{RequestID: "r", Receipt: "rc-1", Item: "l-1", Verdict: memory.Outdated, Note: strings.Repeat("ü", MaxNote)}, ""},
		"feedback on nothing":        {&FeedbackRequest{Verdict: memory.Worked}, "receipt"},
		"feedback, blank receipt":    {&FeedbackRequest{Receipt: " ", Verdict: memory.Worked}, "receipt"},
		"feedback, long receipt":     {&FeedbackRequest{Receipt: long, Verdict: memory.Worked}, "receipt"},
		"feedback, long item":        {&FeedbackRequest{Receipt: "rc-1", Item: long, Verdict: memory.Worked}, "item"},
		"feedback, long request id":  {&FeedbackRequest{Receipt: "rc-1", RequestID: long, Verdict: memory.Worked}, "request_id"},
		"feedback, long note":        {&FeedbackRequest{Receipt: "rc-1", Verdict: memory.Worked, Note: strings.Repeat("n", MaxNote+1)}, "note"},
		"feedback, no verdict":       {&FeedbackRequest{Receipt: "rc-1"}, "verdict"},
		"feedback, unknown verdict":  {&FeedbackRequest{Receipt: "rc-1", Verdict: "splendid"}, "verdict"},
		"feedback, caller":           {&FeedbackRequest{Receipt: "rc-1", Verdict: memory.Worked, Caller: caller}, "caller.client"},
		"replay of a session":        {&ReplayRequest{SessionID: "mm-1"}, ""},
		"replay since":               {&ReplayRequest{Since: since, Limit: MaxReplayed, Embedder: "none", VectorWeight: new(0.0)}, ""},
		"replay of floors":           {&ReplayRequest{Since: since, MinRelevance: map[memory.Kind]float64{memory.Lesson: 0, memory.Chunk: 1}}, ""},
		"replay of nothing":          {&ReplayRequest{}, "since"},
		"replay, time":               {&ReplayRequest{Since: early}, "since"},
		"replay, limit":              {&ReplayRequest{Since: since, Limit: MaxReplayed + 1}, "limit"},
		"replay, session":            {&ReplayRequest{SessionID: "mm"}, "sessionId"},
		"replay, embedder":           {&ReplayRequest{Since: since, Embedder: long}, "embedder"},
		"replay, floor":              {&ReplayRequest{Since: since, MinRelevance: map[memory.Kind]float64{memory.Lesson: 1.1}}, "min_relevance.lesson"},
		"replay, no number":          {&ReplayRequest{Since: since, MinRelevance: map[memory.Kind]float64{memory.Lesson: math.NaN()}}, "min_relevance.lesson"},
		"replay, kind":               {&ReplayRequest{Since: since, MinRelevance: map[memory.Kind]float64{"pizza": .5}}, "min_relevance"},
		"replay, weight":             {&ReplayRequest{Since: since, VectorWeight: new(memory.MaxVectorWeight + .1)}, "vector_weight"},
		"replay, negative weight":    {&ReplayRequest{Since: since, VectorWeight: new(-.1)}, "vector_weight"},
		"replay, weight of a number": {&ReplayRequest{Since: since, VectorWeight: new(math.NaN())}, "vector_weight"},
		"replay, caller":             {&ReplayRequest{Since: since, Caller: caller}, "caller.client"},
	} {
		err := test.req.Validate()
		if test.field == "" {
			if err != nil {
				t.Errorf("%s: %v, want it accepted", name, err)
			}
			continue
		}
		e, ok := errors.AsType[*memory.Error](err)
		if !ok || e.Code != memory.CodeInvalidInput || e.Field != test.field || e.Limit == "" {
			t.Errorf("%s: %v, want an invalid %s and its limit", name, err, test.field)
		}
	}
}

func TestLedgerDefaults(t *testing.T) {
	receipts, replay := ReceiptsRequest{Project: " demo "}, ReplayRequest{SessionID: "mm-1", Embedder: " none "}
	feedback := FeedbackRequest{Receipt: " rc-1\n", Item: " l-1 ", Verdict: memory.Worked, Note: " well "}
	for _, req := range []interface{ Validate() error }{&receipts, &replay, &feedback} {
		if err := req.Validate(); err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
	}
	if receipts.Limit != DefaultReceipts || receipts.Project != "demo" {
		t.Errorf("receipts = %+v, want %d of demo", receipts, DefaultReceipts)
	}
	if replay.Limit != MaxReplayed || replay.Embedder != "none" {
		t.Errorf("replay = %+v, want %d without an embedder", replay, MaxReplayed)
	}
	if feedback.Receipt != "rc-1" || feedback.Item != "l-1" || feedback.Note != "well" {
		t.Errorf("feedback = %+v, want its texts trimmed", feedback)
	}
}
