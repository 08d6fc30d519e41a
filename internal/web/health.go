package web

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

const logLines = 100

// healthPage is how the daemon is.
type healthPage struct {
	*memory.Status
	Findings []render.Finding
	Dead     []memory.DeadJob
	Log      *memory.LogLines
	Report   *memory.CheckReport // nil if it was not asked for
	Figures  []figure
}

// figure is a measured value in words.
type figure struct{ Name, Value, Means string }

// health shows what is wrong, and what to do about it.
func (q *request) health(v *view) (err error) {
	page := &healthPage{}
	v.Data = page
	if page.Status, err = ask(q, service.Status, service.None{}); err != nil {
		return err
	}
	dead, err := ask(q, service.DeadJobs, service.None{})
	if err != nil {
		return err
	}
	if page.Log, err = ask(q, service.Log, memory.LogRequest{Lines: logLines}); err != nil {
		return err
	}
	repos, err := ask(q, service.Repos, service.None{})
	if err != nil {
		return err
	}
	if q.r.FormValue("check") != "" {
		page.Report, err = ask(q, service.Check, service.None{})
	}
	page.Dead, page.Figures = dead.Jobs, figures(page.Status)
	page.Findings = findings(page, repos.Repos)
	return err
}

// findings are those of `recalld doctor` that a daemon that runs can say of itself.
func findings(p *healthPage, repos []memory.SandboxState) []render.Finding {
	all := render.Findings(p.Status, repos)
	add := func(check string, level render.Level, hint, format string, args ...any) {
		all = append(all, render.Finding{Check: check, Level: level, Detail: fmt.Sprintf(format, args...), Hint: hint})
	}
	if p.Damage != nil {
		add("store", render.FindingFailed, "run 'recalld doctor'", "%s", p.Damage.Text())
	}
	if len(p.Dead) > 0 {
		add("queue", render.FindingFailed, "requeue below", "%s given up", memory.Count(len(p.Dead), "job"))
	} else {
		add("queue", render.FindingOK, "", "no job was given up")
	}
	for _, w := range p.Waiting {
		add("consent", render.FindingNote, "run 'recalld trust' there", "files of %s wait to be agreed to", w.Root)
	}
	for _, note := range p.Notes {
		add("settings", render.FindingNote, "", "%s", note)
	}
	if p.Report != nil {
		switch {
		case p.Report.Busy:
			add("every value", render.FindingNote, "check again", "writes went on meanwhile: nothing can be said")
		case p.Report.Total == 0:
			add("every value", render.FindingOK, "", "every value is sound (read in %.1f s)", float64(p.Report.Took)/1e9)
		default:
			add("every value", render.FindingFailed, "run 'recalld doctor --repair'", "%s: %s", memory.Count(p.Report.Total, "problem"), strings.Join(p.Report.Problems, "; "))
		}
	}
	return all
}

// figures are the metrics in words, with their units.
func figures(s *memory.Status) []figure {
	whole := func(n int, one string) string {
		if n == 1 {
			return "1 " + one
		}
		return grouped(n) + " " + one + "s"
	}
	list := []figure{
		{"Resident memory", render.Bytes(s.RSSBytes), "of the daemon's process"},
		{"Disk", render.Bytes(s.DiskBytes), "taken by the store"},
		{"Documents", whole(s.Documents, "text"), "distinct texts that are searched"},
		{"Updates", whole(int(s.Seq), "update"), "written since the store was made"},
		{"Queue", fmt.Sprintf("%d waiting, %d running", s.Queue.Waiting, s.Queue.Running), "jobs in the background"},
		{"Given up", whole(s.Queue.Dead, "job"), fmt.Sprintf("and %d dropped for lack of room", s.Queue.Dropped)},
		{"Index runs", fmt.Sprintf("%d, %d of them failed", s.Code.Runs, s.Code.Failed), fmt.Sprintf("since the start, %.1f s each on average", float64(s.Code.MeanRun)/1e9)},
		{"Index of code", render.Bytes(s.Code.IndexBytes), "on disk" + limitText(s.Code.MaxBytes)},
		{"Questions for code", whole(s.Code.Asked, "question"), fmt.Sprintf("%d answered with code, %d without the index", s.Code.Hits, s.Code.Fallbacks)},
	}
	if s.Savings != nil {
		list = append(list, figure{"Tokens saved", whole(int(s.Savings.Tokens), "token"), fmt.Sprintf("by %s with lessons, against reading their logs", memory.Count(s.Savings.Answers, "answer"))})
	}
	if s.Hooks != nil {
		list = append(list, figure{"Events of hooks", fmt.Sprintf("%d waiting, %d set aside", s.Hooks.Waiting, s.Hooks.Aside), "that the daemon took late"})
	}
	return list
}

func limitText(most int64) string {
	if most == 0 {
		return ", without a limit"
	}
	return ", of " + render.Bytes(most)
}

// requeue gives a dead job another try.
func (q *request) requeue(string) (string, url.Values, error) {
	_, err := ask(q, service.RequeueJob, memory.RequeueRequest{ID: q.r.PathValue("id")})
	return "health", url.Values{"done": {"requeued"}}, err
}
