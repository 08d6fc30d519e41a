package worker

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPlacesAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p places
	var want []uint64
	for n := range 20_000 {
		switch {
		case len(want) == 0 || n < 6000 || r.IntN(2) == 0:
			v := uint64(n) << 8 // at the end, as new jobs are
			if r.IntN(4) == 0 {
				v = r.Uint64N(uint64(n)<<8|1) | 1 // in between, as jobs that come back are
			}
			if i, ok := slices.BinarySearch(want, v); !ok {
				want = slices.Insert(want, i, v)
				p.add(v)
			}
		default:
			i := r.IntN(min(len(want), 1+r.IntN(len(want))))
			p.remove(want[i])
			want = slices.Delete(want, i, i+1)
		}
		if p.size != len(want) {
			t.Fatalf("after %d steps: %d places, want %d", n, p.size, len(want))
		}
		if len(want) > 0 {
			i := r.IntN(len(want))
			if got := p.rank(want[i]); got != i {
				t.Fatalf("after %d steps: rank of %d is %d, want %d", n, want[i], got, i)
			}
		}
	}
}

func TestHeapAgainstSort(t *testing.T) {
	type item struct{ key, at int }
	r := rand.New(rand.NewPCG(3, 4))
	h := heap[*item]{before: func(a, b *item) bool { return a.key < b.key }, at: func(i *item) *int { return &i.at }}
	var in []*item
	for n := range 5000 {
		switch {
		case len(in) == 0 || r.IntN(5) < 2:
			x := &item{key: r.IntN(100)}
			in = append(in, x)
			h.push(x)
		case r.IntN(2) == 0:
			x := in[r.IntN(len(in))]
			x.key = r.IntN(100)
			h.fix(x)
		default:
			i := r.IntN(len(in))
			h.remove(in[i])
			in = slices.Delete(in, i, i+1)
		}
		if len(in) == 0 {
			continue
		}
		least := slices.MinFunc(in, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
		if got := h.peek().key; got != least.key || h.len() != len(in) {
			t.Fatalf("after %d steps: the first of %d is %d, want %d of %d", n, h.len(), got, least.key, len(in))
		}
	}
}
