package chunk

import "strings"

// worded lists the words before names, for the languages that have them.
var worded = map[string]map[string]declared{
	"javascript": scriptWords, "typescript": scriptWords,
	"kotlin":     wordKinds("fun", "class interface object", "val var typealias"),
	"swift":      wordKinds("func macro", "class struct enum protocol extension actor", "let var typealias associatedtype"),
	"scala":      wordKinds("def given", "class object trait enum extension", "val var type"),
	"rust":       wordKinds("fn macro_rules macro", "struct enum union trait impl mod", "const static type"),
	"go":         wordKinds("func", "type", "const var"),
	"php":        wordKinds("function fn", "class interface trait enum namespace", "const"),
	"zig":        wordKinds("fn test", "", "const var"),
	"solidity":   wordKinds("function modifier event error", "contract library interface struct enum", "type"),
	"proto":      wordKinds("rpc", "message service enum oneof extend", ""),
	"graphql":    wordKinds("query mutation subscription fragment directive", "type interface enum input extend schema", "scalar union"),
	"thrift":     wordKinds("", "struct service exception union enum", "typedef const"),
	"perl":       wordKinds("sub", "package class role", ""),
	"powershell": wordKinds("function Function filter Filter workflow", "class Class enum Enum", ""),
	"r":          {},
}

var scriptWords = wordKinds("function", "class interface enum namespace module", "const let var type")

func wordKinds(functions, containers, statements string) map[string]declared {
	m := map[string]declared{}
	for kind, list := range map[declared]string{function: functions, container: containers, statement: statements} {
		for w := range strings.FieldsSeq(list) {
			m[w] = kind
		}
	}
	return m
}

// notDefining are words before names that are declared elsewhere.
var notDefining = words("impl extension extend oneof namespace schema")

// selfNamed are members of Swift and Kotlin that are named by their keyword.
var selfNamed = words("init deinit subscript constructor")

// valueWords precede names of values.
var valueWords = words("const let var val static")

// wordedHead reads the head of a declaration in such a language. in is the word of its
// container.
func wordedHead(lang, in string, list []lexeme, body bool) signature {
	if len(list) > 2 && list[0].kind == '<' && list[1].kind == '?' { // <?php
		list = list[3:]
	}
	r := &wordedReader{headReader{lang, in, list, body}, worded[lang]}
	return r.read()
}

type wordedReader struct {
	headReader
	kinds map[string]declared
}

func (r *wordedReader) read() signature {
	for i := 0; i < len(r.list); i++ {
		t := r.list[i]
		switch {
		case t.kind == 'w' && t.text[0] == '@': // an annotation
			if r.at(i+1).kind == '(' {
				i++
			}
		case t.kind == '#' && r.at(i+1).kind == '[', t.kind == '[' && len(r.list) > i+1: // attributes
		case t.kind == '(' && i > 0 && r.at(i-1).kind == 'w' && r.at(i-1).text == "pub":
		case t.kind == '"' && r.at(i-1).text == "extern": // extern "C"
		case t.kind == '*' || t.kind == '#', t.kind == '<' && r.lang != "r":
		case t.kind == 'w' && imports[t.text] && i == 0 && r.at(1).kind != '(' && r.at(1).kind != ':':
			return signature{}
		case t.kind == 'w':
			if s, ok := r.word(i); ok {
				return s
			}
		case t.kind == '(' && i == 0, t.kind == '!' || t.kind == ';' && i == 0:
			// A function that is called at once contains a file's declarations.
			if script(r.lang) && strings.Contains(t.text, "function") || t.kind != '(' {
				continue
			}
			return signature{kind: container}
		default:
			return r.unworded(i)
		}
	}
	return r.unworded(len(r.list))
}

func script(lang string) bool {
	return lang == "javascript" || lang == "typescript"
}

// word reads the word at i, and reports whether it declares the name after it.
func (r *wordedReader) word(i int) (signature, bool) {
	w := r.list[i].text
	next := r.at(i + 1)
	if selfNamed[w] && (r.lang == "swift" || r.lang == "kotlin") && next.kind != '=' && next.kind != ':' {
		if w == "init" && r.lang == "kotlin" {
			return signature{kind: function}, true
		}
		return signature{name: w, kind: function, defines: one(w)}, true
	}
	kind, ok := r.kinds[w]
	if !ok {
		return signature{}, false
	}
	if script(r.lang) && (next.kind == '(' && w != "function" || next.kind == ':' || next.kind == '=' || next.kind == ',' || next.kind == 0 || next.kind == ';') {
		return signature{}, false // a member of that name
	}
	if follows, isWord := r.kinds[next.text]; isWord && next.kind == 'w' && follows != statement && w != "function" && r.at(i+2).kind == 'w' {
		return signature{}, false // "class func", "enum class", "companion object"
	}
	if valueWords[w] && kind == statement {
		if next.kind == 'w' && (r.lang == "rust" && (next.text == "unsafe" || next.text == "async" || next.text == "extern") || next.text == "fn" || next.text == "func" || next.text == "function" || next.text == "enum" && script(r.lang) || next.text == "class" && r.lang != "zig") {
			return signature{}, false // "const fn"
		}
		return r.values(i + 1)
	}
	name := r.name(i+1, w)
	s := signature{name: name, kind: kind, word: w, defines: one(name)}
	switch {
	case name == "" && w == "object": // companion object
		s.name, s.defines = "Companion", nil
	case notDefining[w] || next.kind == '"' || w == "type" && r.at(i-1).text == "extend": // a quoted name is of a test, or of another module
		s.defines = nil
	case w == "typealias" || w == "type" && (script(r.lang) || r.lang == "scala"):
		s.kind = statement
	case w == "type" && r.lang == "go" && !r.body:
		s.kind = statement
	}
	if r.at(0).text == "extend" {
		s.defines = nil
	}
	if r.lang == "kotlin" && w == "class" && strings.HasPrefix(r.at(0).text, "enum") {
		s.word = "enum"
	}
	if name == "" && kind == function && w != "function" && w != "fun" {
		return signature{}, false
	}
	return s, true
}

// name returns the name after a word.
func (r *wordedReader) name(i int, word string) string {
	name := ""
	for ; i < len(r.list); i++ {
		t := r.list[i]
		switch {
		case t.kind == '<':
		case t.kind == '(' && name == "" && (r.lang == "go" || word == "extension" || r.lang == "kotlin" && word == "fun"):
		case t.kind == '*' || t.kind == '&' || t.kind == '!' || t.kind == '?':
		case t.kind == '"' && name == "":
			return Truncate(t.text, maxSymbol/2)
		case t.kind == 'w' && word == "impl" && t.text == "for":
			name = "" // "impl Trait for Type" is of the type
		case t.kind == 'w' && word == "impl":
			if t.text == "where" {
				return name
			}
			if name == "" && t.text != "dyn" && t.text != "mut" && t.text != "const" && t.text != "unsafe" {
				name = t.text
			}
		case t.kind == 'w' && name == "" && (t.text == "mut" || t.text == "case" || t.text == "async" || t.text == "readonly" && r.lang == "php"):
		case t.kind == 'w' && name == "":
			name = t.text
			if word == "package" && r.lang == "perl" {
				return name
			}
			if r.lang == "kotlin" && word == "fun" {
				for r.at(i+1).kind == '.' || r.at(i+1).kind == '<' || r.at(i+1).kind == '?' {
					if i++; r.at(i).kind == '.' && r.at(i+1).kind == 'w' {
						i++
						name += separator + r.at(i).text
					}
				}
			}
		case name == "" && word == "func" && r.lang == "swift": // an operator
			for ; i < len(r.list) && r.list[i].kind != '(' && r.list[i].kind != 'w'; i++ {
				name += r.list[i].text
			}
			return name
		case t.kind == '-' && r.lang == "powershell":
			if i++; i < len(r.list) {
				name += "-" + r.list[i].text
			}
		default:
			return name
		}
	}
	return name
}

// values reads the names after "const", "let", "val" and the like.
func (r *wordedReader) values(i int) (signature, bool) {
	var names []string
	expect := true
	for ; i < len(r.list); i++ {
		t := r.list[i]
		switch {
		case t.kind == 'w' && expect && (t.text == "mut" || t.text == "lazy"):
		case t.kind == '<' && expect: // Kotlin's "val <T> List<T>.last"
		case t.kind == '(' && expect:
			for part := range strings.SplitSeq(t.text, ",") {
				if w := firstWord(part); w != "" && r.lang != "go" {
					names = append(names, w)
				}
			}
			expect = false
		case t.kind == 'w' && expect:
			names, expect = append(names, t.text), false
		case t.kind == '.' && r.lang == "kotlin" && len(names) > 0 && r.at(i+1).kind == 'w': // of a type
			i++
			names[0] += separator + r.list[i].text
		case t.kind == ',' && (r.lang == "go" || script(r.lang)):
			expect = true
		case t.kind == '=':
			s := signature{name: listNames(names), defines: names, kind: r.valueKind(i + 1), word: "object"}
			if len(names) > 1 {
				s.kind = statement
			}
			if s.kind == container && r.lang == "zig" {
				s.word = r.at(i + 1).text
			}
			return s, true
		case t.kind == '{' && expect:
			return signature{}, true // destructuring, mostly of names that another file declares
		}
	}
	return signature{name: listNames(names), defines: names}, true
}

// valueKind returns the kind of a value by its first lexemes.
func (r *wordedReader) valueKind(i int) declared {
	for first := i; i < len(r.list); i++ {
		t := r.list[i]
		switch {
		case t.kind == '>':
			return function
		case t.kind == 'w' && (t.text == "function" || t.text == "func"):
			return function
		case t.kind == 'w' && (t.text == "class" || t.text == "struct" || t.text == "enum" || t.text == "union" || t.text == "opaque"):
			return container
		case t.kind == '{' && i == first:
			return container
		case t.kind == 'w' || t.kind == '(' || t.kind == '<' || t.kind == ':' || t.kind == '"':
		default:
			return statement
		}
	}
	return statement
}

// unworded reads a head without such a word: members and assignments. i is the position
// after its first words.
func (r *wordedReader) unworded(i int) signature {
	sign, last := r.at(i), r.at(i-1)
	if last.kind == '"' && r.lang != "perl" && r.in == "object" && sign.kind == ':' {
		last.kind = 'w'
	}
	if last.kind == '<' {
		last = r.at(i - 2)
	}
	if (sign.kind == '?' || sign.kind == '!') && last.kind == 'w' { // optional
		i++
		sign = r.at(i)
	}
	if last.kind != 'w' || controls[last.text] && r.in == "" {
		if r.lang == "r" || !r.body {
			return signature{}
		}
		return signature{kind: container}
	}
	name := strings.TrimSuffix(last.text, "?")
	member := r.in != "" && r.in != "namespace" && r.in != "module"
	switch sign.kind {
	case '<':
		if r.lang == "r" && r.at(i+1).kind == '-' {
			return signature{name: name, kind: r.valueKind(i + 2), defines: one(name)}
		}
	case '(':
		s := signature{name: name, kind: function}
		if r.lang == "php" && !member || controls[name] && !member {
			return signature{}
		}
		if script(r.lang) && member && (r.bodyBehind(i+1) || r.in == "interface" || r.in == "class" && r.at(i+1).kind == ':' || r.in == "type") {
			s.defines = one(name)
		}
		return s
	case '=':
		s := signature{name: name, kind: r.valueKind(i + 1), word: "object"}
		switch {
		case script(r.lang) && r.in == "class", r.lang == "php" && r.in == "class", r.lang == "php" && r.in == "trait":
			s.defines = one(name)
		case script(r.lang) && strings.Contains(name, separator) && !strings.HasSuffix(name, ".exports") && !strings.HasSuffix(name, ".prototype") && s.kind != statement:
			s.defines = one(name)
		case r.lang == "r":
			s.defines = one(name)
		}
		return s
	case ':':
		s := signature{name: name, kind: r.valueKind(i + 1), word: "object"}
		if script(r.lang) && (r.in == "object" && s.kind == function || r.in == "class") {
			s.defines = one(name)
		}
		return s
	case ';':
		if member && (script(r.lang) && r.in == "class" || r.lang == "php") {
			return signature{name: name, defines: one(name)}
		}
	case '{':
		return signature{name: name, kind: container}
	}
	return signature{name: name}
}

// bodyBehind reports whether a brace opens after a parameter list.
func (r *wordedReader) bodyBehind(i int) bool {
	switch r.at(i).kind {
	case '{':
		return true
	case ':': // the type of the result
		for ; i < len(r.list); i++ {
			if r.list[i].kind == '{' {
				return true
			}
			if r.list[i].kind == ';' || r.list[i].kind == ',' {
				return false
			}
		}
	case 0:
		return r.body
	}
	return false
}
