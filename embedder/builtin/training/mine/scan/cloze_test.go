package scan

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// passageAbout returns four sentences, different for each number.
func passageAbout(n int) []string {
	return []string{
		fmt.Sprintf("The village number %d lies between two green hills and a river.", n),
		"Every spring the river rises and covers the lower fields with mud.",
		"Farmers wait for the water to leave before they sow their wheat.",
		fmt.Sprintf("In the year %d the flood came late and the harvest was poor.", 1900+n),
	}
}

// TestSentencesOfLongParagraph: splitting takes time by a paragraph's length, not by its
// square: what is allocated tells.
func TestSentencesOfLongParagraph(t *testing.T) {
	const n = 5000
	paragraph := strings.Repeat("What is  that?\nNothing.\n", n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sentences := sentencesOf(paragraph)
	runtime.ReadMemStats(&after)
	if len(sentences) != 2*n || sentences[0] != "What is that?" || sentences[2*n-1] != "Nothing." {
		t.Errorf("%d sentences, from %q to %q", len(sentences), sentences[0], sentences[len(sentences)-1])
	}
	if took, most := int(after.TotalAlloc-before.TotalAlloc), 100*len(paragraph); took > most {
		t.Errorf("%d bytes are allocated for a paragraph of %d, want %d at most", took, len(paragraph), most)
	}
}

func TestCloze(t *testing.T) {
	left, untouched, all := 0, 0, 300
	for n := range all {
		var pairs []Pair
		sentences := passageAbout(n)
		whole := strings.Join(sentences, " ")
		cloze(sentences, func(p Pair) { pairs = append(pairs, p) })
		if !slices.Equal(sentences, passageAbout(n)) {
			t.Fatal("the sentences were changed")
		}
		if len(pairs) == 0 {
			all-- // too few words were left
			continue
		}
		p := pairs[0]
		for _, w := range strings.Fields(p.A) {
			if !strings.Contains(whole, w) {
				t.Fatalf("%q is asked with %q", whole, p.A)
			}
		}
		if slices.Contains(sentences, p.A) {
			untouched++
		}
		if p.B == whole {
			left++
		}
	}
	if untouched*20 > all {
		t.Errorf("nothing was dropped from %d of %d sentences", untouched, all)
	}
	if left*5 < all || left*2 > all {
		t.Errorf("%d of %d passages hold the sentence, want a third", left, all)
	}
}

func TestClaims(t *testing.T) {
	texts := []string{"Whales breathe air and must come to the surface of the ocean.", "Sharks take oxygen out of water that flows through their gills."}
	var pairs []Pair
	claims("Sharks breathe through gills, with oxygen from the water. Nothing here is about that at all, friends.", texts, func(p Pair) { pairs = append(pairs, p) })
	if len(pairs) != 1 || pairs[0].B != texts[1] {
		t.Errorf("the claims are %v, want one of the second text", pairs)
	}
}
