package scan

import (
	"html"
	"strings"
)

// scanDocBook emits the sections, purposes and examples of DocBook, the format of PHP's
// manual. It searches tags only, since with its entities and included parts most of it is
// not well-formed XML.
func scanDocBook(text string, emit Emit) {
	if !strings.Contains(text, "<para>") && !strings.Contains(text, "<simpara>") {
		return
	}
	name, _, _ := between(text, "<refname>", "</refname>")
	if purpose, _, ok := between(text, "<refpurpose>", "</refpurpose>"); ok {
		if about, _, ok := between(text, "<para>", "</para>"); ok {
			emit(Pair{Summary, plainXML(purpose), clip(oneLine(name + " " + plainXML(about)))})
		}
	}
	o := outline{emit: emit}
	defer o.end()
	if name != "" {
		o.heading(1, plainXML(name))
	}
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			return
		}
		text = text[at:]
		end := strings.IndexByte(text, '>')
		if end < 0 {
			return
		}
		tag, _, _ := strings.Cut(strings.TrimSuffix(text[1:end], "/"), " ")
		closes := "</" + tag + ">"
		inside, rest, ok := strings.Cut(text[end+1:], closes)
		text = text[end+1:]
		if !ok {
			continue
		}
		switch tag {
		case "title":
			o.heading(2, plainXML(inside))
		case "para", "simpara":
			if !strings.Contains(inside, "<para>") && !strings.Contains(inside, "<programlisting") && !strings.Contains(inside, "<title>") {
				o.paragraph(plainXML(inside))
				text = rest
			}
		case "programlisting", "screen":
			inside = strings.TrimSpace(inside)
			o.code(html.UnescapeString(strings.TrimSuffix(strings.TrimPrefix(inside, "<![CDATA["), "]]>")))
			text = rest
		}
	}
}

// plainXML removes tags and entities from a text.
func plainXML(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(s, '<')
		if at < 0 {
			break
		}
		end := strings.IndexByte(s[at:], '>')
		if end < 0 {
			break
		}
		b.WriteString(s[:at])
		s = s[at+end+1:]
	}
	b.WriteString(s)
	return oneLine(html.UnescapeString(b.String()))
}
