package code

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// indented finds the units between two lines of a language where indentation
// shows what belongs together: a line, what is indented deeper below it, and
// the words that close it.
func (f *structured) indented(from, to, base int) []unit {
	if f.depth > maxDepth {
		return nil
	}
	f.depth++
	defer func() { f.depth-- }()
	var units []unit
	for i := from; i <= to; {
		if f.t.blank(i) {
			i++
			continue
		}
		first := i
		for i <= to && f.isIndentedLead(i) && !f.t.blank(i) {
			lead := f.lines[i]
			for i++; i <= to && (f.lines[i].paren > lead.paren || f.lines[i].literal); i++ {
			}
		}
		if i > to || f.t.blank(i) {
			units = append(units, unit{first: first, last: i - 1})
			continue
		}
		head := i
		i = f.indentedEnd(head, to, base) + 1
		u := unit{first: first, last: i - 1}
		var kind declared
		u.name, kind = f.indentedName(head)
		f.define(head, u.name)
		if kind == container {
			if members := f.indentedMembers(head, u.last); f.t.size(u.first, u.last) > maxPiece {
				u.inner = members
			}
		}
		units = append(units, u)
	}
	return units
}

// isIndentedLead says that a line belongs to the declaration below it.
func (f *structured) isIndentedLead(i int) bool {
	l := f.lines[i]
	return l.comment || l.first == '@' && !l.literal // a decorator, Elixir's @doc
}

// indentedEnd is the last line of the unit whose head is at a line.
func (f *structured) indentedEnd(head, to, base int) int {
	base = max(base, 0)
	last := head
	for i := head + 1; i <= to; i++ {
		l := f.lines[i]
		switch {
		case l.literal || l.paren > f.lines[head].paren || l.brace > f.lines[head].brace:
			last = i
		case f.t.blank(i):
		case f.t.indent(i) > base:
			last = i
		case l.comment:
			// A comment does not end a unit that goes on deeper behind it.
			next := f.behindComments(i, to)
			if next > to || f.t.indent(next) <= base {
				return last
			}
			last, i = next, next
		case f.closes(i, head):
			last = i
		default:
			return last
		}
	}
	return last
}

// behindComments is the next line that is neither blank nor comment only.
func (f *structured) behindComments(i, to int) int {
	for i <= to && (f.t.blank(i) || f.lines[i].comment) {
		i++
	}
	return i
}

// closers are words that go on with or close what was begun on the same level.
var closers = words("end end, end) fi done esac else elif elsif except finally rescue ensure when in then do endif endfunction " +
	"endforeach endmacro endwhile endmodule endtask begin ) } ] }; }) ); ]; { end; endfunction()")

func (f *structured) closes(i, head int) bool {
	line := f.t.trimmed(i)
	word := string(line)
	if n := bytes.IndexAny(line, " \t:("); n > 0 {
		word = string(line[:n])
	}
	if closers[word] || closers[string(line)] {
		return true
	}
	// In YAML a list may be as far to the left as its key.
	return f.lang == "yaml" && line[0] == '-' && !bytes.HasPrefix(line, []byte("---")) && f.lines[head].first != '-'
}

// indentedMembers are the units within the body of one.
func (f *structured) indentedMembers(head, last int) []unit {
	from := head + 1
	for from <= last && (f.t.blank(from) || f.lines[from].paren > f.lines[head].paren || f.lines[from].brace > f.lines[head].brace) {
		from++
	}
	if from > last || f.lines[from].literal {
		return nil
	}
	base := f.t.indent(from)
	if base <= f.t.indent(head) && f.lang != "yaml" {
		return nil
	}
	return f.indented(from, last, base)
}

// Patterns of heads that the common rules do not read.
var (
	rubyName  = lazyPattern(`^\s*(?:private |protected |public |module_function )?(def|class|module)\s+(?:<<\s*)?([\w.:]+[?!=]?)`)
	luaName   = lazyPattern(`^\s*(?:local\s+)?(?:function\s+([\w.:]+)|([\w.]+)\s*=)`)
	shellName = lazyPattern(`^\s*(?:function\s+([\w:.-]+)|([\w:.-]+)\s*\(\s*\))`)
	makeName  = lazyPattern(`^([^\s:=#][^:=#]*?)\s*::?(?:[^=]|$)`)
	yamlName  = lazyPattern(`^\s*(?:-\s+)?["']?([^"'#:\s][^"'#:]*?)["']?\s*:(?:\s|$)`)
	lispName  = lazyPattern(`^\s*\(def[\w-]*\*?\s+\^?[:\w]*\s*\(?([^\s()\[\]]+)`)
	firstName = lazyPattern(`^\s*(?:let |let rec |and |type |module |data |newtype |class |-spec |function!? )?\s*([\w'.]+)`)
)

// indentedName says what the declaration at a line declares.
func (f *structured) indentedName(head int) (string, declared) {
	line := string(f.t.line(head))
	if len(line) > maxHead {
		line = cutText(line, maxHead)
	}
	switch f.lang {
	case "python", "starlark", "nim", "elixir", "julia", "crystal", "verilog", "fortran":
		return pythonName(line)
	case "ruby":
		m := rubyName().FindStringSubmatch(line)
		if m == nil {
			return "", statement
		}
		if m[1] == "def" {
			return strings.ReplaceAll(m[2], "::", separator), function
		}
		return strings.ReplaceAll(m[2], "::", separator), container
	case "yaml":
		return submatch(yamlName(), line), container
	case "lua":
		return submatch(luaName(), line), function
	case "shell":
		return submatch(shellName(), line), function
	case "make":
		return submatch(makeName(), line), function
	case "lisp", "clojure":
		return submatch(lispName(), line), function
	case "cmake":
		if word, args, ok := strings.Cut(strings.TrimSpace(line), "("); ok && (word == "function" || word == "macro") {
			return upTo(args, " )"), function
		}
		return "", statement
	}
	return submatch(firstName(), line), function
}

// indentedWords stand before the name of what they declare.
var indentedWords = wordKinds("def fn func function proc macro defp defmacro defmacrop defguard task subroutine program template iterator method",
	"class module struct type enum object defmodule defprotocol defimpl interface trait lib package", "")

// pythonName reads heads of the form "[words] keyword name", and the names of
// values: "NAME = …".
func pythonName(line string) (string, declared) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t(:,=[{", r) })
	for i, w := range fields {
		kind, ok := indentedWords[w]
		if ok && i+1 < len(fields) && i < 3 {
			return strings.TrimRight(fields[i+1], "*"), kind
		}
		if i > 2 {
			break
		}
	}
	if name, _, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(strings.TrimSpace(name), " ([.{\"'") {
		return strings.TrimSpace(name), statement
	}
	return "", statement
}

func submatch(re *regexp.Regexp, line string) string {
	m := re.FindStringSubmatch(line)
	for _, name := range m[min(1, len(m)):] {
		if name != "" {
			return cutText(name, maxSymbol/2)
		}
	}
	return ""
}

// lazyPattern compiles a pattern when it is needed first.
func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
