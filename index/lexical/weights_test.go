package lexical

import (
	"fmt"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// TestWeights: what all documents have counts least, what none has counts in full, and
// only the documents of the universe are looked at.
func TestWeights(t *testing.T) {
	x, err := New(Options{})
	if err != nil {
		t.Fatalf("make index: %v", err)
	}
	gina := roaring.New()
	for i := range uint32(600) {
		text := "unrelated text about trains"
		if i < 300 {
			text = fmt.Sprintf("Gina talks about day %d", i)
			gina.Add(i)
		}
		if i == 7 {
			text += " on her trampoline"
		}
		x.Upsert(i, Analyze(text))
	}
	const question = "When did Gina buy the trampolines and a kayak?"
	weigh := func(universe *roaring.Bitmap) func(word string) float64 {
		w, err := x.Weights(t.Context(), question, universe)
		if err != nil {
			t.Fatalf("weigh: %v", err)
		}
		return func(word string) float64 { return w.Of([]byte(word)) }
	}
	of := weigh(gina)
	words := []string{"gina", "trampolines", "kayak"}
	if !slices.IsSortedFunc(words, func(a, b string) int { return int(1000 * (of(a) - of(b))) }) || of("gina") > .5 || of("kayak") != 1 {
		t.Errorf("weights of %v are %.2f, %.2f and %.2f, want them to rise from below .5 to 1", words, of("gina"), of("trampolines"), of("kayak"))
	}
	if got := of("?"); got != noTermWeight {
		t.Errorf("a sign weighs %v, want %v", got, noTermWeight)
	}
	if all := weigh(nil); all("gina") <= of("gina") {
		t.Errorf("among all documents the name weighs %.2f, among those of its talk %.2f, want more", all("gina"), of("gina"))
	}
}

// TestFirstDocumentsWeighTheirWordsHardlyLess: one document says nothing about what is
// common.
func TestFirstDocumentsWeighTheirWordsHardlyLess(t *testing.T) {
	x, err := New(Options{})
	if err != nil {
		t.Fatalf("make index: %v", err)
	}
	w, err := x.Weights(t.Context(), "npm cache", nil)
	if err != nil || w.Of([]byte("npm")) != 1 {
		t.Errorf("an empty index weighs a word %v (error %v), want 1", w.Of([]byte("npm")), err)
	}
	x.Upsert(1, Analyze("npm install"))
	if w, err = x.Weights(t.Context(), "npm cache", nil); err != nil {
		t.Fatalf("weigh: %v", err)
	}
	if got := w.Of([]byte("npm")); got < .8 {
		t.Errorf("the word of the only document weighs %.2f, want .8 or more", got)
	}
}

// TestWordCostsNoAllocation: a question may be a log of some thousand words.
func TestWordCostsNoAllocation(t *testing.T) {
	x, err := New(Options{})
	if err != nil {
		t.Fatalf("make index: %v", err)
	}
	x.Upsert(1, Analyze("npm install"))
	w, err := x.Weights(t.Context(), "installing readFile 数据库", nil)
	if err != nil {
		t.Fatalf("weigh: %v", err)
	}
	a := newAnalyzer() // a pool's may be a new one
	words := [][]byte{[]byte("installing"), []byte("readfile"), []byte("read"), []byte("数据"), []byte("->"), []byte("maxdepth")}
	weigh := func() {
		for _, word := range words {
			w.of(a, word)
		}
	}
	weigh()
	if n := testing.AllocsPerRun(100, weigh); n > 0 {
		t.Errorf("%d words cost %v allocations, want none", len(words), n)
	}
}
