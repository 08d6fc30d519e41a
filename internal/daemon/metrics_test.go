package daemon

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
	"github.com/recalld/recalld/internal/service"
)

// page reads what a server would scrape, by series.
func (s *served) page() map[string]string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://recalld"+service.Metrics, nil)
	must(s.t, err)
	answer, err := s.HTTP().Do(request)
	must(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(s.t, err)
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != metrics.ContentType {
		s.t.Fatalf("status %d of type %q: %s", answer.StatusCode, kind, text)
	}
	series := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			at := strings.LastIndexByte(line, ' ')
			series[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	return series
}

// TestMetricsOfADaemon: what was done with code is on the page, and the histogram
// counts the runs that status counts.
func TestMetricsOfADaemon(t *testing.T) {
	s := serve(t, newConfig(t))
	dir := shop(t)
	b := s.indexed(s.index(dir))
	s.ask(dir, "what adds up the prices of the articles in the cart", memory.Chunk)
	s.ask(dir, "what boils noodles", memory.Chunk)
	s.ask(dir, "what boils noodles", memory.Lesson) // code could not answer it
	folder := `{project="` + b.ProjectName + `",folder="` + b.Root + `"}`
	want := map[string]string{
		"recalld_up": "1", "recalld_sandboxes": "1", "recalld_sandboxes_stale_ratio": "0",
		`recalld_index_runs_total{result="failed"}`: "0", `recalld_records{kind="chunk"}`: "2",
		"recalld_recall_code_asked_total": "2", "recalld_recall_code_hits_total": "1", "recalld_recall_code_hit_ratio": "0.5",
		"recalld_sandbox_files" + folder: "2", "recalld_sandbox_chunks" + folder: "2", "recalld_sandbox_failed" + folder: "0",
	}
	start := time.Now()
	for {
		p := s.page()
		// A run may just have ended: its end is told in several steps.
		wrong := ""
		for name, value := range want {
			if p[name] != value {
				wrong += "\n" + name + " is " + p[name] + ", want " + value
			}
		}
		runs := p[`recalld_index_runs_total{result="ok"}`]
		if runs == "0" || p["recalld_index_run_duration_seconds_count"] != runs || p[`recalld_index_run_duration_seconds_bucket{le="+Inf"}`] != runs {
			wrong += "\n" + runs + " runs, " + p["recalld_index_run_duration_seconds_count"] + " in the histogram"
		}
		if wrong == "" {
			break
		}
		if time.Since(start) > patience {
			t.Fatalf("the page says:%s", wrong)
		}
	}
}
