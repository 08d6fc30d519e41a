package agentctx

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// What large catalogues are made of: verbs and things that tools of many servers have,
// so that many of them are alike.
var (
	benchVerbs  = strings.Fields("create list get update delete search merge close assign export import archive rename share lock publish schedule cancel approve restore")
	benchThings = strings.Fields("issue repository branch invoice customer ticket calendar_event message channel file folder database table dashboard alert container cluster secret policy report contract payment refund subscription user team role webhook pipeline deployment release backup snapshot domain certificate queue topic bucket image video playlist contact deal campaign survey form page comment label milestone")
)

// largeCatalogue registers 1,000 tools, 200 rules and 500 references.
func (r *rig) largeCatalogue() {
	r.t.Helper()
	var entries []memory.CatalogueEntry
	for i := range 1000 {
		verb, thing := benchVerbs[i%len(benchVerbs)], benchThings[(i/len(benchVerbs))%len(benchThings)]
		words := strings.ReplaceAll(thing, "_", " ")
		e := tool(fmt.Sprintf("server%d", i/100), verb+"_"+thing,
			fmt.Sprintf("%s%s the %s of a workspace. Takes its id and returns what changed about the %s.", strings.ToUpper(verb[:1]), verb[1:], words, words))
		e.Guidance = "Look it up before you " + verb + " it."
		entries = append(entries, e)
	}
	for i := range 200 {
		entries = append(entries, memory.CatalogueEntry{
			Ref:     memory.Ref{Type: memory.Rule, Name: fmt.Sprintf("rule %d", i)},
			Content: fmt.Sprintf("Every %s is reviewed by two people before it ships, number %d.", benchThings[i%len(benchThings)], i),
		})
	}
	for i := range 500 {
		entries = append(entries, memory.CatalogueEntry{
			Ref:     memory.Ref{Type: memory.Reference, Name: fmt.Sprintf("reference %d", i)},
			Content: fmt.Sprintf("How a %s is stored: table %d holds its id, owner and times.", benchThings[i%len(benchThings)], i),
		})
	}
	r.register(entries...)
}

// The search for tools in a catalogue of 1,700 entries, in the store as users have it:
// every commit is synced. "new" clears what was discovered before every search, so that
// each one writes; "known" writes nothing that is waited for.
func BenchmarkSearchTools(b *testing.B) {
	r := &rig{t: b, dir: b.TempDir(), caller: memory.Caller{Dir: b.TempDir(), Client: "test"}, now: testTime, sync: true}
	r.open()
	b.Cleanup(r.close)
	r.largeCatalogue()
	id := r.start("bench")
	for _, name := range []string{"known", "new"} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				if name == "new" {
					b.StopTimer()
					r.report(id, memory.ReportRequest{ClearDiscovered: true})
					b.StartTimer()
				}
				began := time.Now()
				m := r.search(id, fmt.Sprintf("%s the %s", benchVerbs[n%7], benchThings[n%11]))
				took = append(took, time.Since(began))
				if len(m.Tools) == 0 {
					b.Fatal("nothing was found")
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// A summary against the names of 1,700 tools.
func BenchmarkToolNames(b *testing.B) {
	var tools []memory.ToolRef
	for i := range 1700 {
		tools = append(tools, toolRef(fmt.Sprint("server", i/100), fmt.Sprintf("%s_%s_%d", benchVerbs[i%20], benchThings[i%50], i)))
	}
	summary := strings.Repeat("The issue of the customer was closed, and the invoice in `src/pay/invoice.go` exported. ", 75)
	for b.Loop() {
		if names := toolNames(summary, tools); len(names) > 0 {
			b.Fatal(names)
		}
	}
}
