package memory

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of contexts.
const (
	MinBudget  = 50
	MaxTopK    = 200
	MaxTopN    = 50
	MaxChanges = 200 // entries added and taken out in one request
)

// Validate checks the limits.
func (r *ContextRequest) Validate() error { return validWhich(&r.SessionRef) }

// Validate checks the limits and fills in the default mode of what is added.
func (r *ChangeContextRequest) Validate() error {
	if err := validWhich(&r.SessionRef); err != nil {
		return err
	}
	if err := validText("request_id", &r.RequestID, 0, MaxNameText); err != nil {
		return err
	}
	if len(r.Add)+len(r.Remove) == 0 {
		return Invalid("add", fmt.Sprintf("1–%d entries to add or remove", MaxChanges), "nothing is to be changed")
	}
	if n := len(r.Add) + len(r.Remove); n > MaxChanges {
		return Invalid("add", fmt.Sprintf("at most %d entries to add and remove", MaxChanges), "%d of them", n)
	}
	r.Add, r.Remove = slices.Clone(r.Add), slices.Clone(r.Remove) // the caller's are not written to
	seen := make(map[Ref]string, len(r.Add)+len(r.Remove))
	once := func(field string, ref *Ref) error {
		if err := ref.Validate(field + "."); err != nil {
			return err
		}
		if before, twice := seen[*ref]; twice {
			return Invalid(field, "each once", "is %s again", before)
		}
		seen[*ref] = field
		return nil
	}
	for i := range r.Add {
		item, field := &r.Add[i], fmt.Sprintf("add[%d]", i)
		if err := once(field, &item.Ref); err != nil {
			return err
		}
		switch item.IncludeMode {
		case "":
			item.IncludeMode = IncludeManual
		case IncludeAlways, IncludeManual:
		default:
			return Invalid(field+".includeMode", "always, manual", "%s is not added by hand", Quote(string(item.IncludeMode)))
		}
		if item.SimilarityScore != nil {
			return Invalid(field+".similarityScore", "none", "what is added by hand has no score")
		}
	}
	for i := range r.Remove {
		if err := once(fmt.Sprintf("remove[%d]", i), &r.Remove[i]); err != nil {
			return err
		}
	}
	return nil
}

// Validate checks the limits. Zero values are left to the settings.
func (r *AssembleRequest) Validate() error {
	if err := validWhich(&r.SessionRef); err != nil {
		return err
	}
	for _, t := range []struct {
		field     string
		text      *string
		min, most int
	}{
		{"message", &r.Message, 1, MaxQuery},
		{"task_type", &r.TaskType, 0, MaxNameText},
		{"request_id", &r.RequestID, 0, MaxNameText},
	} {
		if err := validText(t.field, t.text, t.min, t.most); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		field             string
		value, min, limit int
	}{{"topK", r.TopK, 1, MaxTopK}, {"topN", r.TopN, 1, MaxTopN}, {"max_tokens", r.MaxTokens, MinBudget, MaxBudget}} {
		if n.value != 0 && (n.value < n.min || n.value > n.limit) {
			return Invalid(n.field, fmt.Sprintf("%d–%d", n.min, n.limit), "%d is out of range", n.value)
		}
	}
	if s := r.IncludeScore; s != nil && !(*s >= 0 && *s <= 1) { // NaN as well
		return Invalid("includeScore", "0–1", "%v is out of range", *s)
	}
	return nil
}

// validWhich checks whose session is meant.
func validWhich(w *SessionRef) error {
	if err := validText("project", &w.Project, 0, MaxPathText); err != nil {
		return err
	}
	if err := w.Caller.Validate(); err != nil {
		return err
	}
	if w.SessionID == "" {
		return nil
	}
	return ValidSessionID("sessionId", w.SessionID)
}

// validText trims a text and checks its length.
func validText(field string, text *string, min, most int) error {
	*text = strings.TrimSpace(*text)
	return Text(field, *text, min, most)
}
