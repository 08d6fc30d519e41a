package recall_test

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/recall"
)

// TestUnknownRepository: a repository that nothing was ever remembered of is an error
// that names those near to it, and no empty answer.
func TestUnknownRepository(t *testing.T) {
	r := newRig(t, func(r *rig, o *recall.Options) { o.Names = project.NewResolver(r.store).Names })
	lesson := func(id, projectID, repo string, change func(*memory.Record)) {
		t.Helper()
		rec := memory.Record{ID: id, Kind: memory.Lesson, Project: projectID, Repo: repo, Text: "npm install " + id, Event: &memory.Event{Type: memory.EventPattern, Lesson: "npm install " + id}}
		rec.Doc = memory.DocumentID(rec.Text)
		change(&rec)
		r.write(rec)
	}
	plain := func(*memory.Record) {}
	lesson("l-1", r.project.ID, "payments", plain)
	lesson("l-2", r.project.ID, "former", func(rec *memory.Record) { rec.Event.Withdrawn = &memory.Withdrawal{Reason: "retracted"} })
	lesson("l-3", "p-other", "paymentz", func(rec *memory.Record) { rec.Provenance.Origin = memory.OriginFollowed })
	for _, known := range []string{"payments", "former", r.project.Name} {
		a, err := r.recall.Recall(t.Context(), memory.RecallRequest{Query: "npm install", Repo: known, Project: r.project.ID})
		if err != nil || known == "payments" != (len(a.Items) > 0) {
			t.Errorf("repo %q: %+v, %v; want an answer, of payments with its lesson", known, a, err)
		}
	}
	for _, from := range []string{r.project.ID, r.project.Name} {
		_, err := r.recall.Recall(t.Context(), memory.RecallRequest{Query: "npm install", Repo: "paymentx", Project: from})
		e := memory.AsError(err)
		if err == nil || e.Code != memory.CodeNotFound || e.Field != "repo" || !strings.Contains(e.Hint, `near names: "payments"`) {
			t.Errorf("an unknown repo gives %v (hint %q), want not_found of the field repo with the near name payments", err, e.Hint)
		}
		if strings.Contains(e.Hint, "paymentz") {
			t.Errorf("the hint %q names a repository that only files of another project name", e.Hint)
		}
	}
	// What is asked again is answered as it was asked.
	if _, _, err := r.recall.Ask(t.Context(), memory.RecallRequest{Query: "npm install", Repo: "paymentx"}, recall.AskOptions{Project: &r.project}); err != nil {
		t.Errorf("a question of a receipt, asked again: %v, want an answer", err)
	}
}
