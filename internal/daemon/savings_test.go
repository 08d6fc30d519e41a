package daemon

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// Status tells what answers saved: the log of all lessons less the answer, for the
// project whose lessons it held, and nothing for an answer without lessons.
func TestStatusTellsWhatAnswersSaved(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	caller := memory.Caller{Dir: dir}
	if st, err := service.Status.Do(t.Context(), s, service.None{}); err != nil || st.Savings != nil {
		t.Fatalf("before the first answer %+v, %v; want no savings", st.Savings, err)
	}
	texts := 0 // bytes of the lessons
	for _, text := range []string{"Sourdough rises overnight.", "Kettles whistle at full boil.", "Violins are tuned in fifths."} {
		lesson := text + strings.Repeat(" And much more is to be said of it.", 20)
		_, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{Context: text, Lesson: lesson, Caller: caller})
		must(t, err)
		texts += len(text) + len(lesson)
	}
	a, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: "how are violins tuned", Kinds: []memory.Kind{memory.Lesson}, Caller: caller})
	must(t, err)
	if len(a.Items) != 1 {
		t.Fatalf("the answer holds %d lessons, want 1", len(a.Items))
	}
	st, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	// A line of the log has some 200 bytes beside the texts.
	least, most := int64(2*texts/7-a.Tokens), int64(2*(texts+3*250)/7-a.Tokens)
	if st.Savings == nil || len(st.Savings.Projects) != 1 || st.Savings.Answers != 1 || st.Savings.Tokens < least || st.Savings.Tokens > most {
		t.Fatalf("after an answer of %d tokens beside lessons of %d bytes the savings are %+v, want %d to %d tokens", a.Tokens, texts, st.Savings, least, most)
	}
	if got, want := st.Savings.Projects[0], (memory.Saving{Project: a.Project, ProjectName: a.ProjectName, Answers: 1, Tokens: st.Savings.Tokens}); got != want {
		t.Errorf("the project's share is %+v, want %+v", got, want)
	}
	_, err = service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: "zyzzyva quorum", Caller: caller})
	must(t, err)
	if again, err := service.Status.Do(t.Context(), s, service.None{}); err != nil || again.Savings.Answers != 1 {
		t.Errorf("an answer without lessons counts: %+v, %v", again.Savings, err)
	}
}
