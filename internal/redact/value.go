package redact

import (
	"slices"
	"strings"
	"unicode"
)

// Value is Redact for a value with names, such as a member of a JSON object, a setting or
// a flag: the keys that lead to it, the nearest last. After a name such as password,
// secret or token the whole value is redacted, whatever it looks like, if it can be a
// secret: a number can be a password, but otherwise is a count; a sentence, a type or a
// placeholder is not a secret.
func Value(value string, names ...string) (clean string, n int) {
	if what := named(strings.TrimSpace(value), names); what != "" {
		return markStart + what + "]", 1
	}
	if clean, n = Redact(value); n > 0 || value == "" || len(names) == 0 {
		return clean, n
	}
	return givenTo(names[len(names)-1], value)
}

// givenTo redacts a value as if it were assigned to a key.
func givenTo(name, value string) (string, int) {
	if name == "" || strings.ContainsAny(name+value, "\"\\\n") {
		return value, 0
	}
	if len(Find(name)) > 0 { // it is the key that would be found
		return value, 0
	}
	front := `"` + name + `": "`
	both, n := Redact(front + value + `"`)
	if n == 0 {
		return value, 0
	}
	clean, ok := strings.CutPrefix(both, front)
	if !ok { // a rule took the key with it
		return markStart + "secret]", n
	}
	return strings.TrimSuffix(clean, `"`), n
}

// named returns the kind of secret that a value is by its names; empty if it is none.
func named(value string, names []string) string {
	if len(names) == 0 || len(value) < 4 {
		return ""
	}
	last := len(names) - 1
	nearest := nameWords(names[last])
	can := func() bool { return !isPlaceholder(value) && !isAbout(value) }
	if k := kindOf(nearest); k != nil && k.is(value) && can() {
		return k.what
	}
	// {"secret": {"value": …}}, {"credentials": {"db": …}}
	for _, name := range names[:last] {
		k := kindOf(nameWords(name))
		if k == nil || !k.holds || !can() {
			continue
		}
		if len(nearest) == 1 && slices.Contains(valueNames[:], nearest[0]) && k.is(value) || isSecretString(value) && !isDescribing(nearest) {
			return k.what
		}
	}
	return ""
}

// namedKind is a kind of secret that is recognised by its name.
type namedKind struct {
	what string
	// ends are words, joined, in which its names end.
	ends []string
	// is reports whether a value can be one.
	is func(value string) bool
	// holds reports whether an object of that name may contain such values under other
	// names.
	holds bool
}

var namedKinds = [...]namedKind{
	{"password", []string{"password", "passwd", "passphrase", "passcode", "pwd"}, func(string) bool { return true }, true},
	{"password", []string{"pass"}, func(s string) bool { return isWord(s) && kindsOf(s).letters > 0 }, false},
	{"secret", []string{"secret", "apikey", "accesskey", "privatekey", "secretkey", "signingkey", "encryptionkey", "masterkey"},
		func(s string) bool { return len(s) >= 6 && isWord(s) }, true},
	{"secret", []string{"credential", "credentials", "secrets"}, func(s string) bool { return len(s) >= 6 && isSecretString(s) }, true},
	{"secret", []string{"token", "jwt"}, func(s string) bool { return len(s) >= 8 && isWord(s) && kindsOf(s).letters > 0 }, true},
	{"authorization", []string{"authorization"}, isAuthorization, false},
	{"cookie", []string{"cookie"}, hasCookie, false},
}

// kindOf returns the kind of secret of a name, or nil.
func kindOf(words []string) *namedKind {
	for len(words) > 1 && slices.Contains(valueNames[:], words[len(words)-1]) {
		words = words[:len(words)-1] // "password field", "secret_value"
	}
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	two := last
	if len(words) > 1 {
		two = words[len(words)-2] + last
	}
	for i, k := range namedKinds {
		for _, end := range k.ends {
			// Joined as in "authtoken", except for words as short as "compass".
			if last == end || two == end || len(end) >= len("secret") && strings.HasSuffix(last, end) {
				return &namedKinds[i]
			}
		}
	}
	return nil
}

// valueNames are names of a value itself, or of the field where it is entered.
var valueNames = [...]string{"value", "val", "data", "raw", "plain", "plaintext", "text", "string", "content", "current",
	"field", "input", "box", "textbox", "confirm", "confirmation", "again"}

// isDescribing reports whether a name in an object about a secret is a description's.
func isDescribing(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "type", "kind", "name", "id", "title", "description", "label", "url", "uri", "href", "host", "path", "file", "version",
		"format", "pattern", "status", "state", "message", "code", "ref", "at", "time", "date", "expires", "created", "updated", "user", "username":
		return true
	}
	return false
}

// nameWords splits a name into its words, in lower case, without numbers: "DB_PASSWORD1",
// "dbPassword", "--db-password".
func nameWords(name string) []string {
	if len(name) > maxName {
		return nil
	}
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			end() // "dbPassword", "APIKey"
		}
		word = append(word, r)
	}
	end()
	return words
}

// maxName is the longest name that is read word by word, in bytes: longer ones are texts.
const maxName = 100

// isWord reports whether a value holds no white space.
func isWord(s string) bool { return !strings.ContainsAny(s, " \t\r\n") }

// isAuthorization reports whether a value has the form of an authorization header: a scheme
// and a word, or a key.
func isAuthorization(s string) bool {
	scheme, rest, spaced := strings.Cut(s, " ")
	if rest = strings.TrimSpace(rest); spaced {
		return isWord(scheme) && isWord(rest) && len(rest) >= 4 && !isPlaceholder(rest)
	}
	return len(s) >= 8 && isMixed(s)
}

// isAbout reports whether a value after a secret's name only describes it: its type or
// state, a sentence, where it is stored or entered.
func isAbout(value string) bool {
	lower := strings.ToLower(value)
	if strings.Contains(lower, "password") && kindsOf(lower).digits == 0 { // "#password", "Enter password"
		return true
	}
	for _, front := range [...]string{"/", "./", "~/", "arn:", "vault:", "op://", "file:", "env:", "ssm:", "input[", "//"} {
		if strings.HasPrefix(lower, front) {
			return true
		}
	}
	if (lower[0] == '#' || lower[0] == '.' || lower[0] == '[') && kindsOf(lower).digits == 0 { // a selector
		return true
	}
	for word := range strings.FieldsSeq(lower) {
		switch strings.Trim(word, ".,:;!?'\"()") {
		case "is", "was", "must", "required", "optional", "should", "the", "your", "please", "invalid", "valid", "missing", "expired",
			"cannot", "not", "be", "too", "enter", "field", "string", "text", "number", "boolean", "object", "array", "unknown", "hidden",
			"masked", "enabled", "disabled", "empty", "unset", "present", "absent", "default", "failed", "passed", "skip", "skipped", "denied":
			return true
		}
	}
	return false
}
