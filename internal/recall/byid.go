package recall

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/steptext"
)

// readIDs reads the memories of a request for ids, each in full, in the order requested, or
// the reason why not. It shows only what a question could find: no steps and code of
// another project unless the request names it, and no followed records of other projects.
func (r *run) readIDs() {
	if r.err = r.s.ready(); r.err != nil {
		return
	}
	r.startCode()
	r.sel = memory.Selection{Project: r.sel.Project, AllLessons: r.sel.AllLessons, Followed: r.sel.Followed}
	room := r.req.MaxTokens - min(headTokens, r.req.MaxTokens/2) // without a receipt
	for _, id := range r.req.IDs {
		if r.err = ended(r.ctx); r.err != nil {
			return
		}
		item, w, err := r.whole(id)
		if err != nil {
			r.err = err
			return
		}
		if w == nil && slices.ContainsFunc(r.items, func(i memory.Item) bool { return i.ID == item.ID }) {
			continue // requested twice
		}
		if w == nil {
			if item.Tokens = render.WholeTokens(item); item.Tokens > room {
				if len(r.items) > 0 {
					w = &memory.Withheld{Kind: item.Kind, Reason: memory.OverBudget, Note: "ask for it alone, or with a larger max_tokens"}
				} else {
					cutWhole(&item, room, r.req.MaxTokens < memory.MaxTokens)
				}
			}
		}
		if w != nil {
			w.ID = cmp.Or(w.ID, id)
			r.withheld = append(r.withheld, *w)
			continue
		}
		room -= item.Tokens
		item.Strength = memory.Sure // it was asked for
		r.items = append(r.items, item)
	}
	r.seq = r.s.opts.Corpus.Seq()
}

// makeIDAnswer collects the answer to a request for ids.
func (r *run) makeIDAnswer() {
	r.answer = &memory.RecallResponse{
		Project: r.project.ID, ProjectName: r.project.Name, Items: r.items, Withheld: r.withheld,
		Redacted: r.redacted, Receipt: ReceiptID(r.start),
	}
	if r.req.Typing {
		r.answer.Receipt = "" // the ledger gets none
	}
}

// whole reads one memory by the beginning of its id.
func (r *run) whole(id string) (memory.Item, *memory.Withheld, error) {
	none := memory.Item{}
	if strings.HasPrefix(id, "c-") {
		return r.wholeCode(id)
	}
	ids := r.s.opts.Corpus.IDs(id, maxAlike+1)
	switch {
	case len(ids) == 0:
		return none, &memory.Withheld{Reason: memory.NotFound, Note: "no memory has an id that begins so"}, nil
	case len(ids) > 1 && ids[0] != id:
		return none, ambiguous(ids), nil
	}
	rec, err := r.s.opts.Corpus.Record(ids[0])
	if err != nil {
		if memory.CodeOf(err) != memory.CodeNotFound {
			return none, nil, fmt.Errorf("read record: %w", err)
		}
		return none, &memory.Withheld{ID: ids[0], Reason: memory.Gone}, nil
	}
	w := &memory.Withheld{ID: rec.ID, Kind: rec.Kind}
	if rec.Event != nil && rec.Event.Withdrawn != nil {
		w.Reason = memory.Reason(rec.Event.Withdrawn.Reason)
		if rec.Event.Withdrawn.By != "" {
			w.Note = "by " + rec.Event.Withdrawn.By
		}
		return none, w, nil
	}
	if !r.s.opts.Corpus.Selected(rec.ID, r.sel) {
		if w.Reason = memory.NotShown; rec.Project != r.project.ID {
			w.Reason, w.Note = memory.OtherProject, "name the project "+r.projectNamed(rec.Project)+" to see it"
		}
		return none, w, nil
	}
	c := &candidate{Candidate: memory.Candidate{
		ID: rec.ID, Kind: rec.Kind, Project: rec.Project, Repo: rec.Repo, Followed: rec.Provenance.Followed(),
	}}
	c.foreign = !rankContext{project: r.project.ID, names: r.project.Names}.owns(c)
	item, reason := r.record(c)
	if reason != "" {
		w.Reason = reason
		return none, w, nil
	}
	item.Cut, item.RankFactors = false, nil
	r.full(&item, &rec)
	return item, nil, nil
}

// projectNamed is what a request can call a project: its name, or its id if several projects
// have the name.
func (r *run) projectNamed(id string) string {
	p, _, err := r.s.opts.Projects.Resolve(r.ctx, id, memory.Caller{})
	if err != nil || p.Name == "" {
		return id
	}
	if same, _, err := r.s.opts.Projects.Resolve(r.ctx, p.Name, memory.Caller{}); err != nil || same.ID != id {
		return id
	}
	return memory.ProjectLabel(p.Name, id)
}

// maxAlike is how many ids are listed for an ambiguous beginning.
const maxAlike = 5

func ambiguous(ids []string) *memory.Withheld {
	more := ""
	if len(ids) > maxAlike {
		ids, more = ids[:maxAlike], " and more"
	}
	return &memory.Withheld{Reason: memory.Ambiguous, Note: "stands for " + strings.Join(ids, ", ") + more}
}

// wholeCode reads a chunk again through the gates.
func (r *run) wholeCode(id string) (memory.Item, *memory.Withheld, error) {
	none := memory.Item{}
	found, err := r.s.opts.Corpus.ChunksByPrefix(r.ctx, id, r.sel)
	if err != nil {
		return none, nil, err
	}
	switch len(found) {
	case 0:
		return none, &memory.Withheld{Kind: memory.Chunk, Reason: memory.NotFound, Note: "the project has no code with an id that begins so; it may have changed since"}, nil
	case 1:
	default:
		ids := make([]string, len(found))
		for i, p := range found {
			ids[i] = p.ID
		}
		return none, ambiguous(ids), nil
	}
	at := found[0].Location
	v, reason := r.reread(at, found[0].Head)
	if reason != "" {
		return none, &memory.Withheld{ID: found[0].ID, Kind: memory.Chunk, Reason: reason, Path: at.Path}, nil
	}
	item := codeItem(at, v, r.redact(v.Text))
	item.ID = found[0].ID
	switch {
	case found[0].Head:
		item.State = memory.FilePreview
	case v.Moved:
		item.State = "moved"
	}
	return item, nil, nil
}

// full fills in an item's whole record, as text and in its fields.
func (r *run) full(item *memory.Item, rec *memory.Record) {
	var b strings.Builder
	line := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			// Further lines are indented: they must not look like fields.
			fmt.Fprintf(&b, "%s: %s\n", name, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	switch {
	case rec.Event != nil:
		line("Context", item.Context)
		line("Lesson", item.Lesson)
		line("Command", item.Command)
		line("Type", string(rec.Event.Type))
		for _, anchor := range item.Anchors {
			line("Code", render.OneLine(anchor.String()))
		}
		line("Told by", r.redact(rec.Event.AgentID))
	case rec.Step != nil:
		st := *rec.Step
		st.Tool.Name, st.Screen, st.Screenshot = r.redact(st.Tool.Name), r.redact(st.Screen), r.redact(st.Screenshot)
		if st.Git != nil {
			git := *st.Git
			git.Branch, git.Commit = r.redact(git.Branch), r.redact(git.Commit)
			st.Git = &git
		}
		for _, raw := range []*json.RawMessage{&st.Tool.Input, &st.Tool.Target, &st.Observation, &st.Environment, &st.Build} {
			*raw = r.redactJSON(*raw)
		}
		st.Extra, st.Labels = nil, r.s.cleanAll(st.Labels)
		if st.Outcome.Error != nil {
			e := *st.Outcome.Error
			e.Code, e.Message, e.Details = r.redact(e.Code), r.redact(e.Message), r.redactJSON(e.Details)
			st.Outcome.Error = &e
		}
		item.Step = &st
		line("Tool", st.Tool.Name)
		line("Outcome", render.StepOutcome(st.Outcome))
		if e := st.Outcome.Error; e != nil {
			line("Details", steptext.Target(e.Details))
		}
		line("Target", steptext.Target(st.Tool.Target))
		line("Input", steptext.Target(st.Tool.Input))
		line("Screen", st.Screen)
		line("Observation", steptext.Target(st.Observation))
		line("Labels", strings.Join(st.Labels, ", "))
		line("Session", rec.Session)
	case rec.Entry != nil:
		line("Name", r.redact(render.Name(rec.Entry.Server, rec.Entry.Name)))
		line("Description", r.redact(rec.Entry.Description))
		line("Content", r.redact(rec.Entry.Content))
		line("Guidance", r.redact(rec.Entry.Guidance))
		line("Input schema", string(r.redactJSON(rec.Entry.InputSchema)))
	case rec.Task != nil:
		task := *rec.Task
		task.TaskID, task.Type = r.redact(task.TaskID), r.redact(task.Type)
		task.Intent, task.Summary, task.Reason, task.Report = r.redact(task.Intent), r.redact(task.Summary), r.redact(task.Reason), r.redactJSON(task.Report)
		item.Task = &task
		line("Task", task.TaskID)
		if rec.Kind == memory.Task {
			line("Outcome", render.TaskOutcome(rec.Task.Report))
		}
		line("Type", task.Type)
		line("Blocked", task.Reason)
		line("Intent", task.Intent)
		line("Summary", task.Summary)
		line("Report", string(task.Report))
	case rec.Kind == memory.SessionSummary:
		b.WriteString(r.redact(rec.Text))
	case rec.Reference != nil:
		line("Name", r.redact(rec.Reference.Name))
		line("Title", r.redact(rec.Reference.Title))
		b.WriteString(r.redact(rec.Text))
	}
	if rec.Step == nil { // a step's tags belong to its session
		line("Tags", strings.Join(r.s.cleanAll(rec.Tags), ", "))
	}
	item.Text = strings.TrimRight(b.String(), "\n")
}

// redactJSON redacts a JSON value. The result is valid JSON.
func (r *run) redactJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	text := r.redact(string(raw))
	if text == string(raw) || json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil { // never: it encodes a string
		return nil
	}
	return quoted
}

// cutWhole cuts a memory that alone exceeds the budget. mayRaise says that the caller could
// ask with a larger budget.
func cutWhole(i *memory.Item, room int, mayRaise bool) {
	how := ""
	if mayRaise && room > headTokens {
		how = "; a larger max_tokens shows them"
	}
	mark := func(left int) string { return fmt.Sprintf("%s (%d more bytes%s)", render.Ellipsis, left, how) }
	all := i.Text
	i.Text = ""
	n := render.MaxBytes(room-1) - len(render.Whole(*i, 1)) - len(mark(len(all)))
	for n = max(n, 0); ; n -= n/8 + 1 { // the escaped text may be longer
		i.Text = render.Prefix(all, max(n, 0))
		i.Text += mark(len(all) - len(i.Text))
		if i.Tokens = render.WholeTokens(*i); i.Tokens <= room || n <= 0 {
			i.Cut = true
			return
		}
	}
}
