package ollama

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {"word", 1}, {"words", 2}, {"two words", 3}, {"a.b", 3}, {"数据库", 3}, {"  ", 0}, {"x := y+1", 6},
	} {
		if got := estimate(c.text); got != c.want {
			t.Errorf("%q is guessed to have %d tokens, want %d", c.text, got, c.want)
		}
	}
}

func TestWindows(t *testing.T) {
	text := strings.Repeat("one two three four\n", 100) // 500 tokens
	for _, c := range []struct{ budget, most, least int }{{0, 1, 1}, {1000, 1, 1}, {500, 1, 1}, {250, 3, 2}, {50, 13, 10}} {
		ws := windows(text, c.budget)
		if len(ws) < c.least || len(ws) > c.most {
			t.Errorf("budget %d gave %d windows, want %d–%d", c.budget, len(ws), c.least, c.most)
		}
		for i, w := range ws[:len(ws)-1] {
			if !strings.HasSuffix(w, "\n") {
				t.Errorf("budget %d: window %d ends in %.10q, not with a line", c.budget, i, w[len(w)-5:])
			}
		}
		if strings.Join(ws, "") != text {
			t.Errorf("budget %d: the windows together are not the text", c.budget)
		}
	}
}

// FuzzWindows checks that nothing but white space is lost, no rune is broken
// and halving comes to an end.
func FuzzWindows(f *testing.F) {
	f.Add("some text\nof two lines", 2)
	f.Add(strings.Repeat("数据库", 50), 7)
	f.Add("a"+strings.Repeat(" ", 100)+"b", 1)
	f.Add("🙂🙃", 1)
	f.Fuzz(func(t *testing.T, text string, budget int) {
		if !utf8.ValidString(text) || budget > 1<<20 {
			return
		}
		check := func(parts []string) {
			squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if got, want := squeeze(strings.Join(parts, "")), squeeze(text); got != want {
				t.Fatalf("%q became %q", text, parts)
			}
			for _, p := range parts {
				if !utf8.ValidString(p) {
					t.Fatalf("%q was cut inside a rune: %q", text, parts)
				}
			}
		}
		check(windows(text, budget))
		for parts := []string{text}; len(parts) > 0; {
			last := parts[len(parts)-1]
			parts = parts[:len(parts)-1]
			halves, ok := halve(last)
			if !ok {
				continue
			}
			for _, h := range halves {
				if len(h) >= len(last) {
					t.Fatalf("%q was halved to %q", last, halves)
				}
			}
			parts = append(parts, halves...)
		}
	})
}

func TestRatioLearns(t *testing.T) {
	var r ratio
	if r.of() != 1 {
		t.Errorf("nothing learned is %v, want 1", r.of())
	}
	in := []string{strings.Repeat("word ", 98)} // 100 with the marks
	for range 20 {
		r.learn(in, 200)
	}
	if got := r.of(); got < 1.9 || got > 2.1 {
		t.Errorf("after batches of twice the tokens the ratio is %v, want 2", got)
	}
	r.learn(in, 0) // a server that does not count
	if got := r.of(); got < 1.9 {
		t.Errorf("a missing count changed the ratio to %v", got)
	}
	for range 200 {
		r.learn(in, 100)
	}
	if got := r.of(); got > 1.1 {
		t.Errorf("after batches as guessed the ratio is %v, want 1", got)
	}
}

func TestMean(t *testing.T) {
	v, err := combine([]*item{{vector: []float32{1, 0}, weight: 3}, {vector: []float32{0, 1}, weight: 4}})
	if err != nil || v[0] < 0.59 || v[0] > 0.61 || v[1] < 0.79 || v[1] > 0.81 {
		t.Errorf("the mean is %v, %v, want [0.6 0.8]", v, err)
	}
	if _, err := combine([]*item{{vector: []float32{1, 0}, weight: 1}, {vector: []float32{-1, 0}, weight: 1}}); err == nil {
		t.Error("opposite vectors have a mean with a direction")
	}
}
