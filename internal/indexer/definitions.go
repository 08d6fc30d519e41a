package indexer

import (
	"path"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxDefinitions bounds the documents that are looked at for one name: there are
	// names, like main or String, that thousands declare. They are those of the
	// selection, and among them those of the type that was named.
	maxDefinitions = 4096
	// maxCompared is up to how many of them it is read how they write the name.
	maxCompared = 48
)

// Definitions returns the documents of a selection that declare a name, in order of
// their numbers. Where a container is named and some are declared in it, it returns
// those alone.
func (x *Indexer) Definitions(name memory.Name, sel memory.Selection) []memory.Definition {
	var allow *roaring.Bitmap
	docs := x.lexical.Named(name.Name, nil)
	if len(docs) > maxDefinitions { // most may be of other projects
		allow = x.match(sel)
		docs = x.lexical.Named(name.Name, allow)
	}
	if len(docs) == 0 {
		return nil
	}
	var inType []uint32
	if name.In != "" {
		inType = x.lexical.Named(name.String(), allow)
	}
	if len(docs) > maxDefinitions && len(inType) > 0 {
		docs = inType
	}
	docs = docs[:min(len(docs), maxDefinitions)]
	defs := make([]memory.Definition, 0, min(len(docs), maxCompared))
	for _, doc := range docs {
		def := memory.Definition{Places: x.Candidates(doc, sel), Within: name.In == ""}
		if len(def.Places) == 0 {
			continue
		}
		if name.In != "" {
			elsewhere := func(c memory.Candidate) bool { return !inModule(c.File.Path, name.In) }
			slices.SortStableFunc(def.Places, func(a, b memory.Candidate) int { return order(elsewhere(a), elsewhere(b)) })
			_, typed := slices.BinarySearch(inType, doc)
			def.Within = typed || !elsewhere(def.Places[0])
		}
		defs = append(defs, def)
	}
	if slices.ContainsFunc(defs, func(d memory.Definition) bool { return d.Within }) {
		defs = slices.DeleteFunc(defs, func(d memory.Definition) bool { return !d.Within })
	}
	if len(defs) <= maxCompared {
		for i := range defs {
			defs[i].Exact = x.writes(defs[i].Places[0].Doc, name.Name)
		}
	}
	return defs
}

// writes says whether a document declares a name exactly so.
func (x *Indexer) writes(doc memory.DocID, name string) bool {
	encoded, err := x.store.Terms(doc)
	if err != nil {
		return false // swept since, or damaged, which is told elsewhere
	}
	terms, err := lexical.DecodeTerms(encoded)
	if err != nil {
		return false
	}
	names, _ := lexical.SplitNames(terms)
	return slices.Contains(names, name)
}

// inModule says whether a file, or a folder that it lies in, has a name. Where
// packages are folders, modules files and namespaces both, all are meant.
func inModule(p, name string) bool {
	if stem := strings.TrimSuffix(path.Base(p), path.Ext(p)); strings.EqualFold(stem, name) {
		return true
	}
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if strings.EqualFold(path.Base(dir), name) {
			return true
		}
	}
	return false
}

// order sorts false first.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
