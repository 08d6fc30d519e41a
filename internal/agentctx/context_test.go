package agentctx

import (
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestASessionHoldsWhatIsAlwaysIncludedAndWhatWasAdded(t *testing.T) {
	d := newDesk(t)
	d.register(
		entry("rule A always", "Be brief."), entry("rule B manual", "Write tests."), entry("rule C agent", "Check passwords."),
		entry("reference X", "The API."), entry("tool fs:read manual", "Reads a file."), entry("rule D always off", "Never."),
	)
	for _, step := range []struct {
		what    string
		add     []memory.ContextItem
		remove  []memory.Ref
		changed bool
		held    string
	}{
		{what: "adding what is there always", add: added("rule A"), held: "rule A always, reference X always"},
		{what: "adding one by hand", add: added("rule B"), changed: true, held: "rule A always, reference X always, rule B manual"},
		{what: "adding it again", add: added("rule B"), held: "rule A always, reference X always, rule B manual"},
		{what: "adding it again in another mode", add: []memory.ContextItem{{Ref: ref("rule B"), IncludeMode: memory.IncludeAlways}},
			held: "rule A always, reference X always, rule B manual"},
		{what: "adding an agent's and one in the mode always", add: []memory.ContextItem{{Ref: ref("rule C")}, {Ref: ref("tool fs:read"), IncludeMode: memory.IncludeAlways}},
			changed: true, held: "rule A always, reference X always, rule B manual, rule C manual, tool fs:read always"},
		{what: "taking out one that is always there", remove: []memory.Ref{ref("rule A")}, changed: true,
			held: "reference X always, rule B manual, rule C manual, tool fs:read always"},
		{what: "taking it out again", remove: []memory.Ref{ref("rule A")}, held: "reference X always, rule B manual, rule C manual, tool fs:read always"},
		{what: "adding one back and taking out two", add: added("rule A"), remove: []memory.Ref{ref("rule B"), ref("tool fs:read")}, changed: true,
			held: "rule A always, reference X always, rule C manual"},
		{what: "taking out what is not held", remove: []memory.Ref{ref("rule B")}, held: "rule A always, reference X always, rule C manual"},
		{what: "adding a disabled one by hand", add: added("rule D"), changed: true, held: "rule A always, reference X always, rule C manual, rule D manual"},
	} {
		before, err := d.contexts.SessionContext(t.Context(), memory.ContextRequest{SessionRef: d.which()})
		must(t, err)
		out := d.alter(step.add, step.remove...)
		if got := itemNames(out.Items); got != step.held {
			t.Errorf("%s: the session holds %q, want %q", step.what, got, step.held)
		}
		want := before.Version
		if step.changed {
			want++
		}
		if out.Changed != step.changed || out.Version != want {
			t.Errorf("%s: changed %v to version %d, want %v and %d", step.what, out.Changed, out.Version, step.changed, want)
		}
	}
	held := d.held()
	d.reopen()
	if got := d.held(); got != held {
		t.Errorf("after a restart the session holds %q, want %q", got, held)
	}
}

func TestAContextListsNamesByType(t *testing.T) {
	d := newDesk(t)
	d.register(entry("tool fs:read always", "Reads."), entry("rule A always", "Be brief."), entry("reference X always", "The API."))
	out, err := d.contexts.SessionContext(t.Context(), memory.ContextRequest{SessionRef: d.which()})
	must(t, err)
	if got := strings.Join(out.Rules, ",") + "|" + strings.Join(out.References, ","); got != "A|X" {
		t.Errorf("rules and references are %q, want A|X", got)
	}
	if len(out.Tools) != 1 || out.Tools[0].String() != "fs:read" {
		t.Errorf("tools are %v, want fs:read", out.Tools)
	}
	if out.SessionID != d.session || out.ProjectName != "demo" {
		t.Errorf("the context is of session %q in %q", out.SessionID, out.ProjectName)
	}
}

func TestWhatIsGoneFromTheCatalogueLeavesAContextAndComesBack(t *testing.T) {
	d := newDesk(t)
	b := entry("rule B manual", "Write tests.")
	d.register(b, entry("rule C manual", "Be kind."))
	d.alter(added("rule B", "rule C"))
	d.unregister(b.Ref)
	if got, want := d.held(), "rule C manual"; got != want {
		t.Errorf("the session holds %q, want %q", got, want)
	}
	d.register(b)
	if got, want := d.held(), "rule B manual, rule C manual"; got != want {
		t.Errorf("registered again, the session holds %q, want %q", got, want)
	}
	d.unregister(b.Ref)
	if out := d.alter(nil, b.Ref); !out.Changed {
		t.Error("what is gone cannot be taken out")
	}
	d.register(b)
	if got, want := d.held(), "rule C manual"; got != want {
		t.Errorf("taken out while it was gone, the session holds %q, want %q", got, want)
	}
}

func TestWhatIsTakenOutStaysOutWhateverItsMode(t *testing.T) {
	d := newDesk(t)
	d.register(entry("rule passwords always", "How do I authenticate? With a password that is checked against its hash."))
	d.alter(nil, ref("rule passwords"))
	d.register(entry("rule passwords agent", "How do I authenticate? With a password that is checked against its hash."))
	if got := handedOut(d.assemble(memory.AssembleRequest{Message: "How do I authenticate with a password?"})); got != "" {
		t.Errorf("handed out %q, want nothing", got)
	}
}

func TestAChangeThatIsRefusedChangesNothing(t *testing.T) {
	d := newDesk(t)
	d.register(entry("rule A manual", "Be brief."))
	for _, c := range []struct {
		what  string
		req   memory.ChangeContextRequest
		code  memory.Code
		field string
	}{
		{"an unknown rule beside a known one", memory.ChangeContextRequest{Add: added("rule A", "rule Z")}, memory.CodeNotFound, "add[1]"},
		{"an unknown tool", memory.ChangeContextRequest{Add: added("tool fs:read")}, memory.CodeNotFound, "add[0]"},
		{"an unknown reference", memory.ChangeContextRequest{Add: added("reference A")}, memory.CodeNotFound, "add[0]"},
		{"taking out an unknown one", memory.ChangeContextRequest{Add: added("rule A"), Remove: []memory.Ref{ref("rule Z")}}, memory.CodeNotFound, "remove[0]"},
		{"nothing", memory.ChangeContextRequest{}, memory.CodeInvalidInput, "add"},
		{"an unknown session", memory.ChangeContextRequest{Add: added("rule A"), SessionRef: memory.SessionRef{SessionID: "nobody"}}, memory.CodeNotFound, "sessionId"},
	} {
		c.req.Caller = d.caller
		_, err := d.contexts.ChangeContext(t.Context(), c.req)
		if e := memory.AsError(err); err == nil || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %v, want %s at %s", c.what, err, c.code, c.field)
		}
	}
	if got := d.held(); got != "" {
		t.Errorf("the session holds %q, want nothing", got)
	}
}

// loadingShelf is a shelf that is being filled.
type loadingShelf struct{ Records }

func (loadingShelf) Loaded() bool { return false }

func TestWhatIsNotLoadedIsNotTakenForGone(t *testing.T) {
	d := newDesk(t)
	d.register(entry("rule B manual", "Write tests."))
	d.alter(added("rule B"))
	// As long as it loads, the catalogue may lack anything.
	d.change = append(d.change, func(o *ContextOptions) {
		o.Records, o.Catalogue = loadingShelf{o.Records}, nothing{}
	})
	d.reopen()
	out := d.assemble(memory.AssembleRequest{Message: "a message"})
	if len(out.Withheld) > 0 || !slices.Contains(out.Degraded, memory.Degraded{Part: "catalogue", Reason: "loading"}) {
		t.Errorf("withheld is %v and degraded %v, want nothing and the catalogue", out.Withheld, out.Degraded)
	}
	_, err := d.contexts.SessionContext(t.Context(), memory.ContextRequest{SessionRef: d.which()})
	if memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("session context: %v, want %s", err, memory.CodeUnavailable)
	}
	_, err = d.contexts.ChangeContext(t.Context(), memory.ChangeContextRequest{Remove: []memory.Ref{ref("rule B")}, SessionRef: d.which()})
	if memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("change context: %v, want %s", err, memory.CodeUnavailable)
	}
	_, err = d.contexts.Compact(t.Context(), memory.CompactRequest{Summary: "All was done.", SessionRef: d.which()})
	if memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("compact: %v, want %s", err, memory.CodeUnavailable)
	}
}

// loads is a shelf that is filled, and a catalogue that is read just before.
type loads struct {
	Records
	done bool
}

func (l *loads) Loaded() bool { return l.done }

func (l *loads) Items(string) []memory.EntryState {
	l.done = true
	return nil
}

func TestWhatIsLoadedWhileAContextIsAssembledIsNotTakenForGone(t *testing.T) {
	d := newDesk(t)
	d.register(entry("rule B manual", "Write tests."))
	d.alter(added("rule B"))
	d.change = append(d.change, func(o *ContextOptions) {
		l := &loads{Records: o.Records}
		o.Records, o.Catalogue = l, l
	})
	d.reopen()
	out := d.assemble(memory.AssembleRequest{Message: "a message"})
	if len(out.Withheld) > 0 || !slices.Contains(out.Degraded, memory.Degraded{Part: "catalogue", Reason: "loading"}) {
		t.Errorf("withheld is %v and degraded %v, want nothing and the catalogue", out.Withheld, out.Degraded)
	}
}

// nothing is a catalogue without entries.
type nothing struct{}

func (nothing) Items(string) []memory.EntryState { return nil }

func TestChangesByManyWritersAllCount(t *testing.T) {
	d := newDesk(t)
	const writers = 16
	var entries []memory.CatalogueEntry
	for i := range writers {
		entries = append(entries, entry("rule "+string(rune('A'+i))+" manual", "One of many."))
	}
	d.register(entries...)
	errs := make(chan error, writers)
	for _, e := range entries {
		go func() {
			_, err := d.contexts.ChangeContext(t.Context(), memory.ChangeContextRequest{Add: []memory.ContextItem{{Ref: e.Ref}}, SessionRef: d.which()})
			errs <- err
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	out, err := d.contexts.SessionContext(t.Context(), memory.ContextRequest{SessionRef: d.which()})
	if err != nil || len(out.Rules) != writers || out.Version != writers {
		t.Errorf("%d rules at version %d are held (%v), want %d each", len(out.Rules), out.Version, err, writers)
	}
}
