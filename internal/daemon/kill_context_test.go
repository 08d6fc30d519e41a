package daemon

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// The hosts of TestKilledContexts, and after how many acknowledged calls of all
// together a daemon is killed.
const (
	contextHosts  = 6
	contextRounds = 12
	contextCalls  = 250
)

// TestKilledContexts kills a daemon while hosts assemble contexts, report what they
// met, search for tools, complete tasks and compact. What was acknowledged is there
// afterwards, and what was done in one transaction is done whole or not at all.
func TestKilledContexts(t *testing.T) {
	testlong.Only(t)
	cfg := newConfig(t)
	must(t, cfg.Paths().Prepare())
	dir := t.TempDir()
	hosts := make([]*contextHost, contextHosts)
	for i := range hosts {
		hosts[i] = &contextHost{which: memory.SessionRef{SessionID: fmt.Sprintf("host-%d", i), Project: dir}, name: fmt.Sprint(i)}
	}
	for round := range contextRounds {
		child := startChild(t, cfg)
		if round == 0 {
			prepareContexts(t, child, hosts)
		}
		for _, h := range hosts {
			h.check(t, child)
		}
		acked, enough := make(chan struct{}), make(chan struct{})
		var working sync.WaitGroup
		for _, h := range hosts {
			working.Go(func() { h.work(t, child, acked) })
		}
		go func() {
			for n := 0; ; n++ {
				if _, more := <-acked; !more {
					return
				}
				if n == contextCalls {
					close(enough)
				}
			}
		}()
		<-enough
		must(t, child.cmd.Process.Kill())
		_ = child.cmd.Wait() // it was killed
		working.Wait()
		close(acked)
		if found, err := CheckStore(t.Context(), cfg, "test"); err != nil || found != nil {
			t.Fatalf("round %d: after the kill the store is not sound: %v, %v", round, found, err)
		}
	}
	s := serve(t, cfg)
	turns := 0
	for _, h := range hosts {
		h.check(t, s)
		turns += h.turn
	}
	if turns == 0 {
		t.Error("no turn was acknowledged in any round")
	}
	t.Logf("%d turns, %d receipts and %d tasks were acknowledged", turns, countAll(hosts, func(h *contextHost) int { return len(h.receipts) }),
		countAll(hosts, func(h *contextHost) int { return h.completed }))
}

func countAll(hosts []*contextHost, of func(*contextHost) int) (n int) {
	for _, h := range hosts {
		n += of(h)
	}
	return n
}

// prepareContexts registers a catalogue and opens the hosts' sessions.
func prepareContexts(t *testing.T, s service.Service, hosts []*contextHost) {
	t.Helper()
	dir := hosts[0].which.Project
	entries := []memory.CatalogueEntry{
		{Ref: memory.Ref{Type: memory.Rule, Name: "House rules"}, Content: "Write tests first."},
		{Ref: memory.Ref{Type: memory.Reference, Name: "Orders API"}, Content: "Orders are refunded through the orders endpoint.", Include: memory.IncludeAgent},
	}
	for i := range 20 {
		entries = append(entries, memory.CatalogueEntry{
			Ref:         memory.Ref{Type: memory.Tool, Name: fmt.Sprintf("refund_order_%d", i), ServerName: "shop"},
			Description: fmt.Sprintf("Refund the order of customer %d", i), Guidance: "Ask before you refund.", Include: memory.IncludeManual,
		})
	}
	_, err := service.Register.Do(t.Context(), s, memory.RegisterRequest{Source: "test", Entries: entries, Project: dir})
	must(t, err)
	for _, h := range hosts {
		_, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{SessionID: h.which.SessionID, Goal: "Refund orders", Project: dir})
		must(t, err)
	}
}

// contextHost is a host with one session, and what was acknowledged to it.
type contextHost struct {
	which    memory.SessionRef
	name     string
	calls    int
	version  uint64
	turn     int
	receipts []string
	// entities and discovered are since the last compaction, compactions those that
	// were acknowledged; asked says that one more was asked for.
	entities, discovered []string
	compactions          int
	asked                bool
	// tasks were completed since the last check, completed counts those before.
	tasks     []string
	completed int
}

// work makes calls until one fails, which is when the daemon was killed.
func (h *contextHost) work(t *testing.T, s service.Service, acked chan<- struct{}) {
	for {
		h.calls++
		var err error
		switch h.calls % 8 {
		case 0:
			err = h.compact(t, s)
		case 1, 4:
			err = h.search(t, s)
		case 2, 5:
			err = h.assemble(t, s)
		case 3:
			id := fmt.Sprintf("task-%s-%d", h.name, h.calls)
			_, err = service.CompleteTask.Do(t.Context(), s, memory.CompleteTaskRequest{
				TaskID: id, ValidationReport: []byte(`{"valid":true}`), Project: h.which.Project,
			})
			if err == nil {
				h.tasks = append(h.tasks, id)
			}
		default:
			err = h.report(t, s)
		}
		if err != nil {
			return
		}
		acked <- struct{}{}
	}
}

func (h *contextHost) assemble(t *testing.T, s service.Service) error {
	a, err := service.Assemble.Do(t.Context(), s, memory.AssembleRequest{Message: "refund an order of a customer", SessionRef: h.which})
	if err != nil {
		return err
	}
	h.turn, h.receipts = a.Turn, append(h.receipts, a.Receipt)
	return nil
}

func (h *contextHost) search(t *testing.T, s service.Service) error {
	found, err := service.SearchTools.Do(t.Context(), s, memory.SearchToolsRequest{Query: fmt.Sprintf("refund the order of customer %d", h.calls%20), Limit: 2, SessionRef: h.which})
	if err != nil {
		return err
	}
	h.receipts = append(h.receipts, found.Receipt)
	for _, tool := range found.Tools {
		if !slices.Contains(h.discovered, tool.Name) {
			h.discovered = append(h.discovered, tool.Name)
		}
	}
	h.version = max(h.version, found.Version)
	return nil
}

func (h *contextHost) report(t *testing.T, s service.Service) error {
	id := fmt.Sprintf("order-%d", h.calls)
	w, err := service.Report.Do(t.Context(), s, memory.ReportRequest{
		Entities: []memory.Entity{{ID: id, Type: "order"}}, UsedTools: []memory.ToolRef{{ServerName: "shop", ToolName: "refund_order_1"}}, SessionRef: h.which,
	})
	if err != nil {
		return err
	}
	h.version, h.entities = w.Version, append(h.entities, id)
	return nil
}

func (h *contextHost) compact(t *testing.T, s service.Service) error {
	h.asked = true
	c, err := service.Compact.Do(t.Context(), s, memory.CompactRequest{Summary: fmt.Sprintf("Call %d refunded some orders.", h.calls), SessionRef: h.which})
	if err != nil {
		return err
	}
	h.asked = false
	h.version, h.entities, h.discovered = c.Version, nil, nil
	h.compactions++
	return nil
}

// check compares a daemon with what was acknowledged, and takes over what was done
// without an acknowledgement.
func (h *contextHost) check(t *testing.T, s service.Service) {
	t.Helper()
	w, err := service.WorkingContext.Do(t.Context(), s, memory.WorkingContextRequest{SessionRef: h.which})
	must(t, err)
	if w.Version < h.version || w.Turn < h.turn {
		t.Errorf("host %s: version %d and turn %d, acknowledged were %d and %d", h.name, w.Version, w.Turn, h.version, h.turn)
	}
	switch extra := w.Compactions - h.compactions; {
	case extra == 0:
		for _, id := range h.entities {
			if !slices.ContainsFunc(w.Entities, func(e memory.Entity) bool { return e.ID == id }) {
				t.Errorf("host %s: entity %s was acknowledged and is lost", h.name, id)
			}
		}
		for _, name := range h.discovered {
			if !slices.ContainsFunc(w.DiscoveredTools, func(r memory.ToolRef) bool { return r.ToolName == name }) {
				t.Errorf("host %s: tool %s was found and is lost", h.name, name)
			}
		}
	case extra == 1 && h.asked:
		if len(w.Entities)+len(w.DiscoveredTools)+len(w.UsedTools)+len(w.Guided) > 0 {
			t.Errorf("host %s: half a compaction: %+v", h.name, w)
		}
	default:
		t.Errorf("host %s: %d compactions, %d were acknowledged", h.name, w.Compactions, h.compactions)
	}
	for _, id := range h.receipts {
		if _, err := service.Receipt.Do(t.Context(), s, memory.ReceiptRequest{ID: id}); err != nil {
			t.Errorf("host %s: receipt %s was acknowledged and is lost: %v", h.name, id, err)
		}
	}
	if h.turn > 0 {
		of, err := service.ContextOf.Do(t.Context(), s, memory.ContextOfRequest{Turn: h.turn, SessionRef: h.which})
		must(t, err)
		if of.Record == nil {
			t.Errorf("host %s: turn %d has no record", h.name, h.turn)
		}
	}
	if len(h.tasks) > 0 {
		window, err := service.TaskWindow.Do(t.Context(), s, memory.TaskWindowRequest{Limit: memory.MaxTasks, Project: h.which.Project})
		must(t, err)
		held := map[string]bool{}
		for _, task := range window.Tasks {
			held[task.TaskID] = true
		}
		// One call of eight completes a task: those of all hosts since the last check are
		// fewer than a state holds, so that none of them gave way.
		for _, id := range h.tasks {
			if !held[id] {
				t.Errorf("host %s: task %s was acknowledged and is lost", h.name, id)
			}
		}
		h.completed += len(h.tasks)
		h.tasks = nil
	}
	h.asked = false
	h.version, h.turn, h.compactions = w.Version, w.Turn, w.Compactions
	h.entities, h.discovered = nil, nil
	for _, e := range w.Entities {
		h.entities = append(h.entities, e.ID)
	}
	for _, tool := range w.DiscoveredTools {
		h.discovered = append(h.discovered, tool.ToolName)
	}
}
