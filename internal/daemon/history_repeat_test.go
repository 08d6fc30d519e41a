package daemon

import (
	"encoding/json"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestRepeatedStepCountsOnce: a failing step that a client sends again for want of an
// answer says nothing of the lesson that it was given meanwhile.
func TestRepeatedStepCountsOnce(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	caller := memory.Caller{Dir: dir, Client: "test"}
	_, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{Caller: caller})
	must(t, err)
	_, err = service.Remember.Do(t.Context(), s, memory.RememberRequest{
		Type: memory.EventError, Context: "npm install EACCES", Lesson: "Use a prefix in the home folder", SuccessRate: "2/2", Caller: caller})
	must(t, err)
	fail := func(request string) {
		t.Helper()
		_, err := service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{
			RequestID: request, Tool: memory.StepTool{Name: "Bash", Input: json.RawMessage(`{"command":"npm install"}`)},
			Outcome: memory.Outcome{Error: &memory.StepError{Message: installFailure}}, Caller: caller,
		})
		must(t, err)
	}
	for _, step := range []struct{ request, rate string }{{"r-1", "2/2"}, {"r-1", "2/2"}, {"r-2", "2/3"}} {
		fail(step.request)
		items := s.ask(dir, "npm install EACCES prefix", memory.Lesson).Items
		if len(items) != 1 || items[0].SuccessRate != step.rate {
			t.Errorf("after request %s the lesson is %+v, want a rate of %s", step.request, items, step.rate)
		}
		askInstall(t, s, dir)
	}
}
