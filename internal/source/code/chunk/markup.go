package chunk

import "bytes"

// markupUnits finds the units of HTML, Vue and Svelte: the parts at the left margin,
// named by their tags, and the declarations in their scripts.
func markupUnits(t *text) []unit {
	var units []unit
	// unclosed has, by tag, the indentation up to which no line below closes it: a search for
	// each of a hundred thousand such tags would take minutes.
	unclosed := map[string]int{}
	for i := 0; i < t.lines(); i++ {
		line, indent := t.trimmed(i), t.indent(i)
		tag := openingTag(line)
		if tag == "" || tag != "script" && indent > 0 {
			continue
		}
		if most, known := unclosed[tag]; known && indent <= most && !bytes.HasSuffix(line, []byte("</"+tag+">")) {
			continue
		}
		last := closingTag(t, i, tag)
		if last < 0 {
			unclosed[tag] = max(unclosed[tag], indent)
			continue
		}
		u := unit{first: i, last: last, name: tag}
		for u.first > 0 && isMarkupComment(t.trimmed(u.first-1)) && (len(units) == 0 || units[len(units)-1].last < u.first-1) {
			u.first--
		}
		if tag == "script" && last > i+1 {
			u.inner = scriptUnits(t, i, last)
		}
		if t.size(u.first, u.last) <= maxChunk {
			u.inner = nil
		}
		units = append(units, u)
		i = last
	}
	t.cost = t.indentCosts()
	return units
}

// scriptUnits returns the units of a script between the lines of its tags.
func scriptUnits(t *text, open, last int) []unit {
	lang := "javascript"
	if tag := t.line(open); bytes.Contains(tag, []byte(`lang="ts`)) || bytes.Contains(tag, []byte(`lang='ts`)) {
		lang = "typescript"
	}
	script := newText(t.src[t.starts[open+1]:t.starts[last]])
	units := unitsOf(script, lang)
	for _, d := range script.defines {
		t.define(d.line+open+1, d.name)
	}
	shiftUnits(units, open+1)
	return units
}

func shiftUnits(units []unit, by int) {
	for i := range units {
		units[i].first += by
		units[i].last += by
		shiftUnits(units[i].inner, by)
	}
}

// openingTag returns the name of the tag at the start of a line that holds a part of a
// page or component, else "".
func openingTag(line []byte) string {
	for _, tag := range [...]string{"script", "style", "template", "head", "body"} {
		if hasPrefix(line, "<") && hasPrefix(line[1:], tag) && len(line) > len(tag)+1 && !isNameByte(line[len(tag)+1]) {
			return tag
		}
	}
	return ""
}

// closingTag returns the line that closes a tag, -1 if there is none: for tags that may
// be nested the next one at the same indentation, else the next one.
func closingTag(t *text, open int, tag string) int {
	end := []byte("</" + tag + ">")
	for i := open; i < t.lines(); i++ {
		line := t.trimmed(i)
		if bytes.HasPrefix(line, end) && t.indent(i) <= t.indent(open) || bytes.HasSuffix(line, end) && (i == open || tag == "script") {
			return i
		}
	}
	return -1
}

func isMarkupComment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("<!--")) && bytes.HasSuffix(line, []byte("-->"))
}
