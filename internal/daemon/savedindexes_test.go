package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestIndexesAreSaved: a daemon saves large indexes while it rests and when it ends, begins
// with what was saved, and removes it when something is forgotten.
func TestIndexesAreSaved(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	looks := make(chan time.Time)
	s := serve(t, cfg, func(o *Options) { o.pauses.save = looks })
	var log strings.Builder
	for i := range 5001 {
		fmt.Fprintf(&log, `{"timestamp":"2026-01-02T03:04:05Z","repo":"shop","event_type":"pattern","context":"case %d","lesson":"Rinse the kettle number %d before tea"}`+"\n", i, i)
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	must(t, os.WriteFile(path, []byte(log.String()), 0o600))
	_, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: path, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	saved := filepath.Join(cfg.Paths().Store, "indexes.saved")
	exists := func() bool { _, err := os.Stat(saved); return err == nil }
	if exists() {
		t.Error("the indexes are saved beside an import")
	}
	for range 100 { // until two follow one another without a commit between them
		if looks <- time.Now(); exists() {
			break
		}
	}
	if !exists() {
		t.Error("the indexes are not saved while nothing is written")
	}
	found := s.ask(dir, "rinse the kettle number 77")
	if len(found.Items) == 0 {
		t.Fatal("nothing is found")
	}
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{found.Items[0].ID}})
	must(t, err)
	if exists() {
		t.Error("the saved indexes know what was forgotten")
	}
	s.end()
	must(t, s.wait())
	if !exists() {
		t.Error("the indexes are not saved at the end")
	}
	again := serve(t, cfg)
	if got := again.ask(dir, "rinse the kettle number 78"); len(got.Items) == 0 {
		t.Error("after a start nothing is found")
	}
	written, err := os.ReadFile(cfg.Paths().Log)
	must(t, err)
	if !strings.Contains(string(written), "saved=true") && !strings.Contains(string(written), `"saved":true`) {
		t.Error("the second start did not begin with the saved indexes")
	}
}
