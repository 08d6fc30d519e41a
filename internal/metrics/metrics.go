// Package metrics writes how the daemon is doing for Prometheus: a memory.Status
// becomes a page in its text format, version 0.0.4. The core has no counters of its
// own for this, so status and metrics cannot differ, and two daemons in one test
// process do not share a registry. Runs, Savings and CodeQueries count since the daemon's
// start; the daemon owns one of each.
//
// Vocabulary. A family is a metric with its name, help and type. A sample is one
// line of it: labels and a value. Names follow Prometheus' own rules: base units
// (seconds, bytes, a ratio of 0–1) in the name, _total for what only grows.
// Counters begin at 0 with every start of the daemon; rates know of that.
package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// ContentType is the type of a page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// MaxSandboxes bounds the sandboxes that have samples of their own: each is a
// dozen series that a server keeps for weeks. recalld_sandboxes counts them all.
const MaxSandboxes = 200

// Write writes the page of a status. Runs may be nil: the page then lacks the
// histogram of run durations. The error is the writer's.
func Write(w io.Writer, s *memory.Status, runs *Runs) error {
	var p page
	daemon(&p, s)
	records(&p, s)
	queue(&p, s)
	indexing(&p, &s.Code, runs)
	recalls(&p, &s.Code)
	sandboxes(&p, s.Projects[:min(len(s.Projects), MaxSandboxes)])
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

func daemon(p *page, s *memory.Status) {
	p.gauge("recalld_build_info", "What runs; the value is always 1.")
	p.sample(1, label{"version", s.Version}, label{"protocol", strconv.Itoa(s.Protocol)})
	p.gaugeValue("recalld_up", "Whether questions are answered from all that is stored: 0 while the indexes are loaded and while the daemon stops.", boolean(s.State == "ready"))
	p.gauge("recalld_start_time_seconds", "When the daemon started, since the epoch.")
	if !s.StartedAt.IsZero() { // a 0 would be 1970
		p.sample(epoch(s.StartedAt))
	}
	if s.RSSBytes > 0 { // it is not known on every system
		p.gaugeValue("recalld_resident_bytes", "Memory of the daemon that is not swapped out.", float64(s.RSSBytes))
	}
	p.gaugeValue("recalld_live_bytes", "Memory in use on the heap at the last garbage collection.", float64(s.LiveBytes))
	p.gaugeValue("recalld_goroutines", "Goroutines of the daemon.", float64(s.Goroutines))
	p.gaugeValue("recalld_disk_bytes", "What the store takes on disk.", float64(s.DiskBytes))
}

func records(p *page, s *memory.Status) {
	p.gauge("recalld_records", "Records stored, by kind.")
	for _, kind := range slices.Sorted(maps.Keys(s.Records)) {
		p.sample(float64(s.Records[kind]), label{"kind", string(kind)})
	}
	p.gaugeValue("recalld_documents", "Distinct texts that are searched.", float64(s.Documents))
	p.gauge("recalld_embedded", "Texts that have a vector, by space.")
	for _, space := range s.Collections {
		p.sample(float64(space.Embedded), label{"space", space.Name})
	}
	p.gauge("recalld_embeddable", "Texts that have a vector or are to have one, by space.")
	for _, space := range s.Collections {
		p.sample(float64(space.Documents), label{"space", space.Name})
	}
}

func queue(p *page, s *memory.Status) {
	q := &s.Queue
	p.gaugeValue("recalld_queue_depth", "Jobs that wait.", float64(q.Waiting))
	p.gaugeValue("recalld_queue_running", "Jobs in work.", float64(q.Running))
	p.gauge("recalld_jobs", "Jobs that wait or are in work, by kind.")
	for _, kind := range slices.Sorted(maps.Keys(q.ByKind)) {
		p.sample(float64(q.ByKind[kind]), label{"kind", kind})
	}
	p.gaugeValue("recalld_jobs_dead", "Jobs that were given up and wait for somebody to look.", float64(q.Dead))
	p.counterValue("recalld_jobs_dropped_total", "Jobs that gave way when the queue was full.", float64(q.Dropped))
}

// indexing writes the metrics about runs of the index: depth, mean duration and the
// share of stale folders.
func indexing(p *page, c *memory.CodeState, runs *Runs) {
	p.gaugeValue("recalld_index_queue_depth", "Runs of the index that wait.", float64(c.Waiting))
	p.gaugeValue("recalld_index_paused", "Whether all work in the background is held.", boolean(c.Paused))
	p.counter("recalld_index_runs_total", "Runs of the index that have ended, by result.")
	p.sample(float64(max(c.Runs-c.Failed, 0)), label{"result", "ok"})
	p.sample(float64(c.Failed), label{"result", "failed"})
	if runs != nil {
		runs.write(p)
	}
	if c.Runs > 0 {
		p.gaugeValue("recalld_index_run_duration_mean_seconds", "How long a run of the index took on average, since the daemon started.", c.MeanRun.Duration().Seconds())
	}
	p.gaugeValue("recalld_index_bytes", "About what the index of all code takes on disk.", float64(c.IndexBytes))
	if c.MaxBytes > 0 {
		p.gaugeValue("recalld_index_limit_bytes", "What the index of all code may take on disk.", float64(c.MaxBytes))
	}
	p.gaugeValue("recalld_index_pruned_files", "Files whose chunks gave way to that limit.", float64(c.Pruned))
	p.gaugeValue("recalld_sandboxes", "Folders that are indexed.", float64(c.Sandboxes))
	p.gaugeValue("recalld_sandboxes_stale", "Folders whose index may lag behind the disk.", float64(c.Stale))
	p.ratio("recalld_sandboxes_stale_ratio", "Share of the folders whose index may lag behind the disk.", c.Stale, c.Sandboxes)
}

// recalls writes the metrics about answers: hit and fallback rate.
func recalls(p *page, c *memory.CodeState) {
	p.counterValue("recalld_recall_code_asked_total", "Questions that code could have answered.", float64(c.Asked))
	p.counterValue("recalld_recall_code_hits_total", "Those whose answer held code.", float64(c.Hits))
	p.counterValue("recalld_recall_code_fallbacks_total", "Those that the light index answered, or that did without code because it was missing or late.", float64(c.Fallbacks))
	p.ratio("recalld_recall_code_hit_ratio", "Share of those questions whose answer held code, since the daemon started.", c.Hits, c.Asked)
	p.ratio("recalld_recall_code_fallback_ratio", "Share of those questions that fell back, since the daemon started.", c.Fallbacks, c.Asked)
}

// folder is a sandbox with the labels of its samples.
type folder struct {
	*memory.SandboxState
	labels string
}

// folders labels sandboxes by project and folder: worktrees and clones share a
// project, and no two samples of a family may have the same labels. Folders that
// the format cannot tell apart, by names that are not UTF-8, count as one.
func folders(boxes []memory.SandboxState) []folder {
	seen := make(map[string]bool, len(boxes))
	out := make([]folder, 0, len(boxes))
	for i := range boxes {
		b := &boxes[i]
		labels := labelText([]label{{"project", cmp.Or(b.ProjectName, b.Project)}, {"folder", b.Root}})
		if !seen[labels] {
			seen[labels] = true
			out = append(out, folder{b, labels})
		}
	}
	return out
}

// sandboxes writes the samples of single folders.
func sandboxes(p *page, boxes []memory.SandboxState) {
	all := folders(boxes)
	for _, m := range []struct {
		name, help string
		value      func(*memory.SandboxState) float64
	}{
		{"recalld_sandbox_files", "Files in the index of a folder.", func(b *memory.SandboxState) float64 { return float64(b.Files) }},
		{"recalld_sandbox_chunks", "Chunks in the index of a folder.", func(b *memory.SandboxState) float64 { return float64(b.Chunks) }},
		{"recalld_sandbox_index_bytes", "About what the index of a folder takes on disk; what folders share is counted in each.", func(b *memory.SandboxState) float64 { return float64(b.IndexBytes) }},
		{"recalld_sandbox_pruned_files", "Files of a folder whose chunks gave way to the limit.", func(b *memory.SandboxState) float64 { return float64(b.Pruned) }},
		{"recalld_sandbox_stale", "Whether the index of a folder may lag behind the disk.", func(b *memory.SandboxState) float64 { return boolean(b.Stale) }},
		{"recalld_sandbox_paused", "Whether indexing of a folder is held.", func(b *memory.SandboxState) float64 { return boolean(b.Paused) }},
		{"recalld_sandbox_failed", "Whether the last run over a folder failed.", func(b *memory.SandboxState) float64 { return boolean(b.Failed()) }},
		{"recalld_sandbox_gone", "Whether a folder is missing on disk.", func(b *memory.SandboxState) float64 { return boolean(!b.GoneAt.IsZero()) }},
		{"recalld_sandbox_last_run_seconds", "How long the last run over a folder took.", func(b *memory.SandboxState) float64 { return b.LastRun.Duration().Seconds() }},
	} {
		p.gauge(m.name, m.help)
		for _, f := range all {
			p.value(m.value(f.SandboxState), "", f.labels)
		}
	}
	p.gauge("recalld_sandbox_indexed_timestamp_seconds", "When a run over a folder last ended well, since the epoch; none if never.")
	for _, f := range all {
		if !f.IndexedAt.IsZero() {
			p.value(epoch(f.IndexedAt), "", f.labels)
		}
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// epoch is a time in seconds since 1970, to the millisecond.
func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
