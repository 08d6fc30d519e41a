package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// What is there is not written again; what changes keeps its place.
func TestRegister(t *testing.T) {
	r := newCatalogueRig(t)
	all := []memory.CatalogueEntry{rule("B", "be brief"), reference("API", "how to call it"), rule("A", "ask first"), bareTool("fs", "read", "reads a file")}
	first := r.register(memory.RegisterRequest{Entries: all})
	if got := counts(first); got != "+4 ~0 =0 -0 of 4" || first.Seq == 0 || first.Project != r.project.ID || first.ProjectName != "demo" {
		t.Fatalf("registered %s: %+v", got, first)
	}
	if again := r.register(memory.RegisterRequest{Entries: all}); counts(again) != "+0 ~0 =4 -0 of 4" || again.Seq != 0 {
		t.Errorf("the same once more: %s, written as %d; want nothing written", counts(again), again.Seq)
	}
	changed := r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("C", "new"), rule("B", "be very brief")}})
	if got := counts(changed); got != "+1 ~1 =0 -0 of 5" {
		t.Errorf("one changed and one new: %s", got)
	}
	if got, want := r.listed(), "rule B v2, reference API v1, rule A v1, tool fs:read v1, rule C v1"; got != want {
		t.Errorf("listed %s\nwant   %s", got, want)
	}
	if got := r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{all[0]}, Replace: true}); counts(got) != "+0 ~1 =0 -4 of 1" {
		t.Errorf("replaced: %s", counts(got))
	}
	if got := r.listed(); got != "rule B v3" {
		t.Errorf("after replacing there is %s, want B alone", got)
	}
}

// An entry is a record like any other, found by its words as soon as it is there.
func TestEntryIsFound(t *testing.T) {
	r := newCatalogueRig(t)
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{bareTool("fs", "readFile", "loads a document"), rule("A", "about kangaroos")}})
	sel := memory.Selection{Project: r.project.ID, Kinds: []memory.Kind{memory.Tool, memory.Rule}}
	allow, universe := r.index.Select(sel)
	for query, want := range map[string]string{
		"kangaroo": entryID(r.project.ID, memory.Ref{Type: memory.Rule, Name: "A"}),
		"file":     entryID(r.project.ID, memory.Ref{Type: memory.Tool, Name: "readFile", ServerName: "fs"}),
	} {
		res, err := r.index.Sources()[0].Retriever.Retrieve(t.Context(), index.Query{Text: query, Allow: allow, Universe: universe, Limit: 5})
		if err != nil || len(res.Hits) != 1 {
			t.Fatalf("%s: %+v, %v; want one hit", query, res.Hits, err)
		}
		if got := r.index.Candidates(res.Hits[0].Doc, sel); len(got) != 1 || got[0].ID != want {
			t.Errorf("%s finds %+v, want %s", query, got, want)
		}
	}
}

// What registering says and does survives a restart, byte for byte.
func TestRestart(t *testing.T) {
	r := newCatalogueRig(t)
	e := bareTool("fs", "read", "reads")
	e.Guidance, e.Core, e.Enabled, e.Include = "look before", true, new(false), memory.IncludeAgent
	e.InputSchema = json.RawMessage(`{"type": "object", "properties": {"z": {}, "a": {"const": 1.50}}}`)
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{e, rule("A", "a")}, Servers: []memory.Server{{Name: "fs", Include: memory.IncludeManual}}})
	before := r.catalogue.Items(r.project.ID)
	if got, want := string(before[0].InputSchema), `{"type":"object","properties":{"z":{},"a":{"const":1.50}}}`; got != want {
		t.Errorf("the schema is %s, want %s", got, want)
	}
	r.close()
	r.open()
	if diff := cmp.Diff(before, r.catalogue.Items(r.project.ID)); diff != "" {
		t.Errorf("after a restart (-before +after):\n%s", diff)
	}
	if out := r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{e}}); out.Unchanged != 1 || out.Seq != 0 {
		t.Errorf("registered again after a restart: %s, written as %d", counts(out), out.Seq)
	}
}

// A tool's own setting wins over its server's, which wins over always and enabled.
func TestModes(t *testing.T) {
	r := newCatalogueRig(t)
	for i, test := range []struct {
		own, server memory.Include
		on, up      *bool
		want        memory.Include
		wantOn      bool
	}{
		{want: memory.IncludeAlways, wantOn: true},
		{server: memory.IncludeAgent, want: memory.IncludeAgent, wantOn: true},
		{own: memory.IncludeManual, server: memory.IncludeAgent, want: memory.IncludeManual, wantOn: true},
		{own: memory.IncludeAlways, server: memory.IncludeAgent, up: new(false), want: memory.IncludeAlways, wantOn: false},
		{on: new(true), up: new(false), want: memory.IncludeAlways, wantOn: true},
		{on: new(false), up: new(true), want: memory.IncludeAlways, wantOn: false},
	} {
		e := bareTool(fmt.Sprintf("s%d", i), "t", "")
		e.Include, e.Enabled = test.own, test.on
		r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{e}, Servers: []memory.Server{{Name: e.ServerName, Include: test.server, Enabled: test.up}}})
		got, ok := r.find(e.Ref)
		if !ok || got.Mode != test.want || got.On != test.wantOn {
			t.Errorf("%d: found %t, mode %s, on %t; want %s, %t", i, ok, got.Mode, got.On, test.want, test.wantOn)
		}
		if got.Include != test.own {
			t.Errorf("%d: its own mode is %q, want %q", i, got.Include, test.own)
		}
	}
	// The settings of a server are of no concern to what has none.
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "a")}, Servers: []memory.Server{{Name: "x", Enabled: new(false)}}})
	if got, _ := r.find(memory.Ref{Type: memory.Rule, Name: "A"}); !got.On {
		t.Error("a rule is disabled with a server")
	}
	for _, ref := range []memory.Ref{{Type: memory.Tool, Name: "t"}, {Type: memory.Lesson, Name: "A"}, {}} {
		if got, ok := r.find(ref); ok {
			t.Errorf("%+v finds %+v, want nothing", ref, got)
		}
	}
}

func TestSourcesTakeOver(t *testing.T) {
	r := newCatalogueRig(t)
	r.register(memory.RegisterRequest{Source: "one", Entries: []memory.CatalogueEntry{rule("A", "of one"), rule("B", "b")}, Servers: []memory.Server{{Name: "s", Include: memory.IncludeAgent}}})
	// The newest writer has it, and what the first no longer names is not its own.
	r.register(memory.RegisterRequest{Source: "two", Entries: []memory.CatalogueEntry{rule("A", "of two")}, Servers: []memory.Server{{Name: "s"}}})
	out := r.register(memory.RegisterRequest{Source: "one", Replace: true, Servers: []memory.Server{{Name: "s", Include: memory.IncludeAgent}}})
	if got, want := counts(out)+": "+r.listed(), "+0 ~0 =0 -1 of 1: rule A v2"; got != want {
		t.Errorf("one replaced all that it has: %s, want %s", got, want)
	}
	// Only naming a server took no settings away.
	list, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Caller: r.caller})
	if want := []memory.Server{{Name: "s", Include: memory.IncludeAgent}}; err != nil || !cmp.Equal(list.Servers, want) {
		t.Errorf("servers %+v, %v; want %+v", list.Servers, err, want)
	}
	// Without a source it is the client's; a client may not pass for a file.
	for client, want := range map[string]string{"some host": "some host", "": unknownSource, "file:AGENTS.md": unknownSource} {
		r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "of "+client)}, Caller: memory.Caller{Dir: r.caller.Dir, Client: client}})
		if got := r.catalogue.Items(r.project.ID)[0].Source; got != want {
			t.Errorf("the source of client %q is %q, want %q", client, got, want)
		}
	}
}

// A request that was carried out is answered once more as it was, whatever came after
// it.
func TestRepeatedRequest(t *testing.T) {
	r := newCatalogueRig(t)
	req := memory.RegisterRequest{RequestID: "r1", Entries: []memory.CatalogueEntry{rule("A", "1"), rule("B", "1")}}
	first := r.register(req)
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "2")}})
	again := r.register(req)
	if again.Added != 2 || again.Unchanged != 0 || again.Seq != first.Seq {
		t.Errorf("repeated: %s at %d, first %s at %d", counts(again), again.Seq, counts(first), first.Seq)
	}
	if got, _ := r.find(memory.Ref{Type: memory.Rule, Name: "A"}); got.Content != "2" {
		t.Errorf("the repetition wrote %q over what came after it", got.Content)
	}
	gone := memory.UnregisterRequest{RequestID: "r2", Entries: []memory.Ref{{Type: memory.Rule, Name: "A"}}, Caller: r.caller}
	for i := range 2 {
		if out, err := r.catalogue.Unregister(t.Context(), gone); err != nil || out.Removed != 1 {
			t.Errorf("unregister, time %d: %+v, %v; want one removed", i+1, out, err)
		}
	}
}

func TestUnregister(t *testing.T) {
	r := newCatalogueRig(t)
	r.register(memory.RegisterRequest{Source: "one", Entries: []memory.CatalogueEntry{rule("A", "a"), bareTool("s", "t", "")}, Servers: []memory.Server{{Name: "s", Enabled: new(false)}}})
	r.register(memory.RegisterRequest{Source: "two", Entries: []memory.CatalogueEntry{rule("B", "b"), reference("A", "of the same name")}})
	missing := memory.UnregisterRequest{Entries: []memory.Ref{{Type: memory.Rule, Name: "A"}, {Type: memory.Tool, Name: "t", ServerName: "other"}}, Caller: r.caller}
	_, err := r.catalogue.Unregister(t.Context(), missing)
	if e := memory.AsError(err); err == nil || e.Code != memory.CodeNotFound || e.Field != "entries[1]" || !strings.Contains(err.Error(), "other:t") {
		t.Errorf("one is missing: %v, want it named", err)
	}
	if got := len(r.catalogue.Items(r.project.ID)); got != 4 {
		t.Fatalf("%d entries after a refusal, want all 4", got)
	}
	out, err := r.catalogue.Unregister(t.Context(), memory.UnregisterRequest{Entries: missing.Entries[:1], Caller: r.caller})
	if err != nil || counts(out) != "+0 ~0 =0 -1 of 3" {
		t.Errorf("unregister a rule: %+v, %v", out, err)
	}
	for range 2 { // the second time there is nothing
		if out, err = r.catalogue.Unregister(t.Context(), memory.UnregisterRequest{Source: "one", Caller: r.caller}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := r.listed(), "rule B v1, reference A v1"; got != want || out.Removed != 0 {
		t.Errorf("left %s, %d removed the second time; want %s", got, out.Removed, want)
	}
	list, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Caller: r.caller})
	if err != nil || len(list.Servers) != 0 {
		t.Errorf("servers %+v, %v; want those of the source gone with it", list.Servers, err)
	}
}

func TestEntries(t *testing.T) {
	r := newCatalogueRig(t)
	e := bareTool("fs", "read", "reads")
	e.Guidance, e.InputSchema = "look before", json.RawMessage(`{}`)
	r.register(memory.RegisterRequest{
		Entries: []memory.CatalogueEntry{rule("A", "a"), e, bareTool("db", "query", "asks"), reference("R", "r")},
		Servers: []memory.Server{{Name: "idle"}, {Name: "db", Enabled: new(false)}},
	})
	for name, test := range map[string]struct {
		req     memory.EntriesRequest
		entries string
		servers string
	}{
		"all":    {memory.EntriesRequest{}, "A read query R", "idle db fs"},
		"tools":  {memory.EntriesRequest{Types: []memory.Kind{memory.Tool}}, "read query", "idle db fs"},
		"server": {memory.EntriesRequest{Server: "fs"}, "read", "fs"},
		"none":   {memory.EntriesRequest{Types: []memory.Kind{memory.Rule}, Server: "fs"}, "", "fs"},
	} {
		test.req.Caller = r.caller
		got, err := r.catalogue.Entries(t.Context(), test.req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var entries, servers []string
		for _, e := range got.Entries {
			entries = append(entries, e.Name)
			if e.Content+e.Guidance+string(e.InputSchema) != "" {
				t.Errorf("%s: %s comes with its content, which nobody asked for", name, e.Name)
			}
		}
		for _, s := range got.Servers {
			servers = append(servers, s.Name)
		}
		if e, s := strings.Join(entries, " "), strings.Join(servers, " "); e != test.entries || s != test.servers {
			t.Errorf("%s: entries %s, servers %s; want %s and %s", name, e, s, test.entries, test.servers)
		}
	}
	got, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Content: true, Server: "fs", Caller: r.caller})
	if err != nil || got.Entries[0].Guidance != "look before" || string(got.Entries[0].InputSchema) != "{}" {
		t.Errorf("with content: %+v, %v", got, err)
	}
	empty, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Caller: memory.Caller{Dir: t.TempDir()}})
	if raw, _ := json.Marshal(empty); err != nil || !strings.Contains(string(raw), `"entries":[],"servers":[]`) {
		t.Errorf("of a project that nobody knows: %s, %v; want empty lists", raw, err)
	}
}

// Secrets are taken out of what is handed out and never get into a name.
func TestSecrets(t *testing.T) {
	r := newCatalogueRig(t)
	const secret = "ghp_" + "a8Kd93mXz71QwErTyUiOpAsDfGhJkLzXcVbN"
	e := bareTool("fs", "read", "with "+secret)
	e.Guidance, e.InputSchema = "use "+secret, json.RawMessage(`{"properties":{"token":{"type":"string","default":"`+secret+`"}}}`)
	request := memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "the token is "+secret), e}}
	if out := r.register(request); !out.Redacted {
		t.Error("nobody is told that secrets were taken out")
	}
	if out := r.register(request); counts(out) != "+0 ~0 =2 -0 of 2" || !out.Redacted {
		t.Errorf("the same once more: %s, redacted %t; want it unchanged and told again", counts(out), out.Redacted)
	}
	items, err := json.Marshal(r.catalogue.Items(r.project.ID))
	if err != nil || strings.Contains(string(items), secret[4:]) || !strings.Contains(string(items), `"type":"string"`) {
		t.Errorf("kept %s, %v; want it without the secret and otherwise whole", items, err)
	}
	for field, req := range map[string]memory.RegisterRequest{
		"entries[0].name":       {Entries: []memory.CatalogueEntry{rule(secret, "x")}},
		"entries[0].serverName": {Entries: []memory.CatalogueEntry{bareTool(secret, "x", "")}},
		"servers[0].name":       {Servers: []memory.Server{{Name: secret}}},
		"source":                {Source: secret, Entries: []memory.CatalogueEntry{rule("B", "x")}},
	} {
		req.Caller = r.caller
		_, err := r.catalogue.Register(t.Context(), req)
		if e := memory.AsError(err); memory.CodeOf(err) != memory.CodeInvalidInput || e.Field != field || strings.Contains(err.Error(), secret) {
			t.Errorf("a secret as %s: %v, want it refused and not told", field, err)
		}
	}
}

// A client that calls itself by a secret is no source.
func TestSecretClient(t *testing.T) {
	r := newCatalogueRig(t)
	r.caller.Client = "ghp_" + "a8Kd93mXz71QwErTyUiOpAsDfGhJkLzXcVbN"
	_, err := r.catalogue.Register(t.Context(), memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "x")}, Caller: r.caller})
	if e := memory.AsError(err); e.Code != memory.CodeInvalidInput || e.Field != "source" || r.listed() != "" {
		t.Errorf("registered by it: %v, listed %q; want the source refused", err, r.listed())
	}
}

// A schema is not a secret because of what its parameters are called.
func TestSchemaIsKept(t *testing.T) {
	r := newCatalogueRig(t)
	e := bareTool("auth", "login", "signs in")
	e.InputSchema = json.RawMessage(`{"type":"object","properties":{"password":{"type":"string","description":"the password of the user"},` +
		`"api_key":{"type":"string","minLength":32,"format":"password"},"token":{"$ref":"#/definitions/token"}},"required":["password","api_key"]}`)
	out := r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{e}})
	if got := r.catalogue.Items(r.project.ID)[0].InputSchema; string(got) != string(e.InputSchema) || out.Redacted {
		t.Errorf("kept    %s\nof      %s\nredacted %t", got, e.InputSchema, out.Redacted)
	}
}

// A catalogue that would get too large is refused whole.
func TestMaxEntries(t *testing.T) {
	underrace.Skip(t, "a limit, met by one caller")
	r := newLargeCatalogueRig(t, 16<<20) // that of users
	many := func(prefix string, n int) []memory.CatalogueEntry {
		list := make([]memory.CatalogueEntry, n)
		for i := range list {
			list[i] = rule(fmt.Sprintf("%s%d", prefix, i), "text")
		}
		return list
	}
	for _, prefix := range []string{"a", "b"} {
		r.register(memory.RegisterRequest{Source: prefix, Entries: many(prefix, 2000)})
	}
	_, err := r.catalogue.Register(t.Context(), memory.RegisterRequest{Entries: many("c", 1001), Caller: r.caller})
	if e := memory.AsError(err); memory.CodeOf(err) != memory.CodeInvalidInput || e.Field != "entries" || !strings.Contains(e.Limit, "5000") {
		t.Errorf("5,001 entries: %v, want them refused with the limit", err)
	}
	if n := r.records(r.project.ID); n != 4000 {
		t.Errorf("%d records after a refusal, want 4,000", n)
	}
	if out := r.register(memory.RegisterRequest{Entries: many("c", 1000)}); out.Total != memory.MaxEntries {
		t.Errorf("5,000 entries: %s", counts(out))
	}
	// What takes the place of others fits.
	if out := r.register(memory.RegisterRequest{Source: "a", Entries: many("d", 2000), Replace: true}); counts(out) != "+2000 ~0 =0 -2000 of 5000" {
		t.Errorf("2,000 in the place of others: %s", counts(out))
	}
	servers := make([]memory.Server, memory.MaxServers)
	for i := range servers {
		servers[i].Name = fmt.Sprintf("s%d", i)
	}
	r.register(memory.RegisterRequest{Servers: servers})
	_, err = r.catalogue.Register(t.Context(), memory.RegisterRequest{Servers: []memory.Server{{Name: "one more"}}, Entries: []memory.CatalogueEntry{rule("d0", "changed")}, Caller: r.caller})
	if e := memory.AsError(err); memory.CodeOf(err) != memory.CodeInvalidInput || e.Field != "servers" {
		t.Errorf("one server too many: %v, want it refused", err)
	}
}

// What does not fit a transaction is written in parts, and all of it is there.
func TestLargeRegistration(t *testing.T) {
	underrace.Skip(t, "a limit, met by one caller")
	r := newLargeCatalogueRig(t, 16<<20) // that of users
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("old", "goes")}})
	var all []memory.CatalogueEntry
	for i := range 200 {
		all = append(all, rule(fmt.Sprintf("R%03d", i), strings.Repeat(fmt.Sprintf("rule %d says so. ", i), 20_000/20)))
	}
	req := memory.RegisterRequest{RequestID: "large", Entries: all, Replace: true, Servers: []memory.Server{{Name: "s"}}, Caller: r.caller}
	out, err := r.catalogue.Register(memory.WithRequestSum(t.Context(), []byte("this")), req)
	must(t, err)
	if counts(out) != "+200 ~0 =0 -1 of 200" {
		t.Fatalf("registered %s", counts(out))
	}
	for i, e := range r.catalogue.Items(r.project.ID) {
		if e.Name != all[i].Name || e.Content != strings.TrimSpace(all[i].Content) {
			t.Fatalf("entry %d is %s, want %s whole and in its place", i, e.Name, all[i].Name)
		}
	}
	// Nothing is written for another request with that id, neither its first part.
	other := slices.Clone(all)
	for i := range other {
		other[i].Content = "another " + other[i].Content
	}
	_, err = r.catalogue.Register(memory.WithRequestSum(t.Context(), []byte("another")), memory.RegisterRequest{RequestID: "large", Entries: other, Caller: r.caller})
	if e := memory.AsError(err); err == nil || e.Code != memory.CodeConflict || e.Field != "request_id" || r.store.Seq() != out.Seq {
		t.Errorf("another registration with that id: %v, update %d after %d; want it refused", err, r.store.Seq(), out.Seq)
	}
	if again := r.register(req); again.Total != 200 || again.Seq != out.Seq {
		t.Errorf("repeated: %s at %d, first at %d", counts(again), again.Seq, out.Seq)
	}
}

func TestRegisterOwn(t *testing.T) {
	r := newCatalogueRig(t)
	own := []memory.CatalogueEntry{bareTool("recalld", "recall", "asks the memory"), bareTool("recalld", "status", "tells the state")}
	for range 2 {
		must(t, r.catalogue.RegisterOwn(t.Context(), own))
	}
	must(t, r.catalogue.RegisterOwn(t.Context(), own[:1]))
	got := r.catalogue.Items(memory.OwnProject)
	if len(got) != 1 || got[0].Name != "recall" || got[0].Version != 1 {
		t.Errorf("own tools %+v, want recall as it was", got)
	}
	if n := len(r.catalogue.Items(r.project.ID)); n != 0 {
		t.Errorf("%d of them are in a project's catalogue", n)
	}
	if err := r.catalogue.RegisterOwn(t.Context(), []memory.CatalogueEntry{{}}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("an empty tool: %v, want it refused", err)
	}
}

// loadingEntries is a shelf that is being filled.
type loadingEntries struct{ Records }

func (loadingEntries) Loaded() bool { return false }

func TestWhileLoading(t *testing.T) {
	r := newCatalogueRig(t)
	s, err := NewCatalogue(Ports{Writer: r.ingest, Records: loadingEntries{r.index}, Store: r.store, Projects: r.catalogue.opts.Projects})
	must(t, err)
	for name, call := range map[string]func(context.Context) error{
		"register": func(ctx context.Context) error {
			_, err := s.Register(ctx, memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "a")}, Caller: r.caller})
			return err
		},
		"unregister": func(ctx context.Context) error {
			_, err := s.Unregister(ctx, memory.UnregisterRequest{Source: "x", Caller: r.caller})
			return err
		},
		"entries": func(ctx context.Context) error {
			_, err := s.Entries(ctx, memory.EntriesRequest{Caller: r.caller})
			return err
		},
		"files": func(ctx context.Context) error { _, err := s.TakeFiles(ctx, r.project, "h", nil); return err },
		"own":   func(ctx context.Context) error { return s.RegisterOwn(ctx, nil) },
	} {
		if err := call(t.Context()); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("%s: %v, want it unavailable", name, err)
		}
	}
}

func TestOptionsAreRequired(t *testing.T) {
	if _, err := NewCatalogue(Ports{}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("New without anything = %v, want invalid input", err)
	}
}
