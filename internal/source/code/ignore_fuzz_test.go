package code

import (
	"strings"
	"testing"
)

// FuzzIgnores reads ignore files and compares each rule without classes and escapes with a
// matcher that tries everything.
func FuzzIgnores(f *testing.F) {
	f.Add([]byte("*.log\n!keep.log\n/build/\ndocs/**/draft\n**/x\na/**\n"), "docs/a/b/draft")
	f.Add([]byte("a*b*c*d\n[!a-z]\n\\#x\n[a\n"), "aXbXcXd")
	f.Add([]byte("**/a/**/b/*.go"), "x/a/y/a/z/b/c.go")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if len(name) > 40 || len(text) > 200 || strings.Contains(name, "//") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || name == "" {
			return
		}
		for _, r := range parseIgnores(text, "") {
			got := r.match(name, true)
			if strings.ContainsAny(r.pattern, `[\`) || strings.Contains(r.pattern, "//") || strings.HasSuffix(r.pattern, "/") {
				continue
			}
			rel := name
			if !r.anchored {
				rel = name[strings.LastIndexByte(name, '/')+1:]
			}
			if want := matchesPath(strings.Split(r.pattern, "/"), strings.Split(rel, "/")); got != want {
				t.Errorf("%q matches %q: %t, want %t", r.pattern, rel, got, want)
			}
		}
	})
}

// matchesPath compares the parts of a pattern with those of a path.
func matchesPath(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**" && len(pattern) == 1:
		return len(path) > 0 // all within a folder
	case pattern[0] == "**":
		return matchesPath(pattern[1:], path) || len(path) > 0 && matchesPath(pattern, path[1:])
	}
	return len(path) > 0 && matchesName(pattern[0], path[0]) && matchesPath(pattern[1:], path[1:])
}

// matchesName compares a part, in which a star matches any bytes.
func matchesName(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return matchesName(pattern[1:], name) || name != "" && matchesName(pattern, name[1:])
	}
	return name != "" && (pattern[0] == '?' || pattern[0] == name[0]) && matchesName(pattern[1:], name[1:])
}
