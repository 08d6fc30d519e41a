package agentctx

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/testkit/backend"
)

var deskTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// desk is contexts over real parts and working memory, in a repository with an open
// session.
type desk struct {
	parts
	t        testing.TB
	dir      string // the store's
	contexts *Contexts
	caller   memory.Caller
	project  memory.Project
	session  string
	ticks    atomic.Int64
	change   []func(*ContextOptions)
	sync     bool // of every commit
}

// newDesk opens a desk that is checked and closed at the end of the test. change may
// replace what contexts are made of.
func newDesk(t testing.TB, change ...func(*ContextOptions)) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), change: change}
	d.begin()
	return d
}

// begin opens the desk's repository, everything over it, and a session.
func (d *desk) begin() {
	t := d.t
	d.caller = memory.Caller{Dir: backend.Repo(t), Client: "host"}
	d.open()
	t.Cleanup(d.close)
	state, err := d.ingest.StartSession(t.Context(), memory.StartSessionRequest{Goal: "test contexts", Caller: d.caller})
	if err != nil {
		t.Fatalf("start session: %v", err)
	}
	d.session = state.ID
	if d.project, _, err = d.projects.Resolve(t.Context(), "", d.caller); err != nil {
		t.Fatal(err)
	}
}

// now is a clock that moves by a second with every look.
func (d *desk) now() time.Time { return deskTime.Add(time.Duration(d.ticks.Add(1)) * time.Second) }

func (d *desk) open() {
	d.t.Helper()
	// Whenever a test registers an entry, it was there when the session started.
	d.parts = openParts(d.t, backend.Options{Dir: d.dir, Sync: d.sync, Clock: d.now, Redact: redact.Redact}, func() time.Time { return deskTime })
	var err error
	opts := d.options(d.now)
	for _, c := range d.change {
		c(&opts)
	}
	if d.contexts, err = NewContexts(opts); err != nil {
		d.t.Fatalf("make contexts: %v", err)
	}
}

func (d *desk) close() {
	d.t.Helper()
	d.parts.Close(d.t)
}

// reopen closes everything and opens it anew, as another process would.
func (d *desk) reopen() {
	d.t.Helper()
	d.close()
	d.open()
}

func (d *desk) which() memory.SessionRef { return memory.SessionRef{Caller: d.caller} }

func (d *desk) register(entries ...memory.CatalogueEntry) {
	d.t.Helper()
	if _, err := d.catalogue.Register(d.t.Context(), memory.RegisterRequest{Entries: entries, Caller: d.caller}); err != nil {
		d.t.Fatalf("register: %v", err)
	}
}

func (d *desk) unregister(refs ...memory.Ref) {
	d.t.Helper()
	if _, err := d.catalogue.Unregister(d.t.Context(), memory.UnregisterRequest{Entries: refs, Caller: d.caller}); err != nil {
		d.t.Fatalf("unregister: %v", err)
	}
}

// assemble must be accepted. The session is the caller's unless the request names one.
func (d *desk) assemble(req memory.AssembleRequest) *memory.Assembled {
	d.t.Helper()
	req.SessionRef = d.which()
	out, err := d.contexts.Assemble(d.t.Context(), req)
	if err != nil {
		d.t.Fatalf("assemble %q: %v", req.Message, err)
	}
	return out
}

func (d *desk) alter(add []memory.ContextItem, remove ...memory.Ref) *memory.Context {
	d.t.Helper()
	out, err := d.contexts.ChangeContext(d.t.Context(), memory.ChangeContextRequest{Add: add, Remove: remove, SessionRef: d.which()})
	if err != nil {
		d.t.Fatalf("change context: %v", err)
	}
	return out
}

func (d *desk) held() string {
	d.t.Helper()
	out, err := d.contexts.SessionContext(d.t.Context(), memory.ContextRequest{SessionRef: d.which()})
	if err != nil {
		d.t.Fatalf("session context: %v", err)
	}
	return itemNames(out.Items)
}

func (d *desk) receipt(id string) memory.Receipt {
	d.t.Helper()
	r, err := d.store.Receipt(id)
	if err != nil {
		d.t.Fatalf("receipt %s: %v", id, err)
	}
	return r
}

func (d *desk) done(id, intent string) {
	d.t.Helper()
	_, err := d.working.CompleteTask(d.t.Context(), memory.CompleteTaskRequest{
		TaskID: id, Intent: intent, RequiresContext: new(true), ValidationReport: []byte(`{"valid":true}`), Caller: d.caller,
	})
	if err != nil {
		d.t.Fatalf("complete task %s: %v", id, err)
	}
}

func (d *desk) blocked(id, reason string) {
	d.t.Helper()
	if _, err := d.working.BlockTask(d.t.Context(), memory.BlockTaskRequest{TaskID: id, Reason: reason, Caller: d.caller}); err != nil {
		d.t.Fatalf("block task %s: %v", id, err)
	}
}

func (d *desk) remember(context, lesson string) {
	d.t.Helper()
	if _, err := d.ingest.Remember(d.t.Context(), memory.RememberRequest{Context: context, Lesson: lesson, Caller: d.caller}); err != nil {
		d.t.Fatalf("remember: %v", err)
	}
}

// entry makes an entry of "rule A always", "tool fs:read agent off core" and a text.
func entry(spec, text string) memory.CatalogueEntry {
	words := strings.Fields(spec)
	e := memory.CatalogueEntry{Ref: ref(words[0] + " " + words[1])}
	for _, w := range words[2:] {
		switch w {
		case "off":
			e.Enabled = new(false)
		case "core":
			e.Core = true
		default:
			e.Include = memory.Include(w)
		}
	}
	if e.Type == memory.Tool {
		e.Description = text
	} else {
		e.Content = text
	}
	return e
}

// ref makes an identity of "rule A" or "tool fs:read".
func ref(spec string) memory.Ref {
	kind, name, _ := strings.Cut(spec, " ")
	r := memory.Ref{Type: memory.Kind(kind), Name: name}
	if server, tool, ok := strings.Cut(name, ":"); ok && r.Type == memory.Tool {
		r.ServerName, r.Name = server, tool
	}
	return r
}

// added makes items to add by hand.
func added(specs ...string) []memory.ContextItem {
	var out []memory.ContextItem
	for _, spec := range specs {
		out = append(out, memory.ContextItem{Ref: ref(spec)})
	}
	return out
}

func itemName(r memory.Ref, mode memory.Include) string {
	name := r.Name
	if r.ServerName != "" {
		name = r.ServerName + ":" + name
	}
	return fmt.Sprintf("%s %s %s", r.Type, name, mode)
}

// itemNames are items as "rule A always, reference X always".
func itemNames(items []memory.ContextItem) string {
	var out []string
	for _, item := range items {
		out = append(out, itemName(item.Ref, item.IncludeMode))
	}
	return strings.Join(out, ", ")
}

func handedOut(a *memory.Assembled) string {
	var out []string
	for _, item := range a.Items {
		out = append(out, itemName(item.Ref, item.IncludeMode))
	}
	return strings.Join(out, ", ")
}

// withheldFor are what was withheld for a reason, as "rule A".
func withheldFor(a *memory.Assembled, reason memory.Reason) string {
	var out []string
	for _, w := range a.Withheld {
		if w.Reason == reason {
			name := w.Name
			if w.Server != "" {
				name = w.Server + ":" + name
			}
			out = append(out, string(w.Kind)+" "+name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
