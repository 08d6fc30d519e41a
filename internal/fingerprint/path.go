package fingerprint

import "strings"

// startsToken reports whether a path or an address may begin after c. It may not after ">",
// the end of a mark: otherwise normalising again would change the line.
func startsToken(c byte) bool { return kinds[c]&beforeToken != 0 }

// isToken reports whether c can be part of a path or a name with dots and dashes.
func isToken(c byte) bool { return kinds[c]&inToken != 0 }

func tokenLen(s string) int {
	n := 0
	for n < len(s) && isToken(s[n]) {
		n++
	}
	return n
}

// urlLen returns the length of the address at the front of s: scheme://… or,
// as git writes them, user@host:path.
func urlLen(s string) int {
	n := wordLen(s)
	for n > 0 && n < len(s) && (s[n] == '+' || s[n] == '-' || s[n] == '.') && wordLen(s[n+1:]) > 0 {
		n += 1 + wordLen(s[n+1:])
	}
	if n > 0 && strings.HasPrefix(s[n:], "://") {
		n += len("://")
		if i := strings.IndexAny(s[n:], " '<>()[]{}|,;"); i >= 0 {
			n += i
		} else {
			n = len(s)
		}
		return n - trailing(s[:n], ".:!?")
	}
	n = tokenLen(s)
	at := strings.IndexByte(s[:n], '@')
	if at <= 0 || n >= len(s)-1 || s[n] != ':' || !isToken(s[n+1]) || strings.IndexByte(s[at:n], '/') >= 0 {
		return 0
	}
	n++
	tail := tokenLen(s[n:])
	if strings.IndexByte(s[n:n+tail], '/') < 0 {
		return 0
	}
	return n + tail
}

// maxQuoted bounds the search for the end of a quoted path with blanks.
const maxQuoted = 300

// pathLen returns the length of the path or file name at the front of s, with the line and
// column after it. In quotes an absolute path may contain blanks, unless it looks like a
// command line.
func pathLen(s string, quoted bool) int {
	n := 0
	if len(s) > 2 && s[0] >= 'a' && s[0] <= 'z' && s[1] == ':' && (s[2] == '\\' || s[2] == '/') {
		n = 2 // a drive
	}
	absolute := n > 0 || strings.HasPrefix(s, `\\`) || len(s) > 1 && s[0] == '/' && (isWord(s[1]) || s[1] == '.' || s[1] == '@')
	n += tokenLen(s[n:])
	token := s[:n]
	n -= trailing(token, ".-+%")
	token = s[:n]
	if n == 0 || !absolute && !isRelative(token) && !isFileName(token) {
		return 0
	}
	if absolute && quoted {
		end := strings.IndexByte(s[:min(len(s), maxQuoted)], '\'')
		if end > n && !strings.Contains(s[:end], " -") && strings.IndexByte(s[:end], '<') < 0 {
			return end
		}
	}
	return n + positionLen(s[n:])
}

func trailing(s, signs string) int { return len(s) - len(strings.TrimRight(s, signs)) }

// isRelative reports whether a token is a path by its beginning or its backslashes.
func isRelative(token string) bool {
	for _, start := range [...]string{"./", "../", "~/", `.\`, `..\`} {
		if strings.HasPrefix(token, start) && len(token) > len(start) {
			return true
		}
	}
	if token[0] == '$' || token[0] == '%' {
		return strings.ContainsAny(token, `/\`)
	}
	return strings.Count(token, `\`) >= 2
}

// isFileName reports whether a token ends in an extension that files have.
func isFileName(token string) bool {
	dot := strings.LastIndexByte(token, '.')
	return dot > 0 && isWord(token[dot-1]) && isExtension(token[dot+1:])
}

// isExtension reports whether a word is the extension of a file that tools mention.
func isExtension(w string) bool {
	switch w {
	case "a", "bat", "c", "cc", "cfg", "cjs", "class", "clj", "conf", "cpp", "cs", "csproj", "css", "csv", "cts", "cxx", "dart", "db", "dll",
		"dockerfile", "dylib", "env", "ex", "exe", "exs", "gemspec", "go", "gradle", "gz", "h", "hh", "hpp", "hs", "html", "ini", "ipynb", "jar",
		"java", "jl", "js", "json", "jsonl", "jsx", "kt", "kts", "less", "lock", "log", "lua", "m", "md", "mjs", "mm", "mod", "mts", "node", "o",
		"obj", "pem", "php", "pid", "pl", "png", "proto", "ps1", "py", "pyc", "pyi", "pyx", "r", "rb", "rs", "sass", "scala", "scss", "sh",
		"sln", "so", "sock", "sql", "sqlite", "sum", "svelte", "svg", "swift", "tar", "tf", "tgz", "tmp", "toml", "ts", "tsx", "txt", "vue",
		"war", "whl", "xml", "yaml", "yml", "zig", "zip":
		return true
	}
	return false
}

// positionLen returns the length of the position within a file at the front of s: ":10:5",
// "(10,5)" or "+0x1d".
func positionLen(s string) int {
	n := 0
	for n+1 < len(s) && s[n] == ':' && isDigit(s[n+1]) {
		n += 1 + wordLen(s[n+1:])
	}
	if n == 0 && len(s) > 1 && s[0] == '(' && isDigit(s[1]) {
		end := strings.IndexByte(s, ')')
		if end > 0 && strings.Trim(s[1:end], "0123456789,: ") == "" {
			return end + 1
		}
	}
	return n
}
