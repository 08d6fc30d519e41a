package scan

import (
	"strings"
)

// scanMan emits the sections and options of a manual page in roff (man or mdoc
// macros).
func scanMan(text string, emit Emit) {
	if !strings.Contains(text, "\n.SH") && !strings.Contains(text, "\n.Sh") {
		return
	}
	o := outline{emit: emit}
	defer o.end()
	name, purpose := "", ""
	var term, body []string
	expects := false // the next line is a term
	endTerm := func() {
		if text := oneLine(strings.Join(body, " ")); len(term) > 0 && len(text) >= 20 {
			emit(Pair{Option, oneLine(name + " " + strings.Join(term, ", ")), clip(text)})
			o.paragraph(strings.Join(term, ", ") + ": " + text)
		} else {
			if purpose != "" && strings.HasSuffix(o.title(), " description") && len(text) > 60 {
				emit(Pair{Summary, purpose, clip(text)})
				purpose = ""
			}
			o.paragraph(text)
		}
		term, body = nil, nil
	}
	for line := range strings.Lines(text) {
		macro, rest := "", strings.TrimSpace(line)
		if strings.HasPrefix(rest, ".") {
			macro, rest, _ = strings.Cut(rest[1:], " ")
		}
		words := plainRoff(rest)
		switch macro {
		case "TH", "Dt":
			if fields := strings.Fields(words); len(fields) > 0 {
				name = strings.ToLower(fields[0])
			}
		case "SH", "Sh", "SS", "Ss":
			endTerm()
			depth := 1
			if strings.EqualFold(macro, "SS") {
				depth = 2
			}
			o.heading(depth, name+" "+strings.ToLower(words))
		case "TP", "TQ":
			if macro == "TP" {
				endTerm()
			}
			expects = true
		case "IP", "It":
			endTerm()
			if words != "" {
				term = append(term, words)
			}
		case "PP", "P", "LP", "Pp":
			endTerm()
		case "\\\"", "":
			if strings.HasPrefix(line, ".") || words == "" {
				continue
			}
			fallthrough
		default:
			if skippedMacros[macro] || words == "" {
				continue
			}
			if expects {
				term, expects = append(term, words), false
				continue
			}
			if _, after, ok := strings.Cut(words, " - "); ok && strings.HasSuffix(o.title(), " name") {
				purpose = after
			}
			body = append(body, words)
		}
	}
	endTerm()
}

// skippedMacros set type and have no text.
var skippedMacros = map[string]bool{
	"nf": true, "fi": true, "RS": true, "RE": true, "ad": true, "in": true, "sp": true, "de": true, "ie": true, "el": true, "if": true, "so": true, "nh": true,
	"EX": true, "EE": true, "UE": true, "br": true, "ne": true, "ds": true, "ft": true, "Bl": true, "El": true, "Bd": true, "Ed": true, "Dd": true, "Os": true,
}

var roffEscape = compiled(`\\f(?:\[\w*\]|\(\w\w|.)|\\s[-+]?\d|\\[&/,|^:]|\\\*\(..|\\".*$`)

// plainRoff removes escapes and mdoc macros from a line: "\fB\-a\fP" is "-a", "Fl a Ar
// file" is "-a file".
func plainRoff(line string) string {
	line = roffEscape().ReplaceAllString(line, "")
	line = strings.NewReplacer(`\-`, "-", `\.`, ".", `\(aq`, "'", `\(dq`, `"`, `\(co`, "", `\e`, `\`, `\ `, " ", `\(em`, "-", `\(bu`, "", `"`, "", `\(lq`, "", `\(rq`, "").Replace(line)
	words := strings.Fields(line)
	out := words[:0]
	dash := ""
	for _, w := range words {
		switch w {
		case "Fl":
			dash = "-"
		case "Ar", "Nm", "Op", "Pa", "Cm", "Ic", "Va", "Ev", "Xr", "Sy", "Em", "Li", "Dq", "Sq", "Oo", "Oc", "Ns", "Ql":
		default:
			out = append(out, dash+w)
			dash = ""
		}
	}
	return strings.Join(out, " ")
}

// scanTexinfo emits the sections, examples and options of GNU manuals.
func scanTexinfo(text string, emit Emit) {
	o := outline{emit: emit}
	defer o.end()
	var paragraph, block, term []string
	inCode := false
	command := ""
	flush := func() {
		text := strings.Join(paragraph, " ")
		if len(term) > 0 && text != "" {
			emit(Pair{Option, oneLine(command + " " + strings.Join(term, ", ")), clip(text)})
			term = nil
		}
		o.paragraph(text)
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		macro, rest := "", line
		if strings.HasPrefix(line, "@") && len(line) > 1 {
			if m, r, _ := strings.Cut(line[1:], " "); !strings.Contains(m, "{") {
				macro, rest = m, r
			}
		}
		if depth, ok := texinfoDepth[macro]; ok {
			flush()
			title := plainTexinfo(rest)
			if name, _, ok := strings.Cut(title, ":"); ok && wordCount(name) == 1 {
				command = name
			}
			o.heading(depth, title)
			continue
		}
		if call, ok := strings.CutPrefix(line, "@optItem"); ok {
			// A macro of coreutils: @optItem{command,option,value}, and @optItemx
			// for the same option in other words.
			if !strings.HasPrefix(call, "x") {
				flush()
				term = nil
			}
			if args := strings.SplitN(strings.Trim(call, "x{}"), ",", 3); len(args) == 3 {
				term = append(term, plainTexinfo(args[1]+args[2]))
			}
			continue
		}
		switch macro {
		case "example", "smallexample", "lisp", "display":
			flush()
			inCode = true
		case "end":
			flush()
			if inCode {
				o.code(strings.Join(block, "\n"))
				inCode, block = false, nil
			}
		case "item", "itemx":
			if macro == "item" {
				flush()
				term = nil
			}
			if t := plainTexinfo(rest); t != "" {
				term = append(term, t)
			}
		case "":
			switch {
			case inCode:
				block = append(block, plainTexinfo(line))
			case strings.TrimSpace(line) == "":
				flush()
			default:
				paragraph = append(paragraph, plainTexinfo(line))
			}
		}
	}
	flush()
}

var texinfoDepth = map[string]int{
	"chapter": 1, "unnumbered": 1, "appendix": 1, "section": 2, "appendixsec": 2, "subsection": 3, "subsubsection": 4,
}

var texinfoCommand = compiled(`@[a-zA-Z]+\{([^{}]*)\}`)

// plainTexinfo replaces commands by their text: "@samp{-a}" is "-a".
func plainTexinfo(line string) string {
	for range 3 {
		line = texinfoCommand().ReplaceAllString(line, "$1")
	}
	return strings.TrimSpace(strings.NewReplacer("@@", "@", "@{", "{", "@}", "}", "@dots", "...", "@*", "", "@var{", "").Replace(line))
}
