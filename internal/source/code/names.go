package code

import "strings"

// What a head declares.
type declared int

const (
	statement declared = iota // nothing, or a value
	function                  // a body of statements
	container                 // members, which have names of their own
)

// keywords that stand before the name of what they declare.
var keywords = map[string]declared{
	"func": function, "fn": function, "function": function, "def": function, "fun": function, "sub": function, "proc": function,
	"defp": function, "defmacro": function, "macro": function, "init": function, "rpc": function, "method": function, "local": statement,
	"macro_rules": function, "defn": function, "defun": function, "procedure": function, "subroutine": function, "task": function,
	"class": container, "struct": container, "interface": container, "enum": container, "trait": container, "impl": container,
	"namespace": container, "module": container, "mod": container, "object": container, "extension": container, "protocol": container,
	"record": container, "union": container, "service": container, "message": container, "contract": container, "library": container,
	"actor": container, "defmodule": container, "mixin": container, "type": container, "@interface": container, "@implementation": container,
	"@protocol": container, "input": container, "extend": container, "oneof": container, "instance": container, "companion": container,
	"const": statement, "let": statement, "var": statement, "val": statement, "typealias": statement, "typedef": statement,
	"query": function, "mutation": function, "fragment": function, "macrodef": function, "extern": statement, "static": statement,
}

// Words that may stand between a keyword and the name, and those behind which
// the name cannot come any more.
var (
	modifiers = words("class struct enum mut const static async unsafe pub export default case data inline const* abstract final sealed " +
		"open public private protected internal override local function object fun interface type self")
	clauses  = words("final override extends implements with where is for as returns throws permits conforms")
	controls = words("if for while switch return catch else do try foreach elseif elif unless until match case new throw delete " +
		"await yield assert sizeof typeof require import include defined print echo puts with using lock synchronized")
)

// imports begin statements that declare nothing of their own.
var imports = words("import use include require using from")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// declaration reads the head of a declaration, up to its body, and says what it
// declares. It goes by the words that languages have in common: a keyword
// before a name, or a name before a list of parameters, a value or a body.
func declaration(lang, head string) (name string, kind declared) {
	switch lang {
	case "css", "scss":
		return cutText(strings.Join(strings.Fields(upTo(head, "{;")), " "), maxSymbol/2), container
	case "hcl":
		return strings.Join(strings.Fields(strings.ReplaceAll(upTo(head, "{="), `"`, "")), separator), container
	case "json":
		return cutText(strings.Trim(upTo(head, ":{["), "\" \t\n"), maxSymbol/2), container
	}
	if directive, ok := strings.CutPrefix(strings.TrimSpace(head), "#"); ok && (lang == "c" || lang == "cpp" || lang == "objc") {
		if macro, ok := strings.CutPrefix(strings.TrimSpace(directive), "define"); ok {
			return (&headReader{s: macro}).next(), function
		}
		return "", statement
	}
	r := &headReader{s: stripAnnotations(head)}
	last := ""
	for {
		switch tok := r.next(); {
		case tok == "":
			return last, statement
		case tok == "<":
			r.skipAngles()
			if rest, ok := strings.CutPrefix(r.rest(), "::"); ok { // C++: Type<T>::method
				r.i = len(r.s) - len(rest)
				last = joinNames(last, r.next())
			}
		case imports[tok] && last == "":
			return "", statement
		case tok == "(" && last == "pub": // Rust's pub(crate)
			r.skip('(', ')')
			last = ""
		case tok == "(" || tok == "=" || tok == "{" || tok == ";" || tok == ":":
			return unnamed(tok, last, r)
		case tok == "[":
			r.skip('[', ']')
		case !isNameByte(tok[0]) && tok[0] != '@' && tok[0] != '~' && tok[0] != '$':
			// an operator, a pointer
		default:
			if k, ok := keywords[tok]; ok && !(last != "" && k == statement) {
				if name := r.name(lang, k); name != "" {
					return name, k
				}
				continue
			}
			if !modifiers[tok] || last == "" {
				last = tok
			}
		}
	}
}

// unnamed judges a head without a keyword by the sign that ends its name.
func unnamed(sign, last string, r *headReader) (string, declared) {
	if controls[last] {
		return "", statement
	}
	switch sign {
	case "(":
		if last == "" {
			return "", container // a function that is called at once
		}
		return last, function
	case "{":
		return last, container
	case "=":
		rest := r.rest()
		if strings.Contains(rest, "function") || strings.Contains(rest, "=>") {
			return last, function
		}
		return last, container
	}
	return last, statement
}

// name reads on from a keyword to the name that it declares.
func (r *headReader) name(lang string, kind declared) string {
	name := ""
	for {
		tok := r.next()
		switch {
		case tok == "<":
			r.skipAngles()
		case tok == "(" && name == "" && kind == function:
			r.skip('(', ')') // Go's receiver
		case tok == "" || tok == "(" || tok == "{" || tok == ";" || tok == "=" || tok == ":" || tok == "[":
			return name
		case clauses[tok]:
			// "impl Trait for Type" is of the type.
			if tok != "for" && name != "" {
				return name
			}
			name = ""
		case tok == "!" || tok == "*" || tok == "&" || tok == "?":
		case modifiers[tok] && name == "" && tok != "self":
		case !isNameByte(tok[0]) && tok[0] != '~' && tok[0] != '$' && tok[0] != '@':
			return name
		default:
			if name != "" && lang != "c" && lang != "cpp" && lang != "rust" {
				return name
			}
			if lang == "rust" && name != "" {
				return name
			}
			// In C and C++ a macro may stand before the name.
			name = tok
		}
	}
}

func upTo(s, stops string) string {
	if i := strings.IndexAny(s, stops); i >= 0 {
		return s[:i]
	}
	return s
}

// stripAnnotations takes @Name(...), #[...] and [...] off the front.
func stripAnnotations(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		switch {
		case strings.HasPrefix(s, "@interface"), strings.HasPrefix(s, "@implementation"), strings.HasPrefix(s, "@protocol"):
			return s
		case strings.HasPrefix(s, "@"):
			i := 1
			for i < len(s) && (isNameByte(s[i]) || s[i] == '.' || s[i] == ':') {
				i++
			}
			s = s[i:]
			if strings.HasPrefix(s, "(") {
				s = s[closing(s, '(', ')'):]
			}
		case strings.HasPrefix(s, "#["), strings.HasPrefix(s, "#!["):
			s = s[closing(s, '[', ']'):]
		case strings.HasPrefix(s, "["):
			s = s[closing(s, '[', ']'):]
		default:
			return s
		}
	}
}

// closing is the place behind the bracket that closes the first one of s.
func closing(s string, open, close byte) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case open:
			depth++
		case close:
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// headReader reads the words and signs of a head. Names keep their qualifiers,
// joined by dots: "ns::Type::method" is one word.
type headReader struct {
	s string
	i int
}

func (r *headReader) rest() string { return r.s[r.i:] }

func (r *headReader) next() string {
	for r.i < len(r.s) && r.s[r.i] <= ' ' {
		r.i++
	}
	if r.i >= len(r.s) {
		return ""
	}
	start := r.i
	if c := r.s[start]; !isNameByte(c) && c != '$' && c != '~' && c != '@' {
		if c == '"' || c == '\'' || c == '`' { // a quoted name, or a value
			if end := strings.IndexByte(r.s[start+1:], c); end >= 0 {
				r.i = start + end + 2
				return r.next()
			}
		}
		r.i++
		return r.s[start : start+1]
	}
	qualified := false
	for r.i < len(r.s) {
		c := r.s[r.i]
		switch {
		case isNameByte(c) || c == '$' || c == '~' || c == '@' || c == '?' && r.i > start:
			r.i++
		case c == '.' && r.i+1 < len(r.s) && isNameByte(r.s[r.i+1]):
			r.i++
		case c == '\\' && r.i+1 < len(r.s) && isNameByte(r.s[r.i+1]): // PHP's namespaces
			qualified = true
			r.i++
		case c == ':' && strings.HasPrefix(r.s[r.i:], "::") && r.i+2 < len(r.s) && (isNameByte(r.s[r.i+2]) || r.s[r.i+2] == '~'):
			qualified = true
			r.i += 2
		default:
			return unqualify(r.s[start:r.i], qualified)
		}
	}
	return unqualify(r.s[start:r.i], qualified)
}

func unqualify(name string, qualified bool) string {
	name = strings.TrimRight(name, "?")
	if !qualified {
		return name
	}
	return strings.NewReplacer("::", separator, `\`, separator).Replace(name)
}

// skip goes behind the bracket that closes the one just read.
func (r *headReader) skip(open, close byte) {
	r.i += closing(r.s[r.i-1:], open, close) - 1
}

// skipAngles goes behind type parameters, unless < is a comparison.
func (r *headReader) skipAngles() {
	end := closing(r.s[r.i-1:], '<', '>')
	if end <= len(r.s)-(r.i-1) && !strings.ContainsAny(r.s[r.i:r.i-1+end], "{;") {
		r.i += end - 1
	}
}
