package redact

import (
	"strings"
	"testing"
)

// TestKeywords holds the automaton against a plain search.
func TestKeywords(t *testing.T) {
	all := textRules()
	k := newKeywords(all)
	texts := []string{"", "ghghp_", "xoxoxb-api-API_KEY", "secretokenpasswordpwd", "-----BEGIN-----begin", "apikeyapikey", "\xff\x00é://://"}
	for _, r := range all {
		texts = append(texts, r.keywords...)
		texts = append(texts, strings.ToUpper(strings.Join(r.keywords, "")))
	}
	for _, text := range texts {
		got := map[hit]bool{}
		for _, h := range k.scan(text) {
			got[h] = true
		}
		want := 0
		lower := strings.ToLower(text)
		if len(lower) != len(text) {
			lower = text
		}
		for _, r := range all {
			seen := map[int]bool{}
			for _, word := range r.keywords {
				for at := range len(lower) {
					if strings.HasPrefix(lower[at:], word) && !seen[at] {
						seen[at] = true
						want++
						if !got[hit{r, at}] {
							t.Errorf("%q: %q at %d was not found", text, word, at)
						}
					}
				}
			}
		}
		if len(got) != want {
			t.Errorf("%q: %d places found, want %d", text, len(got), want)
		}
	}
}
