package index

import (
	"math/rand/v2"
	"testing"
)

func TestTableAgainstMap(t *testing.T) {
	var table Table[string]
	want := map[uint32]string{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		doc := r.Uint32N(5_000)
		switch r.IntN(3) {
		case 0:
			table.Delete(doc)
			delete(want, doc)
		default:
			value := string(rune('a' + r.IntN(3)))
			if r.IntN(4) == 0 {
				value = "" // the zero value is a value
			}
			table.Set(doc, value)
			want[doc] = value
		}
	}
	if table.Len() != len(want) {
		t.Errorf("Len is %d, want %d", table.Len(), len(want))
	}
	for doc := range uint32(6_000) {
		got, ok := table.Get(doc)
		value, held := want[doc]
		if got != value || ok != held {
			t.Errorf("Get(%d) = %q, %v, want %q, %v", doc, got, ok, value, held)
		}
	}
}

func TestTableLetsPagesGo(t *testing.T) {
	var table Table[int]
	for doc := range uint32(3 * pageSize) {
		table.Set(doc, 1)
	}
	for doc := range uint32(2 * pageSize) {
		table.Delete(doc)
	}
	for i, want := range []bool{false, false, true} {
		if got := table.pages[i] != nil; got != want {
			t.Errorf("page %d kept: %v, want %v", i, got, want)
		}
	}
}
