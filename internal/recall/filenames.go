package recall

import (
	"errors"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// FileNames is the light index: every file by its name and by how it begins.
type FileNames interface {
	// FileNames returns the files of a selection that hold most of a question, best
	// first; PrunedFiles those of them whose chunks gave way to the size limit.
	FilesByName(question string, sel memory.Selection, limit int) []memory.Candidate
	PrunedFiles(question string, sel memory.Selection, limit int) []memory.Candidate
	// Files returns the files of a project that a pattern fits, best first, and how
	// many there are; Fits says whether it fits a file.
	Files(pattern, project string, limit int) (files []memory.Candidate, total int)
	Fits(pattern, path, head string) bool
	// CodeCounts counts the files of a project.
	CodeCounts(project string) memory.CodeCounts
}

// What is known of a file by its name and beginning is never as sure as what the full
// index shows from its floor of 0.75 on: the relevance of a file that holds all of a
// question is lightRelevance, and that of another its share of it. The floor is half
// of a question's weight. It takes the place of the floor of code, which would let
// nothing through, but not of one that the question names: whoever asks for 0.75 gets
// nothing light.
//
// prunedThreshold is the floor of a file whose chunks gave way, beside a full index that
// otherwise answers: three quarters of the question.
const (
	fileNameRelevance = 0.7
	fileNameThreshold = fileNameRelevance / 2
	prunedThreshold   = fileNameRelevance * 3 / 4
)

const (
	// fileNameDepth is how many files the light index is asked for: enough that gates
	// and worktrees of one repository leave some.
	fileNameDepth = 24
	// tellLight is how many of those below the floor are told of.
	tellLight = 3
)

// lack is why the full index cannot answer for code.
type lack struct {
	why string
	// untold says that nothing else in the answer tells of it.
	untold bool
}

// lacks finds out why the chunks of code that were found, if any, are not all there
// is to say. It is empty where the full index has answered, also with nothing.
func (f *filler) lacks(sel memory.Selection, found found) lack {
	late := func(d memory.Degraded) bool { return !isVector(d.Part) }
	of := func(reasons ...memory.Reason) func(memory.Withheld) bool {
		return func(w memory.Withheld) bool { return w.Kind == memory.Chunk && slices.Contains(reasons, w.Reason) }
	}
	switch {
	case slices.ContainsFunc(f.out.items, func(i memory.Item) bool { return i.Kind == memory.Chunk }):
		return lack{}
	case !f.s.settings.Full:
		return lack{"the full index is switched off", slices.Equal(sel.Kinds, []memory.Kind{memory.Chunk})}
	case found.incomplete != "", slices.ContainsFunc(found.degraded, late):
		return lack{"the full index did not answer", false}
	case slices.ContainsFunc(f.out.withheld, of(memory.TooSlow)):
		return lack{"the full index was too slow", false}
	case slices.ContainsFunc(f.out.withheld, of(memory.Gone, memory.Changed)):
		return lack{"what was found has changed since it was indexed", true}
	}
	if why := f.s.opts.Missing(sel.Project); why != "" {
		return lack{why, true}
	}
	if f.s.opts.FileNames != nil {
		if held := f.s.opts.FileNames.CodeCounts(sel.Project); held.Files > 0 && held.Chunked == 0 {
			return lack{"no file is indexed in full", false}
		}
	}
	return lack{}
}

// light fills what is left of the room for code from the light index: where the full
// index cannot answer, and else with files whose chunks gave way. It stays within the
// deadline of code, so that no answer takes longer for it.
func (f *filler) light(sel memory.Selection, found found) {
	if !slices.Contains(sel.Kinds, memory.Chunk) {
		return
	}
	lack := f.lacks(sel, found)
	if lack.why == memory.FirstIndexing {
		f.out.incomplete = lack.why
	}
	shown := 0
	switch index := f.s.opts.FileNames; {
	case index == nil && !f.s.settings.Full:
		lack.why = "both indexes are switched off"
	case index == nil, f.code.Err() != nil:
	case lack.why != "":
		floor := fileNameThreshold
		if f.req.MinRelevance != nil {
			floor = *f.req.MinRelevance
		}
		shown = f.takeLight(index.FilesByName(f.req.Query, sel, fileNameDepth), floor, lack.why)
	case index.CodeCounts(sel.Project).Pruned > 0:
		floor := prunedThreshold
		if f.req.MinRelevance != nil {
			floor = max(floor, *f.req.MinRelevance)
		}
		lack.why = "the index is over its size limit"
		shown = f.takeLight(index.PrunedFiles(f.req.Query, sel, fileNameDepth), floor, lack.why)
	}
	switch {
	case shown > 0:
		f.out.degraded = append(f.out.degraded, memory.Degraded{Part: partCode, Reason: fileNameReason(lack.why)})
	case lack.untold:
		f.out.degraded = append(f.out.degraded, memory.Degraded{Part: partCode, Reason: lack.why})
	}
}

// partCode names code among what an answer had to do without.
const partCode = "code"

func fileNameReason(why string) string { return "light index: " + why }

// takeLight adds the files that are relevant enough, and returns how many it added.
func (f *filler) takeLight(files []memory.Candidate, floor float64, why string) (shown int) {
	// The line that tells of it is part of what it costs.
	f.caps.tokens -= tokens(fileNameReason(why))
	told := 0
	for _, c := range byPath(files) {
		c.relevance = fileNameRelevance * c.Fit
		if c.relevance < floor {
			if told++; told <= tellLight {
				f.out.withheld = append(f.out.withheld, withheld(c, memory.BelowThreshold))
			}
			continue
		}
		if len(f.out.items) >= f.req.Limit || f.caps.chunks == 0 || f.code.Err() != nil {
			break
		}
		item, reason := f.head(c)
		switch {
		case reason != "":
			// A file of which a chunk was withheld for that is not told of twice.
			w := withheld(c, reason)
			if !slices.ContainsFunc(f.out.withheld, func(o memory.Withheld) bool {
				return o.Kind == w.Kind && o.Path == w.Path && o.Reason == w.Reason
			}) {
				f.out.withheld = append(f.out.withheld, w)
			}
		case item.Text != "": // an empty file says nothing
			f.caps.tokens -= item.Tokens
			f.caps.chunks--
			f.caps.bytes -= len(item.Text)
			f.add(item, nil, 0)
			shown++
		}
	}
	return shown
}

// byPath makes one candidate of the files that lie at one path in several sandboxes,
// in the order of the best of each.
func byPath(files []memory.Candidate) []*candidate {
	var out []*candidate
	places := map[string]*candidate{}
	for _, file := range files {
		if c := places[file.File.Path]; c != nil {
			c.others = append(c.others, file)
			continue
		}
		c := &candidate{Candidate: file}
		places[file.File.Path] = c
		out = append(out, c)
	}
	return out
}

// head reads again how a file begins, at the first of its places that passes the
// gates. As of a chunk, the text on disk must be the one that was indexed: what
// begins otherwise now was found by something that it no longer says.
func (f *filler) head(c *candidate) (memory.Item, memory.Reason) {
	var first memory.Reason
	for _, place := range f.places(c) {
		v, err := f.s.gates.head(f.code, place)
		reason := f.reason(err)
		if reason == "" && place.Head != "" && v.Text != place.Head {
			reason = memory.Changed
		}
		if reason == "" {
			return f.headItem(c, place, v)
		}
		if first == "" {
			first = reason
		}
	}
	if first == "" {
		first = memory.Gone // dropped since it was found
		if f.code.Err() != nil {
			first = memory.TooSlow
		}
	}
	return memory.Item{}, first
}

func (f *filler) headItem(c *candidate, at memory.Location, v memory.Verified) (memory.Item, memory.Reason) {
	fit, relevance := round(c.Fit), round(c.relevance)
	item := memory.Item{
		ID: memory.ChunkID(at.Sandbox, at.Path, memory.FileChunk{}), Kind: memory.Chunk, Project: at.Project,
		Text: f.redact(v.Text), CreatedAt: c.Created, State: memory.FilePreview, Relevance: relevance,
		Source: memory.Source{Path: v.Path, Lines: &[2]int{v.StartLine, v.EndLine}, Sandbox: at.Root},
		RankFactors: &memory.RankFactors{
			Score: fit, Recency: 1, Success: 1, Project: 1, Session: 1,
			Retrievers: map[string]memory.RetrieverScore{memory.FilePreview: {Score: fit, Relevance: relevance}},
		},
	}
	item.Tokens = itemTokens(item)
	if len(item.Text) > f.caps.bytes || item.Tokens > f.caps.tokens {
		return memory.Item{}, memory.OverBudget
	}
	return item, ""
}

// reason is why a look at the disk let nothing through; empty when it did.
func (f *filler) reason(err error) memory.Reason {
	if err == nil {
		return ""
	}
	if gate, ok := errors.AsType[*memory.GateError](err); ok {
		return gate.Reason
	}
	if f.code.Err() != nil {
		return memory.TooSlow
	}
	return memory.Unreadable
}
