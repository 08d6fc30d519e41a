package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// FileNames is the file-name index: every file by its name and its first characters.
type FileNames interface {
	// FilesByName returns the files of a selection that match most of a query, best
	// first. PrunedFiles returns only files whose chunks were dropped for the size limit.
	FilesByName(question string, sel memory.Selection, limit int) []memory.Candidate
	PrunedFiles(question string, sel memory.Selection, limit int) []memory.Candidate
	// Files returns the files of a project that match a pattern, best first, and how many
	// there are. Fits says whether a pattern matches a file.
	Files(pattern, project string, limit int) (files []memory.Candidate, total int)
	Fits(pattern, path, head string) bool
	// CodeCounts counts the files of a project.
	CodeCounts(project string) memory.CodeCounts
}

// A name and a beginning say less than a chunk: the full index shows chunks from a
// relevance of 0.75 on, and a file that matches all of a query by name has
// fileNameRelevance. A file that matches a share of it has that share. The threshold is
// half of the query. It replaces the threshold of code, which nothing would pass, but not
// one that the request names.
//
// prunedThreshold is for a file without chunks where the full index otherwise answers:
// three quarters of the query.
const (
	fileNameRelevance = 0.7
	fileNameThreshold = fileNameRelevance / 2
	prunedThreshold   = fileNameRelevance * 3 / 4
)

const (
	// fileNameDepth is how many files are looked up: enough that gates and worktrees of
	// one repository leave some.
	fileNameDepth = 24
	// maxFilesBelow is how many files below the threshold are reported.
	maxFilesBelow = 3
)

// lack is the reason why the full index cannot answer for code.
type lack struct {
	why string
	// report is the answer's note if no file name matches either; empty if another part
	// of the answer reports it.
	report string
}

// lacks returns why the full index cannot answer for code. It is empty if the full index
// has answered, even without a match.
func (r *run) lacks() lack {
	late := func(d memory.Degraded) bool { return !isVector(d.Part) }
	of := func(reasons ...memory.Reason) func(memory.Withheld) bool {
		return func(w memory.Withheld) bool { return w.Kind == memory.Chunk && slices.Contains(reasons, w.Reason) }
	}
	switch {
	case slices.ContainsFunc(r.items, func(i memory.Item) bool { return i.Kind == memory.Chunk }):
		return lack{}
	case !r.settings.Full:
		off := lack{why: "the full index is switched off"}
		if slices.Equal(r.sel.Kinds, []memory.Kind{memory.Chunk}) {
			off.report = "not searched: " + off.why
		}
		return off
	case r.noWords != "", slices.ContainsFunc(r.degraded, late):
		return lack{why: "the full index did not answer"}
	case slices.ContainsFunc(r.withheld, of(memory.TooSlow)):
		return lack{why: "the full index was too slow"}
	case slices.ContainsFunc(r.withheld, of(memory.Gone, memory.Changed)):
		return lack{"what was found has changed since it was indexed", "found, but has changed since it was indexed"}
	}
	if why := r.s.opts.Missing(r.sel.Project); why != "" {
		return lack{why, "not searched: " + why}
	}
	if r.s.opts.FileNames != nil {
		if held := r.s.opts.FileNames.CodeCounts(r.sel.Project); held.Files > 0 && held.Chunked == 0 {
			return lack{why: "no file is indexed in full"}
		}
	}
	return lack{}
}

// fileNames fills the remaining room for code with files found by name: all files if the
// full index cannot answer, otherwise files whose chunks were dropped. It shares the
// deadline of code, so that no answer takes longer.
func (r *run) fileNames() {
	if !slices.Contains(r.sel.Kinds, memory.Chunk) {
		return
	}
	lack := r.lacks()
	if lack.why == memory.FirstIndexing {
		r.codeIncomplete = lack.why
	}
	shown := 0
	switch index := r.s.opts.FileNames; {
	case index == nil && !r.settings.Full:
		if lack.report != "" {
			lack.report = "not searched: both indexes are switched off"
		}
	case index == nil, r.code.Err() != nil:
	case lack.why != "":
		threshold := fileNameThreshold
		if r.req.MinRelevance != nil {
			threshold = *r.req.MinRelevance
		}
		shown = r.takeFiles(index.FilesByName(r.req.Query, r.sel, fileNameDepth), threshold, lack.why)
	case index.CodeCounts(r.sel.Project).Pruned > 0:
		threshold := prunedThreshold
		if r.req.MinRelevance != nil {
			threshold = max(threshold, *r.req.MinRelevance)
		}
		lack.why = "the index is over its size limit"
		shown = r.takeFiles(index.PrunedFiles(r.req.Query, r.sel, fileNameDepth), threshold, lack.why)
	}
	switch {
	case shown > 0:
		r.codeDegraded = append(r.codeDegraded, memory.Degraded{Part: memory.PartCode, Reason: fileNameReason(lack.why)})
	case lack.report != "":
		r.codeDegraded = append(r.codeDegraded, memory.Degraded{Part: memory.PartCode, Reason: lack.report})
	}
}

func fileNameReason(why string) string { return "searched by file names only: " + why }

// takeFiles adds the files that are relevant enough, and returns how many it added.
func (r *run) takeFiles(files []memory.Candidate, threshold float64, why string) (shown int) {
	// The line that reports the reason costs tokens, too.
	r.caps.tokens -= render.Tokens(fileNameReason(why))
	below := 0
	for _, c := range byPath(files) {
		c.relevance = fileNameRelevance * c.Fit
		if c.relevance < threshold {
			if below++; below <= maxFilesBelow {
				r.withheld = append(r.withheld, withheld(c, memory.BelowThreshold))
			}
			continue
		}
		if len(r.items) >= r.req.Limit || r.caps.chunks == 0 || r.code.Err() != nil {
			break
		}
		item, reason := r.head(c)
		switch {
		case reason != "":
			// A file is reported once if a chunk of it was withheld for the same reason.
			w := withheld(c, reason)
			if !slices.ContainsFunc(r.withheld, func(o memory.Withheld) bool {
				return o.Kind == w.Kind && o.Path == w.Path && o.Reason == w.Reason
			}) {
				r.withheld = append(r.withheld, w)
			}
		case item.Text != "": // an empty file says nothing
			r.caps.tokens -= item.Tokens
			r.caps.chunks--
			r.caps.bytes -= len(item.Text)
			r.add(item, nil, 0)
			shown++
		}
	}
	return shown
}

// byPath merges the files at one path in several sandboxes into one candidate, ordered by
// the best file of each.
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

// head makes an item from the beginning of a file. It reads the file again, at the first of its
// places that passes the gates. The text on disk must be the indexed one, as for a chunk.
func (r *run) head(c *candidate) (memory.Item, memory.Reason) {
	at, v, reason := r.readAny(c, memory.Gone, func(place memory.Location) (memory.Verified, memory.Reason) {
		v, reason := r.reread(place, true)
		if reason == "" && place.Head != "" && v.Text != place.Head {
			reason = memory.Changed
		}
		return v, reason
	})
	if reason != "" {
		return memory.Item{}, reason
	}
	fit, relevance := round(c.Fit), round(c.relevance)
	item := memory.Item{
		ID: memory.ChunkID(at.Sandbox, at.Path, memory.FileChunk{}), Kind: memory.Chunk, Project: at.Project,
		Text: r.redact(v.Text), CreatedAt: c.Created, State: memory.FilePreview, Relevance: relevance, Strength: memory.Likely,
		Source: memory.Source{Path: v.Path, Lines: &[2]int{v.StartLine, v.EndLine}, Sandbox: at.Root},
		RankFactors: &memory.RankFactors{
			Score: fit, Recency: 1, Success: 1, Project: 1, Session: 1,
			Retrievers: map[string]memory.RetrieverScore{memory.FilePreview: {Score: fit, Relevance: relevance}},
		},
	}
	item.Tokens = render.ItemTokens(item)
	if len(item.Text) > r.caps.bytes || item.Tokens > r.caps.tokens {
		return memory.Item{}, memory.OverBudget
	}
	return item, ""
}
