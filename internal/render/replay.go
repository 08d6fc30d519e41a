package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxTitle is the longest title of an item, in characters.
	maxTitle = 72
	// maxChanged bounds the queries that are written out.
	maxChanged = 100
)

// Title is a short form of a text: its first words on one line.
func Title(text string) string {
	line := OneLine(text)
	if utf8.RuneCountInString(line) <= maxTitle {
		return line
	}
	return strings.TrimRight(string([]rune(line)[:maxTitle-1]), " ") + Ellipsis
}

// Replay writes a replay: the totals, then the queries whose answers change, each with the
// items that do. moved returns the ids of the items of an answer that change places.
func Replay(r *memory.Replayed, moved func([]memory.ReplayedItem) map[string]bool) string {
	var b strings.Builder
	t := r.Tally
	fmt.Fprintf(&b, "Asked %s of %s again", memory.Count(t.Questions, "question"), r.ProjectName)
	if t.Failed > 0 {
		fmt.Fprintf(&b, ", %d could not be asked", t.Failed)
	}
	if r.More {
		b.WriteString("; older ones are left out")
	}
	b.WriteString(".\nNew settings: " + settingsText(r.New, "%.2f", "%.3g") + "\n")
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
		replayedText(&b, a, moved(a.Items))
	}
	if more := len(changed) - maxChanged; more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	return b.String()
}

// changes counts answers that change.
func changes(n int) string {
	if n == 1 {
		return "1 answer changes"
	}
	return strconv.Itoa(n) + " answers change"
}

// replayedText writes one query whose answer changes.
func replayedText(b *strings.Builder, a memory.ReplayedAnswer, moved map[string]bool) {
	fmt.Fprintf(b, "\n%s  %s  %s\n", a.At.UTC().Format(time.DateTime), a.Receipt, strconv.Quote(Title(a.Query)))
	if a.Error != "" {
		fmt.Fprintf(b, "  could not be asked: %s\n", a.Error)
		return
	}
	b.WriteString("  recorded  before  after\n")
	for _, x := range a.Items {
		if x.Recorded > 0 && x.Before > 0 && x.After > 0 && !moved[x.ID] {
			continue
		}
		fmt.Fprintf(b, "  %8s  %6s  %5s  %s %s", rankText(x.Recorded), rankText(x.Before), rankText(x.After), x.Kind, x.ID)
		if x.Title != "" && x.Title != x.ID {
			b.WriteString("  " + x.Title)
		}
		if x.Reason != "" {
			b.WriteString("  (" + ReasonText(x.Reason) + ")")
		}
		b.WriteByte('\n')
	}
}

// rankText writes a rank, or a dash for none.
func rankText(rank int) string {
	if rank == 0 {
		return "–"
	}
	return strconv.Itoa(rank)
}
