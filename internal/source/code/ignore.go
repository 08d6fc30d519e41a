package code

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// maxIgnoreFile is how much of an ignore file is read.
const maxIgnoreFile = 1 << 20

// ignores decides whether the ignore files of one name, such as .gitignore, exclude a path.
// It reads them when the walk enters their folders, and keeps the files on the current
// path.
type ignores struct {
	name string
	root *os.Root
	base []ignoreRule // before any file, for the root folder
	dirs map[string]*ignoreDir
}

// ignoreDir has the rules of one folder.
type ignoreDir struct {
	excluded bool // the folder itself
	rules    []ignoreRule
	parent   *ignoreDir
}

func newIgnores(root *os.Root, name string, base []ignoreRule) *ignores {
	return &ignores{name: name, root: root, base: base, dirs: map[string]*ignoreDir{}}
}

// match reports whether a path, relative with slashes, is excluded, itself or by one of
// its folders: a file in an excluded folder cannot be included again.
func (g *ignores) match(name string, isDir bool) bool {
	in := g.dir(path.Dir(name))
	return in.excluded || in.match(name, isDir)
}

func (g *ignores) dir(name string) *ignoreDir {
	if d := g.dirs[name]; d != nil {
		return d
	}
	d := &ignoreDir{}
	if name == "." {
		d.rules = g.base
	} else {
		d.parent = g.dir(path.Dir(name))
		d.excluded = d.parent.excluded || d.parent.match(name, true)
	}
	if !d.excluded {
		d.rules = append(d.rules[:len(d.rules):len(d.rules)], readIgnoreFile(g.root, name, g.name)...)
	}
	g.dirs[name] = d
	return d
}

// match asks the rules of the nearest folder first, and there the last rule: the first
// match decides.
func (d *ignoreDir) match(name string, isDir bool) bool {
	for ; d != nil; d = d.parent {
		for i := len(d.rules) - 1; i >= 0; i-- {
			if r := &d.rules[i]; r.match(name, isDir) {
				return !r.include
			}
		}
	}
	return false
}

// readIgnoreFile reads the rules of one file; a missing file has none, nor has a .gitignore
// that is a symbolic link, which git does not follow.
func readIgnoreFile(root *os.Root, dir, name string) []ignoreRule {
	at := path.Join(dir, name)
	if info, err := root.Lstat(at); err != nil || info.Mode()&fs.ModeSymlink != 0 && name == ".gitignore" {
		return nil
	}
	b, err := fsx.ReadBeginning(root, at, maxIgnoreFile)
	if err != nil {
		return nil
	}
	if dir == "." {
		dir = ""
	} else {
		dir += "/"
	}
	return parseIgnores(b, dir)
}

// ignoreRule is one line of an ignore file, as "man gitignore" describes it.
type ignoreRule struct {
	dir      string // of the ignore file, with a slash; empty for the root
	pattern  string
	include  bool // "!"
	dirOnly  bool // "/" at the end
	anchored bool // a slash elsewhere: the whole path is matched, else the name
	literal  bool // no wildcard
}

func parseIgnores(text []byte, dir string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\uFEFF")) {
		if r, ok := parseIgnore(strings.TrimSuffix(line, "\n")); ok {
			r.dir = dir
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnore(line string) (ignoreRule, bool) {
	line = strings.TrimSuffix(line, "\r")
	// Trailing blanks count only after a backslash.
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var r ignoreRule
	if line[0] == '!' {
		r.include, line = true, line[1:]
	}
	if p, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, p
	}
	r.anchored = strings.Contains(line, "/")
	r.pattern = strings.TrimPrefix(line, "/")
	r.literal = !strings.ContainsAny(r.pattern, `*?[\`)
	return r, r.pattern != ""
}

func (r *ignoreRule) match(name string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	rel, ok := strings.CutPrefix(name, r.dir)
	if !ok {
		return false
	}
	if !r.anchored {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	if r.literal {
		return rel == r.pattern
	}
	return wildmatch(r.pattern, rel)
}

// wildmatch matches as git does: "*" and "?" do not match a slash, "**" between slashes
// matches any number of folders, "[!a-z]" and "[[:digit:]]" are classes.
func wildmatch(pattern, name string) bool {
	// The positions to return to on a mismatch: the last "*" takes one byte more, but
	// never a slash; then the last "**" one folder more.
	starP, starN := -1, 0
	deepP, deepN := -1, 0
	p, n := 0, 0
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				if deep, next := doubleStar(pattern, p); deep {
					if next == len(pattern) && pattern[next-1] == '*' {
						return n < len(name) // "a/**": all within, but not a itself
					}
					deepP, deepN, starP = next, n, -1
					p = next
					continue
				}
				for p < len(pattern) && pattern[p] == '*' {
					p++
				}
				starP, starN = p, n
				continue
			}
			if n < len(name) {
				if next, ok := matchOne(pattern, p, name[n]); ok {
					p, n = next, n+1
					continue
				}
			}
		}
		switch {
		case starP >= 0 && starN < len(name) && name[starN] != '/':
			starN++
			p, n = starP, starN
		case deepP >= 0:
			i := strings.IndexByte(name[deepN:], '/')
			if i < 0 {
				return false
			}
			deepN += i + 1
			p, n, starP = deepP, deepN, -1
		default:
			return false
		}
	}
	return true
}

// doubleStar reports whether "**" at p stands alone between slashes, and returns the
// position after it and its slash.
func doubleStar(pattern string, p int) (bool, int) {
	if !strings.HasPrefix(pattern[p:], "**") || p > 0 && pattern[p-1] != '/' {
		return false, 0
	}
	switch rest := pattern[p+2:]; {
	case rest == "":
		return true, p + 2
	case rest[0] == '/':
		return true, p + 3
	}
	return false, 0
}

// matchOne matches one byte of a name with the pattern at p, which is not a star, and
// returns the position after it.
func matchOne(pattern string, p int, c byte) (int, bool) {
	switch pattern[p] {
	case '?':
		return p + 1, c != '/'
	case '\\':
		if p+1 == len(pattern) {
			return 0, false
		}
		return p + 2, pattern[p+1] == c
	case '[':
		return matchClass(pattern, p+1, c)
	}
	return p + 1, pattern[p] == c
}

// matchClass matches a class; p is the position after its bracket.
func matchClass(pattern string, p int, c byte) (int, bool) {
	negated := p < len(pattern) && (pattern[p] == '!' || pattern[p] == '^')
	if negated {
		p++
	}
	in := false
	for first := true; p < len(pattern); first = false {
		lo := pattern[p]
		if lo == ']' && !first {
			return p + 1, in != negated && c != '/'
		}
		if strings.HasPrefix(pattern[p:], "[:") {
			inner, _, closed := strings.Cut(pattern[p+len("[:"):], "]")
			if name, ok := strings.CutSuffix(inner, ":"); ok && closed {
				matches, known := namedClass(name, c)
				if !known {
					return 0, false
				}
				in = in || matches
				p += len("[:") + len(inner) + len("]")
				continue
			}
		}
		if lo == '\\' && p+1 < len(pattern) {
			p++
			lo = pattern[p]
		}
		p++
		hi := lo
		if p+1 < len(pattern) && pattern[p] == '-' && pattern[p+1] != ']' {
			p++
			if pattern[p] == '\\' && p+1 < len(pattern) {
				p++
			}
			hi = pattern[p]
			p++
		}
		in = in || c == lo || lo <= c && c <= hi // as for git, also where hi is below lo
	}
	return 0, false // the class is not closed
}

// namedClass says whether a byte is of a class such as "digit", and whether there is such
// a class. As for git, no byte beyond ASCII is of any.
func namedClass(name string, c byte) (in, known bool) {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	alnum, graph := lower || upper || digit, c > ' ' && c < 0x7f
	switch name {
	case "alnum":
		in = alnum
	case "alpha":
		in = lower || upper
	case "blank":
		in = c == ' ' || c == '\t'
	case "cntrl":
		in = c < ' ' || c == 0x7f
	case "digit":
		in = digit
	case "graph":
		in = graph
	case "lower":
		in = lower
	case "print":
		in = graph || c == ' '
	case "punct":
		in = graph && !alnum
	case "space":
		in = c == ' ' || c == '\t' || c == '\n' || c == '\r'
	case "upper":
		in = upper
	case "xdigit":
		in = digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	default:
		return false, false
	}
	return in, true
}
