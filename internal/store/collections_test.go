package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestSpaceKeepsItsFirstProbes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	const name = "m@3-1"
	for _, probes := range [][][]float32{nil, {{1, 0, 0}, {0, 0, -1}}, {{0, 1, 0}}} {
		must(t, s.OpenCollection(t.Context(), name, probes))
	}
	for _, when := range []string{"at once", "after reopening"} {
		got := s.Probes(name)
		if len(got) != 2 || got[0][0] != 1 || got[1][2] != -1 {
			t.Errorf("%s the probes are %v, want those that were stored first", when, got)
		}
		if none := s.Probes(testSpace); none != nil {
			t.Errorf("%s a space without probes has %v", when, none)
		}
		must(t, s.Close())
		s = open(t, Options{Dir: dir})
	}
}

// TestDropSpaceThatEndsEarly: what is left of a space is known as the space until it is
// dropped again, and nobody else's vectors go with it.
func TestDropSpaceThatEndsEarly(t *testing.T) {
	s := open(t, Options{})
	const name, other = "left@4-1", "other@4-1"
	texts := make([]memory.DocVector, 3)
	for _, space := range []string{name, other} {
		must(t, s.OpenCollection(t.Context(), space, nil))
		for i := range texts {
			r, d := lesson(fmt.Sprintf("l-%d", i), fmt.Sprintf("text %d", i))
			put(t, s, r, d)
			texts[i] = memory.DocVector{Doc: d.ID, Vector: []float32{1, 0, 0, 0}}
		}
		if n, err := s.PutVectors(t.Context(), space, texts); n != len(texts) || err != nil {
			t.Fatalf("put vectors: %d, %v", n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.DropCollection(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("DropSpace of a cancelled context = %v, want %v", err, context.Canceled)
	}
	counts := func(want int) {
		t.Helper()
		for space, n := range map[string]int{name: want, other: len(texts), "never@4-1": 0} {
			if got, err := s.CountVectors(space); got != n || err != nil {
				t.Errorf("%s has %d vectors, %v; want %d", space, got, err, n)
			}
		}
		if got := slices.Contains(s.Collections(), name); got != (want > 0) {
			t.Errorf("the space is known: %v", got)
		}
	}
	counts(len(texts))
	must(t, s.DropCollection(t.Context(), name))
	counts(0)
}

// TestDropSpaceTakesVectorsOfUpdatesUnderWay: a vector whose update was accepted
// before the space was dropped goes with it. Check finds what would be left.
func TestDropSpaceTakesVectorsOfUpdatesUnderWay(t *testing.T) {
	s := open(t, Options{})
	const name = "late@4-1"
	must(t, s.OpenCollection(t.Context(), name, nil))
	var texts []memory.DocID
	for i := range 3 {
		r, d := lesson(fmt.Sprintf("l-%d", i), fmt.Sprintf("text %d", i))
		put(t, s, r, d)
		texts = append(texts, d.ID)
	}
	dropped := make(chan error, 1)
	errs := together(t, s, func(tx *Tx) error {
		_, err := tx.PutVector(name, texts[0], []float32{1, 0, 0, 0})
		go func() { dropped <- s.DropCollection(t.Context(), name) }()
		for s.collections.known(name) && len(s.updates) == 0 { // until the drop has begun
		}
		return err
	})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	must(t, <-dropped)
	must(t, s.OpenCollection(t.Context(), name, nil))
	held := 0
	l := discardLoader()
	l.Vector = func(space string, _ memory.DocID, _ []float32) error {
		held += btoi(space == name)
		return nil
	}
	if _, err := s.Read(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if held > 0 {
		t.Errorf("%d vectors of a dropped space are left", held)
	}
}
