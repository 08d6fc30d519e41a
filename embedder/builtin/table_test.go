package builtin

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestTableIsWhole(t *testing.T) {
	w, err := table()
	if err != nil {
		t.Fatalf("decode the embedded table: %v", err)
	}
	listed := 0
	for _, k := range w.keys {
		if k != 0 {
			listed++
		}
	}
	if listed < 10_000 {
		t.Errorf("%d features are listed, want at least 10,000", listed)
	}
}

func TestDamagedTable(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"magic", func(b []byte) []byte { b[0] ^= 1; return b }},
		{"version", func(b []byte) []byte { b[4]++; return b }},
		{"one bit", func(b []byte) []byte { b[len(b)/2] ^= 8; return b }},
		{"cut", func(b []byte) []byte { return b[:len(b)-6] }},
	} {
		if _, err := decodeTable(c.damage(slices.Clone(tableFile))); !errors.Is(err, errTable) {
			t.Errorf("%s: error %v, want %v", c.name, err, errTable)
		}
	}
}

func FuzzDecodeTable(f *testing.F) {
	f.Add(tableFile[:64])
	f.Fuzz(func(t *testing.T, b []byte) {
		if w, err := decodeTable(b); err == nil {
			w.of(math.MaxUint64)
		}
	})
}

func TestRepeats(t *testing.T) {
	last := int64(0)
	for n := uint32(1); n < 1<<20; n += 1 + n/7 {
		got, want := repeats(n), 256*(1+math.Log(float64(n)))
		if got := float64(got); got > want+1 || got < 0.97*want-1 {
			t.Errorf("%d repeats count %v, want about %.1f", n, got, want)
		}
		if got < last {
			t.Errorf("%d repeats count %d, fewer counted %d", n, got, last)
		}
		last = got
	}
	if repeats(math.MaxUint32) <= last {
		t.Error("the most repeats overflow")
	}
}

// TestSumGivesBack embeds texts that need far different room in turn; what one
// left behind would show in the next.
func TestSumGivesBack(t *testing.T) {
	w, err := table()
	if err != nil {
		t.Fatal(err)
	}
	long := make([]byte, 0, 1<<20)
	for i := range cap(long) / 8 {
		for j := range 7 {
			long = append(long, 'a'+byte((i>>(2*j))%26))
		}
		long = append(long, ' ')
	}
	s := newSum()
	for _, text := range []string{"one", string(long[:1<<15]), "two", string(long), "three"} {
		if got, want := s.embed(w, text), newSum().embed(w, text); !slices.Equal(got, want) {
			t.Errorf("a text of %d bytes has another vector after other texts", len(text))
		}
		if len(s.places) > maxPlaces || slices.Max(s.places) != 0 {
			t.Errorf("after a text of %d bytes %d places are kept, not all of them free", len(text), len(s.places))
		}
	}
}
