package daemon

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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
	cfg.Notices = []string{"queue.lease is no longer a setting"}
	s := serve(t, cfg)
	st := s.until("the missing folder is said", func(st *memory.Status) bool { return len(st.Errors) > 0 })
	if got := st.Errors[0]; got.Part != "code" || !strings.Contains(got.Message, "sandboxes") {
		t.Errorf("error is %+v, want one of the setting sandboxes", got)
	}
	if len(st.Notes) != 2 || !slices.Contains(st.Notes, cfg.Notices[0]) || !strings.Contains(strings.Join(st.Notes, "\n"), cfg.Embedding.Ollama.Unused) {
		t.Errorf("notes are %q, want the former setting and the reason why Ollama is not used", st.Notes)
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

// TestServiceManagersWaitLongEnough: a service manager must not kill a daemon that is still within its time.
func TestServiceManagersWaitLongEnough(t *testing.T) {
	least := config.StopTimeout
	for name, tc := range map[string]struct {
		file    string
		pattern string
	}{
		"systemd": {"systemd/recalld.service", `TimeoutStopSec=(\d+)s`},
		"launchd": {"launchd/com.github.recalld.plist", `<key>ExitTimeOut</key>\s*<integer>(\d+)</integer>`},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "configs", filepath.FromSlash(tc.file)))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(tc.pattern).FindSubmatch(text)
		if m == nil {
			t.Errorf("%s: no time-out", name)
			continue
		}
		if got, err := time.ParseDuration(string(m[1]) + "s"); err != nil || got <= least {
			t.Errorf("%s waits %v (%v), a daemon may take %v", name, got, err, least)
		}
	}
}
