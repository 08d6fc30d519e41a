package indexer

import (
	"path"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxFiles is how many files of one name are looked into: "index.ts:10" may be any
	// of hundreds.
	maxFiles = 16
	// maxMatches is how many are told apart by how near they are to what was named.
	maxMatches = 512
)

// At returns the chunks of a selection at a place: that which holds the line, or
// the nearest before it; without a line all of the files, in their order. Files are
// found by the end of their path: by as much of it as the place names, or as the
// file has where the place begins above the repository. Those that lie nearest
// below what was named come first, and no more than maxFiles are looked into.
func (x *Indexer) At(place memory.CodeLocation, sel memory.Selection) []memory.Candidate {
	var out []memory.Candidate
	for _, key := range x.files(place.Path, sel) {
		f, err := x.store.File(key.Sandbox, key.Path)
		if err != nil {
			continue // replaced or gone since
		}
		first, last := chunksAt(f.Chunks, place.Line)
		out = append(out, x.chunks(key, f.Chunks, first, last)...)
	}
	return out
}

// chunks returns those of a file from first up to before last.
func (x *Indexer) chunks(key memory.FileKey, chunks []memory.FileChunk, first, last int) []memory.Candidate {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, ok := x.owners.files[key]
	if !ok {
		return nil
	}
	var out []memory.Candidate
	for ord := first; ord < last; ord++ {
		out = append(out, x.owners.all[n].candidate(chunks[ord].Doc, uint32(ord)))
	}
	return out
}

// chunksAt returns which chunks are at a line; 0 is all.
func chunksAt(chunks []memory.FileChunk, line int) (first, last int) {
	if line == 0 {
		return 0, len(chunks)
	}
	best := -1
	for i, c := range chunks {
		if c.StartLine <= line {
			best = i // of two that overlap the later has more after the line
		}
	}
	if best < 0 {
		return 0, min(1, len(chunks))
	}
	return best, best + 1
}

// endsWith says whether a path ends with another, in whole parts.
func endsWith(p, end string) bool {
	return strings.HasSuffix(p, end) && (len(p) == len(end) || p[len(p)-len(end)-1] == '/')
}

// files returns the files that a path may mean, the nearest first.
func (x *Indexer) files(p string, sel memory.Selection) []memory.FileKey {
	p = strings.TrimPrefix(path.Clean(strings.ReplaceAll(p, `\`, "/")), "/")
	type match struct {
		key memory.FileKey
		// far is how many folders lie above what was named.
		far int
	}
	var found, top []match
	x.mu.RLock()
	for _, n := range x.owners.byBase[path.Base(p)] {
		e := &x.owners.all[n]
		own := e.file.Path
		// What is cheap to tell first: there may be thousands of files of a name.
		inside, above := endsWith(own, p), endsWith(p, own)
		switch {
		case !inside && !above || !x.selected(e, &sel):
		case inside:
			found = append(found, match{*e.file, strings.Count(own[:len(own)-len(p)], "/")})
		default:
			top = append(top, match{*e.file, 0})
		}
		if len(found) == maxMatches {
			break
		}
	}
	x.mu.RUnlock()
	if len(found) == 0 {
		// A path from elsewhere ends like that of a file at the top as easily as not:
		// it must lie in the folder of the repository, by its name.
		found = slices.DeleteFunc(top, func(m match) bool {
			above := strings.TrimSuffix(p, m.key.Path)
			if strings.Contains(m.key.Path, "/") {
				return false
			}
			box, err := x.store.Sandbox(m.key.Sandbox)
			return err != nil || path.Base(above) != path.Base(strings.ReplaceAll(box.Root, `\`, "/"))
		})
	}
	slices.SortFunc(found, func(a, b match) int {
		if a.far != b.far {
			return a.far - b.far
		}
		if order := strings.Compare(a.key.Path, b.key.Path); order != 0 {
			return order
		}
		return strings.Compare(a.key.Sandbox, b.key.Sandbox)
	})
	keys := make([]memory.FileKey, 0, min(len(found), maxFiles))
	for _, m := range found[:min(len(found), maxFiles)] {
		keys = append(keys, m.key)
	}
	return keys
}
