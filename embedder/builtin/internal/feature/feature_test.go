package feature

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// features returns the hashes of one kind.
func features(text string, kind Kind) []uint64 {
	var x Extractor
	var got []uint64
	x.Extract(text, func(k Kind, h uint64) {
		if k == kind {
			got = append(got, h)
		}
	})
	return got
}

func TestWordsMeet(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"parseHTTPRequest", "parse http request"},
		{"MAX_RETRY_COUNT", "max retry count"},
		{"utf8Decoder2", "utf 8 decoder 2"},
		{"indexes", "indexing"},
		{"stopped", "stops"},
		{"queries", "query"},
		{"servers", "server"},
		{"classes", "class"},
		{"GRÖSSE", "grösse"},
		{"数据", "数 据"},
	} {
		if diff := cmp.Diff(features(c.a, Word), features(c.b, Word)); diff != "" {
			t.Errorf("%q and %q give different words:\n%s", c.a, c.b, diff)
		}
	}
}

func TestWordsPart(t *testing.T) {
	for _, c := range []struct{ a, b string }{{"read", "write"}, {"class", "clas"}, {"ab", "ba"}, {"x1", "1x"}} {
		if cmp.Equal(features(c.a, Word), features(c.b, Word)) {
			t.Errorf("%q and %q give the same words", c.a, c.b)
		}
	}
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		text                     string
		words, whole, pair, gram int
	}{
		{"", 0, 0, 0, 0},
		{"cat", 1, 0, 0, 6},        // <cat> has 3 threes, 2 fours, 1 five
		{"readFile", 2, 1, 0, 18},  // 9 grams each
		{"数据库", 3, 0, 2, 0},        // each rune a word
		{"数 据", 2, 0, 0, 0},        // not neighbours
		{"2026", 1, 0, 0, 0},       // numbers have no grams
		{"?!", 2, 0, 1, 0},         // nothing but symbols
		{"really ?!", 1, 0, 0, 15}, // symbols beside words are dropped
		{"HTTP", 1, 0, 0, 9},       //
		{"__init__", 1, 0, 0, 9},   // underscores make no words
	} {
		got := [Kinds]int{}
		for k := range Kinds {
			got[k] = len(features(c.text, k))
		}
		if want := [Kinds]int{c.words, c.whole, c.pair, c.gram}; got != want {
			t.Errorf("%q gives %v features (words, wholes, pairs, grams), want %v", c.text, got, want)
		}
	}
}

func TestLongWordIsTakenInPieces(t *testing.T) {
	long := make([]byte, 10*maxWord)
	for i := range long {
		long[i] = 'a'
	}
	if n := len(features(string(long), Word)); n != 10 {
		t.Errorf("%d letters gave %d words, want 10", len(long), n)
	}
}
