package code

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestLanguagesCanBeAskedFor: what a walk calls a language is a name that filters
// take, and its extensions are asked for by no other name.
func TestLanguagesCanBeAskedFor(t *testing.T) {
	names := map[string]string{} // how asked to what is kept
	for ext, lang := range byExtension {
		names[ext] = lang
		names[lang] = lang
	}
	for _, langs := range []map[string]string{byName, byShebang} {
		for _, lang := range langs {
			names[lang] = lang
		}
	}
	for asked, want := range names {
		if want == "data" || want == "binary" {
			continue
		}
		got, err := memory.Language(asked)
		if asked == want && err != nil {
			t.Errorf("files are kept as %s, which is refused: %v", want, err)
		}
		if err == nil && got != want {
			t.Errorf("files with .%s are kept as %s and asked for as %s", asked, want, got)
		}
	}
}
