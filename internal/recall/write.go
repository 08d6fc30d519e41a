package recall

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// bytesPerToken is how much text a token is taken to be where a budget in
	// tokens becomes one in bytes; see tokens for the other direction.
	bytesPerToken = 3
	// headTokens is set aside for headings and the line about what was
	// withheld.
	headTokens = 24
	// markdownSnippet is the longest snippet of the markdown block, in
	// characters (contract 4).
	markdownSnippet = 200
)

// tokens estimates how many tokens a text takes: one for every 3.5 bytes, on
// the safe side for the tokenizers in use, on English and on code.
func tokens(text string) int { return (2*len(text) + 6) / 7 }

// itemTokens is what an item takes in an answer's text.
func itemTokens(i memory.Item) int { return tokens(itemText(i, 0)) + 1 }

// write fills in the text of an answer and counts its tokens.
func write(a *memory.Answer, format memory.Format, explain bool) {
	switch format {
	case memory.FormatMarkdown:
		a.Text = markdown(a)
	case memory.FormatJSON:
	default:
		a.Text = plain(a, explain)
	}
	a.Tokens = tokens(a.Text)
	if format == memory.FormatJSON {
		for _, i := range a.Items {
			a.Tokens += i.Tokens
		}
	}
}

// plain is the text answer: lessons as contract 2 writes them, then the other
// records, then code with its place.
func plain(a *memory.Answer, explain bool) string {
	var b strings.Builder
	if line := emptyLine(a); line != "" {
		b.WriteString(line)
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
			if item.Project != a.Project && item.Source.Repo != "" {
				fmt.Fprintf(&b, " [from %s]", item.Source.Repo)
			}
			b.WriteByte('\n')
			if explain {
				b.WriteString(explainItem(item))
			}
		}
		number = 0
	}
	section("Relevant Memories", lessons)
	section("Relevant Records", others)
	section("Relevant Code in "+a.ProjectName, code)
	if explain {
		b.WriteString(explainAnswer(a))
	} else if len(a.Degraded) > 0 {
		fmt.Fprintf(&b, "\n(degraded: %s)\n", degradedLine(a.Degraded))
	}
	return b.String()
}

// emptyLine says in one line why there is no item.
func emptyLine(a *memory.Answer) string {
	switch {
	case len(a.Items) > 0:
		return ""
	case a.NothingRelevant:
		return "Nothing relevant is remembered in " + a.ProjectName + ".\n"
	default:
		return "The memory is still loading; ask again in a moment.\n"
	}
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

// itemText writes one numbered item.
func itemText(i memory.Item, number int) string {
	switch i.Kind {
	case memory.Lesson:
		return fmt.Sprintf("%d. [%s] %s%s", number, i.CreatedAt.Format("2006-01-02"), i.Text, rateSuffix(i)) + similar(i)
	case memory.Chunk:
		head := fmt.Sprintf("%d. %s:%d-%d", number, i.Source.Path, i.Source.Lines[0], i.Source.Lines[1])
		if i.Source.Symbol != "" {
			head += " " + i.Source.Symbol
		}
		fence := fenceFor(i.Text)
		return fmt.Sprintf("%s (relevance %.2f)%s\n%s%s\n%s\n%s", head, i.Relevance, similar(i), fence, langOf(i.Source.Path), i.Text, fence)
	default:
		return fmt.Sprintf("%d. [%s] %s", number, i.CreatedAt.Format("2006-01-02"), i.Text) + similar(i)
	}
}

// lessonLine is a lesson without number, date and rate.
func lessonLine(i memory.Item) string {
	if i.Context == "" {
		return oneLine(i.Lesson)
	}
	return oneLine(i.Context) + ": " + oneLine(i.Lesson)
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
func markdown(a *memory.Answer) string {
	lessons, others, code := split(a.Items)
	var b strings.Builder
	if len(lessons)+len(others) > 0 {
		b.WriteString(plain(&memory.Answer{Project: a.Project, Items: append(lessons, others...)}, false))
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
		fmt.Fprintf(&b, "\n%d. %s (Relevance: %.2f)\n", n+1, i.Source.Path, i.Relevance)
		for line := range strings.SplitSeq(cut(i.Text, markdownSnippet), "\n") {
			b.WriteString(strings.TrimRight("   "+line, " ") + "\n")
		}
	}
	return b.String()
}

// cut keeps the whole lines that fit into n characters, or the first n
// characters of a longer first line.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)[:n]
	if i := strings.LastIndexByte(string(runes), '\n'); i > 0 {
		return string(runes)[:i]
	}
	return string(runes)
}

func explainItem(i memory.Item) string {
	f := i.RankFactors
	if f == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "   %s: relevance %.2f, rank %.2f (recency ×%.2f, success ×%.2f, project ×%.2f, session ×%.2f)\n",
		i.ID, i.Relevance, f.Score, f.Recency, f.Success, f.Project, f.Session)
	for _, name := range sortedKeys(f.Retrievers) {
		r := f.Retrievers[name]
		fmt.Fprintf(&b, "   %s: score %.3f → relevance %.2f\n", name, r.Score, r.Relevance)
	}
	return b.String()
}

func explainAnswer(a *memory.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nproject %s, receipt %s\n", a.ProjectName, a.Receipt)
	for _, w := range a.Withheld {
		fmt.Fprintf(&b, "withheld %s %s: %s (relevance %.2f) %s\n", w.Kind, w.ID, w.Reason, w.NearestScore, w.Path)
	}
	if len(a.Degraded) > 0 {
		fmt.Fprintf(&b, "degraded: %s\n", degradedLine(a.Degraded))
	}
	if a.Stale {
		b.WriteString("stale: the index of the code may lag behind the disk\n")
	}
	return b.String()
}

func degradedLine(ds []memory.Degraded) string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = d.Part + ": " + d.Reason
	}
	return strings.Join(parts, "; ")
}
