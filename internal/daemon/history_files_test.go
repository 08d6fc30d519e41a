package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestPictureIsInTheRecord: the step's record and its file name the picture that is
// stored, and reading the file again makes no second step.
func TestPictureIsInTheRecord(t *testing.T) {
	cfg := newConfig(t)
	cfg.FollowEvery = time.Millisecond
	s, dir := serve(t, cfg), shop(t)
	place(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	s.trust(dir)
	place(t, dir, "shots/send.png", "\x89PNG\r\n\x1a\n....")
	caller := memory.Caller{Dir: dir}
	session, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{Goal: "Send it", Screenshots: true, Caller: caller})
	must(t, err)
	record := func(tool, picture string) *memory.StepRecorded {
		t.Helper()
		out, err := service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{
			Tool: memory.StepTool{Name: tool}, Outcome: memory.Outcome{OK: true}, Screenshot: picture, Caller: caller})
		must(t, err)
		return out
	}
	seen, missing := record("mm_click", "shots/send.png"), record("mm_type", "shots/gone.png")
	if seen.Warning != "" || !strings.Contains(missing.Warning, "shots/gone.png") {
		t.Errorf("the warnings are %q and %q, want one for the picture that is missing", seen.Warning, missing.Warning)
	}
	s.lookedAgain(dir, 1) // at the files that were just written
	out := filepath.Join(t.TempDir(), "out")
	exported, err := service.Export.Do(t.Context(), s, memory.ExportRequest{Path: out, Caller: caller})
	must(t, err)
	if exported.Steps != 2 {
		t.Errorf("%d steps are exported, want 2", exported.Steps)
	}
	names := map[string]string{} // tool → picture
	for _, text := range tree(t, out) {
		var step struct {
			Tool      memory.StepTool
			Artifacts struct{ Screenshot string }
		}
		if json.Unmarshal([]byte(text), &step) == nil && step.Tool.Name != "" {
			names[step.Tool.Name] = step.Artifacts.Screenshot
		}
	}
	if names["mm_type"] != "shots/gone.png" {
		t.Errorf("the step without a picture names %q", names["mm_type"])
	}
	stored := filepath.Join(session.Dir, filepath.FromSlash(names["mm_click"]))
	if text, err := os.ReadFile(stored); err != nil || !strings.HasPrefix(string(text), "\x89PNG") || !strings.HasPrefix(names["mm_click"], "screenshots/") {
		t.Errorf("the record names %q, which holds %q, %v; want the stored picture", names["mm_click"], text, err)
	}
}

// TestExportTellsWhatItLeavesOut: a lesson that was retracted by one that is
// forgotten is not exported, and that is said.
func TestExportTellsWhatItLeavesOut(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	wrong := s.keep(dir, "Run it as root")
	s.keep(dir, "Use a prefix in the home folder")
	better, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{Lesson: "Never run it as root", Retracts: []string{wrong.ID}, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{better.ID}})
	must(t, err)
	exported, err := service.Export.Do(t.Context(), s, memory.ExportRequest{Path: filepath.Join(t.TempDir(), "out"), Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if exported.Lessons != 1 || exported.LeftOut != 1 {
		t.Errorf("exported %+v, want one lesson and one left out", exported)
	}
}
