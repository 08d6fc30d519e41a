package recall

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

const (
	// bytesPerToken is how much text a token is taken to be where a budget in
	// tokens becomes one in bytes; see tokens for the other direction.
	bytesPerToken = 3
	// headTokens is set aside for headings and the frame around stored text.
	headTokens = 24 + FrameTokens
	// markdownSnippet is the longest snippet of the markdown block, in
	// characters (contract 4).
	markdownSnippet = 200
)

// tokens estimates how many tokens a text takes: one for every 3.5 bytes, on
// the safe side for the tokenizers in use, on English and on code.
func tokens(text string) int { return TokensOf(len(text)) }

// maxBytes is the longest text that takes no more than some tokens.
func maxBytes(tokens int) int { return 7 * tokens / 2 }

// head is what a budget sets aside before items are chosen: a small one less than
// headTokens, or it would have no room for one.
func head(budget int) int { return min(headTokens, budget/2) }

// itemTokens is what an item takes in the text of an answer.
func itemTokens(i memory.Item) int { return tokens(render.Visible(itemText(i, 0))) + 1 }

// fit writes an answer whose items are ranked, in the order of their kinds. As long
// as headings and the like put it over its budget, it withholds the item that ranks
// last.
func fit(a *memory.RecallResponse, req memory.RecallRequest) {
	for ranked := a.Items; ; {
		if a.Items = ranked; len(req.IDs) == 0 { // else they are in the order asked for
			a.Items = byKind(ranked)
		}
		write(a, req)
		if a.Tokens <= req.MaxTokens || len(ranked) == 0 {
			return
		}
		last := ranked[len(ranked)-1]
		ranked = ranked[:len(ranked)-1]
		w := memory.Withheld{ID: last.ID, Kind: last.Kind, Reason: memory.OverBudget, NearestScore: last.Relevance, Path: last.Source.Path}
		a.Withheld = slices.Insert(a.Withheld, 0, w)
	}
}

// write fills in the text of an answer and counts its tokens.
func write(a *memory.RecallResponse, req memory.RecallRequest) {
	switch {
	case len(req.IDs) == 0:
	case req.Format == memory.FormatJSON:
	default:
		a.Text = fenced(a, wholes(a))
		spare := extra{room: maxBytes(req.MaxTokens) - len(a.Text)}
		if len(a.Items) == 0 {
			spare.room = max(spare.room, maxBytes(memory.MinTokens))
		}
		for line := range strings.Lines(notShown(a.Withheld)) {
			a.Text += spare.lines(line)
		}
		a.Tokens = tokens(a.Text)
		return
	}
	switch req.Format {
	case memory.FormatMarkdown:
		a.Text = fenced(a, markdown(a)+incompleteLine(a))
	case memory.FormatJSON:
		a.Text = asJSON(a, maxBytes(req.MaxTokens), req.Explain)
	default:
		var spare extra
		a.Text = fenced(a, plain(a, &spare))
		spare.room = maxBytes(req.MaxTokens) - len(a.Text)
		spare.explain = req.Explain
		a.Text = fenced(a, plain(a, &spare))
	}
	a.Tokens = tokens(a.Text)
}

// fenced is the text of an answer as a model gets it: what is stored is fenced as
// data. An answer without items says nothing that is stored.
func fenced(a *memory.RecallResponse, text string) string {
	if len(a.Items) == 0 {
		return render.Visible(text)
	}
	return render.Fence(text)
}

// asJSON is the answer as one line of JSON: its items, or why there are none, and then,
// as far as there is room for it in most bytes, what the answer tells about itself.
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
	}{Items: slices.Clone(a.Items), NothingRelevant: a.NothingRelevant, Incomplete: a.Incomplete, Why: cut(a.Why, maxWhy)}
	for i := range shown.Items {
		shown.Items[i].RankFactors = nil
		shown.Notice = render.Notice
	}
	text := compact(shown)
	for i := len(shown.Items) - 1; i >= 0 && len(text) > most; i-- {
		switch item := &shown.Items[i]; item.Kind {
		case memory.Lesson:
			item.Text = "" // its fields have it
		case memory.Step:
			item.StepEnd = nil // its text has it
		default:
			continue
		}
		text = compact(shown)
	}
	if len(shown.Items) == 0 && !shown.NothingRelevant {
		// What was withheld comes before the rest: without it an answer without items reads
		// as if nothing were there.
		for _, w := range a.Withheld {
			if w.Reason == memory.BelowThreshold {
				continue
			}
			shown.Withheld = append(shown.Withheld, w)
			longer := compact(shown)
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
		func() { shown.Project, shown.ProjectName, shown.Receipt = a.Project, a.ProjectName, a.Receipt },
		func() { shown.Withheld = a.Withheld },
	}
	if explain {
		more = append(more, func() {
			copy(shown.Items, a.Items)
			for i := range texts {
				shown.Items[i].Text, shown.Items[i].StepEnd = texts[i].Text, texts[i].StepEnd
			}
		})
	}
	for _, add := range more {
		add()
		longer := compact(shown)
		if len(longer) > most {
			break
		}
		text = longer
	}
	return text
}

// compact writes a value of our own as JSON, without escapes that only a web page
// needs.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // never: it has strings, flags and finite numbers only
		return ""
	}
	return render.JSON(strings.TrimSuffix(b.String(), "\n"))
}

// extra is what an answer tells about itself as far as the budget has room for
// it: it never takes the place of a memory.
type extra struct {
	room    int // bytes
	explain bool
}

// lines returns whole lines if there is room for all of them.
func (e *extra) lines(text string) string {
	if len(text) > e.room {
		return ""
	}
	e.room -= len(text)
	return text
}

// plain is the text answer: lessons as contract 2 writes them, then the other
// records, then code with its place.
func plain(a *memory.RecallResponse, spare *extra) string {
	var b strings.Builder
	b.WriteString(emptyLine(a))
	b.WriteString(spare.lines(nearestLine(a)))
	degraded := ""
	if len(a.Degraded) > 0 {
		const frame = len("\n(degraded: )\n")
		if line := prefix(degradedLine(a.Degraded), spare.room-frame); line != "" {
			degraded = spare.lines("\n(degraded: " + line + ")\n")
		}
	}
	if a.Stale {
		degraded += spare.lines("\n(stale: code may have changed since it was indexed; it is looked at again)\n")
	}
	if len(a.Items) == 0 && slices.ContainsFunc(a.Withheld, func(w memory.Withheld) bool { return w.Reason == memory.OverBudget }) {
		b.WriteString(spare.lines("A larger max_tokens has room for it.\n"))
	}
	lessons, others, code := split(a.Items)
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
			b.WriteString(itemText(item, number))
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
	b.WriteString(incompleteLine(a))
	b.WriteString(degraded)
	if spare.explain {
		for _, line := range explainAnswer(a) {
			b.WriteString(spare.lines(line))
		}
	}
	return b.String()
}

// shortName keeps a project's name from taking a budget for itself.
// It comes from a repository, so it is kept to one line that closes no frame.
func shortName(name string) string { return cut(render.Escape(oneLine(name)), 60) }

// emptyLine says in one line why there is no item.
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

// maxWhy is the longest reason that is written out, in characters.
const maxWhy = 100

// incompleteLine says that not all was searched, and why. It is not left out for want
// of room: without it an answer would claim more than is known.
func incompleteLine(a *memory.RecallResponse) string {
	if !a.Incomplete {
		return ""
	}
	line := "(incomplete: " + cut(oneLine(a.Why), maxWhy)
	if memory.IsIncomplete(a.Why) {
		line += "; ask again in a moment"
	}
	line += ")\n"
	if len(a.Items) > 0 {
		line = "\n" + line
	}
	return line
}

// worthTelling is the relevance from which the nearest of what is below its floor is
// told. One unrelated question in seven finds as much.
const worthTelling = 0.4

// nearestLine says of an empty answer how near the nearest came, and how to see it;
// what it is was not looked at, so it is not named.
func nearestLine(a *memory.RecallResponse) string {
	var nearest memory.Withheld
	for _, w := range a.Withheld {
		if w.Reason == memory.BelowThreshold && w.NearestScore > nearest.NearestScore {
			nearest = w
		}
	}
	if !a.NothingRelevant || nearest.NearestScore < worthTelling {
		return ""
	}
	floor := math.Floor(nearest.NearestScore*10) / 10
	return fmt.Sprintf("The nearest is a %s of relevance %.2f, below the floor; min_relevance %.1f shows it.\n", nearest.Kind, nearest.NearestScore, floor)
}

func split(items []memory.Item) (lessons, others, code []memory.Item) {
	for _, i := range items {
		switch i.Kind {
		case memory.Lesson:
			lessons = append(lessons, i)
		case memory.Chunk:
			code = append(code, i)
		default:
			others = append(others, i)
		}
	}
	return lessons, others, code
}

// itemText writes one numbered item, marked if it is of another repository, or of
// another folder than the caller's.
func itemText(i memory.Item, number int) string {
	from := similar(i)
	if i.Provenance != nil && i.Provenance.Followed() {
		from += " " + memory.FollowedMark
	}
	if i.Foreign {
		from += " [from " + cmp.Or(oneLine(i.Source.Repo), "another project") + "]"
	}
	day := i.CreatedAt.UTC().Format(time.DateOnly)
	text, mark := unmarked(i)
	switch i.Kind {
	case memory.Lesson:
		return fmt.Sprintf("%d. [%s] %s%s%s", number, day, text, rateSuffix(i), from) + behind(mark)
	case memory.Chunk:
		head := fmt.Sprintf("%d. %s:%d-%d", number, i.Source.Path, i.Source.Lines[0], i.Source.Lines[1])
		if i.Source.Symbol != "" {
			head += " " + i.Source.Symbol
		}
		in := ""
		if i.Foreign {
			in = " [in " + oneLine(i.Source.Sandbox) + "]"
		}
		fence := fenceFor(i.Text)
		if i.Cut {
			mark = "\n" + chunkMark(i.ID)
		}
		return fmt.Sprintf("%s (relevance %.2f%s)%s%s\n%s%s\n%s\n%s", head, i.Relevance, fileNameMark(i, "light"), similar(i), in, fence, langOf(i.Source.Path), i.Text, fence) + mark
	case memory.Step:
		return fmt.Sprintf("%d. [%s] %s%s", number, day, text, from) + behind(mark)
	default:
		return fmt.Sprintf("%d. [%s] %s %s%s%s", number, day, i.Kind, text, rateSuffix(i), from) + behind(mark)
	}
}

// behind is a mark as it ends a line: what comes before it says where the text ends.
func behind(mark string) string {
	if mark == "" {
		return ""
	}
	return " " + mark
}

// commandText is how the command of a lesson follows it; empty where the lesson says
// it already.
func commandText(i memory.Item) string {
	command := oneLine(i.Command)
	if command == "" || strings.Contains(oneLine(i.Lesson), command) {
		return ""
	}
	quote, pad := "`", ""
	for strings.Contains(command, quote) {
		quote, pad = quote+"`", " "
	}
	return " — " + quote + pad + command + pad + quote
}

// lessonLine is a lesson with its command, without number, date and rate. With n above 0
// the context and the lesson take at most n bytes: the context is cut first, to no less
// than a third of the room, and then the lesson. See cutLesson for the command.
func lessonLine(i memory.Item, n int) string {
	context, lesson := oneLine(i.Context), oneLine(i.Lesson)
	if context != "" {
		context += ": "
	}
	if over := len(context) + len(lesson) - n; n > 0 && over > 0 {
		if context != "" {
			const colon = len(": ")
			context = shorten(context[:len(context)-colon], max(len(context)-over, n/3)-colon) + ": "
		}
		lesson = shorten(lesson, n-len(context))
	}
	return context + lesson + commandText(i)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func rateSuffix(i memory.Item) string {
	if i.SuccessRate == "" {
		return ""
	}
	return " (" + i.SuccessRate + " success)"
}

func similar(i memory.Item) string {
	if i.Similar == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d alike)", i.Similar)
}

// fenceFor is a code fence longer than any in the text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func langOf(p string) string { return strings.TrimPrefix(path.Ext(p), ".") }

// markdown is the block that a host puts into a prompt: lessons as in the text
// answer, code as contract 4 writes it, nothing at all where there is nothing.
func markdown(a *memory.RecallResponse) string {
	lessons, others, code := split(a.Items)
	var b strings.Builder
	if len(lessons)+len(others) > 0 {
		b.WriteString(plain(&memory.RecallResponse{Items: append(lessons, others...)}, new(extra)))
	}
	if len(code) == 0 {
		return b.String()
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	plural := "s"
	if len(code) == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "## RELEVANT CODEBASE CONTEXT (from RAG)\nFound %d relevant snippet%s:\n", len(code), plural)
	for n, i := range code {
		fmt.Fprintf(&b, "\n%d. %s (Relevance: %.2f%s)\n", n+1, i.Source.Path, i.Relevance, fileNameMark(i, "light index"))
		for line := range strings.SplitSeq(cut(i.Text, markdownSnippet), "\n") {
			b.WriteString(strings.TrimRight("   "+line, " ") + "\n")
		}
	}
	return b.String()
}

// cut keeps the whole lines that fit into n characters, or the first n
// characters of a longer first line.
func cut(text string, n int) string {
	if n <= 0 {
		return ""
	}
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)[:n]
	if i := strings.LastIndexByte(string(runes), '\n'); i > 0 {
		return string(runes)[:i]
	}
	return string(runes)
}

// prefix is the longest beginning of a text that has at most n bytes and ends
// with a whole rune.
func prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

func explainItem(i memory.Item) string {
	f := i.RankFactors
	if f == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "   %s: relevance %.2f, rank %.2f (recency ×%.2f, success ×%.2f, project ×%.2f, session ×%.2f)",
		i.ID, i.Relevance, f.Score, f.Recency, f.Success, f.Project, f.Session)
	if f.Error {
		b.WriteString(", the same error")
	}
	if f.Followed {
		b.WriteString(", after what was told")
	}
	b.WriteString(provenanceText(i.Provenance))
	if f.Definition != "" {
		b.WriteString(", defines " + f.Definition)
	}
	if f.Place != "" {
		b.WriteString(", at " + f.Place)
	}
	if said := verdictsText(f.Verdicts); said != "" {
		b.WriteString(", verdicts: " + said)
	}
	b.WriteByte('\n')
	for _, name := range sortedKeys(f.Retrievers) {
		r := f.Retrievers[name]
		fmt.Fprintf(&b, "   %s: score %.3f → relevance %.2f\n", name, r.Score, r.Relevance)
	}
	return b.String()
}

// provenanceText says where an item comes from: ", told by cli", ", followed from FILE".
func provenanceText(p *memory.Provenance) string {
	if p == nil {
		return ""
	}
	text := ", " + string(p.Origin)
	if p.Agent != "" {
		text += " by " + oneLine(p.Agent)
	}
	if p.Path != "" {
		text += " from " + oneLine(p.Path)
	}
	return text
}

func explainAnswer(a *memory.RecallResponse) []string {
	lines := []string{fmt.Sprintf("\nproject %s, receipt %s\n", a.ProjectName, a.Receipt)}
	for _, w := range a.Withheld {
		what := w.ID
		if w.Name != "" {
			what += " " + strings.TrimPrefix(w.Server+":"+w.Name, ":")
		}
		line := fmt.Sprintf("withheld %s %s: %s (relevance %.2f) %s", w.Kind, what, w.Reason, w.NearestScore, w.Path)
		lines = append(lines, strings.TrimRight(line, " ")+"\n")
	}
	return lines
}

func degradedLine(ds []memory.Degraded) string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = d.Part + ": " + d.Reason
	}
	return strings.Join(parts, "; ")
}
