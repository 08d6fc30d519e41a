package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// overviewDays is how far back the overview counts, lastAnswers how many answers.
const (
	overviewDays = 30
	lastAnswers  = 200
	shownAnswers = 8
)

// overviewPage is what there is.
type overviewPage struct {
	*memory.Status
	Counts  []count
	Added   *bars // memories by the day on which they were made
	Answers answers
}

// count is how many memories there are of a kind.
type count struct {
	Name string
	N    int
}

// answers sums up the last answers of a project.
type answers struct {
	Last []memory.Receipt
	// Of the answers to questions: those that held something, and those that did not.
	Questions, Hits, Silent int
}

// HitRate and SilenceRate are shares from 0 to 1.
func (a answers) HitRate() float64     { return float64(a.Hits) / float64(max(a.Questions, 1)) }
func (a answers) SilenceRate() float64 { return float64(a.Silent) / float64(max(a.Questions, 1)) }

// overview shows what there is.
func (q *request) overview(v *view) error {
	status, err := ask(q, service.Status, service.None{})
	if err != nil {
		return err
	}
	activity, err := ask(q, service.Activity, memory.ActivityRequest{Days: overviewDays, Caller: q.caller()})
	if err != nil {
		return err
	}
	page := &overviewPage{Status: status, Counts: countsOf(status.Records), Added: barsOf(activity)}
	v.Data = page
	if len(v.Projects) > 0 {
		page.Answers, err = q.lastAnswers(v.Project)
	}
	return err
}

// lastAnswers returns the last answers of a project. Questions that this page asked, and what
// was asked for by its id, do not count.
func (q *request) lastAnswers(project string) (answers, error) {
	list, err := ask(q, service.Receipts, memory.ReceiptsRequest{Project: project, Limit: lastAnswers, Caller: q.caller()})
	if err != nil {
		return answers{}, err
	}
	var a answers
	for _, r := range list.Receipts {
		if r.Request.Caller.Client == Client || r.Request.Query == "" {
			continue
		}
		if len(a.Last) < shownAnswers {
			a.Last = append(a.Last, r)
		}
		if r.Purpose != memory.PurposeRecall {
			continue
		}
		a.Questions++
		if len(r.Items) > 0 {
			a.Hits++
		} else {
			a.Silent++
		}
	}
	return a, nil
}

// searchPage is an answer, and what can be chosen.
type searchPage struct {
	*memory.RecallResponse
	Kinds            []string
	Kind, Tag, Least string
	Labels           labels // of what was withheld
}

// search shows what a question finds, with the parts of each score.
func (q *request) search(v *view) (err error) {
	page := &searchPage{Kinds: []string{"lesson", "step", "chunk", "task", "rule", "reference", "tool"}, Kind: q.r.FormValue("kind"), Tag: q.r.FormValue("tag"), Least: q.r.FormValue("least")}
	v.Data = page
	if v.Query == "" {
		return nil
	}
	req := memory.RecallRequest{Query: v.Query, Project: v.Project, Explain: true, Limit: 20, MaxTokens: memory.MaxTokens, Caller: q.caller()}
	if page.Kind != "" {
		req.Kinds = []memory.Kind{memory.Kind(page.Kind)}
	}
	if page.Tag != "" {
		req.Filters = &memory.Filters{Tag: page.Tag}
	}
	if req.MinRelevance, err = q.decimal("least", 1); err != nil {
		return err
	}
	if page.RecallResponse, err = ask(q, service.Recall, req); err != nil {
		return err
	}
	page.Labels = q.named(v.Project, unnamed(page.Withheld))
	return nil
}

// receiptList is a page of the ledger.
type receiptList struct {
	Receipts []memory.Receipt
	Session  string
	Older    string // address
}

const receiptsPerPage = 50

// contexts lists what was handed out, newest first.
func (q *request) contexts(v *view) error {
	page := &receiptList{Session: q.r.FormValue("session")}
	v.Data = page
	if len(v.Projects) == 0 {
		return nil
	}
	list, err := ask(q, service.Receipts, memory.ReceiptsRequest{Project: v.Project, SessionID: page.Session, Before: q.r.FormValue("before"), Limit: receiptsPerPage, Caller: q.caller()})
	if err != nil {
		return err
	}
	if page.Receipts = list.Receipts; list.More && len(list.Receipts) > 0 {
		page.Older = q.with("before", list.Receipts[len(list.Receipts)-1].ID)
	}
	return nil
}

// contextPage is one answer or context: what it held, and what is different from the one
// before it in the same session.
type contextPage struct {
	*memory.Receipt
	Texts  map[string]string // by the name that the record of the turn has
	States map[string]memory.Reason
	Labels labels
	Before *memory.Receipt // nil for the first of a session, and without one
	Added  []memory.ReceiptItem
	Gone   []memory.ReceiptItem
	Stayed int
}

// Text is the text that an item was handed out with, if it is known, and State what became of it.
func (p contextPage) Text(i memory.ReceiptItem) string         { return p.Texts[itemName(i)] }
func (p contextPage) State(i memory.ReceiptItem) memory.Reason { return p.States[itemName(i)] }

// itemName is what names an item: the entry, or the memory.
func itemName(i memory.ReceiptItem) string {
	return string(i.Kind) + "\x00" + i.Server + "\x00" + cmp.Or(i.Name, i.ID)
}

// context shows exactly what one answer or context held.
func (q *request) context(v *view) (err error) {
	page := &contextPage{Texts: map[string]string{}, States: map[string]memory.Reason{}}
	v.Data = page
	if page.Receipt, err = ask(q, service.Receipt, memory.ReceiptRequest{ID: q.r.PathValue("id")}); err != nil {
		return err
	}
	v.Project, page.Budget = page.Project, cmp.Or(page.Budget, page.Request.MaxTokens)
	if page.Session != "" {
		page.compare(q)
	}
	page.Labels = q.named(page.Project, page.unnamed())
	if page.Purpose == memory.PurposeContext && page.Turn > 0 {
		of, err := ask(q, service.ContextOf, memory.ContextOfRequest{Turn: page.Turn, Texts: true, SessionRef: memory.SessionRef{SessionID: page.Session, Project: page.Project, Caller: q.caller()}})
		if err == nil && of.Record != nil {
			for _, i := range of.Record.Items {
				name := itemName(memory.ReceiptItem{Kind: i.Type, Server: i.ServerName, Name: i.Name})
				page.Texts[name], page.States[name] = i.Text, i.State
			}
		}
	}
	return nil
}

// unnamed are the ids of what only a title can name.
func (p *contextPage) unnamed() (ids []string) {
	for _, i := range slices.Concat(p.Items, p.Gone) {
		if i.Name == "" && i.Path == "" && i.ID != "" {
			ids = append(ids, i.ID)
		}
	}
	return append(ids, unnamed(p.Withheld)...)
}

func unnamed(withheld []memory.Withheld) (ids []string) {
	for _, w := range withheld {
		if w.Name == "" && w.Path == "" && w.ID != "" {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// compare finds the receipt before in the session, of the same purpose, and what differs. A
// session that was forgotten has none.
func (p *contextPage) compare(q *request) {
	list, err := ask(q, service.Receipts, memory.ReceiptsRequest{Project: p.Project, SessionID: p.Session, Before: p.ID, Limit: 20, Caller: q.caller()})
	if err != nil {
		return
	}
	at := slices.IndexFunc(list.Receipts, func(r memory.Receipt) bool { return r.Purpose == p.Purpose })
	if at < 0 {
		return
	}
	p.Before = &list.Receipts[at]
	before, now := map[string]bool{}, map[string]bool{}
	for _, i := range p.Before.Items {
		before[itemName(i)] = true
	}
	for _, i := range p.Items {
		if now[itemName(i)] = true; before[itemName(i)] {
			p.Stayed++
		} else {
			p.Added = append(p.Added, i)
		}
	}
	for _, i := range p.Before.Items {
		if !now[itemName(i)] {
			p.Gone = append(p.Gone, i)
		}
	}
}

// replayPage is a replay under changed settings.
type replayPage struct {
	*memory.Replayed
	Days, Limit             int
	Embedder, Weight, Least string
	Kind                    string
	Models                  []string
}

// replay asks past questions again.
func (q *request) replay(v *view) error {
	page := &replayPage{Days: q.number("days", 366, 7), Limit: q.number("limit", 200, 20), Embedder: q.r.FormValue("embedder"), Weight: q.r.FormValue("weight"),
		Least: q.r.FormValue("least"), Kind: q.choice("kind", "lesson", "step", "chunk", "task")}
	v.Data = page
	status, err := ask(q, service.Status, service.None{})
	if err != nil {
		return err
	}
	for _, c := range status.Collections {
		page.Models = append(page.Models, c.Model)
	}
	if q.r.FormValue("run") == "" || len(v.Projects) == 0 {
		return nil
	}
	req := memory.ReplayRequest{Project: v.Project, Since: q.site.opts.Now().Add(-time.Duration(page.Days) * 24 * time.Hour), Limit: page.Limit, Embedder: page.Embedder, Caller: q.caller()}
	if req.VectorWeight, err = q.decimal("weight", memory.MaxVectorWeight); err != nil {
		return err
	}
	least, err := q.decimal("least", 1)
	if err != nil {
		return err
	}
	if least != nil {
		req.MinRelevance = map[memory.Kind]float64{memory.Kind(page.Kind): *least}
	}
	page.Replayed, err = service.Replay.Do(q.r.Context(), q.site.opts.Service, req, nil)
	return err
}
