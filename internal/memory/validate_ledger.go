package memory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Validate checks the limits and fills in the default.
func (r *ReceiptsRequest) Validate() error {
	if err := validAsker(&r.Project, r.SessionID, &r.Caller); err != nil {
		return err
	}
	if err := validCount("limit", &r.Limit, DefaultReceipts, MaxReceipts); err != nil {
		return err
	}
	if r.Turn != nil {
		if *r.Turn < 0 || *r.Turn > MaxTurn {
			return Invalid("turn", fmt.Sprintf("0–%d", MaxTurn), "%d is out of range", *r.Turn)
		}
		if r.SessionID == "" {
			return Invalid("turn", "with a sessionId", "turns are those of a session")
		}
	}
	return ValidTime("since", r.Since)
}

// Validate checks the limits; turn 0 stays the last one.
func (r *ContextOfRequest) Validate() error {
	if r.Turn < 0 || r.Turn > MaxTurn {
		return Invalid("turn", fmt.Sprintf("1–%d", MaxTurn), "%d is out of range", r.Turn)
	}
	return validAsker(&r.Project, r.SessionID, &r.Caller)
}

// Validate checks the limits and trims the texts.
func (r *FeedbackRequest) Validate() error {
	for _, t := range []struct {
		field     string
		text      *string
		min, most int
	}{
		{"request_id", &r.RequestID, 0, MaxNameText}, {"receipt", &r.Receipt, 1, MaxNameText},
		{"item", &r.Item, 0, MaxNameText}, {"note", &r.Note, 0, MaxNote},
	} {
		*t.text = strings.TrimSpace(*t.text)
		if err := Text(t.field, *t.text, t.min, t.most); err != nil {
			return err
		}
	}
	if !slices.Contains(Verdicts, r.Verdict) {
		return Invalid("verdict", "worked, failed, irrelevant, outdated", "unknown verdict %s", Quote(string(r.Verdict)))
	}
	return r.Caller.Validate()
}

// Validate checks the limits and fills in the default. Which embedders there are is
// for whoever asks them.
func (r *ReplayRequest) Validate() error {
	if err := validAsker(&r.Project, r.SessionID, &r.Caller); err != nil {
		return err
	}
	if err := validCount("limit", &r.Limit, MaxReplayed, MaxReplayed); err != nil {
		return err
	}
	if err := ValidTime("since", r.Since); err != nil {
		return err
	}
	if r.SessionID == "" && r.Since.IsZero() {
		return Invalid("since", "a time, or a sessionId", "nothing says which questions are asked again")
	}
	r.Embedder = strings.TrimSpace(r.Embedder)
	if err := Text("embedder", r.Embedder, 0, MaxNameText); err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(r.MinRelevance)) {
		field := "min_relevance." + string(kind)
		if !slices.Contains(Kinds, kind) {
			return Invalid("min_relevance", "kinds of memories", "unknown kind %s", Quote(string(kind)))
		}
		if f := r.MinRelevance[kind]; !(f >= 0 && f <= 1) {
			return Invalid(field, "0–1", "%v is out of range", f)
		}
	}
	if w := r.VectorWeight; w != nil && !(*w >= 0 && *w <= MaxVectorWeight) {
		return Invalid("vector_weight", fmt.Sprintf("0–%d", MaxVectorWeight), "%v is out of range", *w)
	}
	return nil
}

// validAsker checks who asks about what, as all questions to the ledger say it.
func validAsker(project *string, sessionID string, caller *Caller) error {
	*project = strings.TrimSpace(*project)
	if err := Text("project", *project, 0, MaxPathText); err != nil {
		return err
	}
	if err := caller.Validate(); err != nil || sessionID == "" {
		return err
	}
	return ValidSessionID("sessionId", sessionID)
}

// validCount checks how many answers are wanted; 0 is the usual number.
func validCount(field string, n *int, usual, most int) error {
	switch {
	case *n == 0:
		*n = usual
	case *n < 1 || *n > most:
		return Invalid(field, fmt.Sprintf("1–%d", most), "%d is out of range", *n)
	}
	return nil
}
