package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// A rankPart is one part of why an item ranks where it does. text is empty where the part had no
// effect; value is the share of a bar, negative for none.
type rankPart struct {
	name  string
	text  func(f *memory.RankFactors) string
	value func(f *memory.RankFactors) float64
}

// rankParts are all parts, in the order in which they are shown. A new factor is a line here.
var rankParts = []rankPart{
	{"words", func(f *memory.RankFactors) string { return evidence(words(f)) }, words},
	{"meaning", func(f *memory.RankFactors) string { return evidence(meaning(f)) }, meaning},
	{"error", func(f *memory.RankFactors) string { return when(f.Error, "the same error") }, nil},
	{"names", func(f *memory.RankFactors) string {
		return joined(prefixed("defines ", f.Definition), prefixed("at ", f.Place), prefixed("named by the question: ", f.Named))
	}, nil},
	{"file", func(f *memory.RankFactors) string { return f.FileKind }, nil},
	{"neighbours", func(f *memory.RankFactors) string { return added(f.Neighbours) }, nil},
	{"recency", func(f *memory.RankFactors) string { return times(f.Recency) }, nil},
	{"success", func(f *memory.RankFactors) string { return times(f.Success) }, nil},
	{"anchor", func(f *memory.RankFactors) string { return string(f.Anchor) }, nil},
	{"project", func(f *memory.RankFactors) string { return times(f.Project) }, nil},
	{"session", func(f *memory.RankFactors) string { return times(f.Session) }, nil},
	{"origin", func(f *memory.RankFactors) string { return when(f.Followed, "after what was told") }, nil},
	{"verdicts", func(f *memory.RankFactors) string { return Verdicts(f.Verdicts) }, nil},
}

// words is the relevance that the words of an item have alone, meaning the highest that vectors
// have; -1 if they did not find it.
func words(f *memory.RankFactors) float64   { return evidenceOf(f, false) }
func meaning(f *memory.RankFactors) float64 { return evidenceOf(f, true) }

func evidenceOf(f *memory.RankFactors, vectors bool) float64 {
	best := -1.0
	for name, r := range f.Retrievers {
		if strings.HasPrefix(name, "vector/") == vectors {
			best = max(best, r.Relevance)
		}
	}
	return best
}

func evidence(x float64) string { return when(x >= 0, fmt.Sprintf("%.2f", x)) }

// times writes a factor, and nothing if it changes nothing that can be seen.
func times(x float64) string {
	text := fmt.Sprintf("×%.2f", x)
	return when(x != 0 && text != "×1.00", text)
}

// added writes what was added to a score.
func added(x float64) string {
	text := fmt.Sprintf("%+.2f", x)
	return when(text != "+0.00" && text != "-0.00", text)
}

func prefixed(prefix, text string) string { return when(text != "", prefix+Printable(text)) }

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// spelled are parts whose text says what they are.
var spelled = map[string]bool{"error": true, "names": true, "origin": true}

// factorsText writes the parts that had an effect on one line: "words 0.88, meaning 0.62, success ×1.04".
func factorsText(f *memory.RankFactors) string {
	var parts []string
	for _, p := range rankParts {
		switch text := p.text(f); {
		case text == "":
		case spelled[p.name]:
			parts = append(parts, text)
		default:
			parts = append(parts, p.name+" "+text)
		}
	}
	return strings.Join(parts, ", ")
}

// explainItem writes how an item was ranked, as a line below it.
func explainItem(i memory.Item) string {
	f := i.RankFactors
	if f == nil {
		return ""
	}
	from := ""
	if i.Provenance != nil {
		from = Provenance(i.Provenance, OneLine)
	}
	return fmt.Sprintf("   %s: %s\n", i.ID, joined(fmt.Sprintf("relevance %.2f, rank %.2f", i.Relevance, f.Score), factorsText(f), from))
}

// explainAnswer writes what an explained answer says behind its items.
func explainAnswer(a *memory.RecallResponse) []string {
	lines := []string{fmt.Sprintf("\nproject %s, receipt %s\n", shortName(a.ProjectName), a.Receipt)}
	for _, w := range a.Withheld {
		lines = append(lines, fmt.Sprintf("not shown: %s, relevance %.2f, %s\n", joined(string(w.Kind)+" "+w.ID, foreignName(Name(w.Server, w.Name)), foreignName(w.Path)), w.NearestScore, ReasonText(w.Reason)))
	}
	return lines
}

// foreignName bounds a name or path from a repository, which must not close the frame.
func foreignName(text string) string { return Escape(ForeignLine(text, 200)) }

// Explain draws how the items of an answer were ranked, a line for each in the order of the answer and a
// column for each part that had an effect, then what is not shown: the nearest first.
func Explain(w io.Writer, a *memory.RecallResponse) {
	shown := slices.DeleteFunc(slices.Clone(a.Items), func(i memory.Item) bool { return i.RankFactors == nil })
	if len(shown) > 0 {
		rows := make([][]string, len(shown)+1)
		rows[0] = []string{"ITEM", "STRENGTH", "RELEVANCE", "RANK"}
		for n, i := range shown {
			rows[n+1] = []string{ShortID(i.ID), string(i.Strength), bar(i.Relevance), fmt.Sprintf("%.2f", i.RankFactors.Score)}
		}
		for _, p := range rankParts {
			column := make([]string, len(shown))
			for n, i := range shown {
				if column[n] = p.text(i.RankFactors); column[n] != "" && p.value != nil {
					column[n] = bar(p.value(i.RankFactors))
				}
			}
			if !slices.ContainsFunc(column, func(text string) bool { return text != "" }) {
				continue
			}
			rows[0] = append(rows[0], strings.ToUpper(p.name))
			for n, text := range column {
				rows[n+1] = append(rows[n+1], text)
			}
		}
		Table(w, rows)
	}
	if len(a.Withheld) == 0 {
		return
	}
	if len(shown) > 0 {
		fmt.Fprintln(w)
	}
	nearest := slices.Clone(a.Withheld)
	slices.SortStableFunc(nearest, func(a, b memory.Withheld) int { return cmp.Compare(b.NearestScore, a.NearestScore) })
	rows := [][]string{{"NOT SHOWN", "RELEVANCE", "KIND", "BECAUSE", "WHAT"}}
	for _, h := range nearest[:min(len(nearest), nearestShown)] {
		what := ForeignLine(h.Title, 60)
		if h.Name != "" || h.Path != "" {
			what = withheldName(h)
		}
		rows = append(rows, []string{ShortID(h.ID), bar(h.NearestScore), string(h.Kind), ReasonText(h.Reason), what})
	}
	Table(w, rows)
	reasons := map[memory.Reason]int{}
	for _, h := range nearest[min(len(nearest), nearestShown):] {
		reasons[h.Reason]++
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(w, "%d more: %s\n", reasons[reason], ReasonText(reason))
	}
}

// ShortID is the beginning of an id, by which recall and explain find it.
func ShortID(id string) string { return id[:min(len(id), len("c-")+chunkDigits)] }

// nearestShown is how many of those that are not shown are drawn; the rest is counted.
const nearestShown = 8

// barCells is the width of a bar in characters.
const barCells = 6

// bar draws a share from 0 to 1 with its figure, always as wide as another.
func bar(x float64) string {
	parts := []rune("▏▎▍▌▋▊▉") // of a cell
	eighths := int(min(max(x, 0), 1)*8*barCells + .5)
	cells := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		cells += string(parts[part-1])
	}
	return fmt.Sprintf("%-*s %.2f", barCells, cells, x)
}
