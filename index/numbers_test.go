package index

import (
	"encoding/binary"
	"sync"
	"testing"
)

// testID is a distinct id for each n; the id for 0 is all zeros, which is valid.
func testID(n int) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], uint64(n))
	return id
}

func TestNumbersAreDense(t *testing.T) {
	var numbers Numbers
	for i := range 3_000 {
		if n, isNew := numbers.Number(testID(i)); n != uint32(i) || !isNew {
			t.Fatalf("Number(id %d) = %d, %v, want %d, true", i, n, isNew, i)
		}
	}
	if n, isNew := numbers.Number(testID(7)); n != 7 || isNew {
		t.Errorf("a known id: got %d, %v, want 7, false", n, isNew)
	}
	if id, ok := numbers.ID(2_999); !ok || id != testID(2_999) {
		t.Errorf("ID(2999) = %x, %v, want %x", id, ok, testID(2_999))
	}
	if _, ok := numbers.ID(3_000); ok {
		t.Error("ID of a number not given yet is found")
	}
	if _, ok := numbers.Lookup(testID(3_000)); ok || numbers.Len() != 3_000 {
		t.Errorf("Lookup gave a number away: Len is %d, want 3000", numbers.Len())
	}
}

func TestNumbersAreNotReused(t *testing.T) {
	var numbers Numbers
	for i := range 3 {
		numbers.Number(testID(i))
	}
	numbers.Free(0)
	numbers.Free(0)
	numbers.Free(99)
	if _, ok := numbers.Lookup(testID(0)); ok {
		t.Error("a freed id still has a number")
	}
	if _, ok := numbers.ID(0); ok {
		t.Error("a freed number still has an id")
	}
	if n, isNew := numbers.Number(testID(0)); n != 3 || !isNew {
		t.Errorf("a freed id seen again: got %d, %v, want the new number 3", n, isNew)
	}
	// The number that it had must not free the one that it has.
	numbers.Free(0)
	if n, ok := numbers.Lookup(testID(0)); !ok || n != 3 {
		t.Errorf("after freeing its old number again: got %d, %v, want 3, true", n, ok)
	}
}

func TestNumbersConcurrently(t *testing.T) {
	const ids, workers = 500, 8
	var numbers Numbers
	got := make([][]uint32, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range ids {
				n, _ := numbers.Number(testID(i))
				got[w] = append(got[w], n)
				if id, ok := numbers.ID(n); !ok || id != testID(i) {
					t.Errorf("ID(%d) = %x, %v, want %x", n, id, ok, testID(i))
				}
			}
		})
	}
	wg.Wait()
	seen := map[uint32]bool{}
	for i := range ids {
		seen[got[0][i]] = true
		for w := range workers {
			if got[w][i] != got[0][i] {
				t.Errorf("id %d has numbers %d and %d", i, got[0][i], got[w][i])
			}
		}
	}
	if len(seen) != ids || numbers.Len() != ids {
		t.Errorf("%d distinct numbers for %d ids, Len %d", len(seen), ids, numbers.Len())
	}
}

func BenchmarkNumbers(b *testing.B) {
	var numbers Numbers
	var i int
	for b.Loop() {
		numbers.Number(testID(i))
		i++
	}
}
