package indexer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxFiles is how many files of one name are read: "index.ts:10" may be any of
	// hundreds.
	maxFiles = 16
	// maxMatches is how many files are compared by their distance from the path.
	maxMatches = 512
)

// At returns the chunks of a selection at a location: the chunk with the line, or the
// nearest before it; without a line all chunks, in order. A file matches if its path
// ends with the location's, or the other way round where the location begins above the
// repository. Files in the fewest folders below the location come first, at most
// maxFiles of them.
func (x *Indexer) At(at memory.CodeLocation, sel memory.Selection) []memory.Candidate {
	var out []memory.Candidate
	for _, key := range x.files(at.Path, sel) {
		f, err := x.store.File(key.Sandbox, key.Path)
		if err != nil {
			continue // replaced or removed since
		}
		first, last := chunksAt(f.Chunks, at.Line)
		out = append(out, x.chunks(key, f.Chunks, first, last)...)
	}
	return out
}

// chunks returns the chunks first to last-1 of a file.
func (x *Indexer) chunks(key memory.FileKey, chunks []memory.FileChunk, first, last int) []memory.Candidate {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, ok := x.owners.file(key)
	if !ok {
		return nil
	}
	var out []memory.Candidate
	for ord := first; ord < last; ord++ {
		out = append(out, x.owners.all[n].candidate(chunks[ord].Doc, uint32(ord)))
	}
	return out
}

// chunksAt returns the range of the chunks at a line; 0 means all.
func chunksAt(chunks []memory.FileChunk, line int) (first, last int) {
	if line == 0 {
		return 0, len(chunks)
	}
	best := -1
	for i, c := range chunks {
		if c.StartLine <= line {
			best = i // of two that overlap, the later has more text after the line
		}
	}
	if best < 0 {
		return 0, min(1, len(chunks))
	}
	return best, best + 1
}

// endsWith reports whether a path ends with another, in whole components.
func endsWith(p, end string) bool {
	return strings.HasSuffix(p, end) && (len(p) == len(end) || p[len(p)-len(end)-1] == '/')
}

// files returns the files that a path may name, the nearest first.
func (x *Indexer) files(p string, sel memory.Selection) []memory.FileKey {
	p = strings.TrimPrefix(path.Clean(strings.ReplaceAll(p, `\`, "/")), "/")
	type match struct {
		key memory.FileKey
		far int // number of folders above the path that was named
	}
	var found, top []match
	x.mu.RLock()
	for n := range x.owners.named(path.Base(p)) {
		e := &x.owners.all[n]
		own := e.file.Path
		// The cheap test first: there may be thousands of files of one name.
		inside, above := endsWith(own, p), endsWith(p, own)
		switch {
		case !inside && !above || !x.selected(e, &sel):
		case inside:
			found = append(found, match{e.file.FileKey, strings.Count(own[:len(own)-len(p)], "/")})
		default:
			top = append(top, match{e.file.FileKey, 0})
		}
		if len(found) == maxMatches {
			break
		}
	}
	x.mu.RUnlock()
	if len(found) == 0 {
		// Many paths end like a file in the top folder: such a path must be in a folder
		// with the repository's name.
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
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.key.Path, b.key.Path), cmp.Compare(a.key.Sandbox, b.key.Sandbox))
	})
	found = found[:min(len(found), maxFiles)]
	keys := make([]memory.FileKey, len(found))
	for i, m := range found {
		keys[i] = m.key
	}
	return keys
}
