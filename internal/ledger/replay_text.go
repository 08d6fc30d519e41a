package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxTitle is how much of an item's text stands for it, in characters.
	maxTitle = 72
	// maxChanged is how many questions that change are written out.
	maxChanged = 100
)

// titleOf is a short form of a text: the beginning of its words, on one line.
func titleOf(text string) string { return cut(strings.Join(strings.Fields(text), " "), maxTitle) }

// cut keeps n characters of a line, and marks that it did.
func cut(line string, n int) string {
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	return strings.TrimRight(string([]rune(line)[:n-1]), " ") + "…"
}

// text writes a replay for people: the sum, and then the questions that change, each
// with its items that do.
func text(r *memory.Replayed) string {
	var b strings.Builder
	t := r.Tally
	fmt.Fprintf(&b, "Asked %s of %s again", memory.Count(t.Questions, "question"), r.ProjectName)
	if t.Failed > 0 {
		fmt.Fprintf(&b, ", %d could not be asked", t.Failed)
	}
	if r.More {
		b.WriteString("; older ones are left out")
	}
	b.WriteString(".\nNew settings: " + settings(r.New) + "\n")
	for _, d := range r.Degraded {
		fmt.Fprintf(&b, "Missing while asking: %s: %s\n", d.Part, d.Reason)
	}
	b.WriteByte('\n')
	for _, line := range []struct {
		what string
		n    int
	}{
		{"items in all three answers", t.Same},
		{"came with the data", t.DataAdded}, {"went with the data", t.DataRemoved},
		{"come with the settings", t.SettingsAdded}, {"go with the settings", t.SettingsRemoved},
		{"move with the settings", t.SettingsMoved},
	} {
		fmt.Fprintf(&b, "%6d  %s\n", line.n, line.what)
	}
	changed := slices.DeleteFunc(slices.Clone(r.Answers), func(a memory.ReplayedAnswer) bool {
		return !a.DataChanged && !a.SettingsChanged && a.Error == ""
	})
	if len(changed) == 0 {
		b.WriteString("\nNo answer changes.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "\n%s:\n", changes(len(changed)))
	for _, a := range changed[:min(len(changed), maxChanged)] {
		answerText(&b, a)
	}
	if more := len(changed) - maxChanged; more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	return b.String()
}

func changes(n int) string {
	if n == 1 {
		return "1 answer changes"
	}
	return strconv.Itoa(n) + " answers change"
}

// settings writes settings in words.
func settings(s memory.AnswerSettings) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(s.MinRelevance)) {
		parts = append(parts, fmt.Sprintf("%s %.2f", kind, s.MinRelevance[kind]))
	}
	text := "floors " + strings.Join(parts, ", ") + fmt.Sprintf("; vector weight %.3g", s.VectorWeight)
	if s.Embedder != "" {
		text += "; embedder " + s.Embedder
	}
	return text
}

// answerText writes one question that changes.
func answerText(b *strings.Builder, a memory.ReplayedAnswer) {
	fmt.Fprintf(b, "\n%s  %s  %s\n", a.At.UTC().Format(time.DateTime), a.Receipt, strconv.Quote(titleOf(a.Query)))
	if a.Error != "" {
		fmt.Fprintf(b, "  could not be asked: %s\n", a.Error)
		return
	}
	moved := movedBetween(a.Items, beforeRank, afterRank)
	maps.Copy(moved, movedBetween(a.Items, recordedRank, beforeRank))
	b.WriteString("  recorded  before  after\n")
	for _, x := range a.Items {
		if x.Recorded > 0 && x.Before > 0 && x.After > 0 && !moved[x.ID] {
			continue
		}
		fmt.Fprintf(b, "  %8s  %6s  %5s  %s %s", place(x.Recorded), place(x.Before), place(x.After), x.Kind, x.ID)
		if x.Title != "" && x.Title != x.ID {
			b.WriteString("  " + x.Title)
		}
		if x.Reason != "" {
			b.WriteString("  (" + strings.ReplaceAll(string(x.Reason), "_", " ") + ")")
		}
		b.WriteByte('\n')
	}
}

// place writes a rank, a dash where there is none.
func place(rank int) string {
	if rank == 0 {
		return "–"
	}
	return strconv.Itoa(rank)
}
