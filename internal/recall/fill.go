package recall

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// caps bound an answer's text, and the code in it, so that it does not crowd
// out the rest.
type caps struct {
	tokens  int // for items
	chunks  int // items of code
	bytes   int // of their text together
	lessons int // tokens for lessons together; see lessonTokens
	// moreChunks and moreBytes are for code that finds room once all else has its place.
	moreChunks, moreBytes int
}

// Limits of one piece of code and of what is told of the rest.
const (
	// snippetBytes is the longest text of one chunk in an answer, unless only
	// code was asked for and the budget allows whole chunks.
	snippetBytes = 680
	// leastSnippet is the least room in bytes that a part of a chunk is shown
	// in: less says nothing.
	leastSnippet = 80
	maxWithheld  = 50
	// lessonTokens is what the lessons of a written answer take together where no
	// budget is named, as long as there are no more than five: with the heading under
	// the 500 of contract 2. With a budget they take what it has room for.
	lessonTokens = 440
	// leastShare is the room in tokens that a lesson, an entry or a task surely gets in
	// an answer, less only where it needs less or the budget has no more. What is left
	// at the end is shared among those that need more. leastText is the least that is
	// shown of one, in bytes: less says nothing.
	leastShare = lessonTokens / 5
	leastText  = 80
	// maxPlaces is how many places of one text are looked at: more than
	// worktrees of a repository, fewer than files with one license header.
	maxPlaces = 16
	// nearDuplicate is the share of common terms (Jaccard) from which two
	// items of a kind count as one.
	nearDuplicate = 0.9
)

// caps reads what was asked for before the settings are filled in: a caller who says
// how much gets that, of code too. Beside other kinds code gets half of it at first, and
// the rest of what they leave, so that it does not crowd them out.
func (s *Settings) caps(req memory.RecallRequest) caps {
	c := caps{chunks: s.Chunks, bytes: s.ChunkBytes, lessons: lessonTokens}
	chunks, bytes := c.chunks, c.bytes
	if req.Limit > 0 {
		chunks = req.Limit
		bytes = max(bytes, req.Limit*snippetBytes)
	}
	if req.MaxTokens > 0 {
		c.lessons = req.MaxTokens
		bytes = max(bytes, req.MaxTokens*bytesPerToken)
	}
	switch {
	case len(req.Kinds) > 0 && !slices.Contains(req.Kinds, memory.Chunk): // there is no code
	case slices.Equal(req.Kinds, []memory.Kind{memory.Chunk}):
		c.chunks, c.bytes = chunks, bytes
	default:
		c.chunks, c.bytes = min(chunks, max(c.chunks, chunks/2)), min(bytes, max(c.bytes, bytes/2))
		c.moreChunks, c.moreBytes = chunks-c.chunks, bytes-c.bytes
	}
	if s.MaxTokens != memory.DefaultTokens {
		c.lessons = max(c.lessons, s.MaxTokens)
	}
	return c
}

// shown is what passed the gates and fits.
type shown struct {
	items    []memory.Item
	withheld []memory.Withheld
	degraded []memory.Degraded
	redacted bool
	// incomplete says why not all code was searched; empty when it was.
	incomplete string
	names      map[string]entryName // of items, by id
}

// filler fills an answer in rank order.
type filler struct {
	s     *Service
	req   memory.RecallRequest
	caps  caps // what is left of them
	query index.Terms
	code  context.Context // with the deadline of code
	out   shown
	terms []index.Terms // of the items
	// reserved are the tokens set aside for each item whose text may be cut at the end,
	// zero for the others.
	reserved []int
}

// fill takes candidates in rank order through the gates until the limit is
// reached or the budget is full. What is left of the room for code may then be filled
// from the light index.
func (s *Service) fill(ctx context.Context, req memory.RecallRequest, sel memory.Selection, found found, c caps, ranked []*candidate) shown {
	code, cancel := context.WithTimeout(ctx, s.settings.CodeDeadline)
	defer cancel()
	f := &filler{s: s, req: req, caps: c, query: s.opts.Analyze(req.Query), code: code}
	f.out.items = []memory.Item{}
	f.out.withheld = []memory.Withheld{}
	var later []*candidate
	for _, c := range ranked {
		if c.Kind == memory.Chunk && f.caps.moreChunks > 0 && (f.caps.chunks == 0 || f.caps.bytes < snippetBytes) {
			later = append(later, c)
			continue
		}
		f.takeOrTell(c)
	}
	f.light(sel, found)
	f.share()
	f.caps.chunks += f.caps.moreChunks
	f.caps.bytes += f.caps.moreBytes
	for _, c := range later {
		f.takeOrTell(c)
	}
	if slices.ContainsFunc(f.out.withheld, func(w memory.Withheld) bool { return w.Reason == memory.TooSlow }) {
		f.out.degraded = append(f.out.degraded, memory.Degraded{
			Part: partCode, Reason: "deadline: not all was checked within " + s.settings.CodeDeadline.Round(time.Millisecond).String(),
		})
		f.out.incomplete = "not all code could be checked in time"
	}
	return f.out
}

// takeOrTell adds a candidate to the answer or to what was withheld.
func (f *filler) takeOrTell(c *candidate) {
	if reason := f.take(c); reason != "" {
		f.out.withheld = append(f.out.withheld, withheld(c, reason))
	}
}

// take adds a candidate to the answer, or says why not.
func (f *filler) take(c *candidate) memory.Reason {
	if len(f.out.items) >= f.req.Limit {
		return memory.OverLimit
	}
	var item memory.Item
	var reason memory.Reason
	if c.Kind == memory.Chunk {
		if f.caps.chunks == 0 {
			return memory.OverLimit
		}
		item, reason = f.chunk(c)
	} else {
		item, reason = f.record(c)
	}
	if reason != "" {
		return reason
	}
	terms := f.s.opts.Analyze(item.Text)
	for i, other := range f.terms {
		if f.out.items[i].Kind == item.Kind && jaccard(terms, other) >= nearDuplicate {
			f.out.items[i].Similar++
			return memory.Duplicate
		}
	}
	item.Relevance = round(c.relevance)
	factors := c.factors
	factors.Score, factors.Retrievers = round(factors.Score), c.retrievers()
	item.RankFactors = &factors
	item.Tokens = itemTokens(item)
	takes, reserved := item.Tokens, 0
	if f.cuttable(item) {
		// A little of the budget is better than nothing of the item.
		takes = min(takes, max(leastShare, leastTokens(item)), max(f.caps.tokens, leastTokens(item)))
		reserved = takes
	}
	if takes > f.caps.tokens {
		return memory.OverBudget
	}
	f.caps.tokens -= takes
	if item.Kind == memory.Chunk {
		f.caps.chunks--
		f.caps.bytes -= len(item.Text)
	}
	f.add(item, terms, reserved)
	return ""
}

func (f *filler) add(item memory.Item, terms index.Terms, reserved int) {
	f.out.items = append(f.out.items, item)
	f.terms = append(f.terms, terms)
	f.reserved = append(f.reserved, reserved)
}

// record makes an item of a stored record.
func (f *filler) record(c *candidate) (memory.Item, memory.Reason) {
	r, err := f.s.opts.Corpus.Record(c.ID)
	if err != nil {
		return memory.Item{}, memory.Gone
	}
	item := memory.Item{
		ID: r.ID, Kind: r.Kind, Project: r.Project, CreatedAt: r.Created,
		Source: memory.Source{Session: r.Session, Repo: r.Repo}, Foreign: c.foreign && !c.Followed,
	}
	if r.Provenance.Followed() && !c.Followed {
		return memory.Item{}, memory.Gone // it was another one when it was found
	}
	if r.Provenance.Origin != "" {
		item.Provenance = new(r.Provenance)
	}
	switch {
	case r.Event != nil && r.Event.Withdrawn != nil:
		return memory.Item{}, memory.Gone // superseded or retracted since it was found
	case r.Event != nil:
		f.lesson(&item, r.Event)
	case r.Step != nil:
		item.Timestamp = r.Created
		item.StepEnd = new(stepEnd(r.Step, f.redact))
		if item.Text = f.redact(stepText(r.Step)); len(item.Text) > stepLine {
			item.Text, item.Cut = f.s.cutLine(item.Text, stepLine, r.ID), true
		}
	default:
		f.named(&item, c, &r)
	}
	c.factors.Verdicts = r.Verdicts
	if n, ok := nameOf(&r); ok {
		if f.out.names == nil {
			f.out.names = map[string]entryName{}
		}
		f.out.names[r.ID] = n
	}
	return item, ""
}

// lesson fills in what a lesson says, in its fields and as a line.
func (f *filler) lesson(item *memory.Item, e *memory.Event) {
	item.Timestamp = item.CreatedAt
	item.Lesson, item.Context, item.Command = f.redact(e.Lesson), f.redact(e.Context), f.redact(e.Command)
	if e.Rate != nil {
		item.SuccessRate = e.Rate.String()
	}
	item.Text = lessonLine(*item, 0)
}

// chunk reads a chunk again from disk through the gates, at the first of its
// places that passes them; the caller's own folder is tried first.
func (f *filler) chunk(c *candidate) (memory.Item, memory.Reason) {
	var first memory.Reason
	refused := false // what the caller's own folder has
	for _, place := range f.places(c) {
		if f.code.Err() != nil {
			return memory.Item{}, memory.TooSlow
		}
		v, err := f.s.gates.chunk(f.code, place)
		reason := f.reason(err)
		own := within(f.req.Caller.Dir, place.Root)
		if reason == "" {
			c.foreign = c.foreign || refused && !own
			c.File = memory.FileKey{Sandbox: place.Sandbox, Path: place.Path}
			return f.chunkItem(c, place, v)
		}
		refused = refused || own
		if first == "" {
			first = reason
		}
	}
	switch {
	case first != "":
	case f.code.Err() != nil:
		first = memory.TooSlow
	default:
		first = memory.Changed // replaced since it was found
	}
	return memory.Item{}, first
}

func (f *filler) places(c *candidate) []memory.Location {
	var places []memory.Location
	for _, p := range append([]memory.Candidate{c.Candidate}, c.others...) {
		if len(places) == maxPlaces || f.code.Err() != nil {
			break
		}
		if at, err := f.s.opts.Corpus.Location(p); err == nil {
			places = append(places, at)
		}
	}
	slices.SortStableFunc(places, func(a, b memory.Location) int {
		return boolOrder(within(f.req.Caller.Dir, a.Root), within(f.req.Caller.Dir, b.Root))
	})
	return places
}

// within says whether a folder is root or lies below it.
func within(dir, root string) bool {
	rest, ok := strings.CutPrefix(dir, root)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '\\')
}

// boolOrder sorts true first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (f *filler) chunkItem(c *candidate, at memory.Location, v memory.Verified) (memory.Item, memory.Reason) {
	room := min(f.caps.bytes, max(snippetBytes, f.caps.bytes/f.caps.chunks))
	whole := f.redact(v.Text) // before it is cut: half a secret is not known for one
	if len(whole) > room && room < leastSnippet {
		return memory.Item{}, memory.OverBudget
	}
	text, from, to := snippet(whole, v.StartLine, room, focus(c, whole, v.StartLine), f.query, f.s.opts.Analyze)
	if text == "" {
		return memory.Item{}, memory.OverBudget
	}
	if strings.Count(whole, "\n") != v.EndLine-v.StartLine {
		from, to = v.StartLine, v.EndLine // lines were taken out with a secret
	}
	item := memory.Item{
		ID: memory.ChunkID(at.Sandbox, at.Path, at.Chunk), Kind: memory.Chunk, Project: at.Project,
		Text: text, CreatedAt: c.Created, Foreign: c.foreign,
		Source: memory.Source{Path: v.Path, Lines: &[2]int{from, to}, Sandbox: at.Root, Symbol: at.Chunk.Symbol},
	}
	item.Cut = len(text) < len(strings.TrimRight(whole, "\n"))
	if v.Moved {
		item.State = "moved"
	}
	return item, ""
}

func (f *filler) redact(text string) string {
	clean, n := f.s.opts.Redact(text)
	f.out.redacted = f.out.redacted || n > 0
	return clean
}

// jaccard is the share of two texts' distinct terms that both have.
func jaccard(a, b index.Terms) float64 {
	common, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch strings.Compare(a[i].Text, b[j].Text) {
		case 0:
			common++
			i++
			j++
		case -1:
			i++
		default:
			j++
		}
	}
	if union := len(a) + len(b) - common; union > 0 {
		return float64(common) / float64(union)
	}
	return 0
}
