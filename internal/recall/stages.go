package recall

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// stage is one step of answering a question. It reads what earlier stages left in the run,
// and adds to it. A stage that fails sets run.err.
type stage struct {
	name string
	do   func(*run)
}

// stages are the stages of a question, in order.
var stages = []stage{
	{"retrieve", (*run).retrieve},          // ask all retrievers at once
	{"fuse", (*run).fuse},                  // one list of documents out of theirs
	{"resolve", (*run).resolve},            // documents become candidates with a relevance
	{"records alone", (*run).recordsAlone}, // how sure records are, and those that others crowd out
	{"named", (*run).liftNamed},            // lift what the question calls by its name
	{"neighbours", (*run).neighbours},      // order steps and turns by those around them too
	{"define first", (*run).defineFirst},   // code that defines before what tests or documents it
	{"title", (*run).byTitle},              // of a report also what its title finds
	{"exact errors", (*run).exactErrors},   // add what reports the error that the question quotes
	{"look up", (*run).lookUp},             // add code that the question names
	{"files", (*run).byFile},               // order code by its file and the file's history
	{"strength", (*run).strength},          // say how sure each is; withhold what is not relevant
	{"rank", (*run).rank},                  // order by match, age, success and origin
	{"lessons first", (*run).lessonsFirst}, // bring lessons up to half of the answer
	{"both sides", (*run).bothSides},       // keep places for code and for other kinds
	{"own versions", (*run).ownVersions},   // of several worktrees, the caller's first
	{"budget", (*run).budget},              // what items may take
	{"fill", (*run).fill},                  // read, verify and add items while there is room
	{"file names", (*run).fileNames},       // add files where the full index cannot answer
	{"share", (*run).share},                // divide the rest of the budget among cut items
	{"more code", (*run).moreCode},         // add code where there is room left
	{"lines", (*run).addLines},             // tell in a line each what may be worth a look
	{"late code", (*run).lateCode},         // report code that was not verified in time
	{"answer", (*run).makeAnswer},          // collect items, withheld ones and what was missing
	{"write", (*run).write},                // write the text within the budget
	{"receipt", (*run).makeReceipt},        // record how the answer came about
}

// idStages are the stages of a request for ids.
var idStages = []stage{
	{"read", (*run).readIDs},        // read each memory whole, through the gates
	{"answer", (*run).makeIDAnswer}, // collect items and withheld ones
	{"write", (*run).write},
	{"receipt", (*run).makeReceipt},
}

// run is one question on its way through the stages.
type run struct {
	s        *Service
	ctx      context.Context // of the request
	settings Settings        // in force: the service's or the question's
	err      error           // ends the run

	// The question, set by newRun.
	start   time.Time            // when the request came in
	asked   time.Time            // when the question is asked, see AskOptions.At
	req     memory.RecallRequest // validated, with limit and budget filled in
	opts    AskOptions
	project memory.Project
	sel     memory.Selection // what may be returned
	limits  caps             // as requested

	// What is searched: sel, without code if the full index is off.
	query    string
	searched memory.Selection
	nothing  bool // only code was asked for, and the full index is off
	noCode   bool // nothing of what may be found is code, see retrieve

	vectorsUntil time.Time // the deadline of vector retrievers, in all searches of a question
	scratch      *scratch  // see memory

	// Set by retrieve: what each retriever found, and what did not take part.
	rankings []index.Ranking
	deep     [][]index.Hit // all hits of each ranking, more than it holds if code is searched
	degraded []memory.Degraded
	spaces   []string // vector collections that took part
	// noWords says why the lexical index was not searched; empty if it was. Without it an
	// answer cannot say that there is no match.
	noWords string
	// seq is the number of the last change that the search surely saw. Later commits may or
	// may not be found.
	seq uint64

	fused      []index.Fused // set by fuse
	candidates []*candidate  // from resolve on; ordered by fused score, after rank ranked

	// Set by strength.
	levels   map[memory.Kind]levels
	maybe    []*candidate      // that may be told in a line; after rank ranked
	below    []memory.Withheld // the nearest candidates below all levels
	relevant int               // number of candidates for full text, and for lines that could not be shown

	// The answer so far.
	caps      caps            // the remaining limits
	terms     index.Terms     // of the query
	code      context.Context // with the deadline of code
	stopCode  context.CancelFunc
	items     []memory.Item
	itemPairs []wordPairs // of the items
	// reserved is the number of tokens reserved for each item whose text may be cut at the
	// end, zero for the others.
	reserved []int
	names    map[string]entryName // of items, by id
	later    []*candidate         // code that waits for the remaining room
	withheld []memory.Withheld
	noRoom   []*candidate // withheld over the limit or the budget
	// codeDegraded lists the missing parts of code search, codeIncomplete says why not all
	// code was searched.
	codeDegraded   []memory.Degraded
	codeIncomplete string
	anchors        *anchorLook // made for the first lesson with anchors
	redacted       bool        // a secret was taken out

	answer  *memory.RecallResponse
	receipt memory.Receipt
}

// newSearch returns a run that can retrieve, fuse and resolve.
func (s *Service) newSearch(ctx context.Context, settings Settings, query string, sel memory.Selection) *run {
	return &run{s: s, ctx: ctx, settings: settings, query: query, sel: sel, searched: sel}
}

// newRun validates a question and determines what may be returned.
func (s *Service) newRun(ctx context.Context, req memory.RecallRequest, opts AskOptions) (*run, error) {
	start := s.opts.Clock()
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if isLong(req.Query) { // the receipt, too, keeps no whole log
		req.Query = Digest(s.clean(req.Query)) // half a secret is not recognised
	}
	settings, err := s.settingsWith(opts.Settings)
	if err != nil {
		return nil, err
	}
	limits := settings.caps(req) // before the settings fill in defaults
	if o := opts.Settings; o != nil {
		limits.chunks, limits.bytes = cmp.Or(o.Code, limits.chunks), cmp.Or(o.CodeBytes, limits.bytes)
	}
	if len(req.IDs) > 0 { // an answer to ids shows them whole
		req.Limit, req.MaxTokens = len(req.IDs), cmp.Or(req.MaxTokens, memory.MaxTokens)
	}
	req.Limit, req.MaxTokens = cmp.Or(req.Limit, settings.Limit), cmp.Or(req.MaxTokens, settings.MaxTokens)
	project := opts.Project
	if project == nil {
		p, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
		if err != nil {
			return nil, err
		}
		project = &p
	}
	asked := cmp.Or(opts.At, start)
	sel, err := selection(req, project.ID, asked)
	if err != nil {
		return nil, err
	}
	if filepath.IsAbs(sel.Path) && s.opts.Relative != nil { // as agents write it
		if rel, inside := s.opts.Relative(project.ID, req.Caller.Dir, sel.Path); inside {
			sel.Path = rel
		} else if opts.Project == nil {
			e := memory.Invalid("filters.path", "a path in the repository", "%s is in no folder of the project", sel.Path)
			e.Hint = "write it from the top of the repository"
			return nil, e
		}
	}
	sel.Followed = !opts.Outside && memory.AsksFrom(ctx, s.opts.Projects, project.ID, req.Project, req.Caller)
	if sel.Repos, err = s.repos(ctx, req.Repo, *project, sel); err != nil {
		if opts.Project == nil {
			return nil, err
		}
		sel.Repos = []string{req.Repo} // a replay: the name was valid when it was first asked
	}
	if sel.Session, err = s.session(req.Scope, project.ID, req.Caller); err != nil {
		return nil, err
	}
	r := s.newSearch(ctx, settings, req.Query, sel)
	r.scratch = scratches.Get().(*scratch)
	r.start, r.asked, r.req, r.opts, r.project, r.limits, r.caps = start, asked, req, opts, *project, limits, limits
	r.items, r.withheld, r.names = []memory.Item{}, []memory.Withheld{}, map[string]entryName{}
	if !settings.Full {
		r.searched.Kinds = slices.DeleteFunc(slices.Clone(sel.Kinds), func(k memory.Kind) bool { return k == memory.Chunk })
		r.nothing = len(r.searched.Kinds) == 0 // an empty list would mean all kinds
	}
	return r, nil
}

// do runs stages until one fails.
func (r *run) do(list []stage) error {
	for _, st := range list {
		if st.do(r); r.err != nil {
			return r.err
		}
	}
	return nil
}

// startCode starts the deadline of code.
func (r *run) startCode() {
	r.code, r.stopCode = context.WithTimeout(r.ctx, r.settings.CodeDeadline)
}

// end releases the resources of a run.
func (r *run) end() {
	if r.stopCode != nil {
		r.stopCode()
	}
	r.scratch.release()
}

// makeAnswer collects the answer: items, withheld items and missing parts.
func (r *run) makeAnswer() {
	s := r.s
	outdated := func(w memory.Withheld) bool {
		return w.Kind == memory.Chunk && (w.Reason == memory.Gone || w.Reason == memory.Changed)
	}
	a := &memory.RecallResponse{
		Project: r.project.ID, ProjectName: r.project.Name,
		Items:    r.items,
		Withheld: append(r.withheld, r.below...),
		Degraded: slices.Concat(s.lost(), r.degraded, s.readOnly(), r.codeDegraded),
		Stale:    s.opts.Stale(r.project.ID, slices.ContainsFunc(r.withheld, outdated)),
		Redacted: r.redacted,
		Receipt:  ReceiptID(r.start),
	}
	if r.req.Typing {
		a.Receipt = ""
	}
	a.Why = cmp.Or(s.whyLost(), r.noWords, r.codeIncomplete)
	a.Incomplete = a.Why != ""
	a.NothingRelevant = r.relevant+len(r.items) == 0 && !a.Incomplete
	s.nameWithheld(a.Withheld)
	r.answer = a
}

// write writes the answer within its budget.
func (r *run) write() {
	fit(r.answer, r.req, r.names)
	if len(r.req.IDs) == 0 {
		r.answer.Withheld = r.answer.Withheld[:min(len(r.answer.Withheld), maxWithheld)]
	}
}
