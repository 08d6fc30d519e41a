package agentctx

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// largeCatalogue is the catalogue of issue 5: 1,000 tools of 50 servers, 200 rules and
// 500 references.
func largeCatalogue(salt string) memory.RegisterRequest {
	var req memory.RegisterRequest
	for i := range 1000 {
		e := bareTool(fmt.Sprintf("server%d", i%50), fmt.Sprintf("doThing_%d", i), fmt.Sprintf("Does thing %d to what is named %s, and tells what came of it.", i, salt))
		e.InputSchema = json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"target%d":{"type":"string","description":"what it is done to"},"force":{"type":"boolean"}},"required":["target%d"]}`, i, i))
		req.Entries = append(req.Entries, e)
	}
	text := strings.Repeat("Write what was meant, not what was done. ", 20)
	for i := range 200 {
		req.Entries = append(req.Entries, rule(fmt.Sprintf("rule %d", i), fmt.Sprint(text, salt, i)))
	}
	for i := range 500 {
		req.Entries = append(req.Entries, reference(fmt.Sprintf("reference %d", i), fmt.Sprint(text, salt, i)))
	}
	for i := range 50 {
		req.Servers = append(req.Servers, memory.Server{Name: fmt.Sprintf("server%d", i), Include: "agent"})
	}
	return req
}

func BenchmarkRegister(b *testing.B) {
	r := newCatalogueRig(b)
	for n := 0; b.Loop(); n++ {
		out := r.register(largeCatalogue(fmt.Sprint("n", n)))
		if out.Added+out.Changed != 1700 {
			b.Fatalf("registered %s", counts(out))
		}
	}
}

func BenchmarkRegisterUnchanged(b *testing.B) {
	r := newCatalogueRig(b)
	req := largeCatalogue("")
	r.register(req)
	for b.Loop() {
		if out := r.register(req); out.Unchanged != 1700 {
			b.Fatalf("registered %s", counts(out))
		}
	}
}

func BenchmarkItems(b *testing.B) {
	r := newCatalogueRig(b)
	r.register(largeCatalogue(""))
	for b.Loop() {
		if n := len(r.catalogue.Items(r.project.ID)); n != 1700 {
			b.Fatalf("%d items", n)
		}
	}
}
