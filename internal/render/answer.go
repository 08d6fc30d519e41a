package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Answer sets the text of an answer, in the format of its request, and its tokens.
func Answer(a *memory.RecallResponse, req memory.RecallRequest) {
	if len(req.IDs) > 0 && req.Format != memory.FormatJSON {
		a.Text = fenced(a, wholes(a))
		spare := extra{room: MaxBytes(req.MaxTokens) - len(a.Text)}
		if len(a.Items) == 0 {
			spare.room = max(spare.room, MaxBytes(memory.MinTokens))
		}
		for line := range strings.Lines(notShown(a.Withheld)) {
			a.Text += spare.lines(line)
		}
		a.Tokens = Tokens(a.Text)
		return
	}
	switch req.Format {
	case memory.FormatMarkdown:
		a.Text = withReceipt(a, fenced(a, markdown(a.Items)+incompleteLine(a)), req.MaxTokens)
	case memory.FormatJSON:
		a.Text = asJSON(a, MaxBytes(req.MaxTokens), req.Explain)
	default:
		var spare extra
		a.Text = withReceipt(a, fenced(a, plain(a, &spare)), req.MaxTokens)
		spare.room = MaxBytes(req.MaxTokens) - len(a.Text)
		spare.explain = req.Explain
		a.Text = withReceipt(a, fenced(a, plain(a, &spare)), req.MaxTokens)
	}
	a.Tokens = Tokens(a.Text)
}

// fenced returns the text of an answer as a model gets it. Stored text is fenced as data;
// an answer without items has none.
func fenced(a *memory.RecallResponse, text string) string {
	if len(a.Items) == 0 {
		return Visible(text)
	}
	return Fence(text)
}

// asJSON writes an answer as one line of JSON: its items, or why there are none, then what
// its text says beside them, and to explain it what was withheld and how items were ranked, as
// far as that fits into most bytes.
func asJSON(a *memory.RecallResponse, most int, explain bool) string {
	shown := struct {
		Notice          string            `json:"notice,omitempty"`
		Items           []memory.Item     `json:"items"`
		NothingRelevant bool              `json:"nothing_relevant,omitempty"`
		Incomplete      bool              `json:"incomplete,omitempty"`
		Why             string            `json:"why,omitempty"`
		Stale           bool              `json:"stale,omitempty"`
		Redacted        bool              `json:"redacted,omitempty"`
		Degraded        []memory.Degraded `json:"degraded,omitempty"`
		Project         string            `json:"project,omitempty"`
		ProjectName     string            `json:"project_name,omitempty"`
		Receipt         string            `json:"receipt,omitempty"`
		Withheld        []memory.Withheld `json:"withheld,omitempty"`
	}{Items: slices.Clone(a.Items), NothingRelevant: a.NothingRelevant, Incomplete: a.Incomplete, Why: Lines(a.Why, maxWhy)}
	for i := range shown.Items {
		shown.Items[i].RankFactors = nil
		shown.Notice = Notice
	}
	text := Compact(shown)
	for i := len(shown.Items) - 1; i >= 0 && len(text) > most; i-- {
		switch item := &shown.Items[i]; {
		case item.Kind == memory.Lesson && item.Strength != memory.Maybe:
			item.Text = "" // its fields have it
		case item.Kind == memory.Step:
			item.StepEnd = nil // its text has it
		default:
			continue
		}
		text = Compact(shown)
	}
	if len(shown.Items) == 0 && !shown.NothingRelevant {
		// What was withheld comes before the rest: without it an answer without items reads
		// as if nothing were there.
		for _, w := range a.Withheld {
			if w.Reason == memory.BelowThreshold {
				continue
			}
			shown.Withheld = append(shown.Withheld, w)
			longer := Compact(shown)
			if len(longer) > most {
				shown.Withheld = shown.Withheld[:len(shown.Withheld)-1]
				break
			}
			text = longer
		}
	}
	texts := slices.Clone(shown.Items)
	more := []func(){
		func() { shown.Stale, shown.Redacted, shown.Degraded = a.Stale, a.Redacted, a.Degraded },
		func() { shown.Receipt = a.Receipt },
	}
	if explain {
		more = append(more, func() {
			shown.Project, shown.ProjectName, shown.Withheld = a.Project, a.ProjectName, a.Withheld
		}, func() {
			copy(shown.Items, a.Items)
			for i := range texts {
				shown.Items[i].Text, shown.Items[i].StepEnd = texts[i].Text, texts[i].StepEnd
			}
		})
	}
	for _, add := range more {
		add()
		longer := Compact(shown)
		if len(longer) > most {
			break
		}
		text = longer
	}
	return text
}

// Compact is a value as one line of JSON, in which all is visible.
func Compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // never: values that JSON was decoded to, or can be encoded as
		return "{}"
	}
	return JSON(strings.TrimSuffix(b.String(), "\n"))
}

// extra is the room for facts about the answer itself. They never take the place of a
// memory.
type extra struct {
	room    int // bytes
	explain bool
}

// lines returns whole lines, as they are shown, if there is room for all of them.
func (e *extra) lines(text string) string {
	if text = Visible(text); len(text) > e.room {
		return ""
	}
	e.room -= len(text)
	return text
}

// plain writes the text answer: lessons as in contract 2, the other records, then code
// with its location.
func plain(a *memory.RecallResponse, spare *extra) string {
	var b strings.Builder
	b.WriteString(emptyLine(a))
	b.WriteString(spare.lines(nearestLine(a)))
	degraded := ""
	isCode := func(d memory.Degraded) bool { return d.Part == memory.PartCode }
	if others := slices.DeleteFunc(slices.Clone(a.Degraded), isCode); len(others) > 0 {
		const frame = len("\n(degraded: )\n")
		if line := Prefix(Degraded(others), spare.room-frame); line != "" {
			degraded = spare.lines("\n(degraded: " + line + ")\n")
		}
	}
	for _, d := range a.Degraded {
		if isCode(d) {
			degraded += spare.lines("\n(Code was " + d.Reason + ".)\n")
		}
	}
	if a.Stale {
		degraded += spare.lines("\n" + staleLine + "\n")
	}
	if len(a.Items) == 0 && slices.ContainsFunc(a.Withheld, func(w memory.Withheld) bool { return w.Reason == memory.OverBudget }) {
		b.WriteString(spare.lines("A larger max_tokens has room for it.\n"))
	}
	lessons, others, code, lines := split(a.Items)
	number := 0
	section := func(heading string, items []memory.Item) {
		if len(items) == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "**%s (%d):**\n\n", heading, len(items))
		for _, item := range items {
			number++
			b.WriteString(Item(item, number))
			b.WriteByte('\n')
			if spare.explain {
				b.WriteString(spare.lines(explainItem(item)))
			}
		}
		number = 0
	}
	section("Relevant Memories", lessons)
	section("Relevant Records", others)
	section("Relevant Code in "+shortName(a.ProjectName), code)
	if len(lines) > 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(perhaps(lines))
		for _, item := range lines {
			if spare.explain {
				b.WriteString(spare.lines(explainItem(item)))
			}
		}
	}
	b.WriteString(incompleteLine(a))
	b.WriteString(degraded)
	if spare.explain {
		for _, line := range explainAnswer(a) {
			b.WriteString(spare.lines(line))
		}
	}
	return b.String()
}

// staleLine says that code may have changed since it was indexed.
const staleLine = "(stale: code may have changed since it was indexed; it is looked at again)"

// shortName bounds a project's name. The name comes from a repository, so it is put on one
// line and cannot close the frame.
func shortName(name string) string { return Lines(Escape(OneLine(name)), 60) }

// emptyLine says why an answer has no items.
func emptyLine(a *memory.RecallResponse) string {
	switch {
	case len(a.Items) > 0:
		return ""
	case a.NothingRelevant:
		return "Nothing relevant is remembered in " + shortName(a.ProjectName) + ".\n"
	}
	reasons := map[memory.Reason]int{}
	for _, w := range a.Withheld {
		reasons[w.Reason]++
	}
	delete(reasons, memory.BelowThreshold)
	if len(reasons) > 0 {
		var counts []string
		for _, r := range slices.Sorted(maps.Keys(reasons)) {
			counts = append(counts, fmt.Sprintf("%d %s", reasons[r], r))
		}
		return "What is relevant was withheld: " + strings.Join(counts, ", ") + ".\n"
	}
	return ""
}

// maxWhy bounds the reason why an answer is incomplete, in characters.
const maxWhy = 100

// incompleteLine says that the search was incomplete, and why. It is never left out:
// without it an answer would claim more than is known.
func incompleteLine(a *memory.RecallResponse) string {
	if !a.Incomplete {
		return ""
	}
	line := "(incomplete: " + Lines(OneLine(a.Why), maxWhy)
	if memory.IsIncomplete(a.Why) {
		line += "; ask again in a moment"
	}
	line += ")\n"
	if len(a.Items) > 0 {
		line = "\n" + line
	}
	return line
}

// leastNearest is the least relevance at which the nearest result below its threshold is
// mentioned. One unrelated query in seven finds as much.
const leastNearest = 0.4

// nearestLine says how relevant the best result below the threshold of an empty answer is,
// and how to see it. Its content was not read, so it is not named.
func nearestLine(a *memory.RecallResponse) string {
	var nearest memory.Withheld
	for _, w := range a.Withheld {
		if w.Reason == memory.BelowThreshold && w.NearestScore > nearest.NearestScore {
			nearest = w
		}
	}
	if !a.NothingRelevant || nearest.NearestScore < leastNearest {
		return ""
	}
	shown := math.Floor(nearest.NearestScore*10) / 10
	return fmt.Sprintf("The nearest is a %s of relevance %.2f, below the threshold; min_relevance %.1f shows it.\n", nearest.Kind.Words(), nearest.NearestScore, shown)
}

// split groups items by the sections of an answer.
func split(items []memory.Item) (lessons, others, code, lines []memory.Item) {
	for _, i := range items {
		switch {
		case i.Strength == memory.Maybe:
			lines = append(lines, i)
		case i.Kind == memory.Lesson:
			lessons = append(lessons, i)
		case i.Kind == memory.Chunk:
			code = append(code, i)
		default:
			others = append(others, i)
		}
	}
	return lessons, others, code, lines
}

// perhaps writes the lines of what is maybe.
func perhaps(items []memory.Item) string {
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Perhaps (recall ids: " + Ellipsis + "):\n")
	for _, i := range items {
		b.WriteString(Item(i, 0) + "\n")
	}
	return b.String()
}

// Provenance says where an item comes from: "told by cli", "followed from FILE".
func Provenance(p *memory.Provenance, line func(string) string) string {
	text := string(p.Origin)
	if p.Agent != "" {
		text += " by " + line(p.Agent)
	}
	if p.Path != "" {
		if p.Origin == memory.OriginTeam {
			text += " and"
		}
		text += " from " + line(p.Path)
	}
	return text
}

// Degraded names the parts that an answer lacks, with the reasons.
func Degraded(ds []memory.Degraded) string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = d.Part + ": " + d.Reason
	}
	return strings.Join(parts, "; ")
}
