package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/language"
)

// ProjectLabel is what people call a project, on one line: its name, which is that of its
// folder, or its id if it has none.
func ProjectLabel(name, id string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, cmp.Or(name, id))
}

// FoldName writes a name in lower case without what separates its words, so that readFile,
// read_file and "Read file" are one.
func FoldName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// Percent writes a share in whole percent, "45 %", rounded down, so that 100 % is
// all of it. Of nothing it is "0 %".
func Percent(part, whole int) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", 100*part/whole)
}

// Count writes a number with what is counted, in the singular for one: "1 file",
// "3 files".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, ok := strings.CutSuffix(one, "y"); ok && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Language returns the name under which code of a language is kept, for any name that
// the language has, in any case: "go" for "Golang", "typescript" for "ts" and ".tsx".
// It returns CodeInvalidInput, with similar names, for one that it does not know.
func Language(name string) (string, error) {
	asked := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), ".")
	if lang, ok := language.Named(asked); ok {
		return lang, nil
	}
	near := nearest(language.All(), func(lang string) int {
		best := edits(asked, lang)
		for other := range language.Names(lang) {
			best = min(best, edits(asked, other))
		}
		return best
	})
	return "", Invalid("filters.lang", "a language such as "+strings.Join(near, ", "), "unknown language %s", Quote(name))
}

// mostNear is how many names an error about an unknown one tells.
const mostNear = 3

// nearest returns the names with the least distance, nearest first, at most mostNear.
func nearest(names []string, distance func(string) int) []string {
	type near struct {
		name     string
		distance int
	}
	all := make([]near, len(names))
	for i, name := range names {
		all[i] = near{name, distance(name)}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	out := make([]string, min(mostNear, len(all)))
	for i := range out {
		out[i] = all[i].name
	}
	return out
}

// NearNames is the hint of an error about an unknown name: the known names that
// are nearest to it, in quotes, "" if there are none.
func NearNames(asked string, known []string) string {
	clip := func(s string) string { return strings.ToLower(s[:min(len(s), MaxNameText)]) }
	asked = clip(asked)
	names := slices.Compact(slices.Sorted(slices.Values(known)))
	near := nearest(names, func(name string) int { return edits(asked, clip(name)) })
	if len(near) == 0 {
		return ""
	}
	for i, name := range near {
		near[i] = Quote(name)
	}
	return "near names: " + strings.Join(near, ", ")
}

// edits is Levenshtein's distance between two texts, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
