package recall

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// askWhole answers a request for ids: each memory in full, in the order asked, or the
// reason why not. What would not be recalled is not shown: the steps and code of
// another project, unless the request names it, and what was followed elsewhere.
func (s *Service) askWhole(ctx context.Context, req memory.RecallRequest, project memory.Project, sel memory.Selection) (shown, error) {
	if err := s.ready(); err != nil {
		return shown{}, err
	}
	code, cancel := context.WithTimeout(ctx, s.settings.CodeDeadline)
	defer cancel()
	sel = memory.Selection{Project: sel.Project, AllLessons: sel.AllLessons, Followed: sel.Followed}
	f := &filler{s: s, req: req, code: code}
	f.out.items, f.out.withheld = []memory.Item{}, []memory.Withheld{}
	room := req.MaxTokens - head(req.MaxTokens)
	for _, id := range req.IDs {
		if ctx.Err() != nil {
			return shown{}, ended(ctx)
		}
		item, w, err := f.whole(ctx, id, project, sel)
		if err != nil {
			return shown{}, err
		}
		if w == nil && slices.ContainsFunc(f.out.items, func(i memory.Item) bool { return i.ID == item.ID }) {
			continue // asked for twice
		}
		if w == nil {
			if item.Tokens = wholeTokens(item); item.Tokens > room {
				if len(f.out.items) > 0 {
					w = &memory.Withheld{Kind: item.Kind, Reason: memory.OverBudget, Note: "ask for it alone, or with a larger max_tokens"}
				} else {
					cutWhole(&item, room, req.MaxTokens < memory.MaxTokens)
				}
			}
		}
		if w != nil {
			w.ID = cmp.Or(w.ID, id)
			f.out.withheld = append(f.out.withheld, *w)
			continue
		}
		room -= item.Tokens
		f.out.items = append(f.out.items, item)
	}
	return f.out, nil
}

// whole reads one memory by the beginning of its id.
func (f *filler) whole(ctx context.Context, id string, project memory.Project, sel memory.Selection) (memory.Item, *memory.Withheld, error) {
	none := memory.Item{}
	if strings.HasPrefix(id, "c-") {
		return f.wholeCode(ctx, id, sel)
	}
	ids := f.s.opts.Corpus.IDs(id, maxAlike+1)
	switch {
	case len(ids) == 0:
		return none, &memory.Withheld{Reason: memory.NotFound, Note: "no memory has an id that begins so"}, nil
	case len(ids) > 1 && ids[0] != id:
		return none, ambiguous(ids), nil
	}
	r, err := f.s.opts.Corpus.Record(ids[0])
	if err != nil {
		if memory.CodeOf(err) != memory.CodeNotFound {
			return none, nil, fmt.Errorf("read record: %w", err)
		}
		return none, &memory.Withheld{ID: ids[0], Reason: memory.Gone}, nil
	}
	w := &memory.Withheld{ID: r.ID, Kind: r.Kind}
	if r.Event != nil && r.Event.Withdrawn != nil {
		w.Reason = memory.Reason(r.Event.Withdrawn.Reason)
		if r.Event.Withdrawn.By != "" {
			w.Note = "by " + r.Event.Withdrawn.By
		}
		return none, w, nil
	}
	if !f.s.opts.Corpus.Selected(r.ID, sel) {
		if w.Reason = memory.NotShown; r.Project != project.ID {
			w.Reason, w.Note = memory.OtherProject, "name the project "+r.Project+" to see it"
		}
		return none, w, nil
	}
	c := &candidate{Candidate: memory.Candidate{
		ID: r.ID, Kind: r.Kind, Project: r.Project, Repo: r.Repo, Followed: r.Provenance.Followed(),
	}}
	c.foreign = !rankContext{project: project.ID, names: project.Names}.owns(c)
	item, reason := f.record(c)
	if reason != "" {
		w.Reason = reason
		return none, w, nil
	}
	item.Cut, item.RankFactors = false, nil
	f.full(&item, &r)
	return item, nil, nil
}

// maxAlike is how many ids an ambiguous beginning is told to stand for.
const maxAlike = 5

func ambiguous(ids []string) *memory.Withheld {
	more := ""
	if len(ids) > maxAlike {
		ids, more = ids[:maxAlike], " and more"
	}
	return &memory.Withheld{Reason: memory.Ambiguous, Note: "stands for " + strings.Join(ids, ", ") + more}
}

// wholeCode reads a piece of code again through the gates.
func (f *filler) wholeCode(ctx context.Context, id string, sel memory.Selection) (memory.Item, *memory.Withheld, error) {
	none := memory.Item{}
	found, err := f.s.opts.Corpus.ChunksByPrefix(ctx, id, sel)
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
	read := f.s.gates.chunk
	if found[0].Head {
		read = f.s.gates.head
	}
	v, err := read(f.code, at)
	if reason := f.reason(err); reason != "" {
		return none, &memory.Withheld{ID: found[0].ID, Kind: memory.Chunk, Reason: reason, Path: at.Path}, nil
	}
	item := memory.Item{
		ID: found[0].ID, Kind: memory.Chunk, Project: at.Project, Text: f.redact(v.Text),
		Source: memory.Source{Path: v.Path, Lines: &[2]int{v.StartLine, v.EndLine}, Sandbox: at.Root, Symbol: at.Chunk.Symbol},
	}
	switch {
	case found[0].Head:
		item.State = memory.FilePreview
	case v.Moved:
		item.State = "moved"
	}
	return item, nil, nil
}

// full gives an item all that its record says, as text and in its fields.
func (f *filler) full(item *memory.Item, r *memory.Record) {
	var b strings.Builder
	line := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, text)
		}
	}
	switch {
	case r.Event != nil:
		line("Context", item.Context)
		line("Lesson", item.Lesson)
		line("Command", item.Command)
		line("Type", string(r.Event.Type))
		line("Told by", f.redact(r.Event.AgentID))
	case r.Step != nil:
		st := *r.Step
		st.Tool.Name = f.redact(st.Tool.Name)
		for _, raw := range []*json.RawMessage{&st.Tool.Input, &st.Tool.Target, &st.Observation, &st.Environment, &st.Build} {
			*raw = f.redactJSON(*raw)
		}
		st.Extra, st.Labels = nil, f.s.cleanAll(st.Labels)
		if st.Outcome.Error != nil {
			e := *st.Outcome.Error
			e.Code, e.Message, e.Details = f.redact(e.Code), f.redact(e.Message), f.redactJSON(e.Details)
			st.Outcome.Error = &e
		}
		item.Step = &st
		line("Tool", st.Tool.Name)
		line("Outcome", ending(st.Outcome))
		if e := st.Outcome.Error; e != nil {
			line("Details", plainRaw(e.Details))
		}
		line("Target", plainRaw(st.Tool.Target))
		line("Input", plainRaw(st.Tool.Input))
		line("Screen", f.redact(st.Screen))
		line("Observation", plainRaw(st.Observation))
		line("Labels", strings.Join(st.Labels, ", "))
		line("Session", r.Session)
	case r.Entry != nil:
		name := r.Entry.Name
		if r.Entry.Server != "" {
			name = r.Entry.Server + ":" + name
		}
		line("Name", f.redact(name))
		line("Description", f.redact(r.Entry.Description))
		line("Content", f.redact(r.Entry.Content))
		line("Guidance", f.redact(r.Entry.Guidance))
		line("Input schema", string(f.redactJSON(r.Entry.InputSchema)))
	case r.Task != nil:
		task := *r.Task
		task.Intent, task.Summary, task.Reason, task.Report = f.redact(task.Intent), f.redact(task.Summary), f.redact(task.Reason), f.redactJSON(task.Report)
		item.Task = &task
		line("Task", task.TaskID)
		if r.Kind == memory.Task {
			line("Outcome", outcomeOf(r.Task.Report))
		}
		line("Type", task.Type)
		line("Blocked", task.Reason)
		line("Intent", task.Intent)
		line("Summary", task.Summary)
		line("Report", string(task.Report))
	case r.Reference != nil:
		line("Name", f.redact(r.Reference.Name))
		line("Title", f.redact(r.Reference.Title))
		b.WriteString(f.redact(r.Text))
	}
	if r.Step == nil { // of a step they are its session's
		line("Tags", strings.Join(f.s.cleanAll(r.Tags), ", "))
	}
	item.Text = strings.TrimRight(b.String(), "\n")
}

// redactJSON takes secrets out of a JSON value, which stays one.
func (f *filler) redactJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	text := f.redact(string(raw))
	if text == string(raw) || json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil { // never: it is a string
		return nil
	}
	return quoted
}

// plainRaw is a JSON value as text: a string itself, of any other value its JSON.
func plainRaw(raw json.RawMessage) string { return steptext.Target(raw) }

// cutWhole cuts a memory that alone is larger than the budget. mayRaise says that a
// larger budget could be asked for.
func cutWhole(i *memory.Item, room int, mayRaise bool) {
	how := ""
	if mayRaise && room > headTokens {
		how = "; a larger max_tokens shows them"
	}
	mark := func(left int) string { return fmt.Sprintf("%s (%d more bytes%s)", ellipsis, left, how) }
	all := i.Text
	i.Text = ""
	n := maxBytes(room-1) - len(wholeText(*i, 1)) - len(mark(len(all)))
	for n = max(n, 0); ; n -= n/8 + 1 { // what is shown visibly takes more
		i.Text = prefix(all, max(n, 0))
		i.Text += mark(len(all) - len(i.Text))
		if i.Tokens = wholeTokens(*i); i.Tokens <= room || n <= 0 {
			i.Cut = true
			return
		}
	}
}
