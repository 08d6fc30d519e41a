package recall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// maxTouched is how many files of the steps before become anchors of a lesson.
const maxTouched = 2

// FindAnchors makes the anchors of a lesson. A place that the caller names and that does
// not exist is CodeInvalidInput with its field; CodeUnavailable if the disk does not
// answer in time. Places that the text mentions count if exactly one file of the project
// has them; nothing about them is an error.
func (s *Service) FindAnchors(ctx context.Context, q memory.AnchorQuery) ([]memory.Anchor, error) {
	if s.opts.Anchors == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.settings.CodeDeadline)
	defer cancel()
	f := anchorFinder{s: s, ctx: ctx, sel: memory.Selection{Project: q.Project, Kinds: []memory.Kind{memory.Chunk}}}
	isGiven := len(q.Given) > 0
	if !isGiven { // most lessons name no code, and no disk is read for them
		f.mentioned(q)
		if len(f.wanted) == 0 {
			return nil, nil
		}
	}
	switch roots := s.opts.Roots(q.Project, q.Dir); {
	case len(roots) == 0 && isGiven:
		return nil, memory.Invalid("anchors", "", "no folder of the project is known on this machine")
	case len(roots) == 0:
		return nil, nil
	case isGiven:
		return f.given(roots[0], q.Given)
	default:
		return f.found(roots[0]), nil
	}
}

// anchorFinder makes anchors.
type anchorFinder struct {
	s      *Service
	ctx    context.Context
	sel    memory.Selection
	wanted [][]memory.AnchorRequest // each the ways to say one place, the best first
}

// read makes an anchor of a file on disk.
func (f *anchorFinder) read(root string, want memory.AnchorRequest) (memory.Anchor, error) {
	a, err := look(f.ctx, f.s.gates, memory.Location{Root: root, Path: want.Path}, func(ctx context.Context, at memory.Location) (memory.Anchor, error) {
		return f.s.opts.Anchors.Anchor(ctx, at, want)
	})
	if err != nil {
		return a, err
	}
	for _, c := range f.s.opts.Corpus.At(memory.CodeLocation{Path: a.Path, Line: a.Code.StartLine}, f.sel) {
		if c.File.Path == a.Path {
			a.Code.Doc = c.Doc
			break
		}
	}
	return a, nil
}

// given makes the anchors that a caller asks for, or none.
func (f *anchorFinder) given(root string, wanted []memory.AnchorRequest) ([]memory.Anchor, error) {
	var out []memory.Anchor
	for i, want := range wanted {
		field := fmt.Sprintf("anchors[%d].", i)
		p, err := insideOf(root, want.Path)
		if err != nil {
			return nil, inField(f.ctx, field, err)
		}
		if _, n := f.s.opts.Redact(p + "\n" + want.Symbol); n > 0 {
			return nil, memory.Invalid(field+"path", "", "holds a secret")
		}
		want.Path = p
		a, err := f.read(root, want)
		if err != nil {
			return nil, inField(f.ctx, field, err)
		}
		out = addAnchor(out, a)
	}
	return out, nil
}

// anchoredPath is what the path of an anchor must be.
const anchoredPath = "a text file of at most 8 MiB in the caller's repository"

// insideOf returns a path relative to a root. A path that leaves the root is an error.
func insideOf(root, p string) (string, error) {
	clean, top := strings.ReplaceAll(p, `\`, "/"), strings.ReplaceAll(root, `\`, "/")
	if within(clean, top) {
		clean = strings.TrimLeft(strings.TrimPrefix(clean, top), "/")
	}
	if clean = path.Clean(clean); !fs.ValidPath(clean) || clean == "." {
		return "", memory.Invalid("path", anchoredPath, "%s is not below %s", memory.Quote(p), memory.Quote(root))
	}
	return clean, nil
}

// inField says to which anchor an error belongs.
func inField(ctx context.Context, field string, err error) error {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		own := *e
		own.Field = field + e.Field
		return &own
	}
	var why string
	switch reason := gateReason(ctx, err); reason {
	case memory.TooSlow:
		return &memory.Error{Code: memory.CodeUnavailable, Field: field + "path", Message: "the file could not be read in time", Hint: "try again, or leave out the anchor", Cause: err}
	case memory.Gone:
		why = "there is no such file"
	case memory.Outside:
		why = "it leads out of the repository"
	case memory.Changed:
		why = "the file is too large"
	default:
		why = "the file is " + string(reason)
	}
	return memory.Invalid(field+"path", anchoredPath, "%s", why)
}

// addAnchor adds an anchor unless the same code is there.
func addAnchor(list []memory.Anchor, a memory.Anchor) []memory.Anchor {
	if slices.ContainsFunc(list, func(b memory.Anchor) bool {
		return a.Path == b.Path && a.Code.Start == b.Code.Start && a.Code.End == b.Code.End
	}) {
		return list
	}
	return append(list, a)
}

// mentioned looks up which paths and symbols of a text one file of the project has.
func (f *anchorFinder) mentioned(q memory.AnchorQuery) {
	corpus := f.s.opts.Corpus
	for _, m := range mentions(q.Text).mentions {
		if m.place.Path != "" {
			at := corpus.At(m.place, f.sel)
			if file, ok := oneFile(at); ok {
				f.wanted = append(f.wanted, f.waysTo(file, m.place.Line, at[0]))
				continue
			}
		}
		if m.name.Name == "" {
			continue
		}
		var places []memory.Candidate
		for _, d := range corpus.Definitions(m.name, f.sel) {
			if d.Exact && d.Within {
				places = append(places, d.Places...)
			}
		}
		if file, ok := oneFile(places); ok {
			f.wanted = append(f.wanted, []memory.AnchorRequest{{Path: file, Symbol: m.name.String()}, {Path: file, Symbol: m.name.Name}})
		}
	}
	if len(f.wanted) > 0 {
		return
	}
	for _, touched := range q.Touched {
		if file, ok := oneFile(corpus.At(memory.CodeLocation{Path: touched}, f.sel)); ok && len(f.wanted) < maxTouched {
			f.wanted = append(f.wanted, []memory.AnchorRequest{{Path: file}})
		}
	}
}

// waysTo says a file, or the declaration that holds a line of it.
func (f *anchorFinder) waysTo(file string, line int, c memory.Candidate) []memory.AnchorRequest {
	if line == 0 {
		return []memory.AnchorRequest{{Path: file}}
	}
	at, err := f.s.opts.Corpus.Location(c)
	if err != nil {
		return nil // replaced since
	}
	lines := memory.AnchorRequest{Path: file, Lines: []int{at.Chunk.StartLine, at.Chunk.EndLine}}
	if name, ok := symbolName(at.Chunk.Symbol); ok {
		return []memory.AnchorRequest{{Path: file, Symbol: name.String()}, lines}
	}
	return []memory.AnchorRequest{lines}
}

// oneFile returns the path of some places if they have one in common, in whichever folder.
func oneFile(places []memory.Candidate) (string, bool) {
	for _, p := range places {
		if p.File.Path != places[0].File.Path {
			return "", false
		}
	}
	if len(places) == 0 {
		return "", false
	}
	return places[0].File.Path, true
}

// found makes anchors of what was mentioned, as far as it is on disk. A file of which a
// part is anchored is not anchored as a whole.
func (f *anchorFinder) found(root string) []memory.Anchor {
	var out []memory.Anchor
	for _, ways := range f.wanted {
		for _, want := range ways {
			if _, n := f.s.opts.Redact(want.Path + "\n" + want.Symbol); n > 0 {
				break
			}
			if a, err := f.read(root, want); err == nil {
				out = addAnchor(out, a)
				break
			}
		}
	}
	all := slices.Clone(out)
	out = slices.DeleteFunc(out, func(a memory.Anchor) bool {
		return a.Whole && slices.ContainsFunc(all, func(b memory.Anchor) bool { return !b.Whole && b.Path == a.Path })
	})
	return out[:min(len(out), memory.MaxAnchors)]
}

// symbolName returns a symbol of an anchor as a name of the index.
func symbolName(symbol string) (memory.Name, bool) {
	words := wordsOf(flattened(symbol))
	if len(words) != 1 {
		return memory.Name{}, false
	}
	return words[0].name()
}
