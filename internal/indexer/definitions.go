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
	// maxDefinitions bounds the documents considered for one name: thousands may declare
	// main or String. Documents of the selection and of the named type are preferred.
	maxDefinitions = 4096
	// maxCompared bounds the documents whose exact spelling of the name is read.
	maxCompared = 48
)

// Definitions returns the documents of a selection that declare a name, by their numbers.
// If the name has a container and some are declared in it, it returns only those; if it has
// hyphens, only those that write it so.
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
			elsewhere := func(c memory.Candidate) int {
				if inModule(c.File.Path, name.In) {
					return 0
				}
				return 1
			}
			slices.SortStableFunc(def.Places, func(a, b memory.Candidate) int { return elsewhere(a) - elsewhere(b) })
			_, typed := slices.BinarySearch(inType, doc)
			def.Within = typed || elsewhere(def.Places[0]) == 0
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
	if strings.Contains(name.Name, "-") { // read-only may be an ordinary word: it is not readOnly
		defs = slices.DeleteFunc(defs, func(d memory.Definition) bool { return !d.Exact })
	}
	return defs
}

// writes reports whether a document declares a name with exactly this spelling, apart from
// the signs around it: "save" is "save!", and "path" is "*path*".
func (x *Indexer) writes(doc memory.DocID, name string) bool {
	encoded, err := x.store.Terms(doc)
	if err != nil {
		return false // swept since, or damaged, which is logged elsewhere
	}
	terms, err := lexical.DecodeTerms(encoded)
	if err != nil {
		return false
	}
	names, _ := lexical.SplitNames(terms)
	return slices.ContainsFunc(names, func(n string) bool { return n == name || strings.Trim(n, "*!?=") == name })
}

// inModule reports whether a file, or a folder above it, has a name. That covers languages
// in which packages are folders and those in which modules are files.
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
