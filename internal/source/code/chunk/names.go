package chunk

import "strings"

// declared is what a head declares.
type declared int

const (
	statement declared = iota // nothing, or a value
	function                  // a body of statements
	container                 // members, which have names of their own
)

// signature is the content of a unit's head.
type signature struct {
	// name is the declared name, or the distinguishing part of units that declare nothing.
	name string
	kind declared
	// word is the kind of a container, "class", "enum" or "object", by which its members
	// are read.
	word string
	// defines are the declared names.
	defines []string
}

// controls begin statements, which declare nothing.
var (
	controls = words("if for while switch return catch else do try foreach elseif elif unless until match case new throw delete " +
		"await yield assert sizeof typeof require import include defined print echo puts with using lock synchronized super this")
	// imports begin statements that declare nothing.
	imports = words("import include require using from use")
)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// declaration reads the head of a declaration, up to its body. in is the word of its
// container; body is true if a brace opens after the head.
func declaration(lang, in, head string, body bool) signature {
	switch lang {
	case "css", "scss":
		return signature{name: Truncate(strings.Join(strings.Fields(upTo(head, "{;")), " "), maxSymbol/2), kind: container}
	case "hcl":
		return hclHead(in, head)
	case "json":
		return signature{name: Truncate(strings.Trim(upTo(head, ":{["), "\" \t\n"), maxSymbol/2), kind: container}
	}
	hash := lang == "graphql" || lang == "perl" || lang == "powershell" || lang == "r" || lang == "php"
	if _, ok := worded[lang]; ok {
		return wordedHead(lang, in, lexemes(head, hash), body)
	}
	if directive, ok := strings.CutPrefix(strings.TrimSpace(head), "#"); ok && (lang == "c" || lang == "cpp" || lang == "objc") {
		return signature{name: macroName(directive), kind: function}
	}
	return typed(lang, in, lexemes(head, hash), body)
}

// macroName returns the name that a directive of the C preprocessor defines.
func macroName(directive string) string {
	macro, ok := strings.CutPrefix(strings.TrimSpace(directive), "define")
	if !ok {
		return ""
	}
	return firstWord(upTo(strings.TrimSpace(macro), "( \t\n\\"))
}

// hclHead reads the head of a block, "resource "type" "name" {", which defines its last
// label, and the names of values in a block of locals.
func hclHead(in, head string) signature {
	block := strings.Contains(upTo(head, "="), "{")
	name := strings.Join(strings.Fields(strings.ReplaceAll(upTo(head, "{="), `"`, "")), separator)
	s := signature{name: name, kind: container, word: firstWord(name)}
	if block && strings.Contains(name, separator) && in == "" || in == "locals" && !block {
		s.defines = one(name)
	}
	if in != "" {
		s.kind = statement
	}
	return s
}

func upTo(s, stops string) string {
	if i := strings.IndexAny(s, stops); i >= 0 {
		return s[:i]
	}
	return s
}
