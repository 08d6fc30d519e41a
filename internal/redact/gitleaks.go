package redact

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// How much text around its keyword a rule of gitleaks sees, in bytes. Its patterns begin up
// to 50 characters before the keyword and end within some hundred after it; the pattern for
// curl commands spans several lines.
const (
	leakBefore = 160
	leakBehind = 1200
)

// leak is a rule of gitleaks.
type leak struct {
	ID       string      `toml:"id"`
	Regex    string      `toml:"regex"`
	Group    int         `toml:"secretGroup"` // 0 is the first that is not empty
	Entropy  float64     `toml:"entropy"`
	Keywords []string    `toml:"keywords"`
	Allow    []allowlist `toml:"allowlists"`

	// likely is a cheap check of whether the pattern can match with its keyword at
	// text[at:]; nil for rules whose keywords are rare.
	likely func(text string, at int) bool
	// compiled returns the pattern, which is compiled at its first use: all patterns would
	// take a tenth of a second.
	compiled func() *regexp.Regexp
	// begins means that the pattern begins with its keyword. It is then tried only there:
	// searching for its start would take a hundred times as long.
	begins bool
	// word means that no letter or digit may precede the keyword.
	word bool
	// reads is how far the pattern reads over white space, in bytes; 0 if it reads a word
	// or two.
	reads int
}

// namePrefix is how gitleaks lets a name begin before the keyword. It can be empty, so a
// pattern without it matches at the keyword wherever the whole pattern matches.
const namePrefix = `[\w.-]{0,50}?`

// keywordWithin are rules whose keyword is not at the start of their match.
var keywordWithin = []string{"airtable-personnal-access-token", "azure-ad-client-secret", "cloudflare-origin-ca-key", "facebook-access-token",
	"freemius-secret-key", "hashicorp-tf-api-token", "intra42-client-secret", "kubernetes-secret-yaml", "maxmind-license-key",
	"microsoft-teams-webhook", "openai-api-key", "sidekiq-sensitive-url", "sourcegraph-access-token"}

// pattern returns the rule's pattern as it is tried.
func (r *leak) pattern() string {
	if !r.begins {
		return r.Regex
	}
	return `\A(?:` + strings.Replace(r.Regex, namePrefix, "", 1) + `)`
}

// allowlist has the reasons for which a match is not a secret.
type allowlist struct {
	Condition string   `toml:"condition"` // AND asks for all, paths too
	Paths     []string `toml:"paths"`
	Target    string   `toml:"regexTarget"` // secret (default), match or line
	Regexes   []string `toml:"regexes"`
	Stopwords []string `toml:"stopwords"`

	compiled func() []*regexp.Regexp
}

// leaks are the rules of gitleaks, and the allowlist of all of them.
type leaks struct {
	rules []*leak
	allow allowlist
}

// withoutPath are rules that mean nothing, or too much, in a text without a path: one
// looks at the path only, the other takes any string after the word password outside of
// Terraform.
var withoutPath = []string{"pkcs12-file", "hashicorp-tf-password"}

// loadLeaks reads the rules of the library in its own form, because its loader would
// compile all patterns at once. It fails only for another version of the library, which
// the tests notice.
func loadLeaks() (*leaks, error) {
	var all struct {
		Allowlist allowlist
		Rules     []*leak
	}
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &all); err != nil {
		return nil, fmt.Errorf("read rules of gitleaks: %w", err)
	}
	all.Allowlist.prepare()
	l := &leaks{allow: all.Allowlist}
	for _, r := range all.Rules {
		if slices.Contains(withoutPath, r.ID) {
			continue
		}
		if r.Regex == "" || len(r.Keywords) == 0 {
			return nil, fmt.Errorf("rule %s of gitleaks has no pattern or no keyword", r.ID)
		}
		switch r.ID {
		case genericKey:
			r.likely = isAssigned
		case "vault-service-token", "jwt": // the keyword "s." ends many sentences
			r.likely = isLongWord
		case "kubernetes-secret-yaml":
			r.likely = isManifest
		case "curl-auth-header":
			r.likely = isNear("-H", "--header")
		case "curl-auth-user":
			r.likely = isNear("-u", "--user")
		}
		if strings.Contains(r.Regex, ".*") || strings.Contains(r.Regex, `[\s\S`) {
			r.reads = leakBehind
		}
		r.begins = !slices.Contains(keywordWithin, r.ID)
		r.word = strings.HasPrefix(strings.TrimPrefix(r.Regex, "(?i)"), `\b`)
		r.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.pattern()) })
		r.Allow = slices.DeleteFunc(r.Allow, asksForPath)
		for i := range r.Allow {
			r.Allow[i].prepare()
		}
		l.rules = append(l.rules, r)
	}
	return l, nil
}

// asksForPath reports whether an allowlist depends on the path.
func asksForPath(a allowlist) bool {
	return len(a.Regexes)+len(a.Stopwords) == 0 || a.Condition == "AND" && len(a.Paths) > 0
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

// find returns the secrets of one rule in text[from:to], which is around the rule's
// keyword.
func (l *leaks) find(r *leak, text string, from, to int) []Span {
	var spans []Span
	part := text[from:to]
	for _, m := range r.compiled().FindAllStringSubmatchIndex(part, -1) {
		start, end := secretOf(m, r.Group)
		secret, match := part[start:end], part[m[0]:m[1]]
		if secret == "" || isMark(match) || isPlaceholder(secret) {
			continue
		}
		if r.Entropy > 0 && runeEntropy(secret) <= r.Entropy {
			continue
		}
		// The generic rule takes identifiers that end in a number.
		if r.ID == genericKey && !looksMade(secret) && digitRuns(secret) < 2 {
			continue
		}
		line := lineAround(text, from+m[0], from+m[1])
		allows := func(a allowlist) bool { return a.allows(secret, match, line) }
		if !allows(l.allow) && !slices.ContainsFunc(r.Allow, allows) {
			spans = append(spans, Span{from + start, from + end, r.ID})
		}
	}
	return spans
}

// genericKey is the rule of gitleaks for keys of unknown providers.
const genericKey = "generic-api-key"

// isAssigned reports whether a value of six or more characters is given to the name that
// begins at text[at:], in the form of the generic rule: the rest of the name, white
// space, a quote or two, a sign that assigns, more of those.
func isAssigned(text string, at int) bool {
	const longest = 60 // of the text between keyword and value
	rest := text[at:min(len(text), at+longest+6)]
	i := 0
	for i < len(rest) && (isWordByte(rest[i]) || rest[i] == '.' || rest[i] == '-' || rest[i] == ' ' || rest[i] == '\t') {
		i++
	}
	for i < len(rest) && strings.IndexByte(" \t\r\n\v\f'\"", rest[i]) >= 0 {
		i++
	}
	if i == len(rest) || strings.IndexByte("=>:|?,", rest[i]) < 0 {
		return false
	}
	for i < len(rest) && strings.IndexByte("=>:|?,` \t\r\n\v\f'\"", rest[i]) >= 0 {
		i++
	}
	return wordRun(rest[i:]) >= 6
}

// isManifest reports whether a manifest of Kubernetes may be near text[at:].
func isManifest(text string, at int) bool {
	const near = 400
	part := text[max(0, at-near):min(len(text), at+near)]
	return indexFold(part, "kind:") >= 0 && indexFold(part, "data:") >= 0
}

// isNear reports whether one of some words may be after text[at:].
func isNear(words ...string) func(text string, at int) bool {
	return func(text string, at int) bool {
		part := text[at:min(len(text), at+leakBehind+maxWord)]
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(part, word) })
	}
}

// isLongWord reports whether a word as long as a token begins at text[at:].
func isLongWord(text string, at int) bool {
	return wordRun(text[at:min(len(text), at+20)]) == 20
}

// wordRun counts the signs of a token at the front of s.
func wordRun(s string) int {
	n := 0
	for n < len(s) && (isWordByte(s[n]) || strings.IndexByte(".-/+=", s[n]) >= 0) {
		n++
	}
	return n
}

// digitRuns counts the groups of digits in a word.
func digitRuns(s string) int {
	runs := 0
	for i := range len(s) {
		if isDigit(s[i]) && (i == 0 || !isDigit(s[i-1])) {
			runs++
		}
	}
	return runs
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// secretOf returns the secret's group of a match: the named one, or the first that is not
// empty, or all of the match.
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
	if slices.ContainsFunc(a.compiled(), func(r *regexp.Regexp) bool { return r.MatchString(target) }) {
		return true
	}
	lower := strings.ToLower(secret)
	return slices.ContainsFunc(a.Stopwords, func(w string) bool { return strings.Contains(lower, w) })
}

// lineAround returns the lines around text[start:end], or the near part of them: a line
// may be the whole text, and is read for every match.
func lineAround(text string, start, end int) string {
	const near = 1024
	from, to := max(0, start-near), min(len(text), end+near)
	if i := strings.LastIndexByte(text[from:start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	return text[from:to]
}

// runeEntropy is Shannon's entropy in bits per character, over the bytes of the whole, as
// gitleaks computes it: the thresholds of its rules depend on that.
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
