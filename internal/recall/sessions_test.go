package recall

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
)

var now = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// shelf is a corpus, a ledger, a disk and a directory of projects whose scores
// and faults a test chooses. Documents are numbered from 0 and their hits stand
// in that order, best first.
type shelf struct {
	docs        [][]memory.Candidate
	records     map[string]memory.Record
	known       []memory.Session              // sessions
	errors      map[string][]memory.Candidate // by fingerprint
	texts       map[memory.FileKey]string     // on disk
	heads       map[memory.FileKey]string     // as they were indexed
	gates       map[memory.FileKey]error
	definitions map[memory.Name][]memory.Definition
	called      map[string][]memory.NamedDoc
	at          map[memory.CodeLocation][]memory.Candidate
	symbols     map[string]string     // that chunks declare, by path
	verify      func(context.Context) // before every look at the disk
	lexical     index.Source
	scale       float32 // of its scores: 1 is as good as can be, .001 as bad
	more        []index.Source

	mu       sync.Mutex // guards what follows
	selected []memory.Selection
	receipts []memory.Receipt
	verified []memory.FileKey
}

func newShelf() *shelf {
	s := &shelf{records: map[string]memory.Record{}, errors: map[string][]memory.Candidate{}, texts: map[memory.FileKey]string{}, heads: map[memory.FileKey]string{}, gates: map[memory.FileKey]error{}, scale: 1}
	s.lexical = index.Source{Name: "lexical", Retriever: retriever(func(_ context.Context, q index.Query) (index.Result, error) {
		res := index.Result{Best: 100, Searched: len(s.docs)}
		for n := range s.docs {
			if q.Allow.Contains(uint32(n)) {
				res.Hits = append(res.Hits, index.Hit{Doc: uint32(n), Score: s.scale * float32(100-n)})
			}
		}
		return res, nil
	})}
	return s
}

type retriever func(context.Context, index.Query) (index.Result, error)

func (retriever) Name() string { return "test" }
func (f retriever) Retrieve(ctx context.Context, q index.Query) (index.Result, error) {
	return f(ctx, q)
}

// lesson adds a lesson whose document is its own.
func (s *shelf) lesson(id string, change ...func(*memory.Record)) {
	r := memory.Record{
		ID: id, Kind: memory.Lesson, Project: "p-own", Repo: "own", Created: now,
		Event: &memory.Event{Type: memory.EventError, Context: "context of " + id, Lesson: "lesson " + id},
	}
	for _, c := range change {
		c(&r)
	}
	s.add(r)
}

func (s *shelf) step(id, text string) {
	s.add(memory.Record{ID: id, Kind: memory.Step, Project: "p-own", Created: now, Text: text})
}

// session adds a session of the project.
func (s *shelf) session(id string, change ...func(*memory.Session)) {
	session := memory.Session{ID: id, Project: "p-own", CreatedAt: now.Add(-time.Hour), Goal: "goal of " + id}
	for _, c := range change {
		c(&session)
	}
	s.known = append(s.known, session)
}

// did adds a step of a session, each a second after the one before.
func (s *shelf) did(session, tool string, change ...func(*memory.Record)) memory.Record {
	n := len(s.docs)
	r := memory.Record{
		ID: fmt.Sprintf("s-%03d", n), Kind: memory.Step, Project: "p-own", Session: session,
		Created: now.Add(-time.Hour + time.Duration(n)*time.Second),
		Step:    &memory.StepContent{Tool: memory.StepTool{Name: tool}, Outcome: memory.Outcome{OK: true}},
	}
	for _, c := range change {
		c(&r)
	}
	s.add(r)
	return r
}

func (s *shelf) add(r memory.Record) {
	s.records[r.ID] = r
	c := memory.Candidate{Doc: memory.DocumentID(r.ID), Kind: r.Kind, Project: r.Project, Repo: r.Repo, Session: r.Session, Created: r.Created, ID: r.ID}
	var prints []string
	if r.Event != nil {
		c.Rate, prints = r.Event.Rate, r.Event.Fingerprints
	}
	if r.Step != nil {
		prints = r.Step.Fingerprints
	}
	for _, print := range prints {
		s.errors[print] = append(s.errors[print], c)
	}
	s.docs = append(s.docs, []memory.Candidate{c})
}

func (s *shelf) IDs(prefix string, most int) []string {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(s.records)), func(id string) bool { return !strings.HasPrefix(id, prefix) })
	return ids[:min(len(ids), most)]
}

func (s *shelf) Selected(id string, sel memory.Selection) bool {
	r, ok := s.records[id]
	return ok && (r.Project == sel.Project || sel.AllLessons && r.Kind == memory.Lesson) && (sel.Followed || !r.Provenance.Followed())
}

// Repo lets every name pass; TestUnknownRepository is about real ones.
func (s *shelf) Repo(string) bool { return true }

func (s *shelf) Repos(memory.Selection) []string { return nil }

func (s *shelf) ChunksByPrefix(context.Context, string, memory.Selection) ([]memory.ChunkRef, error) {
	return nil, nil
}

// chunk adds a chunk that lies, with this text, at every path: "sandbox/path".
func (s *shelf) chunk(text string, places ...memory.FileKey) {
	var cs []memory.Candidate
	for _, key := range places {
		s.texts[key] = text
		cs = append(cs, memory.Candidate{Doc: memory.DocumentID(text), Kind: memory.Chunk, Project: "p-own", Created: now, File: key})
	}
	s.docs = append(s.docs, cs)
}

func at(path string) memory.FileKey { return memory.FileKey{Sandbox: "/box", Path: path} }

// service returns a read path over the shelf.
func (s *shelf) service(t testing.TB, change ...func(*Options)) *Service {
	t.Helper()
	opts := Options{
		Corpus: s, Sessions: s, Projects: s, Verifier: s, Ledger: s, Clock: func() time.Time { return now },
		Analyze: func(text string) index.Terms { return lexical.Analyze(text) },
	}
	for _, c := range change {
		c(&opts)
	}
	service, err := New(opts)
	if err != nil {
		t.Fatalf("new service: %v", err)
	}
	return service
}

// ask asks with the floor off, unless the request names one.
func (s *shelf) ask(t testing.TB, req memory.RecallRequest, change ...func(*Options)) *memory.RecallResponse {
	t.Helper()
	if req.Query == "" {
		req.Query = "needle"
	}
	if req.MinRelevance == nil {
		req.MinRelevance = new(0.0)
	}
	a, err := s.service(t, change...).Recall(t.Context(), req)
	if err != nil {
		t.Fatalf("recall %+v: %v", req, err)
	}
	return a
}

// ids are what an answer holds: ids of records and paths of code.
func ids(a *memory.RecallResponse) []string {
	out := []string{}
	for _, i := range a.Items {
		if i.Kind == memory.Chunk {
			out = append(out, i.Source.Path)
		} else {
			out = append(out, i.ID)
		}
	}
	return out
}

// reasons are why things were withheld, by id or path.
func reasons(a *memory.RecallResponse) map[string]memory.Reason {
	out := map[string]memory.Reason{}
	for _, w := range a.Withheld {
		if w.Path != "" {
			out[w.Path] = w.Reason
		} else {
			out[w.ID] = w.Reason
		}
	}
	return out
}

func (s *shelf) Sources() []index.Source { return append([]index.Source{s.lexical}, s.more...) }

func (s *shelf) Select(sel memory.Selection) (allow, universe *roaring.Bitmap) {
	s.mu.Lock()
	s.selected = append(s.selected, sel)
	s.mu.Unlock()
	allow = roaring.New()
	var found []memory.Candidate
	for n := range s.docs {
		if found = s.AppendCandidates(found[:0], uint32(n), &sel); len(found) > 0 {
			allow.Add(uint32(n))
		}
	}
	return allow, allow
}

func (s *shelf) AppendCandidates(to []memory.Candidate, doc uint32, sel *memory.Selection) []memory.Candidate {
	from := len(to)
	to = append(to, s.docs[doc]...)
	return to[:from+len(slices.DeleteFunc(to[from:], func(c memory.Candidate) bool {
		return !slices.Contains(sel.Kinds, c.Kind) || len(sel.Repos) > 0 && !slices.Contains(sel.Repos, s.records[c.ID].Repo) ||
			c.Project != sel.Project && !(sel.AllLessons && c.Kind == memory.Lesson) ||
			sel.Session != "" && c.Session != sel.Session ||
			c.Kind == memory.Step && !s.chosen(c, sel.Steps)
	}))]
}

// chosen says whether a step is one of a session that the filter chooses, on its
// screen.
func (s *shelf) chosen(c memory.Candidate, f memory.SessionFilter) bool {
	if f.Screen != "" && s.records[c.ID].Step.Screen != f.Screen {
		return false
	}
	return f.IsZero() || slices.ContainsFunc(s.Sessions(c.Project, f), func(x memory.Session) bool { return x.ID == c.Session })
}

func (s *shelf) Sessions(project string, f memory.SessionFilter) []memory.Session {
	var out []memory.Session
	for _, x := range s.known {
		branch := ""
		if x.Git != nil {
			branch = x.Git.Branch
		}
		is := func(want string, have ...string) bool { return want == "" || slices.Contains(have, want) }
		if x.Project == project && (f.IsZero() || !x.Bare) && is(f.FlowTag, x.FlowTags...) && is(f.Tag, x.Tags...) &&
			is(f.GitBranch, branch) && !x.CreatedAt.Before(f.Since) &&
			(f.Screen == "" || len(s.LastSteps(project, []string{x.ID}, f.Screen, 1)) > 0) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b memory.Session) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out
}

func (s *shelf) Definitions(name memory.Name, sel memory.Selection) []memory.Definition {
	return s.definitions[name]
}

func (s *shelf) Called(folded, _ string) []memory.NamedDoc { return s.called[folded] }

func (s *shelf) Places(memory.DocID, memory.Selection) []memory.Candidate { return nil }

func (s *shelf) RecordCount(memory.Selection) int { return 0 }

// OrderedIDs are those of all lessons.
func (s *shelf) OrderedIDs(memory.Selection, memory.LessonOrder, int, int) (ids []string, total int) {
	for _, id := range slices.Sorted(maps.Keys(s.records)) {
		if s.records[id].Kind == memory.Lesson {
			ids = append(ids, id)
		}
	}
	return ids, len(ids)
}

func (s *shelf) At(place memory.CodeLocation, sel memory.Selection) []memory.Candidate {
	return s.at[place]
}

func (s *shelf) Session(project, id string) (memory.Session, int, bool) {
	for _, x := range s.known {
		if x.Project == project && x.ID == id {
			return x, len(s.SessionSteps(project, id)), true
		}
	}
	return memory.Session{}, 0, false
}

func (s *shelf) LastSteps(project string, sessions []string, screen string, n int) []string {
	var steps []memory.Record
	for _, r := range s.records {
		if r.Kind == memory.Step && r.Project == project && (sessions == nil || slices.Contains(sessions, r.Session)) &&
			(screen == "" || r.Step.Screen == screen) {
			steps = append(steps, r)
		}
	}
	slices.SortFunc(steps, func(a, b memory.Record) int { return b.Created.Compare(a.Created) })
	var ids []string
	for _, r := range steps[:min(n, len(steps))] {
		ids = append(ids, r.ID)
	}
	return ids
}

func (s *shelf) SessionSteps(project, id string) []string {
	ids := s.LastSteps(project, []string{id}, "", len(s.records))
	slices.Reverse(ids)
	return ids
}

func (s *shelf) Fingerprinted(prints []string, sel memory.Selection) []memory.Candidate {
	var out []memory.Candidate
	for _, print := range prints {
		for _, c := range s.errors[print] {
			if slices.Contains(sel.Kinds, c.Kind) && (c.Project == sel.Project || sel.AllLessons && c.Kind == memory.Lesson) {
				out = append(out, c)
			}
		}
	}
	return out
}

func (s *shelf) Record(id string) (memory.Record, error) {
	if r, ok := s.records[id]; ok {
		return r, nil
	}
	return memory.Record{}, memory.Errorf(memory.CodeNotFound, "no record %s", id)
}

func (s *shelf) Location(c memory.Candidate) (memory.Location, error) {
	if _, ok := s.texts[c.File]; !ok {
		return memory.Location{}, memory.Errorf(memory.CodeNotFound, "no file %v", c.File)
	}
	if c.Head {
		return memory.Location{Project: c.Project, Sandbox: c.File.Sandbox, Root: c.File.Sandbox, Path: c.File.Path, Lang: "go", Head: s.heads[c.File]}, nil
	}
	return memory.Location{
		Project: c.Project, Sandbox: c.File.Sandbox, Root: c.File.Sandbox, Path: c.File.Path,
		Chunk: memory.FileChunk{Doc: c.Doc, StartLine: 11, Symbol: "Symbol"},
	}, nil
}

func (s *shelf) Symbols(chunks []memory.Candidate) []string {
	symbols := make([]string, len(chunks))
	for i, c := range chunks {
		symbols[i] = s.symbols[c.File.Path]
	}
	return symbols
}

func (s *shelf) Verify(ctx context.Context, at memory.Location) (memory.Verified, error) {
	text, err := s.look(ctx, at)
	if err != nil {
		return memory.Verified{}, err
	}
	lines := 0
	for _, r := range text {
		if r == '\n' {
			lines++
		}
	}
	return memory.Verified{Text: text, Path: at.Path, StartLine: 11, EndLine: 11 + lines}, nil
}

// look is a look at the disk, which may take as long and go as wrong as a test wants.
func (s *shelf) look(ctx context.Context, at memory.Location) (string, error) {
	key := memory.FileKey{Sandbox: at.Sandbox, Path: at.Path}
	s.mu.Lock()
	s.verified = append(s.verified, key)
	s.mu.Unlock()
	if s.verify != nil {
		s.verify(ctx)
	}
	return s.texts[key], s.gates[key]
}

func (s *shelf) EnqueueReceipt(r memory.Receipt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receipts = append(s.receipts, r)
}

func (s *shelf) Receipt(id string) (memory.Receipt, error) {
	for _, r := range s.receipts {
		if r.ID == id {
			return r, nil
		}
	}
	return memory.Receipt{}, memory.Errorf(memory.CodeNotFound, "no receipt %s", id)
}

// Seq grows with every selection: as if something were committed all the time.
func (s *shelf) Seq() uint64 { return 42 + uint64(len(s.selected)) }

func (s *shelf) Resolve(_ context.Context, project string, _ memory.Caller) (memory.Project, bool, error) {
	switch project {
	case "", "own", "p-own":
		return memory.Project{ID: "p-own", Name: "own", Names: []string{"own", "worktree"}}, true, nil
	case "other", "before", "p-other":
		return memory.Project{ID: "p-other", Name: "other", Names: []string{"other", "before"}}, true, nil
	}
	return memory.Project{}, false, memory.Errorf(memory.CodeNotFound, "no project is called %q", project)
}

// many adds n lessons l-00, l-01 ….
func (s *shelf) many(n int, change ...func(*memory.Record)) {
	for i := range n {
		s.lesson(fmt.Sprintf("l-%02d", i), change...)
	}
}

// Head implements memory.Verifier.
func (s *shelf) Head(ctx context.Context, at memory.Location) (memory.Verified, error) {
	text, err := s.look(ctx, at)
	if err != nil {
		return memory.Verified{}, err
	}
	return memory.Verified{Text: text[:min(len(text), memory.MaxHead)], Path: at.Path, StartLine: 1, EndLine: 1}, nil
}
