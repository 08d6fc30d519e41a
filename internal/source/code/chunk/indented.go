package chunk

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// indented finds the units between two lines of a language with indentation. A unit is a
// line, the lines below it that are indented more, and the words that close it.
func (f *structured) indented(from, to, base int) []unit {
	lead := func(i int) int {
		begin := f.lines[i]
		if f.lang == "fsharp" && begin.first == '[' && begin.last == ']' { // an attribute
			return i + 1
		}
		// @ begins a decorator, or Elixir's @doc; in Julia a macro, before a function on its line.
		if !begin.comment && (begin.first != '@' || begin.literal || f.lang == "julia") {
			return i
		}
		for i++; i <= to && (f.lines[i].paren > begin.paren || f.lines[i].literal); i++ {
		}
		return i
	}
	return f.unitsBetween(from, to, lead, func(first, head int) unit {
		u := unit{first: first, last: f.indentedEnd(head, to, base)}
		sig := f.indentedName(head)
		u.name = sig.name
		for _, name := range sig.defines {
			f.define(head, name)
		}
		if sig.kind == container {
			if members := f.indentedMembers(head, u.last); f.t.size(u.first, u.last) > maxChunk {
				u.inner = members
			}
		}
		return u
	})
}

// indentedEnd returns the last line of the unit whose head is at a line.
func (f *structured) indentedEnd(head, to, base int) int {
	base = max(base, 0)
	last := head
	for i := head + 1; i <= to; i++ {
		l := f.lines[i]
		switch {
		case l.literal || l.paren > f.lines[head].paren || l.brace > f.lines[head].brace:
			last = i
		case f.t.blank(i):
		case f.t.indent(i) > base, f.syntax.heredoc && l.first == '<': // a here-document may begin anywhere
			last = i
		case l.comment:
			// A comment does not end a unit that continues after it.
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

// behindComments returns the next line that is neither blank nor only comment.
func (f *structured) behindComments(i, to int) int {
	for i <= to && (f.t.blank(i) || f.lines[i].comment) {
		i++
	}
	return i
}

// closers are words that continue or close a unit at its own indentation.
var closers = words("end end, end) fi done esac else elif elsif except finally rescue ensure when in then do endif endfunction " +
	"endforeach endmacro endwhile endmodule endtask begin ) } ] }; }) ); ]; { end; endfunction()")

func (f *structured) closes(i, head int) bool {
	line := f.t.trimmed(i)
	word := string(line)
	if n := bytes.IndexAny(line, " \t:("); n > 0 {
		word = string(line[:n])
	}
	switch {
	case f.lang == "ocaml" && (word == "struct" || word == "sig" || word == "="): // behind the head of a functor
		return true
	case f.lang == "erlang", // where do(X) may be a function
		word == "do" && f.lang != "shell", word == "begin" && f.lang != "verilog", word == "when" && f.lang == "nim": // a block
		return false
	case closers[word] || closers[string(line)]:
		return true
	}
	// In YAML a list may have the indentation of its key.
	return f.lang == "yaml" && line[0] == '-' && !bytes.HasPrefix(line, []byte("---")) && f.lines[head].first != '-'
}

// indentedMembers returns the units in the body of a unit.
func (f *structured) indentedMembers(head, last int) []unit {
	from := head + 1
	// The head of a functor has lines that are indented more than its members.
	for f.lang == "ocaml" && from <= last && !opensModule(f.t.trimmed(from-1)) {
		from++
	}
	for from <= last && (f.t.blank(from) || f.lines[from].paren > f.lines[head].paren || f.lines[from].brace > f.lines[head].brace && f.lang != "shell") {
		from++
	}
	if from > last || f.lines[from].literal {
		return nil
	}
	base := f.t.indent(from)
	// Scripts in braces, or behind "|| {", need not be indented.
	inBraces := f.lang == "shell" && f.lines[from].brace > f.lines[head].brace
	if base <= f.t.indent(head) && f.lang != "yaml" && !inBraces {
		return nil
	}
	return f.indented(from, last, base)
}

// opensModule reports whether the body of a module or class of OCaml begins after a line.
func opensModule(line []byte) bool {
	return bytes.HasSuffix(line, []byte("struct")) || bytes.HasSuffix(line, []byte("sig")) || bytes.HasSuffix(line, []byte("object"))
}

// Patterns of declarations, by language.
var (
	luaName    = lazyPattern(`^\s*(?:local\s+)?(?:function\s+([\w.:]+)|([\w.]+)\s*(?:<\w+>\s*)?=)`)
	juliaName  = lazyPattern(`^\s*(?:@[\w.]+\s+)*([\w.]+!?)(?:\{[^}]*\})?\(.*\)(?:::\S+)?(?:\s+where\s.*?)?\s*=(?:[^=>]|$)`)
	shellName  = lazyPattern(`^\s*(?:function\s+([\w:.-]+)|([\w:.-]+)\s*\(\s*\))`)
	shellValue = lazyPattern(`^(?:(?:readonly|declare|typeset)\s+(?:-\w+\s+)*)?(?:alias\s+)?([A-Za-z_][\w-]*)=`)
	makeName   = lazyPattern(`^([^\s:=#][^:=#]*?)\s*::?(?:[^=]|$)`)
	makeValue  = lazyPattern(`^(?:define\s+([\w.-]+)|(?:(?:export|override)\s+)*([\w.-]+)\s*[:?+!]{0,3}=)`)
	cmakeName  = lazyPattern(`(?i)^\s*(function|macro|add_executable|add_library|add_custom_target)\s*\(\s*([\w.:+-]+)`)
	yamlName   = lazyPattern(`^\s*(?:-\s+)?["']?([^"'#:\s][^"'#:]*?)["']?\s*:(?:\s|$)`)
	lispName   = lazyPattern(`^\s*\((?:ns|(?:[\w-]+-)?def[\w!-]*\*?)\s+(?:\^(?:\{[^}]*\}|"[^"]*"|[^\s{"]+)\s+)*\(?'?([^\s()\[\]{}"^]+)`)
	vimName    = lazyPattern(`^\s*(?:fu\w*!?\s+(?:[sgb]:)?([\w#.]+)|com\w*!?\s+(?:-\S+\s+)*(\w+))`)
	erlangName = lazyPattern(`^(?:-(?:spec|callback|type|opaque)\s+|-(?:record|define)\(\s*)?([a-zA-Z]\w*)`)
	// Of these languages the second pattern finds what has members.
	haskellName  = lazyPattern(`^\s*([a-z_][\w']*)`)
	haskellType  = lazyPattern(`^(?:data|newtype|type|class|pattern|module)\s+(?:(?:family|instance)\s+)?(?:[^=]*?=>\s*)?([A-Z][\w.']*)`)
	notHaskell   = words("import instance deriving infix infixl infixr default foreign where let in type data newtype class module")
	ocamlName    = lazyPattern(`^\s*(?:(?:let|and|external|val|method)(?:%\w+|!)?\s+(?:(?:rec|virtual|private|mutable)\s+)*(?:\(\|)?([a-z_][\w']*)|(?:type|and)\s+(?:nonrec\s+)?(?:(?:\([^)]*\)|[+-]?'\w+)\s+)?([a-z_][\w']*)|exception\s+(\w+))`)
	ocamlModule  = lazyPattern(`^\s*(?:module|class)\s+(?:(?:type|rec|virtual)\s+)*([\w']+)`)
	fsharpName   = lazyPattern(`^\s*(?:(?:let|val)!?|(?:(?:static|abstract|override|default)\s+)*(?:member|override|default|abstract))\s+(?:(?:rec|inline|private|internal|public|mutable|val)\s+)*(?:\w+\.)?(?:\(\|)?(?:\x60\x60([^\x60]+)\x60\x60|([\w']+))`)
	fsharpModule = lazyPattern(`^\s*(?:module|namespace|type|exception|and)\s+(?:(?:rec|private|internal|public|global)\s+)*([\w.']+)`)
)

// indentedName returns what the line at head declares.
func (f *structured) indentedName(head int) signature {
	line := Truncate(string(f.t.line(head)), maxHead)
	switch f.lang {
	case "python", "starlark":
		return pythonName(line)
	case "julia":
		if s := wordBeforeName(line); s.name != "" {
			return s
		}
		if name := submatch(juliaName(), line); name != "" {
			return functionNamed(name)
		}
		return signature{kind: container}
	case "nim", "elixir", "crystal", "verilog", "fortran":
		return blockUnlessNamed(wordBeforeName(line))
	case "scala":
		return declaration("scala", "", line, false)
	case "ruby":
		return blockUnlessNamed(rubyName(line))
	case "yaml":
		return signature{name: submatch(yamlName(), line), kind: container}
	case "lua":
		return blockUnlessNamed(functionNamed(submatch(luaName(), line)))
	case "shell":
		if name := submatch(shellName(), line); name != "" {
			return functionNamed(name)
		}
		// Values are not units: scripts have too many of them.
		return signature{kind: container, defines: one(submatch(shellValue(), line))}
	case "make":
		return makeTarget(line)
	case "lisp", "clojure":
		return functionNamed(submatch(lispName(), line))
	case "vim":
		return blockUnlessNamed(functionNamed(strings.ReplaceAll(submatch(vimName(), line), "#", separator)))
	case "erlang":
		return functionNamed(submatch(erlangName(), line))
	case "haskell":
		if s := nameIn(line, haskellName, haskellType); !notHaskell[s.name] {
			return s
		}
	case "ocaml":
		if s := nameIn(line, ocamlName, ocamlModule); s.name != "open" && s.name != "module" && s.name != "in" {
			return s
		}
	case "fsharp":
		return nameIn(line, fsharpName, fsharpModule)
	case "cmake":
		m := cmakeName().FindStringSubmatch(line)
		switch {
		case m == nil:
			return signature{}
		case strings.EqualFold(m[1], "function"), strings.EqualFold(m[1], "macro"):
			return functionNamed(m[2])
		}
		return signature{defines: one(m[2])}
	}
	return signature{}
}

// nameIn returns the name that one of the patterns finds: the second one finds containers.
func nameIn(line string, functions, containers func() *regexp.Regexp) signature {
	if name := submatch(containers(), line); name != "" {
		return signature{name: name, kind: container, defines: one(name)}
	}
	return functionNamed(submatch(functions(), line))
}

// blockUnlessNamed returns a signature, or that of a block which may contain declarations:
// "if", "do", "class_methods do".
func blockUnlessNamed(s signature) signature {
	if s.name == "" && len(s.defines) == 0 {
		s.kind = container
	}
	return s
}

// functionNamed returns the signature of a function.
func functionNamed(name string) signature {
	return signature{name: name, kind: function, defines: one(name)}
}

// makeTarget reads the targets of a rule. Special targets, patterns and targets with
// variables name their unit and define nothing.
func makeTarget(line string) signature {
	if name := submatch(makeValue(), line); name != "" {
		return signature{defines: one(name)}
	}
	s := signature{name: submatch(makeName(), line), kind: function}
	for _, target := range strings.Fields(s.name) {
		if target[0] != '.' && !strings.ContainsAny(target, "%$()&") {
			s.defines = append(s.defines, target)
		}
	}
	return s
}

// indentedWords precede the name that they declare.
var indentedWords = wordKinds("def func function proc macro defp defmacro defmacrop defguard defdelegate task subroutine program template iterator method",
	"class module struct type enum object defmodule defprotocol defimpl interface trait lib package", "")

// wordBeforeName reads heads of the form "[words] keyword name". In "method: x", "type = x" and
// "fn(a, type b)" the word is no keyword.
func wordBeforeName(line string) signature {
	word, rest := "", strings.TrimLeft(line, " \t")
	for range 3 {
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			break
		}
		word, rest = rest[:end], strings.TrimLeft(rest[end:], " \t")
		if strings.ContainsAny(word, "\"'`:,;#=[{") {
			break
		}
		kind, ok := indentedWords[word]
		// Fortran has "type :: name".
		if name := upTo(strings.TrimLeft(strings.TrimPrefix(rest, ":: "), ":([{"), " \t():,;#=[{*"); ok && name != "" {
			s := signature{name: name, kind: kind, defines: one(name)}
			if word == "defimpl" {
				s.defines = nil
			}
			return s
		}
	}
	return signature{}
}

// pythonName reads the head of a class or function, a block of statements that may
// contain some, and the names of values: "a, b = …", "a: int".
func pythonName(line string) signature {
	trimmed := strings.TrimSpace(line)
	word := firstWord(trimmed)
	switch word {
	case "def", "class", "async", "cdef", "cpdef":
		s := wordBeforeName(line)
		s.word = word
		return s
	case "if", "else", "elif", "try", "except", "finally", "with":
		return signature{kind: container}
	case "", "for", "while", "return", "import", "from", "del", "assert", "raise", "pass", "global", "print", "lambda":
		return signature{}
	}
	if !strings.HasPrefix(trimmed, word) { // a string, a bracket
		return signature{}
	}
	left, value, assigned := strings.Cut(trimmed, "=")
	if assigned && (strings.HasPrefix(value, "=") || strings.HasSuffix(left, "!") || strings.HasSuffix(left, "<") || strings.HasSuffix(left, ">") ||
		strings.HasSuffix(left, "+") || strings.HasSuffix(left, "|")) {
		return signature{}
	}
	left, typed, annotated := strings.Cut(left, ":")
	if !assigned && (!annotated || strings.TrimSpace(typed) == "") {
		return signature{}
	}
	var names []string
	for part := range strings.SplitSeq(left, ",") {
		part = strings.TrimSpace(part)
		if part == "" || !isName([]byte(part)) {
			return signature{}
		}
		names = append(names, part)
	}
	return signature{name: names[0], defines: names}
}

// Words that may stand before "def" in Ruby.
var rubyModifiers = words("private protected public module_function private_class_method memoize")

// rubyName reads the head of a class, module or method, the names of accessors, and
// constants.
func rubyName(line string) signature {
	fields := strings.Fields(line)
	for len(fields) > 1 && rubyModifiers[fields[0]] {
		fields = fields[1:]
	}
	if len(fields) < 2 {
		return signature{}
	}
	arg := fields[1]
	switch word := fields[0]; word {
	case "class", "module":
		if arg == "<<" {
			return signature{kind: container} // the methods of the class itself
		}
		name := strings.ReplaceAll(upTo(arg, "<;("), "::", separator)
		return signature{name: name, kind: container, word: word, defines: one(name)}
	case "def":
		name := strings.ReplaceAll(upTo(arg, "(;"), "::", separator)
		return functionNamed(name)
	case "attr_reader", "attr_writer", "attr_accessor", "define_method", "alias_method", "task", "scope":
		var names []string
		for _, a := range fields[1:] {
			if a == "do" || a == "=>" || word != "attr_reader" && word != "attr_writer" && word != "attr_accessor" && len(names) == 1 {
				break
			}
			if name := strings.Trim(a, ":,\"'"); name != "" && isName([]byte(name)) {
				names = append(names, name)
			}
		}
		return signature{defines: names}
	}
	if c := fields[0][0]; c >= 'A' && c <= 'Z' && arg == "=" && isName([]byte(fields[0])) {
		s := signature{name: fields[0], defines: one(fields[0])}
		if fields[len(fields)-1] == "do" { // Struct.new(…) do
			s.kind = container
		}
		return s
	}
	return signature{}
}

func submatch(re *regexp.Regexp, line string) string {
	m := re.FindStringSubmatch(line)
	for _, name := range m[min(1, len(m)):] {
		if name != "" {
			return Truncate(name, maxSymbol/2)
		}
	}
	return ""
}

// lazyPattern compiles a pattern at its first use.
func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
