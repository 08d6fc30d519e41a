package scan

import (
	"encoding/xml"
	"html"
	"slices"
	"strings"
)

// textbook collects a module of a textbook: its sections, and the summaries and questions
// about them.
type textbook struct {
	title    string
	sections []bookSection
	// summaries and aims (learning objectives) say what the sections contain.
	summaries, aims []string
	exercises       []bookExercise
	emit            Emit
}

type bookSection struct {
	title      string
	paragraphs []string
}

type bookExercise struct {
	question, answer string
	choices          []string
}

// scanCNXML reads a module of a textbook in the format of OpenStax: sections, glossary,
// summary, learning objectives, and exercises with their solutions.
func scanCNXML(text string, emit Emit) {
	root := parseXML(text)
	if root == nil {
		return
	}
	b := textbook{title: root.child("title").text(), emit: emit}
	for _, item := range root.child("metadata").child("abstract").all("item") {
		b.aims = append(b.aims, item.text())
	}
	b.section(b.title, root.child("content"))
	for _, d := range root.child("glossary").all("definition") {
		emit(Pair{Gloss, d.child("term").text(), d.child("meaning").text()})
	}
	b.end()
}

// section collects a section and its subsections.
func (b *textbook) section(title string, e *element) {
	at := len(b.sections)
	b.sections = append(b.sections, bookSection{title: title})
	for _, c := range e.children() {
		switch {
		case c.name == "para":
			if p := c.text(); wordCount(p) >= 8 {
				b.sections[at].paragraphs = append(b.sections[at].paragraphs, p)
			}
		case c.name == "exercise":
			b.exercise(c)
		case c.name == "section" && isSummary(c):
			for _, p := range append(c.all("para"), c.all("item")...) {
				b.summaries = append(b.summaries, p.text())
			}
		case c.name == "section" && strings.Contains(c.class, "objectives"):
			for _, item := range c.all("item") {
				b.aims = append(b.aims, item.text())
			}
		case c.name == "section" && !strings.Contains(c.class, "references") && !strings.Contains(c.class, "resources") && !strings.Contains(c.class, "contrib"):
			b.section(c.child("title").text(), c)
		case c.name == "list":
			for _, item := range c.all("item") {
				if p := item.text(); wordCount(p) >= 12 {
					b.sections[at].paragraphs = append(b.sections[at].paragraphs, p)
				}
			}
		}
	}
}

// isSummary says whether a section summarises the ones before it.
func isSummary(e *element) bool {
	title := strings.ToLower(e.child("title").text())
	return strings.Contains(e.class, "summary") || strings.Contains(e.class, "key-concepts") || slices.Contains([]string{"summary", "key concepts", "key takeaways", "chapter review"}, title)
}

func (b *textbook) exercise(e *element) {
	x := bookExercise{}
	problem := e.child("problem")
	for _, c := range problem.children() {
		if c.name == "para" && x.question == "" {
			x.question = c.text()
		}
	}
	for _, item := range problem.all("item") {
		x.choices = append(x.choices, item.text())
	}
	var answer []string
	for _, p := range e.child("solution").all("para") {
		answer = append(answer, p.text())
	}
	x.answer = strings.Join(answer, " ")
	if n := len(x.answer); n > 0 && n <= 2 {
		if at := int(x.answer[0]|0x20) - 'a'; at >= 0 && at < len(x.choices) {
			x.answer = x.choices[at]
		}
	}
	b.exercises = append(b.exercises, x)
}

// end emits the pairs of a module.
func (b *textbook) end() {
	var paragraphs []string
	for _, s := range b.sections {
		if len(s.paragraphs) == 0 {
			continue
		}
		title := s.title
		if wordCount(title) <= 2 && title != b.title {
			title = oneLine(b.title + " " + title)
		}
		kind := Heading
		if isQuestion(title) {
			kind = Question
		}
		whole := strings.Join(s.paragraphs, "\n\n")
		b.emit(Pair{kind, title, clip(whole)})
		for _, p := range s.paragraphs {
			passage(p, b.emit)
		}
		paragraphs = append(paragraphs, s.paragraphs...)
	}
	for _, s := range b.summaries {
		claims(s, paragraphs, b.emit)
	}
	for _, aim := range b.aims {
		if at := closest(paragraphs, aim); at >= 0 {
			b.emit(Pair{Question, aim, clip(paragraphs[at])})
		}
	}
	for _, x := range b.exercises {
		b.ask(x, paragraphs)
	}
}

// ask emits an exercise with its solution and with the paragraph that answers it; for a gap
// text, the completed sentence is a claim.
func (b *textbook) ask(x bookExercise, paragraphs []string) {
	if wordCount(x.question) < 4 {
		return
	}
	const gap = "____"
	if before, after, ok := strings.Cut(x.question, gap); ok {
		claim := oneLine(before + " " + x.answer + " " + strings.TrimLeft(after, "_"))
		if at := closest(paragraphs, claim); at >= 0 && x.answer != "" {
			b.emit(Pair{Claim, claim, clip(paragraphs[at])})
		}
		return
	}
	if wordCount(x.answer) >= 8 {
		b.emit(Pair{Question, x.question, clip(x.answer)})
	}
	if at := closest(paragraphs, x.question+" "+x.answer); at >= 0 {
		b.emit(Pair{Question, x.question, clip(paragraphs[at])})
	}
}

// element is an element of an XML text, or a text node, which has no name.
type element struct {
	name, class string
	characters  string
	below       []*element
}

// maxDepth is the deepest nesting of XML elements that is read.
const maxDepth = 100

// parseXML parses a text into elements; it returns nil if the text is not XML. Names lose
// their name spaces.
func parseXML(text string) *element {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	top := new(element)
	open := []*element{top}
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil
			}
			e := &element{name: t.Name.Local}
			for _, a := range t.Attr {
				if a.Name.Local == "class" {
					e.class = a.Value
				}
			}
			last := open[len(open)-1]
			last.below = append(last.below, e)
			open = append(open, e)
		case xml.EndElement:
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case xml.CharData:
			last := open[len(open)-1]
			last.below = append(last.below, &element{characters: string(t)})
		}
	}
	for _, e := range top.below {
		if e.name != "" {
			return e
		}
	}
	return nil
}

// children returns the child elements. Like the other methods it returns nothing for nil,
// so that missing elements read as empty.
func (e *element) children() []*element {
	if e == nil {
		return nil
	}
	return e.below
}

// child returns the first child element with a name, or nil.
func (e *element) child(name string) *element {
	for _, c := range e.children() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// all returns the descendants with a name.
func (e *element) all(name string) []*element {
	var found []*element
	for _, c := range e.children() {
		if c.name == name {
			found = append(found, c)
		} else {
			found = append(found, c.all(name)...)
		}
	}
	return found
}

// apart are elements that do not belong to the sentence around them.
var apart = map[string]bool{"figure": true, "media": true, "table": true, "note": true, "footnote": true, "math": true, "list": true, "equation": true, "example": true}

// text returns the words of an element.
func (e *element) text() string {
	var b strings.Builder
	e.write(&b)
	return oneLine(html.UnescapeString(b.String()))
}

func (e *element) write(b *strings.Builder) {
	if e == nil {
		return
	}
	b.WriteString(e.characters)
	for _, c := range e.below {
		if !apart[c.name] {
			c.write(b)
		}
	}
}
