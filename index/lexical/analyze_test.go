package lexical

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/index"
)

func TestAnalyze(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"punctuation alone", " -- :: ... ", ""},
		{"words are stemmed", "Running, runs: the runner RUN", "run:3 runner the"},
		{"camel case", "getUserName", "get getusernam name user"},
		{"acronyms", "parseHTTPRequest HTTPServer", "http:2 httpserver pars parsehttprequest request server"},
		{"plural acronym", "URLs IDs", "id url"},
		{"snake case is the same compound", "read_file readFile READ_FILE", "file:3 read:3 readfil:3"},
		{"underscores around", "__init__ _x", "init x"},
		{"digits", "utf8 sha256sum v2", "256 sha sha256sum sum utf utf8 v2"},
		{"numbers", "1_000 404 3.12", "000 1000 12 3 404"},
		{"dotted names and paths", "os.path.join src/auth/login.ts", "auth join login os path src ts"},
		{"several spellings of a compound", "GitHub github", "git github:2 hub"},
		{"contractions", "don't", "don t"},
		{"letters beyond ASCII", "Café ÉCOLE Straße", "café straße école"},
		{"composed and decomposed", "Zöllner Zo\u0308llner zo\u0308llner", "zöllner:3"},
		{"decomposed compounds", "getCafe\u0301s", "cafés get getcafés"},
		{"decomposed kana and Hangul", "\u304b\u3099\u304f \u1112\u1161\u11ab\u1100\u1173\u11af", "がく 한글"},
		{"combining marks that nothing composes", "x\u0301s", "x\u0301s"},
		{"Cyrillic", "Память агента", "агента память"},
		{"Han gives pairs", "全文検索", "全文 文検 検索"},
		{"one character of Han", "語 x", "x 語"},
		{"script changes inside a word", "useState钩子函数", "state use usest 函数 子函 钩子"},
		{"Thai keeps its marks", "ก็ดี", "\u0e01\u0e47 \u0e14\u0e35 \u0e47\u0e14"},
		{"bytes that are not UTF-8 separate", "read\xff\xfewrite", "read write"},
		{"a long word is left out", strings.Repeat("ø", maxTerm+1) + " kept " + strings.Repeat("ø", maxTerm), "kept " + strings.Repeat("ø", maxTerm)},
		{"a long compound is found by its parts", strings.Repeat("LongName", 9), "long:9 name:9"},
		{"a long run is data", strings.Repeat("A1", maxRun) + " kept", "kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := format(Analyze(c.text)); got != c.want {
				t.Errorf("Analyze(%q):\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

// format writes terms as text, with counts over one.
func format(terms index.Terms) string {
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = t.Text
		if t.Count != 1 {
			words[i] = fmt.Sprintf("%s:%d", t.Text, t.Count)
		}
	}
	return strings.Join(words, " ")
}

// TestAnalyzeForgets goes past what an analyzer remembers; what it made of a word
// before must be what it makes of it after.
func TestAnalyzeForgets(t *testing.T) {
	a := newAnalyzer()
	const text = "getUserName walks the path"
	want := format(a.analyze(text))
	var many strings.Builder
	for i := range maxMemory + 1 {
		fmt.Fprintf(&many, "word%d ", i)
	}
	a.analyze(many.String())
	if got := format(a.analyze(text)); got != want {
		t.Errorf("after forgetting: got %q, want %q", got, want)
	}
	if len(a.runs) > 100 {
		t.Errorf("%d runs remembered, want only the runs of the last text", len(a.runs))
	}
}

func TestQueryTerms(t *testing.T) {
	weights := make(map[string]float64)
	for _, q := range queryTerms("how do I parse, parse, parse and parse a URL") {
		weights[q.text] = q.weight
	}
	for term, want := range map[string]float64{"how": 0.3, "do": 0.3, "pars": 2, "url": 1} {
		if weights[term] != want {
			t.Errorf("weight of %q is %v, want %v", term, weights[term], want)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"getUserName read_file", "全文検索 ก็ดี", "a\xff\xfeb", "İSTANBUL ǅ ß", strings.Repeat("aB", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := Analyze(text)
		for i, term := range terms {
			if term.Text == "" || term.Count == 0 || !utf8.ValidString(term.Text) || utf8.RuneCountInString(term.Text) > maxTerm {
				t.Errorf("term %d is %+q, %d times", i, term.Text, term.Count)
			}
			if i > 0 && terms[i-1].Text >= term.Text {
				t.Errorf("term %q stands before %q", terms[i-1].Text, term.Text)
			}
		}
		if again := newAnalyzer().analyze(text); !slices.Equal(terms, again) {
			t.Errorf("another analyzer gives %v, want %v", again, terms)
		}
		decoded, err := DecodeTerms(EncodeTerms(terms))
		if err != nil || !slices.Equal(decoded, terms) {
			t.Errorf("stored and read again: %v, %v, want %v", decoded, err, terms)
		}
	})
}
