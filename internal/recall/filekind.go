package recall

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/internal/language"
)

// fileKind says what a file of a repository is for, by the conventions of its languages.
type fileKind string

// The kinds. The empty one is an implementation: what the others test, show, document or
// set.
const (
	implementation fileKind = ""
	testFile       fileKind = "test"
	exampleFile    fileKind = "example"
	documentation  fileKind = "documentation"
	settingsFile   fileKind = "settings"
)

// kindOfFolder holds the folders whose files are of one kind, whatever their names.
var kindOfFolder = foldersByKind(map[fileKind]string{
	testFile:      "test tests testdata __tests__ testing spec specs fixtures mocks __mocks__ __snapshots__ e2e",
	exampleFile:   "example examples sample samples demo demos bench benches benchmark benchmarks",
	documentation: "doc docs documentation changelog changelogs",
})

func foldersByKind(lists map[fileKind]string) map[string]fileKind {
	kinds := map[string]fileKind{}
	for kind, list := range lists {
		for folder := range strings.FieldsSeq(list) {
			kinds[folder] = kind
		}
	}
	return kinds
}

// kindOfLanguage holds the languages in which nothing is implemented.
var kindOfLanguage = map[string]fileKind{
	"markdown": documentation, "rst": documentation, "asciidoc": documentation, "text": documentation, "tex": documentation,
	"yaml": settingsFile, "json": settingsFile, "toml": settingsFile, "ini": settingsFile, "gomod": settingsFile,
	"ignore": settingsFile, language.Data: settingsFile,
}

// kindOf returns the kind of the file at a path. A folder of tests decides before the
// name, the name before a folder of examples or documentation.
func kindOf(p string) fileKind {
	dir, base := path.Split(strings.ToLower(p))
	stem := strings.TrimSuffix(base, path.Ext(base))
	folder := implementation
	for name := range strings.SplitSeq(dir, "/") {
		switch kind := kindOfFolder[name]; {
		case kind == testFile:
			return kind
		case folder == implementation:
			folder = kind
		}
	}
	if isTestName(stem) {
		return testFile
	}
	if folder != implementation {
		return folder
	}
	lang, _ := language.ByPath(p)
	return kindOfLanguage[lang]
}

// isTestName says whether a file without its extension is named as a test. The second
// extension of x.test-d.ts is a test of types.
func isTestName(stem string) bool {
	return strings.HasPrefix(stem, "test_") || stem == "conftest" ||
		slices.ContainsFunc([]string{"_test", "_tests", "_spec", ".test", ".tests", ".spec", ".test-d"}, func(end string) bool { return strings.HasSuffix(stem, end) })
}

// asksForKind holds the words by which a question asks for files of a kind. The word test
// alone does not: in a repository about testing every question has it.
var asksForKind = sync.OnceValue(func() map[fileKind]*regexp.Regexp {
	return map[fileKind]*regexp.Regexp{
		testFile:      regexp.MustCompile(`(?i)\b((which|what|any|unit|integration) tests?|tests? (for|cases?|suites?|files?)|tested|(covered|checked) by tests?)\b`),
		exampleFile:   regexp.MustCompile(`(?i)\b(examples? (of|for|showing|using|that)|(an|any|show|some) examples?|benchmarks?)\b`),
		documentation: regexp.MustCompile(`(?i)\b(docs?|documentation|documented|readme|changelog|release notes|tutorial|guide)\b`),
		settingsFile:  regexp.MustCompile(`(?i)\b(workflows?|ci|ya?ml|json file|toml|dependenc(y|ies)|package\.json|config(uration)? file of the (repository|project))\b`),
	}
})

// asksFor says whether a question asks for files of a kind.
func (k fileKind) asksFor(question string) bool {
	asks := asksForKind()[k]
	return asks != nil && asks.MatchString(question)
}
