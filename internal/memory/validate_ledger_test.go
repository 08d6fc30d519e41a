package memory

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestLedgerRequests(t *testing.T) {
	long := strings.Repeat("ü", MaxNameText+1)
	early := time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	caller := Caller{Client: long}
	for name, test := range map[string]struct {
		req   any
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
		"receipts, project":          {&ReceiptsRequest{Project: strings.Repeat("p", MaxPathText+1)}, "project"},
		"receipts, time":             {&ReceiptsRequest{Since: early}, "since"},
		"receipts, caller":           {&ReceiptsRequest{Caller: caller}, "caller.client"},
		"context of the last turn":   {&ContextOfRequest{}, ""},
		"context of a turn":          {&ContextOfRequest{Turn: MaxTurn, SessionRef: SessionRef{SessionID: "mm-1"}}, ""},
		"context, negative turn":     {&ContextOfRequest{Turn: -1}, "turn"},
		"context, high turn":         {&ContextOfRequest{Turn: MaxTurn + 1}, "turn"},
		"context, session":           {&ContextOfRequest{SessionRef: SessionRef{SessionID: "a/../b"}}, "sessionId"},
		"context, caller":            {&ContextOfRequest{SessionRef: SessionRef{Caller: caller}}, "caller.client"},
		"feedback":                   {&FeedbackRequest{Receipt: "rc-1", Verdict: Worked}, ""},
		"feedback, all there is":     {&FeedbackRequest{RequestID: "r", Receipt: "rc-1", Item: "l-1", Verdict: Outdated, Note: strings.Repeat("ü", MaxNote)}, ""},
		"feedback on nothing":        {&FeedbackRequest{Verdict: Worked}, "receipt"},
		"feedback, blank receipt":    {&FeedbackRequest{Receipt: " ", Verdict: Worked}, "receipt"},
		"feedback, long receipt":     {&FeedbackRequest{Receipt: long, Verdict: Worked}, "receipt"},
		"feedback, long item":        {&FeedbackRequest{Receipt: "rc-1", Item: long, Verdict: Worked}, "item"},
		"feedback, long request id":  {&FeedbackRequest{Receipt: "rc-1", RequestID: long, Verdict: Worked}, "request_id"},
		"feedback, long note":        {&FeedbackRequest{Receipt: "rc-1", Verdict: Worked, Note: strings.Repeat("n", MaxNote+1)}, "note"},
		"feedback, no verdict":       {&FeedbackRequest{Receipt: "rc-1"}, "verdict"},
		"feedback, unknown verdict":  {&FeedbackRequest{Receipt: "rc-1", Verdict: "splendid"}, "verdict"},
		"feedback, caller":           {&FeedbackRequest{Receipt: "rc-1", Verdict: Worked, Caller: caller}, "caller.client"},
		"replay of a session":        {&ReplayRequest{SessionID: "mm-1"}, ""},
		"replay since":               {&ReplayRequest{Since: since, Limit: MaxReplayed, Embedder: "none", VectorWeight: new(0.0)}, ""},
		"replay of floors":           {&ReplayRequest{Since: since, MinRelevance: map[Kind]float64{Lesson: 0, Chunk: 1}}, ""},
		"replay of nothing":          {&ReplayRequest{}, "since"},
		"replay, time":               {&ReplayRequest{Since: early}, "since"},
		"replay, limit":              {&ReplayRequest{Since: since, Limit: MaxReplayed + 1}, "limit"},
		"replay, session":            {&ReplayRequest{SessionID: "mm"}, "sessionId"},
		"replay, embedder":           {&ReplayRequest{Since: since, Embedder: long}, "embedder"},
		"replay, floor":              {&ReplayRequest{Since: since, MinRelevance: map[Kind]float64{Lesson: 1.1}}, "min_relevance.lesson"},
		"replay, no number":          {&ReplayRequest{Since: since, MinRelevance: map[Kind]float64{Lesson: math.NaN()}}, "min_relevance.lesson"},
		"replay, kind":               {&ReplayRequest{Since: since, MinRelevance: map[Kind]float64{"pizza": .5}}, "min_relevance"},
		"replay, weight":             {&ReplayRequest{Since: since, VectorWeight: new(MaxVectorWeight + .1)}, "vector_weight"},
		"replay, negative weight":    {&ReplayRequest{Since: since, VectorWeight: new(-.1)}, "vector_weight"},
		"replay, weight of a number": {&ReplayRequest{Since: since, VectorWeight: new(math.NaN())}, "vector_weight"},
		"replay, caller":             {&ReplayRequest{Since: since, Caller: caller}, "caller.client"},
	} {
		err := Check(test.req)
		if test.field == "" {
			if err != nil {
				t.Errorf("%s: %v, want it accepted", name, err)
			}
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != CodeInvalidInput || e.Field != test.field || e.Limit == "" {
			t.Errorf("%s: %v, want an invalid %s and its limit", name, err, test.field)
		}
	}
}

func TestLedgerDefaults(t *testing.T) {
	receipts, replay := ReceiptsRequest{Project: " demo "}, ReplayRequest{SessionID: "mm-1", Embedder: " none "}
	feedback := FeedbackRequest{Receipt: " rc-1\n", Item: " l-1 ", Verdict: Worked, Note: " well "}
	for _, req := range []any{&receipts, &replay, &feedback} {
		if err := Check(req); err != nil {
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
