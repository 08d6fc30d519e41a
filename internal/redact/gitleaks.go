package redact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
)

//go:generate go run ./internal/genrules gitleaks.jsonl

// gitleaksTable holds the rules of gitleaks (MIT, see gitleaks.LICENSE) in the
// version that go.mod names: the global allowlist, then one rule a line.
//
//go:embed gitleaks.jsonl
var gitleaksTable []byte

// The part of a text that a rule of gitleaks is shown around its keyword, in
// bytes: its patterns begin up to 50 signs before the keyword and end within
// some hundred behind it; one for a curl command reads over several lines.
const (
	leakBefore = 160
	leakBehind = 1200
)

// leak is a rule of gitleaks.
type leak struct {
	ID       string      `json:"id"`
	Regex    string      `json:"regex"`
	Group    int         `json:"group"` // the secret; 0 is the first that is not empty
	Entropy  float64     `json:"entropy"`
	Keywords []string    `json:"keywords"`
	Allow    []allowlist `json:"allow"`

	// The pattern is compiled when a keyword of it is found first: all of them
	// would take a tenth of a second.
	compiled func() *regexp.Regexp
}

// allowlist says what is no secret although a rule matches.
type allowlist struct {
	Target    string   `json:"target"` // secret (default), match or line
	Regexes   []string `json:"regexes"`
	Stopwords []string `json:"stopwords"`

	compiled func() []*regexp.Regexp
}

// leaks are the rules of gitleaks and what none of them may take.
type leaks struct {
	rules []*leak
	allow allowlist
}

// loadLeaks reads the table. It is part of the program, so that an error is one
// of the build, which the tests find.
func loadLeaks(table []byte) (*leaks, error) {
	var l leaks
	dec := json.NewDecoder(bytes.NewReader(table))
	if err := dec.Decode(&l.allow); err != nil {
		return nil, fmt.Errorf("read allowlist: %w", err)
	}
	l.allow.prepare()
	for dec.More() {
		r := new(leak)
		if err := dec.Decode(r); err != nil {
			return nil, fmt.Errorf("read rule: %w", err)
		}
		r.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.Regex) })
		for i := range r.Allow {
			r.Allow[i].prepare()
		}
		l.rules = append(l.rules, r)
	}
	return &l, nil
}

func (a *allowlist) prepare() {
	a.compiled = sync.OnceValue(func() []*regexp.Regexp {
		var all []*regexp.Regexp
		for _, r := range a.Regexes {
			all = append(all, regexp.MustCompile(r))
		}
		return all
	})
	for i, w := range a.Stopwords {
		a.Stopwords[i] = strings.ToLower(w)
	}
}

// find returns the secrets of one rule in text[from:to], which lie where the
// rule's keyword is.
func (l *leaks) find(r *leak, text string, from, to int) []Span {
	var spans []Span
	part := text[from:to]
	for _, m := range r.compiled().FindAllStringSubmatchIndex(part, -1) {
		start, end := secretOf(m, r.Group)
		secret := part[start:end]
		if secret == "" || isMark(part[m[0]:m[1]]) || isPlaceholder(secret) {
			continue
		}
		if r.Entropy > 0 && runeEntropy(secret) <= r.Entropy {
			continue
		}
		match := part[m[0]:m[1]]
		line := lineAround(text, from+m[0], from+m[1])
		if l.allow.allows(secret, match, line) {
			continue
		}
		allowed := false
		for i := range r.Allow {
			allowed = allowed || r.Allow[i].allows(secret, match, line)
		}
		if !allowed {
			spans = append(spans, Span{from + start, from + end, r.ID})
		}
	}
	return spans
}

// secretOf picks the secret's group of a match: the one named, or the first that
// is not empty, or all of the match.
func secretOf(m []int, group int) (start, end int) {
	if group > 0 && 2*group+1 < len(m) && m[2*group] >= 0 {
		return m[2*group], m[2*group+1]
	}
	for g := 1; 2*g+1 < len(m); g++ {
		if m[2*g] >= 0 && m[2*g] < m[2*g+1] {
			return m[2*g], m[2*g+1]
		}
	}
	return m[0], m[1]
}

func (a *allowlist) allows(secret, match, line string) bool {
	target := secret
	switch a.Target {
	case "match":
		target = match
	case "line":
		target = line
	}
	for _, r := range a.compiled() {
		if r.MatchString(target) {
			return true
		}
	}
	if len(a.Stopwords) == 0 {
		return false
	}
	lower := strings.ToLower(secret)
	for _, w := range a.Stopwords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// lineAround returns the lines that text[start:end] lies on.
func lineAround(text string, start, end int) string {
	start = strings.LastIndexByte(text[:start], '\n') + 1
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		return text[start : end+i]
	}
	return text[start:]
}

// runeEntropy is Shannon's, in bits a sign and over the bytes of the whole, as
// gitleaks reckons it: its bounds are made for that.
func runeEntropy(s string) float64 {
	counts := make(map[rune]int)
	for _, r := range s {
		counts[r]++
	}
	h, n := 0.0, float64(len(s))
	for _, c := range counts {
		p := float64(c) / n
		h -= p * math.Log2(p)
	}
	return h
}
