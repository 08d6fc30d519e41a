package main

import (
	"strings"
	"testing"
)

// TestSpeakers holds that people of pairs that follow one another get the same
// names, in both texts, and that nothing else changes.
func TestSpeakers(t *testing.T) {
	s := newSpeakers()
	given := map[string]int{}
	for range sameNames {
		p := pair{Kind: "recall", Source: "a/b", A: "Where did Anna go with Tom's dog, Annabel?", B: "Anna: To the sea: with Tom.\nTom: Anna knows."}
		s.rename(&p)
		one, rest, _ := strings.Cut(p.B, ":")
		other, _, _ := strings.Cut(rest[strings.Index(rest, "\n")+1:], ":")
		want := pair{
			Kind: "recall", Source: "a/b", A: "Where did " + one + " go with " + other + "'s dog, Annabel?",
			B: one + ": To the sea: with " + other + ".\n" + other + ": " + one + " knows.",
		}
		if p != want {
			t.Fatalf("the pair is %+v, want %+v", p, want)
		}
		given[one]++
	}
	if len(given) != 2 {
		t.Errorf("who speaks first is one of %v, want one of two", given)
	}
	for name, n := range given {
		if n != sameNames/2 || name == "Anna" || name == "Tom" {
			t.Errorf("%q speaks first %d times of %d, want half of them, under another name", name, n, sameNames)
		}
	}
	next := pair{Kind: "recall", Source: "a/b", A: "Anna?", B: "Anna: Yes."}
	s.rename(&next)
	if _, known := given[strings.TrimSuffix(next.A, "?")]; known {
		t.Errorf("the pair after %d is of %q again", sameNames, next.A)
	}
	turn := pair{Kind: "turn", Source: "a/b", A: "Is it far?", B: "No."}
	s.rename(&turn)
	one, a, _ := strings.Cut(turn.A, ": ")
	other, b, _ := strings.Cut(turn.B, ": ")
	if one == "" || other == "" || one == other || a != "Is it far?" || b != "No." {
		t.Errorf("a turn and its answer are %q and %q, want them said by two people", turn.A, turn.B)
	}
	for _, other := range []pair{
		{Kind: "doc", Source: "a/b", A: "Anna", B: "Anna: 1"},
		{Kind: "recall", Source: "a/b", A: "what is played", B: "chess, said Anna: often"},
	} {
		p := other
		if s.rename(&p); p != other {
			t.Errorf("%+v became %+v", other, p)
		}
	}
}
