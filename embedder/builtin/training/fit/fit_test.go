package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/recall"
)

// TestFitFindsWhatTheDrawsWereMadeWith draws from a known distribution and
// compares the quantiles that relevance goes by.
func TestFitFindsWhatTheDrawsWereMadeWith(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	truth := recall.Gumbel{Place: 1.2, PlaceLog: 1.1, Length: 0.4, Scale: 1.6, Short: 0.8}
	var seen []sighting
	for range 5000 {
		n, m := []int{1, 5, 20, 100, 1000, 5000}[rng.IntN(6)], 1+rng.IntN(40)
		seen = append(seen, sighting{truth.Quantile(rng.Float64(), recall.Size{Documents: n, Words: m}), n, m})
	}
	got := fitGumbel(seen)
	for _, of := range []recall.Size{{Documents: 5, Words: 2}, {Documents: 300, Words: 8}, {Documents: 20_000, Words: 60}} {
		for _, level := range []float64{0.3, 0.9, 0.98} {
			if a, b := got.Quantile(level, of), truth.Quantile(level, of); math.Abs(a-b) > 0.7 {
				t.Errorf("quantile %v of %+v is %.3f, want %.3f (fitted %+v)", level, of, a, b, got)
			}
		}
	}
}

func TestCheckFunctionIsLeastAtTheQuantile(t *testing.T) {
	x := []float64{1, 1, 2, 3, 3, 4, 5, 5, 6, 9}
	loss := func(q, level float64) (sum float64) {
		for _, v := range x {
			sum += check(v-q, level)
		}
		return sum
	}
	for _, level := range []float64{0.5, 0.75, 0.9} {
		least := loss(x[int(level*float64(len(x)))], level)
		for q := 0.0; q < 10; q += 0.25 {
			if got := loss(q, level); got < least-1e-12 {
				t.Errorf("level %v: %v at %v is less than %v at the quantile", level, got, q, least)
			}
		}
	}
}

// TestRunFitsPairsAndCode runs all of it over four small sources of different words.
func TestRunFitsPairsAndCode(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 0))
	var list strings.Builder
	for _, name := range []string{"a/alpha", "b/beta", "c/gamma", "d/delta"} {
		file := strings.Replace(name, "/", "+", 1)
		repo := filepath.Join(dir, "mirrors", file, "repo")
		var pairs, code bytes.Buffer
		for i := range 60 {
			word := func() string { return fmt.Sprintf("%s%c%c", name[2:], 'a'+rng.IntN(26), 'a'+rng.IntN(26)) }
			a, b := word(), word()
			for _, kind := range []string{"commit", "question", "ask"} {
				text := fmt.Sprintf("the %s of %s number %d, with %s", a, b, i, word())
				if kind == "ask" {
					text = fmt.Sprintf("func %s%d(%s int) int {\n\treturn %s + %d\n}\n", a, i, b, b, i)
					code.WriteString("\n" + text)
				}
				line, err := json.Marshal(map[string]string{"k": kind, "r": name, "a": "what is the " + a + " " + b, "b": text})
				if err != nil {
					t.Fatal(err)
				}
				pairs.Write(append(line, '\n'))
			}
		}
		write(t, filepath.Join(dir, "pairs", file+".jsonl"), pairs.String())
		write(t, filepath.Join(repo, "main.go"), "package main\n"+code.String())
		git(t, repo, "init", "-q")
		git(t, repo, "add", ".")
		git(t, repo, "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "all")
		fmt.Fprintf(&list, "%s %s MIT code\n", name, git(t, repo, "rev-parse", "HEAD"))
	}
	o := options{list: filepath.Join(dir, "list.txt"), mirrors: filepath.Join(dir, "mirrors"), pairs: filepath.Join(dir, "pairs"), seed: 1}
	write(t, o.list, "# a list\n"+list.String())
	var out bytes.Buffer
	if err := run(t.Context(), &out, o); err != nil {
		t.Fatalf("run: %v", err)
	}
	for _, want := range []string{"lesson: {\n\tWords: Gumbel{Place: ", "| reference | all | ", "| chunk | "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	write(t, o.list, strings.Join(strings.SplitAfter(list.String(), "\n")[:3], ""))
	if err := run(t.Context(), &out, o); err == nil {
		t.Error("three sources were fitted")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatalf("make folder: %v", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
