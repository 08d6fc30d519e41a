package chunk

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// statementWords begin statements in the languages with bodies, whichever of them has them.
var statementWords = words("return if for foreach while loop unless raise throw match switch yield await let")

// functionWords begin functions in languages where the body of one may be an expression.
var functionWords = words("fn def fun func init")

// bodies says whether the functions of a language consist of statements, or may be
// expressions. Other languages have no functions, or none in these words.
func bodies(lang string) (statements, expressions bool) {
	switch lang {
	case "go", "javascript", "typescript", "java", "groovy", "c", "cpp", "objc", "csharp", "php", "dart", "zig", "solidity", "python", "lua", "perl":
		return true, false
	case "rust", "ruby", "kotlin", "scala", "swift", "crystal":
		return false, true
	}
	return false, false
}

// onlyDeclares says that code has no statement. Words within comments of whole lines do
// not count; a word within another comment or a string does.
func onlyDeclares(lang string, code []byte) bool {
	statements, expressions := bodies(lang)
	if !statements && !expressions {
		return false
	}
	comments := syntaxes[lang].line
	for line := range bytes.Lines(code) {
		line = bytes.TrimSpace(line)
		if isCommentLine(string(line), comments) {
			continue
		}
		for word := range bytes.FieldsFuncSeq(line, func(r rune) bool { return r < utf8.RuneSelf && !isNameByte(byte(r)) }) {
			if statementWords[string(word)] || expressions && functionWords[string(word)] {
				return false
			}
		}
	}
	return true
}

func isCommentLine(line string, comments []string) bool {
	return strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*") ||
		slices.ContainsFunc(comments, func(start string) bool { return strings.HasPrefix(line, start) })
}

// isInnerTest says that all that a symbol names is in a module of tests, as Rust has them
// beside what they test.
func isInnerTest(lang, symbol string) bool {
	if lang != "rust" || symbol == "" {
		return false
	}
	for name := range strings.SplitSeq(symbol, ", ") {
		if first, _, _ := strings.Cut(name, separator); first != "tests" && first != "test" {
			return false
		}
	}
	return true
}
