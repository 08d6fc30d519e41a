package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// ForPeople writes an answer for a person at a terminal of some width, to be painted:
// every item with its relevance, its origin and its id on lines of their own, and remarks
// in the words of the command line. Models read Answer.
func ForPeople(a *memory.RecallResponse, width int) string {
	var b strings.Builder
	b.WriteString(InCommands(emptyLine(a) + nearestLine(a)))
	lessons, others, code, lines := split(a.Items)
	number := 0
	for _, section := range []struct {
		title string
		items []memory.Item
	}{
		{"Memories", lessons}, {"Records", others}, {"Code in " + shortName(a.ProjectName), code},
	} {
		if len(section.items) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "**%s (%d)**\n", section.title, len(section.items))
		for _, item := range section.items {
			number++
			b.WriteByte('\n')
			personItem(&b, item, number, width)
		}
	}
	if len(lines) > 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("**Perhaps** (`recalld show ID` shows one in full)\n\n")
		for _, i := range lines {
			relevance := fmt.Sprintf(" (relevance %.2f)", i.Relevance) // the text is cut, not this
			b.WriteString(within(Printable("- "+i.Text), max(width, 2*MinLast)-len(relevance)) + relevance + "\n")
		}
	}
	for _, remark := range remarks(a) {
		b.WriteString("\n" + remark + "\n")
	}
	return b.String()
}

// personItem writes one item: what it says, then where it comes from.
func personItem(b *strings.Builder, i memory.Item, number, width int) {
	about := fmt.Sprintf("relevance %.2f", i.Relevance)
	if i.Strength == memory.Likely {
		about += ", likely"
	}
	var facts []string
	var text, command string
	switch {
	case i.Kind == memory.Chunk:
		fmt.Fprintf(b, "%2d. **%s** (%s%s)%s\n", number, OneLine(location(i)), about, fileNameMark(i), similar(i))
		fence := fenceFor(i.Text)
		fmt.Fprintf(b, "%s%s\n%s\n%s\n", fence, langOf(i.Source.Path), strings.TrimRight(i.Text, "\n"), fence)
		if i.Foreign {
			facts = append(facts, "in "+OneLine(i.Source.Sandbox))
		}
		if i.Cut {
			facts = append(facts, "cut: `recalld show "+ShortID(i.ID)+"` shows all of it")
		}
		if len(facts) > 0 {
			b.WriteString("    " + strings.Join(facts, ", ") + "\n")
		}
		return
	case i.Kind == memory.Lesson && i.Lesson != "" && !i.Cut:
		text, command = OneLine(i.Lesson), Visible(commandLine(i.Command))
		if i.Context != "" {
			text = OneLine(i.Context) + ": " + text
		}
	default:
		text, _ = SplitMark(i)
		text = OneLine(text)
	}
	hanging(b, fmt.Sprintf("%2d. ", number), text, width)
	if command != "" && !strings.Contains(text, OneLine(i.Command)) {
		start := "    $ "
		for line := range strings.Lines(foldCommand(command, max(width-len(start), MinLast))) {
			b.WriteString(start + codeSpan(strings.TrimSuffix(line, "\n")) + "\n")
			start = "      "
		}
	}
	facts = append(facts, about, day(i.CreatedAt))
	if i.SuccessRate != "" {
		facts = append(facts, "worked "+i.SuccessRate)
	}
	if mark := strings.TrimSpace(similar(i) + anchorMark(i) + originMark(i)); mark != "" {
		facts = append(facts, mark)
	}
	facts = append(facts, i.ID)
	hanging(b, "    ", strings.Join(facts, " · "), width)
	if i.Cut {
		fmt.Fprintf(b, "    cut: `recalld show %s` shows all of it\n", i.ID)
	}
}

// foldCommand is Fold, but leaves a command that fits as it is: blanks in it count.
func foldCommand(command string, most int) string {
	if Width(command) <= most {
		return command + "\n"
	}
	return Fold(command, most)
}

// hanging writes a text after a start, broken after words, with the lines below it as far
// to the right as the first. What cannot be seen is made visible first, and so has a width.
func hanging(b *strings.Builder, start, text string, width int) {
	for line := range strings.Lines(Fold(Visible(text), max(width-len(start), MinLast))) {
		b.WriteString(start + line)
		start = strings.Repeat(" ", len(start))
	}
}

// remarks are what is to be known of an answer beside its items.
func remarks(a *memory.RecallResponse) []string {
	var out []string
	if a.Incomplete {
		out = append(out, strings.Trim(incompleteLine(a), "\n"))
	}
	for _, d := range a.Degraded {
		out = append(out, OneLine(fmt.Sprintf("(without %s: %s)", d.Part, d.Reason)))
	}
	if a.Stale {
		out = append(out, staleLine)
	}
	overBudget := 0
	for _, w := range a.Withheld {
		if w.Reason == memory.OverBudget {
			overBudget++
		}
	}
	if overBudget > 0 {
		out = append(out, fmt.Sprintf("(%d more did not fit: --max-tokens and --limit make room)", overBudget))
	}
	if a.Waiting != "" {
		out = append(out, "("+OneLine(a.Waiting)+")")
	}
	if a.Receipt != "" && len(a.Items) > 0 {
		out = append(out, "Tell what came of it: `recalld feedback "+ShortReceipt(a.Receipt)+" worked`")
	}
	return slices.Compact(out)
}

// InCommands says in the words of the command line what recalld's own lines say in those
// of the tools. It is for lines without stored text.
func InCommands(text string) string {
	return strings.NewReplacer("; min_relevance ", "; --min-relevance ", "A larger max_tokens has room for it.", "A larger --max-tokens has room for it.").Replace(text)
}
