package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// caps bound an answer's text. Code has bounds of its own, so that it does not crowd out
// other kinds.
type caps struct {
	tokens  int // for items
	likely  int // of these, for items that are likely
	chunks  int // items of code
	bytes   int // of code, in all items together
	lessons int // tokens for lessons together; see lessonTokens
	// moreChunks and moreBytes bound the code that is added after all other items.
	moreChunks, moreBytes int
}

// Limits of one chunk and of other items.
const (
	// snippetBytes is the longest text of one chunk in an answer, unless the question
	// asks only for code and the budget allows whole chunks.
	snippetBytes = 680
	// leastSnippet is the least room in bytes for a part of a chunk. A shorter part is
	// useless.
	leastSnippet = 80
	// frameOfCode is the room in tokens for what stands around a snippet: its place, fences
	// and mark.
	frameOfCode = 40
	maxWithheld = 50
	// lessonTokens bounds the lessons of a written answer without a budget, from manyLessons
	// on. With the heading and the lines they stay under the 500 tokens of contract 2. Fewer
	// lessons have the whole budget, and so has an answer whose budget is named.
	lessonTokens = 440
	manyLessons  = 5
	// leastShare is the room in tokens that an answer reserves for a lesson, an entry or a
	// task. It is less if the item needs less or the budget has no more. Items that need
	// more share the rest at the end. leastText is the shortest text shown, in bytes.
	leastShare = lessonTokens / 5
	leastText  = 80
	// likelyShare is the share of the budget for what is likely, leastLikely what it is at
	// least, in tokens.
	likelyShare = 0.5
	leastLikely = 160
	// maxPlaces bounds the places of one text that are tried. It is more than the usual
	// number of worktrees, and less than the number of files with one license header.
	maxPlaces = 16
)

// caps reads the limits of a request before the settings are filled in: limits that the
// caller names also hold for code. Beside other kinds, code first gets half of them, then
// what the others leave.
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
	case len(req.Kinds) > 0 && !slices.Contains(req.Kinds, memory.Chunk): // the question does not ask for code
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

// budget sets the limits for the items of an answer.
func (r *run) budget() {
	degraded := min(render.Tokens(render.Degraded(r.degraded)), r.req.MaxTokens/8)
	r.caps.tokens = r.req.MaxTokens - head(r.req.MaxTokens) - degraded
	r.caps.likely = r.caps.tokens
	if r.hasLines() {
		r.caps.likely = min(r.caps.tokens, max(int(likelyShare*float64(r.caps.tokens)), leastLikely))
	}
}

// fill takes candidates in rank order through the gates until the limit is reached or
// the budget is full. Code beyond its first share waits for what other kinds leave.
func (r *run) fill() {
	r.startCode()
	r.terms = r.s.opts.Analyze(r.req.Query)
	r.withheld = slices.Grow(r.withheld, len(r.candidates)) // most are withheld
	for _, c := range r.candidates {
		if c.Kind == memory.Chunk && r.caps.moreChunks > 0 && (r.caps.chunks == 0 || r.caps.bytes < snippetBytes) {
			r.later = append(r.later, c)
			continue
		}
		r.takeOrWithhold(c)
	}
}

func (r *run) moreCode() {
	r.caps.chunks += r.caps.moreChunks
	r.caps.bytes += r.caps.moreBytes
	for _, c := range r.later {
		r.takeOrWithhold(c)
	}
}

// lateCode reports code that was not verified before its deadline.
func (r *run) lateCode() {
	if slices.ContainsFunc(r.withheld, func(w memory.Withheld) bool { return w.Reason == memory.TooSlow }) {
		r.codeDegraded = append(r.codeDegraded, memory.Degraded{
			Part: memory.PartCode, Reason: "searched in part: not all was checked within " + r.settings.CodeDeadline.Round(time.Millisecond).String(),
		})
		r.codeIncomplete = "not all code could be checked in time"
	}
}

// takeOrWithhold adds a candidate to the items or to the withheld ones.
func (r *run) takeOrWithhold(c *candidate) {
	if reason := r.take(c); reason != "" {
		r.withheld = append(r.withheld, withheld(c, reason))
		if reason == memory.OverLimit || reason == memory.OverBudget || reason == memory.BelowThreshold {
			r.noRoom = append(r.noRoom, c)
		}
	}
}

// take adds a candidate to the answer, or returns the reason why not: BelowThreshold for a
// lesson whose code makes it so weak that it is told in a line.
func (r *run) take(c *candidate) memory.Reason {
	if len(r.items) >= r.req.Limit {
		return memory.OverLimit
	}
	var item memory.Item
	var reason memory.Reason
	if c.Kind == memory.Chunk {
		if r.caps.chunks == 0 {
			return memory.OverLimit
		}
		item, reason = r.chunk(c)
	} else {
		item, reason = r.record(c)
	}
	if reason != "" {
		return reason
	}
	pairs := pairsOf(item.Text)
	if r.isDuplicate(item, pairs) {
		return memory.Duplicate
	}
	if c.strength = r.weakened(c); c.strength == memory.Maybe {
		return memory.BelowThreshold
	}
	item.Relevance, item.Strength = round(c.relevance), c.strength
	item.RankFactors = c.shownFactors()
	item.Tokens = render.ItemTokens(item)
	takes, reserved := item.Tokens, 0
	if r.cuttable(item) {
		// A cut item is better than none.
		takes = min(takes, max(leastShare, leastTokens(item)), max(r.caps.tokens, leastTokens(item)))
		reserved = takes
	}
	if takes > r.caps.tokens || c.strength == memory.Likely && takes > r.caps.likely {
		return memory.OverBudget
	}
	r.caps.tokens -= takes
	if c.strength == memory.Likely {
		r.caps.likely -= takes
	}
	if item.Kind == memory.Chunk {
		r.caps.chunks--
		r.caps.bytes -= len(item.Text)
	}
	r.add(item, pairs, reserved)
	return ""
}

func (r *run) add(item memory.Item, pairs wordPairs, reserved int) {
	r.items = append(r.items, item)
	r.itemPairs = append(r.itemPairs, pairs)
	r.reserved = append(r.reserved, reserved)
}

// record makes an item from a stored record.
func (r *run) record(c *candidate) (memory.Item, memory.Reason) {
	rec, err := r.s.opts.Corpus.Record(c.ID)
	if err != nil {
		return memory.Item{}, memory.Gone
	}
	item := memory.Item{
		ID: rec.ID, Kind: rec.Kind, Project: rec.Project, CreatedAt: rec.Created,
		Source: memory.Source{Session: rec.Session, Repo: rec.Repo}, Foreign: c.foreign && !c.Followed,
	}
	if rec.Provenance.Followed() && !c.Followed {
		return memory.Item{}, memory.Gone // replaced since the search
	}
	if rec.Provenance.Origin != "" {
		item.Provenance = new(rec.Provenance)
	}
	switch {
	case rec.Event != nil && rec.Event.Withdrawn != nil:
		return memory.Item{}, memory.Gone // superseded or retracted since the search
	case rec.Event != nil:
		fillLesson(&item, rec.Event, r.redact)
		c.unproven = rec.Provenance.Origin == memory.OriginHistory && (rec.Event.Rate == nil || rec.Event.Rate.Successes == 0)
		c.factors.Anchor = r.anchored(&item, rec.Event.Anchors)
	case rec.Step != nil:
		item.Timestamp = rec.Created
		item.StepEnd = new(stepEnd(rec.Step, r.redact))
		item.Similar = len(c.others) // equal steps
		if item.Text = r.redact(render.Step(rec.Step)); len(item.Text) > render.StepLine {
			item.Text, item.Cut = r.s.cutLine(item.Text, render.StepLine, rec.ID), true
		}
	default:
		r.named(&item, c, &rec)
	}
	c.factors.Verdicts = rec.Verdicts
	r.names[rec.ID] = nameOf(&rec)
	return item, ""
}

// fillLesson fills in the fields of a lesson and its text as one line.
func fillLesson(item *memory.Item, e *memory.Event, redact func(string) string) {
	item.Timestamp = item.CreatedAt
	item.Lesson, item.Context, item.Command = redact(e.Lesson), redact(e.Context), redact(e.Command)
	if rate := e.Proven(); rate != nil {
		item.SuccessRate = rate.String()
	}
	item.Team = render.TeamNames(e.Team)
	item.Text = render.Lesson(*item, 0)
}

// readChunk reads a chunk again from disk, at the first of its places that passes the gates.
func (r *run) readChunk(c *candidate) (memory.Location, memory.Verified, memory.Reason) {
	refused := false // the gates refused the caller's own folder
	return r.readAny(c, memory.Changed, func(place memory.Location) (memory.Verified, memory.Reason) {
		v, reason := r.reread(place, false)
		own := within(r.req.Caller.Dir, place.Root)
		if reason == "" {
			c.foreign = c.foreign || refused && !own
			c.File = memory.FileKey{Sandbox: place.Sandbox, Path: place.Path}
		}
		refused = refused || own
		return v, reason
	})
}

// readAny reads a candidate at the first of its places that passes, the caller's own folder
// first. Otherwise it returns the reason of the first place, or replaced if there is no place
// any more.
func (r *run) readAny(c *candidate, replaced memory.Reason, read func(memory.Location) (memory.Verified, memory.Reason)) (memory.Location, memory.Verified, memory.Reason) {
	var first memory.Reason
	for _, place := range r.places(c) {
		if r.code.Err() != nil {
			return place, memory.Verified{}, memory.TooSlow
		}
		v, reason := read(place)
		if reason == "" {
			return place, v, ""
		}
		first = cmp.Or(first, reason)
	}
	if first == "" && r.code.Err() != nil {
		first = memory.TooSlow
	}
	return memory.Location{}, memory.Verified{}, cmp.Or(first, replaced)
}

// reread reads a chunk again from disk, or the beginning of a file, and returns why it must not
// be shown.
func (r *run) reread(at memory.Location, head bool) (memory.Verified, memory.Reason) {
	read := r.s.gates.chunk
	if head {
		read = r.s.gates.head
	}
	v, err := read(r.code, at)
	return v, gateReason(r.code, err)
}

func (r *run) places(c *candidate) []memory.Location {
	var places []memory.Location
	for _, p := range append([]memory.Candidate{c.Candidate}, c.others...) {
		if len(places) == maxPlaces || r.code.Err() != nil {
			break
		}
		if at, err := r.s.opts.Corpus.Location(p); err == nil {
			places = append(places, at)
		}
	}
	slices.SortStableFunc(places, func(a, b memory.Location) int {
		return boolOrder(within(r.req.Caller.Dir, a.Root), within(r.req.Caller.Dir, b.Root))
	})
	return places
}

// within says whether a folder is root or lies below it.
func within(dir, root string) bool {
	root = strings.TrimSuffix(root, "/")
	if strings.HasSuffix(root, `:\`) { // a drive, which ends with its separator like the folder /
		root = root[:len(root)-1]
	}
	rest, ok := strings.CutPrefix(dir, root)
	return ok && dir != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\')
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

// chunk makes an item from a chunk.
func (r *run) chunk(c *candidate) (memory.Item, memory.Reason) {
	at, v, reason := r.readChunk(c)
	if reason != "" {
		return memory.Item{}, reason
	}
	room := min(r.caps.bytes, max(snippetBytes, r.caps.bytes/r.caps.chunks))
	if c.strength == memory.Likely {
		room = min(room, render.MaxBytes(max(r.caps.likely-frameOfCode, 0)))
	}
	whole := r.redact(v.Text) // redacted before it is cut: half a secret is not recognised
	if len(whole) > room && room < leastSnippet {
		return memory.Item{}, memory.OverBudget
	}
	text, from, to := snippet(whole, v.StartLine, room, focus(c, whole, v.StartLine), r.terms, r.s.opts.Analyze)
	if text == "" {
		return memory.Item{}, memory.OverBudget
	}
	item := codeItem(at, v, text)
	item.CreatedAt, item.Foreign = c.Created, c.foreign
	if strings.Count(whole, "\n") == v.EndLine-v.StartLine { // else redaction removed lines
		*item.Source.Lines = [2]int{from, to}
	}
	item.Cut = len(text) < len(strings.TrimRight(whole, "\n"))
	if v.Moved {
		item.State = "moved"
	}
	return item, ""
}

// codeItem is an item of a chunk that was read again.
func codeItem(at memory.Location, v memory.Verified, text string) memory.Item {
	return memory.Item{
		ID: memory.ChunkID(at.Sandbox, at.Path, at.Chunk), Kind: memory.Chunk, Project: at.Project, Text: text,
		Source: memory.Source{Path: v.Path, Lines: &[2]int{v.StartLine, v.EndLine}, Sandbox: at.Root, Symbol: at.Chunk.Symbol},
	}
}

func (r *run) redact(text string) string {
	clean, n := r.s.opts.Redact(text)
	r.redacted = r.redacted || n > 0
	return clean
}
