package agentctx

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// SearchTools carries out service.SearchTools. Tools that become active are durable, with the
// receipt, when it returns; a search that changes nothing is written a little later. A
// repeated request is answered as if its tools were new, because the caller did not get the
// first answer.
func (s *Contexts) SearchTools(ctx context.Context, req memory.SearchToolsRequest) (*memory.ToolMatches, error) {
	start := s.opts.Clock()
	project, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	open, idle, err := s.openSession(project.ID, req.SessionRef)
	if err != nil {
		return nil, err
	}
	if req.ReadOnly {
		open, idle = "", "What was found does not become active, since this client may only read."
	}
	found, err := s.findTools(ctx, project.ID, req)
	if err != nil {
		return nil, err
	}
	out := &memory.ToolMatches{
		Project: project.ID, ProjectName: project.Name, SessionID: open,
		Tools: found.answer(), Degraded: found.Degraded, Receipt: recall.ReceiptID(start),
		Incomplete: found.Incomplete != "", Why: found.Incomplete,
	}
	receipt := found.receipt(project.ID, s.recorded(req))
	receipt.ID, receipt.At, receipt.Session = out.Receipt, start.UTC(), open
	receipt.Took = memory.Millis(s.opts.Clock().Sub(start))
	if open == "" {
		if req.RequestID != "" { // others wait for no writer
			_, err := s.opts.Writer.Write(ctx, project, memory.Batch{RequestID: req.RequestID, Refused: errNoChange})
			if memory.CodeOf(err) == memory.CodeConflict { // the id is another request's
				return nil, err
			}
		}
		s.opts.Receipts.EnqueueReceipt(receipt)
		writeTools(out, idle)
		return out, nil
	}
	tokens := receipt.Tokens
	w, err := s.update(ctx, project, open, req.RequestID, func(wc *memory.WorkingContext, b *memory.Batch) (changed bool, err error) {
		out.Tools, out.Guidance, changed = found.discover(wc)
		receipt.Turn, receipt.Tokens = wc.Turn, tokens+render.Tokens(out.Guidance)
		// A request with an id is always written, so that a repetition is recognized.
		if changed || req.RequestID != "" {
			b.Receipts = []memory.Receipt{receipt}
		}
		return changed, nil
	})
	if err != nil {
		return nil, err
	}
	if w.repeated {
		out.Tools, out.Guidance, _ = found.discover(newWorkingContext(open))
	}
	if w.repeated || w.seq == 0 {
		s.opts.Receipts.EnqueueReceipt(receipt)
	}
	out.Version = w.context.Version
	writeTools(out, idle)
	return out, nil
}

// openSession returns the id of the session that a search is for. It is empty if no session
// is open or several could be session; then idle says why nothing becomes active, and what to
// do. A session that the request names must exist.
func (s *Contexts) openSession(project string, which memory.SessionRef) (id, idle string, err error) {
	session, err := s.opts.Sessions.FindSession(project, which.SessionID, which.Caller)
	code := memory.CodeOf(err)
	switch {
	case err == nil:
		return session.ID, "", nil
	case errors.Is(err, memory.ErrSeveralSessions):
		return "", fmt.Sprintf("Several sessions are open: %s. What was found does not stay active: search again with the sessionId that is yours.", memory.AsError(err).Limit), nil
	case which.SessionID == "" && (code == memory.CodeInvalidInput || code == memory.CodeNotFound):
		// The caller has none, or has it in another project.
		return "", "No session is open, so what was found does not stay active. Open one with session_start and search again.", nil
	}
	return "", "", err
}

// foundTool is an enabled tool that matches a query.
type foundTool struct {
	entry *memory.EntryState
	match recall.Matched
}

// always reports whether every session may call the tool: a core tool or recalld's own.
func (t foundTool) always() bool { return t.entry.Core || t.own() }

// own reports whether the tool is one of recalld's own.
func (t foundTool) own() bool { return t.match.Project == memory.OwnProject }

// strength says how sure it is that the tool is meant, and so how much of it is told.
func (t foundTool) strength() memory.Strength {
	switch {
	case t.match.Relevance >= activeThreshold:
		return memory.Sure
	case t.match.Relevance >= likelyThreshold:
		return memory.Likely
	}
	return memory.Maybe
}

// strong reports whether the tool becomes active.
func (t foundTool) strong() bool { return t.strength() == memory.Sure }

// foundTools is the result of a search for tools.
type foundTools struct {
	recall.Matches // its items and what it withheld are in the fields below
	tools          []foundTool
	withheld       []memory.Withheld
}

// The least relevances of a tool that becomes active, is told with its description, and is
// told in a few words. They are lower than the thresholds of contexts: the agent asked and
// chooses itself, and a query in other words than the tool's leaves little evidence. An active
// tool costs tokens with every request from then on: of 20 tools that the requests of
// testdata/active.txt need, .43 makes 17 active, and 4 others; .44 makes 16 active, and 3
// others. Below .15 nothing more is found among the first three of practice.txt and own.txt of
// internal/daemon.
const (
	activeThreshold = 0.43
	likelyThreshold = 0.31
	foundThreshold  = 0.15
)

// How many tools are told in a few words: more if none is active.
const (
	maxMaybe      = 3
	maxMaybeAlone = 5
)

// ownAmong is how many tools are better than one of recalld's own that is asked for. At 1, 19
// of 31 phrases for own tools find theirs beside 1,346 others, at 3 24 do.
const ownAmong = 3

// choose keeps the tools of an answer, at most limit, best first. recalld's own are among them
// if the query asks for one of them, which is then sure and one of the best, or if nothing of
// the host's is found.
func (f *foundTools) choose(limit int) {
	asked := slices.ContainsFunc(f.tools[:min(ownAmong, len(f.tools))], func(t foundTool) bool { return t.own() && t.strong() })
	others := slices.ContainsFunc(f.tools, func(t foundTool) bool { return !t.own() })
	most := maxMaybeAlone
	if slices.ContainsFunc(f.tools, foundTool.strong) {
		most = maxMaybe
	}
	var chosen []foundTool
	for _, t := range f.tools {
		isMaybe := t.strength() == memory.Maybe
		if len(chosen) == limit || t.own() && others && !asked || isMaybe && most == 0 {
			f.withheld = append(f.withheld, memory.Withheld{
				ID: t.match.ID, Kind: memory.Tool, Reason: memory.OverLimit, NearestScore: t.match.Relevance, Name: t.entry.Name, Server: t.entry.ServerName,
			})
			continue
		}
		if isMaybe {
			most--
		}
		chosen = append(chosen, t)
	}
	f.tools = chosen
}

// findTools matches a query against the enabled tools of a project, and recalld's own if
// requested.
func (s *Contexts) findTools(ctx context.Context, project string, req memory.SearchToolsRequest) (foundTools, error) {
	sel := memory.Selection{
		Kinds: []memory.Kind{memory.Tool}, Project: project,
		Followed: memory.AsksFrom(ctx, s.opts.Projects, project, req.Project, req.Caller),
	}
	projects := []string{project}
	if req.Own {
		sel.Also = memory.OwnProject
		projects = append(projects, memory.OwnProject)
	}
	entries := map[string]*memory.EntryState{} // enabled tools, by the ids of their records
	disabled := false
	for _, p := range projects {
		items := s.visibleItems(ctx, p, req.SessionRef)
		for i := range items {
			switch {
			case items[i].Type != memory.Tool:
			case p == memory.OwnProject && slices.Contains(req.Hidden, items[i].Name):
				disabled = true
			case items[i].On:
				entries[items[i].ID] = &items[i]
			default:
				disabled = true
			}
		}
	}
	if disabled { // which would take the places of others
		sel.Only = make(map[string]bool, len(entries))
		for id := range entries {
			sel.Only[id] = true
		}
	}
	matches, err := s.matchTools(ctx, req.Query, sel, entries)
	if err != nil {
		return foundTools{}, fmt.Errorf("match tools: %w", err)
	}
	out := foundTools{Matches: matches, withheld: []memory.Withheld{}}
	for _, m := range matches.Items {
		out.tools = append(out.tools, foundTool{entries[m.ID], m})
	}
	out.choose(req.Limit)
	for _, w := range matches.Withheld {
		if e, ok := entries[w.ID]; ok {
			w.Name, w.Server = e.Name, e.ServerName
			out.withheld = append(out.withheld, w)
		}
	}
	return out, nil
}

// discover makes strong hits active in a working context. It returns the tools of the answer
// and the guidance of the new ones.
func (f foundTools) discover(wc *memory.WorkingContext) (tools []memory.FoundTool, guidance string, changed bool) {
	known := setOf(wc.DiscoveredTools)
	tools = f.answer()
	var fresh []memory.EntryState
	for i, t := range f.tools {
		ref := toolOf(t.entry)
		if known[ref] {
			tools[i].Active, tools[i].InputSchema = true, t.entry.InputSchema
		}
		if t.strong() && !t.always() && !known[ref] {
			tools[i].Active, tools[i].New = true, true
			wc.DiscoveredTools = append(wc.DiscoveredTools, ref)
			fresh = append(fresh, *t.entry)
		}
	}
	wc.DiscoveredTools = latest(wc.DiscoveredTools)
	return tools, guide(wc, fresh), len(fresh) > 0
}

// answer returns the tools of an answer without a session. A weak hit, which the session
// cannot call, has no schema.
func (f foundTools) answer() []memory.FoundTool {
	out := make([]memory.FoundTool, len(f.tools))
	for i, t := range f.tools {
		out[i] = memory.FoundTool{
			ID: t.entry.ID, ServerName: t.entry.ServerName, Name: t.entry.Name, Description: t.entry.Description,
			Followed: t.entry.Followed(), Relevance: t.match.Relevance, Strength: t.strength(), Active: t.always(),
		}
		if t.strong() || t.always() {
			out[i].InputSchema = t.entry.InputSchema
		}
	}
	return out
}

// receipt returns the receipt of the search, except for what only its answer has.
func (f foundTools) receipt(project string, query memory.RecallRequest) memory.Receipt {
	r := memory.Receipt{
		Request: query, Project: project, Items: make([]memory.ReceiptItem, len(f.tools)), Withheld: f.withheld,
		Degraded: f.Degraded, Spaces: f.Spaces, Calibration: f.Calibration, Seq: f.Seq, Purpose: memory.PurposeTools,
		Settings: &f.Settings,
	}
	for i, t := range f.tools {
		r.Items[i] = memory.ReceiptItem{
			ID: t.match.ID, Kind: memory.Tool, Relevance: t.match.Relevance, RankFactors: &t.match.Factors,
			Tokens: toolTokens(t.entry), Name: t.entry.Name, Server: t.entry.ServerName,
		}
		r.Tokens += r.Items[i].Tokens
	}
	return r
}

// toolTokens is the number of tokens of a tool in an answer, with its schema.
func toolTokens(e *memory.EntryState) int {
	return render.Tokens(toolOf(e).String() + e.Description + string(e.InputSchema))
}

// recorded is a search as a receipt stores it, without secrets.
func (s *Contexts) recorded(req memory.SearchToolsRequest) memory.RecallRequest {
	q := memory.RecallRequest{
		Query: req.Query, Kinds: []memory.Kind{memory.Tool}, Project: req.Project, Limit: req.Limit,
		Caller: memory.Caller{Dir: req.Caller.Dir, Client: req.Caller.Client, Session: req.Caller.Session},
	}
	s.clean(&q.Query, &q.Project, &q.Caller.Dir, &q.Caller.Client, &q.Caller.Session)
	return q
}

// clean removes the secrets of texts.
func (s *Contexts) clean(texts ...*string) {
	for _, text := range texts {
		*text, _ = s.opts.Writer.Clean(*text, len(*text))
	}
}

// writeTools writes the answer for an agent. idle says why nothing becomes active without a
// session.
func writeTools(m *memory.ToolMatches, idle string) {
	incomplete := ""
	if m.Incomplete {
		incomplete = "Not all tools could be searched: " + m.Why + "."
		if memory.IsIncomplete(m.Why) {
			incomplete += " Ask again in a moment."
		}
		incomplete += "\n"
	}
	if len(m.Tools) == 0 {
		m.Text = cmp.Or(incomplete, "No tool has to do with this.\n")
		return
	}
	var list, b strings.Builder
	fmt.Fprintf(&list, "**Tools (%d):**\n\n", len(m.Tools))
	inactive := false
	var named []string
	for i, t := range m.Tools {
		fmt.Fprintf(&list, "%d. %s\n", i+1, toolLine(t))
		switch {
		case t.Active:
		case m.SessionID == "":
			inactive = true
		default:
			named = append(named, strconv.Itoa(i+1))
		}
	}
	b.WriteString(render.Fence(list.String()))
	switch {
	case len(named) == 1:
		fmt.Fprintf(&b, "\nNumber %s is only named: search for it by its name to make it active.\n", named[0])
	case len(named) > 1:
		fmt.Fprintf(&b, "\nNumbers %s are only named: search for one by its name to make it active.\n", strings.Join(named, ", "))
	case inactive:
		b.WriteString("\n" + idle + "\n")
	}
	if incomplete != "" {
		b.WriteString("\n" + incomplete)
	}
	if m.Guidance != "" {
		b.WriteString("\n" + m.Guidance)
	}
	m.Text = b.String()
}

// maybeTokens bounds a tool that is told in a few words.
const maybeTokens = 22

// toolLine describes a tool in a line: its name with its server, how sure it is if it is not,
// what it does and what it takes.
func toolLine(t memory.FoundTool) string {
	line := memory.ToolRef{ServerName: t.ServerName, ToolName: t.Name}.String()
	if t.Followed {
		line += " " + memory.FollowedMark
	}
	if t.Strength != memory.Sure && t.Strength != "" {
		line += " (" + string(t.Strength) + ")"
	}
	if description := firstLine(t.Description); description != "" {
		line += ": " + description
	}
	if t.Strength == memory.Maybe {
		return render.Shorten(line, render.MaxBytes(maybeTokens))
	}
	if takes := takesText(t.InputSchema); takes != "" {
		line += " (takes " + takes + ")"
	}
	return line
}

// maxTakes bounds the parameters that a text names.
const maxTakes = 12

// takesText names the parameters of a tool, those that it needs with a *.
func takesText(input json.RawMessage) string {
	var x struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(input, &x) != nil {
		return ""
	}
	var names []string
	for _, needed := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(x.Properties)) {
			switch {
			case slices.Contains(x.Required, name) != needed:
			case needed:
				names = append(names, render.OneLine(name)+"*")
			default:
				names = append(names, render.OneLine(name))
			}
		}
	}
	if len(names) > maxTakes {
		names = append(names[:maxTakes], render.Ellipsis)
	}
	return strings.Join(names, ", ")
}

// maxToolLine bounds a description in the text, in characters; the fields have all of it.
const maxToolLine = 200

// firstLine returns the beginning of a description on one line.
func firstLine(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if line = render.OneLine(line); more && utf8.RuneCountInString(line) <= maxToolLine {
		return line + " " + render.Ellipsis
	}
	return render.Characters(line, maxToolLine+1)
}
