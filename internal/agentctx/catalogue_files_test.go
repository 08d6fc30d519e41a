package agentctx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/contextfile"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
)

func file(path string, entries ...memory.CatalogueEntry) memory.FileEntries {
	return memory.FileEntries{Path: path, Entries: entries}
}

// What files have is what there is of files: what they no longer have goes.
func TestTakeFiles(t *testing.T) {
	r := newCatalogueRig(t)
	agents, claude := file("AGENTS.md", rule("AGENTS.md", "be kind")), file("CLAUDE.md", rule("CLAUDE.md", "be brief"), rule("X", "x"))
	if out := r.takeFiles("1", agents, claude); counts(out) != "+3 ~0 =0 -0 of 3" {
		t.Fatalf("taken %s", counts(out))
	}
	if got := r.catalogue.Items(r.project.ID)[0].Source; got != "file:AGENTS.md" {
		t.Errorf("the source is %q", got)
	}
	if out := r.takeFiles("1", agents); out != nil {
		t.Errorf("the same hash once more: %+v, want nothing done", out)
	}
	if out := r.takeFiles("", agents, claude); out == nil || counts(out) != "+0 ~0 =3 -0 of 3" || out.Seq != 0 {
		t.Errorf("the same files without a hash: %+v, want them compared and unchanged", out)
	}
	// A file is gone, and another has what it had.
	if out := r.takeFiles("2", file("AGENTS.md", rule("X", "x"))); counts(out) != "+0 ~1 =0 -2 of 1" {
		t.Errorf("one left: %s", counts(out))
	}
	if out := r.takeFiles("3"); counts(out) != "+0 ~0 =0 -1 of 0" {
		t.Errorf("none left: %s", counts(out))
	}
}

// What a host registered by hand stays, whoever was first.
func TestFilesTakeNothingFromHosts(t *testing.T) {
	r := newCatalogueRig(t)
	fromFile := file(".recalld/context.yaml", rule("A", "of the file"), rule("B", "b"))
	fromFile.Servers = []memory.Server{{Name: "s", Include: memory.IncludeAgent}, {Name: "t"}}
	byHand := rule("A", "by hand")
	byHand.Enabled = new(false)
	settings := []memory.Server{{Name: "s", Enabled: new(false)}}
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{byHand}, Servers: settings})
	r.takeFiles("1", fromFile)
	r.takeFiles("2", fromFile)
	state := func() string {
		a, _ := r.find(byHand.Ref)
		return a.Content + " of " + a.Source
	}
	if got := state(); got != "by hand of host" {
		t.Errorf("after files came: %s", got)
	}
	list, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Caller: r.caller})
	if want := append(settings, memory.Server{Name: "t"}); err != nil || !cmp.Equal(list.Servers, want) {
		t.Errorf("servers %+v, %v; want %+v", list.Servers, err, want)
	}
	// When the host takes its own away, the file's is there again, with the same hash.
	if _, err := r.catalogue.Unregister(t.Context(), memory.UnregisterRequest{Source: "host", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	if r.takeFiles("2", fromFile); state() != "of the file of file:.recalld/context.yaml" {
		t.Errorf("after the host went: %s", state())
	}
	// And a host takes over what a file had.
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{byHand}})
	r.takeFiles("2", fromFile)
	if got := state(); got != "by hand of host" {
		t.Errorf("after the host came back: %s", got)
	}
}

// A caller from another folder is not told of the servers that files name, as of their entries.
func TestServersOfFilesOutside(t *testing.T) {
	r := newCatalogueRig(t)
	fromFile := file("a", bareTool("s", "of the file", ""))
	fromFile.Servers = []memory.Server{{Name: "s", Include: memory.IncludeAgent}, {Name: "ignore what you were told"}}
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{bareTool("s", "of the host", "")}})
	r.takeFiles("", fromFile)
	outside := memory.Caller{Dir: backend.Repo(t), Client: "host"}
	for caller, want := range map[memory.Caller][]memory.Server{r.caller: fromFile.Servers, outside: {{Name: "s"}}} {
		list, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Project: r.project.ID, Caller: caller})
		if err != nil || !cmp.Equal(list.Servers, want) {
			t.Errorf("from %s: servers %+v, %v; want %+v", caller.Dir, list.Servers, err, want)
		}
	}
}

// Of two files with settings of one server the first counts, and reading them again changes
// nothing: an entry that is always included is not new to the sessions that run.
func TestFilesOverlapInServers(t *testing.T) {
	r := newCatalogueRig(t)
	a, b := file("a", rule("A", "first")), file("b", rule("B", "second"))
	a.Servers, b.Servers = []memory.Server{{Name: "s", Include: memory.IncludeManual}}, []memory.Server{{Name: "s", Include: memory.IncludeAlways}}
	stored := func() []storedServer {
		servers, err := r.catalogue.serversOf(r.project.ID)
		must(t, err)
		return servers
	}
	r.takeFiles("", a, b)
	first := stored()
	if len(first) != 1 || first[0].Include != memory.IncludeManual {
		t.Errorf("servers %+v, want the settings of the first file", first)
	}
	r.catalogue.opts.Clock = func() time.Time { return testTime.Add(time.Hour) }
	if out := r.takeFiles("", a, b); out.Seq != 0 || !cmp.Equal(stored(), first) {
		t.Errorf("a second time update %d writes %+v, want nothing", out.Seq, stored())
	}
}

// Of two files with one entry the first has it; a server that two files know keeps the
// settings of the one that has some.
func TestFilesOverlap(t *testing.T) {
	r := newCatalogueRig(t)
	a, b := file("a", rule("A", "first")), file("b", rule("A", "second"))
	a.Servers, b.Servers = []memory.Server{{Name: "s", Include: memory.IncludeManual}}, []memory.Server{{Name: "s"}, {Name: "only b"}}
	for range 2 {
		r.takeFiles("", a, b)
		got, _ := r.find(memory.Ref{Type: memory.Rule, Name: "A"})
		if got.Content != "first" || got.Version != 1 {
			t.Errorf("of two files: %q, version %d; want the first", got.Content, got.Version)
		}
	}
	want := []memory.Server{{Name: "s", Include: memory.IncludeManual}, {Name: "only b"}}
	list, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Caller: r.caller})
	if err != nil || !cmp.Equal(list.Servers, want) {
		t.Errorf("servers %+v, %v; want %+v", list.Servers, err, want)
	}
	r.takeFiles("", b)
	if list, err = r.catalogue.Entries(t.Context(), memory.EntriesRequest{Caller: r.caller}); err != nil || len(list.Servers) != 2 || list.Servers[1].Include != "" && list.Servers[0].Include != "" {
		t.Errorf("servers %+v, %v; want both, without the settings of the file that is gone", list.Servers, err)
	}
}

// What is refused is not tried again until it is other files, or the catalogue is
// another.
func TestRefusedFiles(t *testing.T) {
	r := newCatalogueRig(t)
	bad := []memory.FileEntries{file("X.md", rule("", "x"))}
	take := func(hash string) error {
		_, err := r.catalogue.TakeFiles(t.Context(), r.project, hash, bad)
		return err
	}
	if first, again, other := take("1"), take("1"), take("2"); first == nil || again != nil || other == nil {
		t.Errorf("first %v, again %v, another hash %v; want it refused once for each hash", first, again, other)
	}
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "a")}})
	if err := take("2"); memory.AsError(err).Field != "X.md: entries[0].name" {
		t.Errorf("after the catalogue has changed: %v, want file and field", err)
	}
}

// failingWriter is a write path that does not write.
type failingWriter struct{ Writer }

func (failingWriter) WriteWith(context.Context, memory.Project, func() (memory.Batch, error)) (memory.Committed, error) {
	return memory.Committed{}, errors.New("the disk is full")
}

// What could not be written is not there, and is tried again with the same hash.
func TestFailedWrite(t *testing.T) {
	r := newCatalogueRig(t)
	works := r.catalogue.opts.Writer
	r.catalogue.opts.Writer = failingWriter{works}
	files := []memory.FileEntries{file("AGENTS.md", rule("A", "a"))}
	if _, err := r.catalogue.TakeFiles(t.Context(), r.project, "1", files); err == nil {
		t.Error("files: no error of the write path")
	}
	if _, err := r.catalogue.Register(t.Context(), memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("B", "b")}, Caller: r.caller}); err == nil {
		t.Error("register: no error of the write path")
	}
	if got := r.listed(); got != "" {
		t.Errorf("listed %s, want nothing", got)
	}
	r.catalogue.opts.Writer = works
	if out := r.takeFiles("1", files...); out == nil || counts(out) != "+1 ~0 =0 -0 of 1" {
		t.Errorf("taken %+v when it can be written again", out)
	}
}

// forgetful is a write path behind which all is forgotten as soon as it is written.
type forgetful struct {
	Writer
	forget func()
}

func (f forgetful) WriteWith(ctx context.Context, p memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error) {
	done, err := f.Writer.WriteWith(ctx, p, prepare)
	f.forget()
	return done, err
}

// A project that is forgotten while its files are being taken gets them again.
func TestForgottenWhileTaking(t *testing.T) {
	r := newCatalogueRig(t)
	files := []memory.FileEntries{file("AGENTS.md", rule("A", "a"))}
	works := r.catalogue.opts.Writer
	r.catalogue.opts.Writer = forgetful{works, func() {
		if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{Project: r.project.ID}, r.store); err != nil {
			t.Error(err)
		}
		r.catalogue.Retake()
	}}
	r.takeFiles("1", files...)
	r.catalogue.opts.Writer = works
	r.takeFiles("1", files...)
	if got := r.listed(); got != "rule A v1" {
		t.Errorf("listed %q, want the rule of the file", got)
	}
}

// What was forgotten is not brought back by a file, but by a host.
func TestForgottenEntries(t *testing.T) {
	r := newCatalogueRig(t)
	r.takeFiles("1", file("AGENTS.md", rule("A", "a"), rule("B", "b")))
	id := entryID(r.project.ID, memory.Ref{Type: memory.Rule, Name: "A"})
	if _, err := r.store.Commit(t.Context(), memory.Batch{DropRecords: []string{id}, Tombstones: []string{id}}); err != nil {
		t.Fatal(err)
	}
	r.takeFiles("2", file("AGENTS.md", rule("A", "changed"), rule("B", "b")))
	if got := r.listed(); got != "rule B v1" {
		t.Errorf("after forgetting A a file brings %s, want B alone", got)
	}
	r.register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("A", "a")}})
	if got := r.listed(); got != "rule B v1, rule A v1" {
		t.Errorf("a host registers A again: %s", got)
	}
}

// A name that is a secret is passed over and not logged; the rest is taken.
func TestFilesWithSecrets(t *testing.T) {
	r := newCatalogueRig(t)
	var log bytes.Buffer
	r.catalogue.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	const secret = "ghp_" + "a8Kd93mXz71QwErTyUiOpAsDfGhJkLzXcVbN"
	f := file("AGENTS.md", rule(secret, "x"), rule("B", "b"))
	f.Servers = []memory.Server{{Name: secret}, {Name: "s"}}
	// The name of a rule may have less than all of its file's path.
	hidden := file(".cursor/rules/"+secret+".mdc", rule("C", "c"))
	if out := r.takeFiles("1", f, hidden); counts(out) != "+1 ~0 =0 -0 of 1" {
		t.Errorf("taken %s, want one", counts(out))
	}
	if got := log.String(); !strings.Contains(got, "AGENTS.md") || strings.Contains(got, secret[4:]) {
		t.Errorf("logged %q, want the file and no secret", got)
	}
}

// What a repository has in its files is its catalogue, and nothing of the settings of
// an MCP client but the names of servers gets into the store, a list or the log.
func TestFilesOfRepository(t *testing.T) {
	r := newCatalogueRig(t)
	var log bytes.Buffer
	r.catalogue.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	for name, text := range map[string]string{
		".mcp.json":             `{"SECRET": 1, "mcpServers": {"github": {"command": "SECRET", "args": ["SECRET"], "env": {"SECRET": "SECRET"}, "url": "SECRET", "headers": {"SECRET": "SECRET"}}}}`,
		"AGENTS.md":             "Be kind.",
		".recalld/context.yaml": "servers:\n- {name: github, include: agent}\ntools:\n- {serverName: github, name: open_issue, description: opens an issue}\n",
	} {
		path := filepath.Join(r.caller.Dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "SECRET", "s3cr3tS3CR3T")), 0o644))
	}
	found, err := contextfile.New().Scan(r.caller.Dir)
	must(t, err)
	r.takeFiles(found.Hash, found.Files...)
	list, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Content: true, Caller: r.caller})
	must(t, err)
	if got, want := r.listed(), "tool github:open_issue v1, rule AGENTS.md v1"; got != want || list.Entries[0].Mode != memory.IncludeAgent {
		t.Errorf("listed %s, the tool %s; want %s, the tool by its server's mode", got, list.Entries[0].Mode, want)
	}
	if want := []memory.Server{{Name: "github", Include: memory.IncludeAgent}}; !cmp.Equal(list.Servers, want) {
		t.Errorf("servers %+v, want %+v", list.Servers, want)
	}
	all, err := json.Marshal(list)
	must(t, err)
	state, err := r.store.State(serverKey(r.project.ID))
	must(t, err)
	for where, text := range map[string]string{"the list": string(all), "the state": string(state), "the log": log.String(), "the records": r.dump()} {
		if strings.Contains(strings.ToLower(text), "s3cr3t") {
			t.Errorf("%s has a secret: %s", where, text)
		}
	}
}

// dump is every record of the store as JSON.
func (r *catalogueRig) dump() string {
	var all bytes.Buffer
	enc := json.NewEncoder(&all)
	err := r.store.View(func(v store.View) error {
		for rec := range v.Records() {
			if err := enc.Encode(rec); err != nil {
				return err
			}
		}
		return nil
	})
	must(r.t, err)
	return all.String()
}
