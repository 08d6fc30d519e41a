package chunk

import (
	"slices"
	"strings"
)

// Words of languages that write a type before a name: C and its descendants.
var (
	// typeWords precede the name of a type or namespace.
	typeWords = words("class struct union enum interface namespace record module trait extension mixin service exception library contract @interface")
	// behindParameters may stand between a function's parameters and its body.
	behindParameters = words("const noexcept override final volatile throws throw requires where async sync native mutable returns restrict " +
		"external virtual public private internal view pure payable abstract default and or is try __attribute__ __asm__ asm")
	// noNames are words before an argument list that are not function names.
	noNames = words("__attribute__ __attribute __declspec alignas decltype noexcept throw requires _Alignas typeof __typeof__ explicit if for while switch " +
		"return catch else do new delete await yield assert sizeof static_assert _Static_assert using lock synchronized foreach when case defined super this")
	// sectionWords begin a part of a class: "public:".
	sectionWords = words("public private protected signals slots Q_SIGNALS")
	// typeEndings end the name in the head of a type.
	typeEndings = words("extends implements permits with on where is final sealed non-sealed")
)

// typed reads the head of a declaration in such a language. in is the word of its
// container; body is true if a brace opens after the head.
func typed(lang, in string, list []lexeme, body bool) signature {
	if n := len(list); n > 0 && list[n-1].kind == '{' {
		body = true
	}
	r := &typedReader{headReader: headReader{lang, in, list, body}}
	r.skipFront()
	if r.i < len(list) {
		switch t := list[r.i]; {
		case t.kind == '-' || t.kind == '+': // Objective-C's methods
			return r.message()
		case t.kind == '#':
			return signature{}
		case t.text == "using" && r.at(r.i+1).kind == 'w' && r.at(r.i+2).kind == '=':
			return signature{name: r.at(r.i + 1).text, defines: one(r.at(r.i + 1).text)}
		case t.text == "package":
			return signature{name: r.at(r.i + 1).text}
		case imports[t.text]:
			return signature{}
		case t.text == "typedef":
			return r.typedef()
		case t.text == "extern" && r.body && r.wordsBefore('{') == 1,
			t.text == "extension" && r.body && r.at(r.i+1).kind == '(': // C#
			return signature{kind: container}
		}
	}
	if s, ok := r.typeHead(); ok {
		return s
	}
	return r.function()
}

// typedReader reads a head from the lexeme at i.
type typedReader struct {
	headReader
	i int
}

// skipFront skips annotations, attributes, labels and type parameters.
func (r *typedReader) skipFront() {
	for r.i < len(r.list) {
		t := r.list[r.i]
		switch {
		case t.kind == 'w' && t.text[0] == '@' && t.text != "@interface":
			r.i++
			if r.at(r.i).kind == '(' {
				r.i++
			}
		case t.kind == '[', t.kind == 'w' && t.text == "template", t.kind == '<':
			r.i++
		case t.kind == 'w' && r.at(r.i+1).kind == ':' && sectionWords[t.text]:
			r.i += 2
		default:
			return
		}
	}
}

// wordsBefore counts the words from here to a sign.
func (r *typedReader) wordsBefore(sign byte) int {
	n := 0
	for _, t := range r.list[r.i:] {
		if t.kind == sign {
			break
		}
		if t.kind == 'w' {
			n++
		}
	}
	return n
}

// typeHead reads the head of a type or namespace. It returns false if the word only names
// the type of a function or variable.
func (r *typedReader) typeHead() (signature, bool) {
	i := r.i
	for ; i < len(r.list); i++ {
		t := r.list[i]
		if t.kind != 'w' && t.kind != '[' && t.kind != '"' {
			if t.kind == '(' && noNames[r.at(i-1).text] {
				continue
			}
			return signature{}, false
		}
		if t.kind == 'w' && typeWords[t.text] && r.at(i+1).kind != '(' && r.at(i+1).kind != '=' {
			break
		}
	}
	if i == len(r.list) {
		return signature{}, false
	}
	word, name, count := r.list[i].text, "", 0
	if word == "struct" && r.at(i-1).text == "record" {
		word = "record"
	}
	for i++; i < len(r.list); i++ {
		t := r.list[i]
		switch {
		case t.kind == 'w' && (t.text == "class" || t.text == "struct") && count == 0:
			// enum class, record struct
		case t.kind == 'w' && t.text[0] == '@', t.kind == '[', t.kind == '<':
		case t.kind == '(' && (word == "record" || r.lang == "csharp" || r.lang == "java" || r.lang == "dart") && count > 0:
			return signature{name: name, kind: container, word: word, defines: one(name)}, true
		case t.kind == '(' && (noNames[r.at(i-1).text] || isMacro(r.at(i-1).text)):
			name, count = "", count-1
		case t.kind == 'w' && typeEndings[t.text] && (count > 0 || word == "extension"):
			return signature{name: name, kind: container, word: word, defines: r.typeDefines(word, name)}, true
		case t.kind == 'w':
			name = t.text
			count++
		case t.kind == '{' || t.kind == ':':
			if word == "enum" && count == 0 {
				name = ""
			}
			return signature{name: name, kind: container, word: word, defines: r.typeDefines(word, name)}, true
		case t.kind == ';' && count == 1:
			if word == "namespace" || word == "class" && r.lang == "kotlin" {
				return signature{name: name, kind: container}, true
			}
			return signature{name: name}, true // only a forward declaration
		default:
			return signature{}, false
		}
	}
	// The brace is on a separate line.
	return signature{name: name, kind: container, word: word, defines: r.typeDefines(word, name)}, r.body && count > 0 || word == "namespace"
}

func (r *typedReader) typeDefines(word, name string) []string {
	if word == "extension" && r.lang != "dart" {
		return nil
	}
	return one(name)
}

// typedef reads "typedef struct tag { … } name;" up to its brace, and typedefs without
// one: "typedef int (*name)(int);". The caller reads the rest.
func (r *typedReader) typedef() signature {
	r.i++
	if s, ok := r.typeHead(); ok && r.body {
		s.kind = container
		return s
	}
	name := ""
	for i := r.i; i < len(r.list); i++ {
		switch t := r.list[i]; {
		case t.kind == 'w':
			name = t.text
		case t.kind == '(' && (strings.HasPrefix(t.text, "*") || strings.HasPrefix(t.text, "^") || r.at(i+1).kind == '('):
			name = firstWord(t.text)
			return signature{name: name, defines: one(name)}
		case t.kind == '=': // Dart
			name = r.at(i - 1).text
			if r.at(i-1).kind == '<' {
				name = r.at(i - 2).text
			}
			return signature{name: name, defines: one(name)}
		case t.kind == ';':
			return signature{name: name, defines: one(name)}
		}
	}
	return signature{name: name}
}

// message reads the head of a method of Objective-C, "- (int)count:(id)x".
func (r *typedReader) message() signature {
	for _, t := range r.list[r.i:] {
		if t.kind == 'w' {
			s := signature{name: t.text, kind: function}
			if r.body {
				s.defines = one(t.text)
			}
			return s
		}
	}
	return signature{}
}

// function reads the head of a function, else of variables.
func (r *typedReader) function() signature {
	name, before, args := "", 0, ""
	var last byte
scan:
	for i := r.i; i < len(r.list); i++ {
		t := r.list[i]
		last = t.kind
		switch {
		case t.kind == 'w' && t.text == "operator":
			sign, next := r.operator(i + 1)
			if name == "" {
				name, before = "operator"+sign, 2
			}
			i = next
		case t.kind == 'w' && strings.HasSuffix(t.text, separator+"operator"):
			sign, next := r.operator(i + 1)
			name, before, i = t.text+sign, 2, next
		case t.kind == 'w' && name == "" && (t.text == "get" || t.text == "set") && r.lang == "dart" && r.at(i+1).kind == 'w':
			name, before = r.at(i+1).text, 2
		case t.kind == 'w' && t.text[0] == '@' && r.at(i+1).kind == '(':
			i++
		case t.kind == '(':
			word := r.at(i - 1)
			if word.kind == '<' {
				word = r.at(i - 2)
			}
			switch {
			case strings.HasPrefix(t.text, "*") && name == "" && word.kind == 'w':
				w := firstWord(t.text)
				return signature{name: w, defines: one(w)}
			case word.kind != 'w' || noNames[word.text] || behindParameters[word.text]:
			case name == "" || isMacro(name) && !isMacro(word.text) && i > 0:
				name, args, before = word.text, t.text, i-r.i
			}
		case name != "" && (t.kind == ':' || t.kind == '>'):
			break scan
		case t.kind == '{' || t.kind == ';' || t.kind == '=' || t.kind == ',' && name == "" || t.kind == '>':
			break scan
		}
	}
	if name == "" {
		return r.variables()
	}
	if before == 1 && controls[name] {
		return signature{}
	}
	s := signature{name: name, kind: function}
	isType := r.in != "" && r.in != "namespace" && r.in != "extern"
	c := r.lang == "c" || r.lang == "cpp" || r.lang == "objc"
	switch {
	case before == 1 && isMacro(name) && c && r.body:
		// A macro that makes a function: TEST(Suite, Case) { … }.
		if made := arguments(args); made != "" {
			s.name = made
		}
		s.defines = one(s.name)
	case last == '{' || last == ':' && r.body || last == '>' || r.body && last != ';' && last != '=':
		s.defines = one(name)
	case isType && !c && before > 1: // of an interface, or abstract
		s.defines = one(name)
	case r.lang == "csharp" && r.at(r.i).kind == 'w' && r.has("delegate"):
		s.defines = one(name)
	}
	return s
}

// operator reads the signs of an operator and returns their end.
func (r *typedReader) operator(i int) (sign string, end int) {
	var b strings.Builder
	for start := i; i < len(r.list); i++ {
		t := r.list[i]
		switch {
		case t.kind == '(' && (i > start || t.text != ""):
			return b.String(), i
		case t.kind == '(':
			b.WriteString("()")
		case t.kind == '[':
			b.WriteString("[]")
		case t.kind == '{' || t.kind == ';':
			return b.String(), i - 1
		case t.kind == 'w':
			b.WriteString(" " + t.text)
		case t.kind == '"':
			b.WriteString(`""`)
		case t.kind == '<' && len(t.text) > 1:
			b.WriteString("<" + t.text + ">")
		default:
			b.WriteString(t.text)
		}
	}
	return b.String(), i
}

func (r *typedReader) has(word string) bool {
	return slices.Contains(r.list[r.i:], lexeme{'w', word})
}

// variables reads "type a, b = 1;", and a property "type name { get; }".
func (r *typedReader) variables() signature {
	var names []string
	count, value := 0, false
	first := ""
	announced := false
scan:
	for i := r.i; i < len(r.list); i++ {
		t := r.list[i]
		switch {
		case value && t.kind != ',' && t.kind != ';':
		case t.kind == 'w':
			if announced = announced || t.text == "extern"; controls[t.text] && (t.text != "new" || i > r.i+2) {
				return signature{}
			}
			count++
			first = t.text
		case t.kind == '=', t.kind == '{', t.kind == ',', t.kind == ';', t.kind == '>':
			if first != "" && (count > 1 || len(names) > 0) {
				names = append(names, first)
			}
			first = ""
			if t.kind == '{' || t.kind == ';' || t.kind == '>' {
				break scan
			}
			value = t.kind == '='
		case t.kind == ':' && count == 1: // a label
			return signature{}
		}
	}
	if first != "" && count > 1 {
		names = append(names, first)
	}
	if len(names) == 0 {
		if r.body {
			return signature{name: first, kind: container, word: "object"}
		}
		return signature{name: first}
	}
	s := signature{name: listNames(names), defines: names}
	if announced || (r.lang == "c" || r.lang == "cpp") && r.in != "" && r.in != "namespace" && r.in != "extern" {
		s.defines = nil
	}
	return s
}

// isMacro reports whether a word is in capitals, as macros are.
func isMacro(word string) bool {
	upper := false
	for i := range len(word) {
		c := word[i]
		if c >= 'a' && c <= 'z' || c >= 0x80 || c == '.' {
			return false
		}
		upper = upper || c >= 'A' && c <= 'Z'
	}
	return upper && len(word) > 1
}

// arguments joins one or two plain words: "Suite, Case" is "Suite.Case".
func arguments(args string) string {
	parts := strings.Split(args, ",")
	if len(parts) > 2 {
		return ""
	}
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
		if parts[i] == "" || !isName([]byte(parts[i])) {
			return ""
		}
	}
	return strings.Join(parts, separator)
}

func one(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
