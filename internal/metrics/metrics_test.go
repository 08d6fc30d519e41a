package metrics_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
	"github.com/recalld/recalld/internal/testkit/golden"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// full is a status in which everything has something to say.
func full() *memory.Status {
	return &memory.Status{
		Version: "v1.2.3", Protocol: 1, State: "ready", StartedAt: noon, RSSBytes: 123_456_789, LiveBytes: 23_456_789, Goroutines: 42, DiskBytes: 987_654_321,
		Records: map[memory.Kind]int{memory.Lesson: 7, memory.Step: 20, memory.Chunk: 345}, Documents: 350,
		Collections: []memory.CollectionState{{Name: "builtin", Documents: 350, Embedded: 350}, {Name: "ollama/x", Documents: 350, Embedded: 17}},
		Queue:       memory.QueueState{Waiting: 3, Running: 1, Dead: 2, Dropped: 4, ByKind: map[string]int{"index": 3, "embed": 1}},
		Code: memory.CodeState{
			Paused: true, Sandboxes: 4, Stale: 1, Waiting: 2, Runs: 10, Failed: 3, MeanRun: memory.Millis(1500 * time.Millisecond),
			IndexBytes: 1 << 30, MaxBytes: 10e9, Pruned: 12, Asked: 8, Hits: 6, Fallbacks: 1,
		},
		Projects: []memory.SandboxState{
			{ProjectName: "demo", IndexBytes: 5000, Sandbox: memory.Sandbox{Project: "p1", Root: "/src/demo", IndexedAt: noon, Files: 12, Chunks: 345, LastRun: memory.Millis(time.Second)}},
			// A worktree of the same project.
			{ProjectName: "demo", Stale: true, Pruned: 12, Sandbox: memory.Sandbox{Project: "p1", Root: "/src/demo-2", Paused: true, LastError: "disk full", LastErrorAt: noon}},
			{Sandbox: memory.Sandbox{Project: "p2", Root: "C:\\src\\a \"b\"\nc", GoneAt: noon}},
			{ProjectName: "not UTF-8", Sandbox: memory.Sandbox{Project: "p3", Root: "/src/\xff"}},
		},
	}
}

func page(t *testing.T, s *memory.Status, runs *metrics.Runs) (string, *parsed) {
	t.Helper()
	var text strings.Builder
	if err := metrics.Write(&text, s, runs); err != nil {
		t.Fatal(err)
	}
	p, err := parse(text.String())
	if err != nil {
		t.Fatalf("the page cannot be read: %v\n%s", err, text.String())
	}
	return text.String(), p
}

func TestPage(t *testing.T) {
	var runs metrics.Runs
	for _, took := range []time.Duration{10 * time.Millisecond, 25 * time.Millisecond, 26 * time.Millisecond, 2 * time.Second, time.Hour} {
		runs.Observe(took)
	}
	text, p := page(t, full(), &runs)
	golden.Equal(t, filepath.Join("testdata", "metrics.txt"), text)

	// What contract 4 names, and what a reader gets after unescaping.
	for _, tt := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"recalld_queue_depth", nil, 3},
		{"recalld_index_run_duration_mean_seconds", nil, 1.5},
		{"recalld_sandboxes_stale_ratio", nil, .25},
		{"recalld_recall_code_hit_ratio", nil, .75},
		{"recalld_recall_code_fallback_ratio", nil, .125},
		{"recalld_index_runs_total", []string{"result", "ok"}, 7},
		{"recalld_index_runs_total", []string{"result", "failed"}, 3},
		{"recalld_records", []string{"kind", "chunk"}, 345},
		{"recalld_embedded", []string{"space", "ollama/x"}, 17},
		{"recalld_sandbox_files", []string{"project", "demo", "folder", "/src/demo"}, 12},
		{"recalld_sandbox_stale", []string{"project", "demo", "folder", "/src/demo-2"}, 1},
		{"recalld_sandbox_failed", []string{"folder", "/src/demo-2"}, 1},
		{"recalld_sandbox_gone", []string{"project", "p2", "folder", "C:\\src\\a \"b\"\nc"}, 1},
		{"recalld_sandbox_files", []string{"folder", "/src/\uFFFD"}, 0},
		{"recalld_sandbox_indexed_timestamp_seconds", []string{"folder", "/src/demo"}, float64(noon.Unix())},
		{"recalld_index_run_duration_seconds_bucket", []string{"le", "0.025"}, 2},
		{"recalld_index_run_duration_seconds_bucket", []string{"le", "0.1"}, 3},
		{"recalld_index_run_duration_seconds_bucket", []string{"le", "2.5"}, 4},
		{"recalld_index_run_duration_seconds_bucket", []string{"le", "600"}, 4},
		{"recalld_index_run_duration_seconds_bucket", []string{"le", "+Inf"}, 5},
		{"recalld_index_run_duration_seconds_count", nil, 5},
		{"recalld_index_run_duration_seconds_sum", nil, 3602.061},
	} {
		if got, ok := p.value(tt.name, tt.labels...); !ok || got != tt.want {
			t.Errorf("%s%v = %v (there: %v), want %v", tt.name, tt.labels, got, ok, tt.want)
		}
	}
	for name := range p.types {
		if p.helps[name] == "" {
			t.Errorf("%s has no help", name)
		}
	}
}

// TestDocumented: what is on the page is explained, and nothing else.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, p := page(t, full(), new(metrics.Runs))
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile(`recalld_[a-z_]+`).FindAllString(string(text), -1) {
		if documented[name] = true; p.types[name] == "" {
			t.Errorf("docs/operating.md tells of %s, which is not on the page", name)
		}
	}
	for name := range p.types {
		if !documented[name] {
			t.Errorf("docs/operating.md does not tell of %s", name)
		}
	}
}

// TestUnknown: what is not known has no sample; a 0 would be a statement.
func TestUnknown(t *testing.T) {
	text, p := page(t, &memory.Status{}, nil)
	for _, name := range []string{
		"recalld_recall_code_hit_ratio", "recalld_recall_code_fallback_ratio", "recalld_sandboxes_stale_ratio", "recalld_index_run_duration_mean_seconds",
		"recalld_index_run_duration_seconds_count", "recalld_index_limit_bytes", "recalld_resident_bytes", "recalld_start_time_seconds",
	} {
		if got, ok := p.value(name); ok {
			t.Errorf("%s = %v, want no sample:\n%s", name, got, text)
		}
	}
	for name, want := range map[string]float64{"recalld_up": 0, "recalld_queue_depth": 0, "recalld_recall_code_asked_total": 0} {
		if got, ok := p.value(name); !ok || got != want {
			t.Errorf("%s = %v (there: %v), want %v", name, got, ok, want)
		}
	}
}

// manyFolders is a status with n folders of one project each.
func manyFolders(n int) *memory.Status {
	s := full()
	s.Code.Sandboxes, s.Projects = n, nil
	for i := range n {
		s.Projects = append(s.Projects, memory.SandboxState{ProjectName: fmt.Sprintf("project-%d", i), Sandbox: memory.Sandbox{Root: fmt.Sprintf("/src/%d", i), IndexedAt: noon}})
	}
	return s
}

func TestFoldersAreBounded(t *testing.T) {
	_, p := page(t, manyFolders(metrics.MaxSandboxes+1), nil)
	count := 0
	for _, s := range p.series {
		if s.name == "recalld_sandbox_files" {
			count++
		}
	}
	if all, _ := p.value("recalld_sandboxes"); count != metrics.MaxSandboxes || all != metrics.MaxSandboxes+1 {
		t.Errorf("%d folders have samples of %v, want %d of %d", count, all, metrics.MaxSandboxes, metrics.MaxSandboxes+1)
	}
}

// TestRunsWhileRead: a page that is written while runs end adds up.
func TestRunsWhileRead(t *testing.T) {
	var runs metrics.Runs
	var writers sync.WaitGroup
	const each = 500
	for range 4 {
		writers.Go(func() {
			for range each {
				runs.Observe(time.Second)
			}
		})
	}
	for range 20 {
		_, p := page(t, &memory.Status{}, &runs)
		count, _ := p.value("recalld_index_run_duration_seconds_count")
		sum, _ := p.value("recalld_index_run_duration_seconds_sum")
		last, _ := p.value("recalld_index_run_duration_seconds_bucket", "le", "+Inf")
		if sum > count || last != count {
			t.Fatalf("%v seconds in %v runs of a second, %v in the last bucket", sum, count, last)
		}
	}
	writers.Wait()
	_, p := page(t, &memory.Status{}, &runs)
	if count, _ := p.value("recalld_index_run_duration_seconds_count"); count != 4*each {
		t.Errorf("%v runs were counted, want %d", count, 4*each)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteFails(t *testing.T) {
	if err := metrics.Write(brokenWriter{}, full(), nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want %v", err, io.ErrClosedPipe)
	}
}

// FuzzLabels: whatever a project and its folder are called, the page can be read
// and says so.
func FuzzLabels(f *testing.F) {
	for _, seed := range []string{"", "demo", `a"b`, `a\`, "a\nb", "{},=", "\xff\xfe", "größe\u2028"} {
		f.Add(seed, "/src/"+seed)
	}
	f.Fuzz(func(t *testing.T, name, root string) {
		boxes := []memory.SandboxState{{ProjectName: name, Sandbox: memory.Sandbox{Root: root, Files: 9}}, {ProjectName: name, Sandbox: memory.Sandbox{Root: root + "\xfe"}}, {ProjectName: name, Sandbox: memory.Sandbox{Root: root + "\xff"}}}
		s := &memory.Status{Projects: boxes}
		_, p := page(t, s, nil)
		valid := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
		if got, ok := p.value("recalld_sandbox_files", "project", valid(name), "folder", valid(root)); !ok || got != 9 {
			t.Errorf("the files of %q in %q are %v (there: %v), want 9", name, root, got, ok)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{4, metrics.MaxSandboxes} {
		b.Run(fmt.Sprintf("folders=%d", n), func(b *testing.B) {
			s, runs := manyFolders(n), new(metrics.Runs)
			b.ReportAllocs()
			for b.Loop() {
				if err := metrics.Write(io.Discard, s, runs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
