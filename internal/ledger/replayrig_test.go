package ledger

import (
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
)

var replayTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// replayRig is a replayer over a real store, real indexes, both paths, the catalogue and the
// contexts of sessions.
type replayRig struct {
	t         testing.TB
	caller    memory.Caller
	now       time.Time
	store     *store.Store
	ingest    *ingest.Service
	recall    *recall.Service
	catalogue *agentctx.Catalogue
	contexts  *agentctx.Contexts
	replayer  *Ledger
}

// newReplayRig opens a rig that is closed at the end of the test.
func newReplayRig(t testing.TB) *replayRig {
	t.Helper()
	r := &replayRig{t: t, caller: memory.Caller{Dir: t.TempDir(), Client: "test"}, now: replayTime}
	clock := func() time.Time { return r.now }
	fail := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	parts := backend.New(t, backend.Options{Clock: clock})
	r.store, r.ingest, r.recall = parts.Store, parts.Ingest, parts.Recall
	ports := agentctx.Ports{Writer: r.ingest, Projects: parts.Projects, Records: parts.Index, Store: r.store, Clock: clock}
	var err error
	r.catalogue, err = agentctx.NewCatalogue(ports)
	fail("make catalogue", err)
	tasks, err := agentctx.NewTasks(agentctx.TaskOptions{Ports: ports, Settings: agentctx.TaskSettings{Window: memory.DefaultWindow}})
	fail("make tasks", err)
	r.contexts, err = agentctx.NewContexts(agentctx.ContextOptions{
		Ports: ports, Sessions: r.ingest, Receipts: r.store, Catalogue: r.catalogue, Recall: r.recall, Tasks: tasks,
		Settings: agentctx.AssemblySettings{MaxTokens: memory.DefaultBudget, TopK: choice.TopK, TopN: choice.TopN, IncludeScore: choice.IncludeScore, KeepTurns: memory.DefaultKeepTurns},
	})
	fail("make contexts", err)
	r.replayer, err = New(Options{Recall: r.recall, Store: r.store, Writer: r.ingest, Projects: parts.Projects, Sessions: r.ingest, Catalogue: r.catalogue, Choice: choice})
	fail("make replayer", err)
	return r
}

// later moves the clock.
func (r *replayRig) later(d time.Duration) { r.now = r.now.Add(d) }

// lesson remembers a lesson and returns its id.
func (r *replayRig) lesson(context, lesson string) string {
	r.t.Helper()
	out, err := r.ingest.Remember(r.t.Context(), memory.RememberRequest{Context: context, Lesson: lesson, Type: memory.EventSuccess, Caller: r.caller})
	if err != nil {
		r.t.Fatalf("remember %q: %v", lesson, err)
	}
	return out.ID
}

// forget removes a record.
func (r *replayRig) forget(id string) {
	r.t.Helper()
	if _, err := r.store.Commit(r.t.Context(), memory.Batch{DropRecords: []string{id}}); err != nil {
		r.t.Fatalf("forget %s: %v", id, err)
	}
}

// ask recalls, a second after what was before.
func (r *replayRig) ask(req memory.RecallRequest) *memory.RecallResponse {
	r.t.Helper()
	r.later(time.Second)
	req.Caller = r.caller
	a, err := r.recall.Recall(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("recall %+v: %v", req, err)
	}
	// A replay compares what is shown in full.
	a.Items = slices.DeleteFunc(a.Items, func(i memory.Item) bool { return i.Strength == memory.Maybe })
	return a
}

// replay asks everything again.
func (r *replayRig) replay(req memory.ReplayRequest) *memory.Replayed {
	r.t.Helper()
	if req.Since.IsZero() && req.SessionID == "" {
		req.Since = replayTime.Add(-time.Hour)
	}
	req.Caller = r.caller
	out, err := r.replayer.Replay(r.t.Context(), req, func(memory.ReplayProgress) {})
	if err != nil {
		r.t.Fatalf("replay %+v: %v", req, err)
	}
	return out
}

// receipts are all that the ledger holds.
func (r *replayRig) receipts() []memory.Receipt {
	r.t.Helper()
	all, _, err := r.store.Receipts(memory.ReceiptFilter{}, memory.MaxReplayed)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// docker are lessons of which a question about a failing build finds some better and
// some worse.
func (r *replayRig) docker() (questions []string) {
	for _, l := range [][2]string{
		{"docker build fails with no space left", "prune the builder cache"},
		{"docker push is denied", "log in to the registry first"},
		{"npm install fails with EACCES", "change the owner of the cache folder"},
		{"the linter runs out of memory", "limit its parallel workers"},
		{"database migration hangs", "another session holds the lock: end it"},
		{"tests of the parser are flaky", "sort the map before comparing"},
		{"login page shows a blank screen", "the session cookie lacks SameSite"},
		{"docker compose cannot find the network", "create the external network by hand"},
	} {
		r.lesson(l[0], l[1])
	}
	return []string{"docker build fails", "npm EACCES", "how do I sort a list of users before the login", "why does the docker network fail to end", "what's for lunch"}
}
