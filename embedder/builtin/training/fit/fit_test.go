package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/recall"
)

// TestFitFindsWhatTheDrawsWereMadeWith draws from a known distribution and
// compares the quantiles that relevance goes by.
func TestFitFindsWhatTheDrawsWereMadeWith(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	truth := recall.Gumbel{Place: 0.2, PlaceLog: 0.3, Scale: 0.25, Half: 4}
	var drawn []sample
	for _, n := range []int{1, 2, 5, 10, 30, 100, 1000, 10_000} {
		x := make([]float64, 4000)
		for i := range x {
			x[i] = truth.Quantile(rng.Float64(), n)
		}
		drawn = append(drawn, newSample(n, x))
	}
	got := fitGumbel(drawn)
	for _, n := range []int{1, 10, 1000, 50_000} {
		for _, level := range []float64{0.9, 0.98, 0.995} {
			if a, b := got.Quantile(level, n), truth.Quantile(level, n); math.Abs(a-b) > 0.1 {
				t.Errorf("quantile %v among %d is %.3f, want %.3f (fitted %+v)", level, n, a, b, got)
			}
		}
	}
}

func TestCheckFunctionIsLeastAtTheQuantile(t *testing.T) {
	s := newSample(1, []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3})
	for _, level := range []float64{0.5, 0.75, 0.9} {
		least := s.check(s.quantile(level), level)
		for q := 0.0; q < 10; q += 0.25 {
			if got := s.check(q, level); got < least-1e-12 {
				t.Errorf("level %v: %v at %v is less than %v at the quantile %v", level, got, q, least, s.quantile(level))
			}
		}
	}
}

// TestRunFitsAFolderOfSets runs all of it over small sets in two languages that
// share no word.
func TestRunFitsAFolderOfSets(t *testing.T) {
	folder := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 0))
	for _, set := range []string{"alpha", "beta", "gamma"} {
		var corpus, queries, judgements strings.Builder
		for i := range 1200 {
			words := make([]string, 8)
			for j := range words {
				words[j] = fmt.Sprintf("%s%c%c", set, 'a'+rng.IntN(26), 'a'+rng.IntN(26))
			}
			fmt.Fprintf(&corpus, `{"id":"d%d","text":"the %s of it"}`+"\n", i, strings.Join(words, " "))
			if i < 60 {
				fmt.Fprintf(&queries, `{"id":"q%d","text":"what is the %s %s"}`+"\n", i, words[0], words[1])
				fmt.Fprintf(&judgements, "q%d\td%d\t1\n", i, i)
			}
		}
		for name, text := range map[string]string{"corpus.jsonl": corpus.String(), "queries.jsonl": queries.String(), "qrels.tsv": judgements.String()} {
			path := filepath.Join(folder, set, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatalf("make set: %v", err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatalf("write set: %v", err)
			}
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, folder, nil, 1); err != nil {
		t.Fatalf("run: %v", err)
	}
	for _, want := range []string{"Lexical: Gumbel{Place: ", "| alpha | ", "| gamma | "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
}

func TestRunNeedsSets(t *testing.T) {
	if err := run(t.Context(), &bytes.Buffer{}, t.TempDir(), nil, 1); err == nil {
		t.Error("an empty folder was fitted")
	}
}

func TestRelationsHoldBothWays(t *testing.T) {
	var r relations
	if err := r.Set("a,b"); err != nil {
		t.Fatalf("set: %v", err)
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{{"a", "b", true}, {"b", "a", true}, {"c", "c", true}, {"a", "c", false}} {
		if got := r.related(test.a, test.b); got != test.want {
			t.Errorf("related(%s, %s) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
