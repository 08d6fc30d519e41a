package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// What the settings ask for and cannot be had is said by status, and keeps
// nothing else from working.
func TestStatusSaysWhatIsLeftAside(t *testing.T) {
	cfg := newConfig(t)
	missing := filepath.Join(t.TempDir(), "missing")
	cfg.Sandboxes = []string{missing}
	cfg.Embedding.Ollama.Enabled, cfg.Embedding.Ollama.Unused = config.OllamaAuto, "OLLAMA_HOST names another machine"
	s := serve(t, cfg)
	st := s.until("the missing folder is said", func(st *memory.Status) bool { return len(st.Errors) > 0 })
	if got := st.Errors[0]; got.Part != "code" || !strings.Contains(got.Message, "sandboxes") {
		t.Errorf("error is %+v, want one of the setting sandboxes", got)
	}
	if len(st.Notes) != 1 || !strings.Contains(st.Notes[0], cfg.Embedding.Ollama.Unused) {
		t.Errorf("notes are %q, want the reason why Ollama is not used", st.Notes)
	}
	_, err := service.PullModel.Do(t.Context(), s, memory.PullRequest{Name: "m"}, nil)
	if memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), cfg.Embedding.Ollama.Unused) {
		t.Errorf("pull: %v, want unavailable with the reason", err)
	}
}

// What the daemon may need to end is within what others wait for it.
func TestTheEndFitsTheGrace(t *testing.T) {
	if httpserver.CancelGrace+closeTimeout > config.StopGrace {
		t.Errorf("cancelling takes %v and closing %v, others wait %v", httpserver.CancelGrace, closeTimeout, config.StopGrace)
	}
}
