package scan

import (
	"slices"
	"strings"
)

// outline collects the structure of a document, whatever its markup: headings, and below
// them paragraphs and blocks of code.
type outline struct {
	emit Emit
	// path are the headings above the current position, the title first.
	path  []string
	depth []int
	text  strings.Builder // of the section so far
	// lead is the last paragraph, which introduces a block of code.
	lead string
	// quote is the message at the beginning of a page about an error.
	quote string
}

// heading ends a section and begins the next, of a depth from 1.
func (o *outline) heading(depth int, text string) {
	o.end()
	for len(o.depth) > 0 && o.depth[len(o.depth)-1] >= depth {
		o.depth, o.path = o.depth[:len(o.depth)-1], o.path[:len(o.path)-1]
	}
	o.depth, o.path = append(o.depth, depth), append(o.path, oneLine(text))
	o.lead = ""
}

// paragraph adds prose.
func (o *outline) paragraph(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	o.lead = text
	passage(text, o.emit)
	if quoted, ok := strings.CutPrefix(text, ">"); ok && o.text.Len() == 0 && isAboutError(o.title()) {
		o.quote = strings.Trim(oneLine(quoted), "`*")
		return
	}
	o.add(text)
}

// isAboutError says whether a heading belongs to a page about an error.
func isAboutError(title string) bool {
	lower := strings.ToLower(title)
	return strings.Contains(lower, "error") || strings.Contains(lower, "warning")
}

// code adds a block of code, which the paragraph before it may introduce.
func (o *outline) code(block string) {
	block = dedent(block)
	if block == "" {
		return
	}
	if lead := strings.TrimLeft(lastSentence(lastItem(o.lead)), "*+-0123456789. "); isProse(lead, 4) && len(lead) < 300 {
		o.emit(Pair{Example, strings.TrimRight(lead, ":"), clip(block)})
	} else if title := unnumbered(o.title()); o.lead == "" && wordCount(title) >= 3 {
		o.emit(Pair{Example, title, clip(block)})
	}
	commands(block, o.emit)
	o.add(block)
	o.lead = ""
}

func (o *outline) add(text string) {
	if o.text.Len() < maxText {
		if o.text.Len() > 0 {
			o.text.WriteString("\n\n")
		}
		o.text.WriteString(text)
	}
}

// end emits the collected section.
func (o *outline) end() {
	text := clip(o.text.String())
	o.text.Reset()
	if len(o.path) == 0 || len(text) < 80 {
		return
	}
	if o.quote != "" {
		o.emit(Pair{Message, o.quote, text})
		o.quote = ""
	}
	if last := o.path[len(o.path)-1]; isQuestion(last) {
		o.emit(Pair{Question, unnumbered(last), text})
		return
	}
	o.emit(Pair{Heading, unnumbered(o.title()), text})
	if question, ok := askHeading(unnumbered(o.path[len(o.path)-1])); ok {
		o.emit(Pair{Question, question, text})
	}
}

// title returns the last heading, preceded by those above it if it says little alone.
func (o *outline) title() string {
	n := len(o.path)
	if n == 0 {
		return ""
	}
	title := o.path[n-1]
	if isQuestion(title) || n == 1 {
		return title
	}
	if above := o.path[n-2]; strings.HasPrefix(above, title) {
		return above
	}
	if wordCount(title) <= 2 || generic[strings.ToLower(title)] {
		return o.path[n-2] + " " + title
	}
	return title
}

// unnumbered removes the number or letter from a heading: "Example 2: Stop a job" is "Stop
// a job".
func unnumbered(heading string) string {
	if label, rest, ok := strings.Cut(heading, ":"); ok && wordCount(rest) >= 2 {
		word, _, _ := strings.Cut(strings.ToLower(label), " ")
		if word == "example" || word == "q" || word == "step" {
			heading = rest
		}
	}
	return strings.TrimSpace(strings.TrimLeft(heading, "0123456789.) "))
}

// generic are headings that every document has.
var generic = map[string]bool{
	"getting started": true, "how it works": true, "see also": true, "known issues": true, "best practices": true, "next steps": true,
	"quick start": true, "basic usage": true, "advanced usage": true, "before you begin": true, "what's next": true, "bug fixes": true,
}

// askers are the words at the beginning of questions.
var askers = []string{
	"how", "why", "what", "when", "where", "which", "who", "can", "can't", "cannot", "does", "do", "is", "are", "should", "will", "i", "my", "q:", "troubleshooting",
}

// isQuestion says whether a heading is a question or describes a problem.
func isQuestion(heading string) bool {
	lower := strings.ToLower(heading)
	first, _, _ := strings.Cut(strings.TrimLeft(lower, "0123456789.) "), " ")
	if strings.HasSuffix(lower, "?") {
		return wordCount(lower) >= 3
	}
	return slices.Contains(askers, first) && wordCount(lower) >= 4
}

// lastItem returns the text after the last list mark, if there is one.
func lastItem(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if isItem(lines[i]) {
			return strings.Join(lines[i:], "\n")
		}
	}
	return text
}

// isItem says whether a line begins an item of a list.
func isItem(line string) bool {
	mark, rest, ok := strings.Cut(line, " ")
	return ok && rest != "" && strings.Trim(mark, "*+-0123456789.)") == ""
}

func lastSentence(text string) string {
	text = oneLine(text)
	for {
		first := firstSentence(text)
		rest := strings.TrimSpace(text[len(first):])
		if rest == "" {
			return first
		}
		text = rest
	}
}
