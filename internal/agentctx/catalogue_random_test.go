package agentctx

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
	"github.com/recalld/recalld/internal/testlong"
)

// catalogueModel is a catalogue as the contract has it, without a store.
type catalogueModel map[memory.Ref]modelEntry

type modelEntry struct {
	Source, Content string
	Version         int
}

func (m catalogueModel) put(source string, e memory.CatalogueEntry) {
	old, there := m[e.Ref]
	switch {
	case !there:
		m[e.Ref] = modelEntry{source, e.Content, 1}
	case isFile(source) && !isFile(old.Source) || old.Source == source && old.Content == e.Content:
	default:
		m[e.Ref] = modelEntry{source, e.Content, old.Version + 1}
	}
}

// drop removes what a source has that is not among named.
func (m catalogueModel) drop(replaces func(source string) bool, named []memory.CatalogueEntry) {
	maps.DeleteFunc(m, func(ref memory.Ref, e modelEntry) bool {
		return replaces(e.Source) && !slices.ContainsFunc(named, func(n memory.CatalogueEntry) bool { return n.Ref == ref })
	})
}

// TestRandomCatalogueOperations does what hosts and files do, in any order and with restarts,
// and compares with the model.
func TestRandomCatalogueOperations(t *testing.T) {
	const seed = 5
	random := rand.New(rand.NewPCG(seed, seed))
	r := newCatalogueRig(t)
	m := catalogueModel{}
	some := func() []memory.CatalogueEntry {
		var list []memory.CatalogueEntry
		for i := range 6 {
			if random.IntN(2) == 0 {
				list = append(list, rule(fmt.Sprint("R", i), fmt.Sprint("text ", random.IntN(3))))
			}
		}
		return list
	}
	for step := range underrace.Steps(testlong.Steps(150, 400), 40) {
		var did string
		switch op := random.IntN(10); {
		case op < 4:
			source, list, replace := fmt.Sprint("host", random.IntN(2)), some(), random.IntN(3) == 0
			if len(list) == 0 && !replace {
				continue
			}
			did = fmt.Sprintf("%s registers %d, replacing %t", source, len(list), replace)
			r.register(memory.RegisterRequest{Source: source, Entries: list, Replace: replace})
			for _, e := range list {
				m.put(source, e)
			}
			m.drop(func(of string) bool { return replace && of == source }, list)
		case op < 7:
			a, b := some(), some()
			did = fmt.Sprintf("files have %d and %d", len(a), len(b))
			r.takeFiles("", file("a", a...), file("b", b...))
			b = slices.DeleteFunc(b, func(e memory.CatalogueEntry) bool {
				return slices.ContainsFunc(a, func(first memory.CatalogueEntry) bool { return first.Ref == e.Ref })
			})
			for _, e := range a {
				m.put("file:a", e)
			}
			for _, e := range b {
				m.put("file:b", e)
			}
			m.drop(isFile, slices.Concat(a, b))
		case op < 9:
			req := memory.UnregisterRequest{Source: fmt.Sprint("host", random.IntN(2)), Caller: r.caller}
			did = "unregister " + req.Source
			if _, err := r.catalogue.Unregister(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			m.drop(func(of string) bool { return of == req.Source }, nil)
		default:
			did = "restart"
			r.close()
			r.open()
		}
		got := catalogueModel{}
		for _, e := range r.catalogue.Items(r.project.ID) {
			got[e.Ref] = modelEntry{e.Source, e.Content, e.Version}
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Fatalf("step %d: %s (-model +catalogue):\n%s", step, did, diff)
		}
	}
}

// Hosts that register at the same time lose nothing, and readers see whole entries.
func TestConcurrentHosts(t *testing.T) {
	const hosts, rounds = 6, 10
	r := newCatalogueRig(t)
	var all, readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() {
		for {
			for _, e := range r.catalogue.Items(r.project.ID) {
				if e.Content != "of "+e.Source {
					t.Errorf("%s says %q and is of %s", e.Name, e.Content, e.Source)
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for host := range hosts {
		all.Go(func() {
			source := fmt.Sprint("h", host)
			for i := range rounds {
				req := memory.RegisterRequest{
					Source: source, Entries: []memory.CatalogueEntry{rule(fmt.Sprint(source, "-", i), "of "+source), rule("shared", "of "+source)},
					Servers: []memory.Server{{Name: source, Include: memory.IncludeAgent}}, Caller: r.caller,
				}
				if _, err := r.catalogue.Register(t.Context(), req); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	close(done)
	readers.Wait()
	var names []string
	for _, e := range r.catalogue.Items(r.project.ID) {
		names = append(names, e.Name)
	}
	if len(names) != hosts*rounds+1 || !strings.Contains(strings.Join(names, " "), "shared") {
		t.Errorf("%d entries, want %d of each of %d hosts and one shared: %q", len(names), rounds, hosts, names)
	}
	shared, _ := r.find(memory.Ref{Type: memory.Rule, Name: "shared"})
	list, err := r.catalogue.Entries(t.Context(), memory.EntriesRequest{Caller: r.caller})
	if err != nil || len(list.Servers) != hosts || shared.Version < hosts {
		t.Errorf("%d servers, version %d, %v; want %d and at least as many", len(list.Servers), shared.Version, err, hosts)
	}
}
