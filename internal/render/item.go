package render

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

// markdownSnippet is the longest snippet of the markdown block, in characters (contract 4).
const markdownSnippet = 200

// ItemTokens is the number of tokens that an item takes in the text of an answer.
func ItemTokens(i memory.Item) int { return Tokens(Visible(Item(i, 0))) + 1 }

// Item writes one numbered item. An item of another repository, or of another folder than
// the caller's, is marked.
func Item(i memory.Item, number int) string {
	if i.Strength == memory.Maybe {
		return lineBullet + i.Text
	}
	from := similar(i) + anchorMark(i) + originMark(i)
	text, mark := SplitMark(i)
	switch i.Kind {
	case memory.Lesson:
		return fmt.Sprintf("%d. [%s]%s %s%s%s", number, day(i.CreatedAt), likelyMark(i), text, rateSuffix(i), from) + behind(mark)
	case memory.Chunk:
		in := ""
		if i.Foreign {
			in = " [in " + OneLine(i.Source.Sandbox) + "]"
		}
		fence := fenceFor(i.Text)
		if i.Cut {
			mark = "\n" + chunkMark(i.ID)
		}
		return fmt.Sprintf("%d. %s (%srelevance %.2f%s)%s%s\n%s%s\n%s\n%s", number, location(i), likelyWord(i), i.Relevance, fileNameMark(i), similar(i), in, fence, langOf(i.Source.Path), i.Text, fence) + mark
	case memory.Step:
		return fmt.Sprintf("%d. [%s]%s %s%s", number, day(i.CreatedAt), likelyMark(i), text, from) + behind(mark)
	default:
		return fmt.Sprintf("%d. [%s]%s %s %s%s%s", number, day(i.CreatedAt), likelyMark(i), i.Kind.Words(), text, rateSuffix(i), from) + behind(mark)
	}
}

// likelyMark marks an item that is likely, and not sure.
func likelyMark(i memory.Item) string { return when(i.Strength == memory.Likely, " (likely)") }

// likelyWord is likelyMark as it stands before the relevance of code. A file that was found
// by its name says so itself.
func likelyWord(i memory.Item) string {
	return when(i.Strength == memory.Likely && i.State != memory.FilePreview, "likely, ")
}

// originMark marks an item from a repository's files or from another project.
func originMark(i memory.Item) string {
	mark := ""
	if i.Provenance != nil && i.Provenance.Followed() {
		mark = " " + memory.FollowedMark
	}
	if i.Provenance != nil && i.Provenance.Origin == memory.OriginHistory {
		mark += " " + memory.HistoryMark
	}
	if i.Team != "" {
		mark += " [team: " + OneLine(i.Team) + "]"
	}
	if i.Foreign {
		mark += " [from " + cmp.Or(OneLine(i.Source.Repo), "another project") + "]"
	}
	return mark
}

// location is the place of a chunk: "src/a.go:10-20 Name".
func location(i memory.Item) string {
	return place(i) + behind(OneLine(i.Source.Symbol))
}

// place is the path and the lines of a chunk; empty for other items.
func place(i memory.Item) string {
	if i.Source.Lines == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d-%d", OneLine(i.Source.Path), i.Source.Lines[0], i.Source.Lines[1])
}

// behind returns a mark as it ends a line.
func behind(mark string) string { return when(mark != "", " "+mark) }

// Command returns the command of a lesson as it follows the lesson, or nothing if the
// lesson contains it.
func Command(i memory.Item) string {
	if lesson := OneLine(i.Lesson); i.Command == "" || strings.Contains(lesson, OneLine(i.Command)) {
		return ""
	}
	return " — " + codeSpan(commandLine(i.Command))
}

// newLine stands in a line for the end of a command's line.
const newLine = " ⏎ "

// commandLine writes a command on one line so that it still says what is to be run: blanks
// inside a line stay, since they count between quotes, and ends of lines are shown, since two
// commands that are joined with a blank are another one. A line that ends in a blank and a
// backslash goes on with the next.
func commandLine(command string) string {
	out := ""
	for line := range strings.Lines(command) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return ' '
			}
			return r
		}, line))
		rest, goesOn := strings.CutSuffix(out, ` \`)
		switch {
		case line == "":
		case out == "":
			out = line
		case goesOn:
			out = strings.TrimRight(rest, " ") + " " + line
		default:
			out += newLine + line
		}
	}
	return out
}

// codeSpan quotes a line as code, whatever it holds.
func codeSpan(line string) string {
	quote, pad := "`", ""
	for strings.Contains(line, quote) {
		quote, pad = quote+"`", " "
	}
	return quote + pad + line + pad + quote
}

// Lesson writes a lesson with its command, without number, date and rate. With n above 0
// the context and the lesson take at most n bytes: the context is cut first, to no less
// than a third of n, then the lesson. The command is not cut.
func Lesson(i memory.Item, n int) string {
	context, lesson := OneLine(i.Context), OneLine(i.Lesson)
	if context != "" {
		context += ": "
	}
	if over := len(context) + len(lesson) - n; n > 0 && over > 0 {
		if context != "" {
			const colon = len(": ")
			context = Shorten(context[:len(context)-colon], max(len(context)-over, n/3)-colon) + ": "
		}
		lesson = Shorten(lesson, n-len(context))
	}
	return context + lesson + Command(i)
}

// rateSuffix returns the success rate of a lesson as it follows the text.
func rateSuffix(i memory.Item) string {
	return when(i.SuccessRate != "", " ("+i.SuccessRate+" success)")
}

// similar says how many near-duplicates an item stands for.
func similar(i memory.Item) string {
	return when(i.Similar > 0, fmt.Sprintf(" (and %d alike)", i.Similar))
}

// fenceFor returns a code fence longer than any in the text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// langOf returns the language of a code fence for a path.
func langOf(p string) string {
	lang := strings.TrimPrefix(path.Ext(p), ".")
	if strings.ContainsFunc(lang, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-_", r)
	}) {
		return "" // it could close the fence
	}
	return lang
}

// Markdown writes items as the markdown answer does: lessons and other records as in the
// text answer (contract 2), then code (contract 4). It is empty without items and ends
// with a line feed otherwise. The text is visible and not fenced.
func Markdown(items []memory.Item) string {
	return Visible(markdown(items))
}

// markdown is Markdown before it is made visible.
func markdown(items []memory.Item) string {
	lessons, others, code, lines := split(items)
	var b strings.Builder
	if len(lessons)+len(others) > 0 {
		b.WriteString(plain(&memory.RecallResponse{Items: append(lessons, others...)}, new(extra)))
	}
	if len(code) > 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(codeBlock(code))
	}
	if len(lines) > 0 && b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(perhaps(lines))
	return b.String()
}

// codeBlock writes code as contract 4 has it.
func codeBlock(code []memory.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## RELEVANT CODEBASE CONTEXT (from RAG)\nFound %s:\n", memory.Count(len(code), "relevant snippet"))
	for n, i := range code {
		fmt.Fprintf(&b, "\n%d. %s (%sRelevance: %.2f%s)\n", n+1, OneLine(i.Source.Path), likelyWord(i), i.Relevance, fileNameMark(i))
		for line := range strings.SplitSeq(Lines(i.Text, markdownSnippet), "\n") {
			b.WriteString(strings.TrimRight("   "+line, " ") + "\n")
		}
	}
	return b.String()
}

// fileNameMark marks an item that was found by the name and beginning of its file.
func fileNameMark(i memory.Item) string { return when(i.State == memory.FilePreview, ", by file name") }

// The mark of a text that was cut. The id in it recalls the whole text.
const (
	cutMarkStart = Ellipsis + " (recall ids: "
	cutMarkEnd   = ")"
)

// CutMark marks a text that was cut. The id, or a beginning of it that no other record
// shares, recalls the whole text.
func CutMark(id string) string { return cutMarkStart + id + cutMarkEnd }

// chunkDigits is how many digits of a chunk's id are shown: of ten million chunks one in
// 400 shares them with another.
const chunkDigits = 8

// chunkMark marks a chunk of which a part is shown.
func chunkMark(id string) string { return CutMark(ShortID(id)) }

// SplitMark splits the text of an item that was cut from its mark.
func SplitMark(i memory.Item) (text, mark string) {
	at := strings.LastIndex(i.Text, cutMarkStart)
	if !i.Cut || at < 0 || !strings.HasSuffix(i.Text, cutMarkEnd) {
		return i.Text, ""
	}
	return i.Text[:at], i.Text[at:]
}
