//go:build unix

package torture

import (
	"math/rand/v2"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestOracle: the oracle notices each thing that it is there to notice, and nothing else.
func TestOracle(t *testing.T) {
	for name, c := range map[string]struct {
		spoil               func(records map[string]memory.Record, facts []*fact)
		lost, risen, others int
	}{
		"sound": {spoil: func(map[string]memory.Record, []*fact) {}},
		"lost":  {spoil: func(r map[string]memory.Record, f []*fact) { delete(r, f[0].marker) }, lost: 1},
		"text": {spoil: func(r map[string]memory.Record, f []*fact) {
			r[f[0].marker] = memory.Record{ID: f[0].id, Kind: f[0].kind, Text: f[0].marker}
		}, lost: 1},
		"id": {spoil: func(r map[string]memory.Record, f []*fact) {
			r[f[0].marker] = memory.Record{ID: "another", Kind: f[0].kind, Text: f[0].text}
		}, lost: 1},
		"withdrawn": {spoil: func(r map[string]memory.Record, f []*fact) {
			r[f[0].marker] = memory.Record{ID: f[0].id, Kind: f[0].kind, Text: f[0].text, Event: &memory.Event{Withdrawn: &memory.Withdrawal{}}}
		}, lost: 1},
		"forgotten": {spoil: func(r map[string]memory.Record, f []*fact) {
			r[f[1].marker] = memory.Record{ID: f[1].id, Kind: f[1].kind, Text: f[1].text}
		}, risen: 1},
		"nobody's": {spoil: func(r map[string]memory.Record, _ []*fact) { r["mkbbbbbbbbbbbb"] = memory.Record{} }, others: 1},
		"sent only": {spoil: func(r map[string]memory.Record, f []*fact) {
			r[f[2].marker] = memory.Record{ID: "any", Kind: f[2].kind, Text: f[2].text}
		}},
	} {
		o, random := newOracle(), rand.New(rand.NewPCG(1, 1))
		var facts []*fact
		for range 3 {
			facts = append(facts, o.send(memory.Lesson, random, "The valve %s opens slowly"))
		}
		o.acknowledge("l-0", facts[0])
		o.acknowledge("l-1", facts[1])
		o.forget(facts[1:2])
		o.forgot(facts[1:2])
		records := map[string]memory.Record{facts[0].marker: {ID: "l-0", Kind: memory.Lesson, Text: facts[0].text}}
		c.spoil(records, facts)
		v := o.judge(records)
		if v.lost != c.lost || v.risen != c.risen || v.others != c.others {
			t.Errorf("%s: %d lost, %d risen, %d of nobody: %v", name, v.lost, v.risen, v.others, v.tell)
		}
		if name == "sent only" {
			delete(records, facts[2].marker)
			if v := o.judge(records); v.lost != 1 {
				t.Errorf("what was found after one fault is missing after the next: %d lost, want 1", v.lost)
			}
		}
	}
}
