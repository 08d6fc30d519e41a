package redact

import (
	"regexp"
	"strings"
	"sync"
)

// rule is one kind of secret.
type rule struct {
	// what names it in the mark: lower case, no spaces, none of ",;)}&<>".
	what string
	// keywords, in lower case: find is called where one stands in the text,
	// whatever its case. A keyword should be rare in ordinary text.
	keywords []string
	// find returns the secret that belongs to the keyword at text[at:].
	find func(text string, at int) (start, end int, ok bool)
}

// window is how much text behind a keyword a pattern is shown. No token is
// longer; private keys and private text are found without patterns.
const window = 4096

// rules lists all rules. A kind of secret is added here.
func rules() []*rule {
	return []*rule{
		{"private-key", []string{"-----begin"}, findPrivateKey},
		{"private", []string{"<private>"}, findPrivate},
		// Formats as the providers document them, and as gitleaks knows them.
		{"aws-key", []string{"akia", "asia", "abia", "acca"}, token(`(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}`)},
		{"github-token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, token(`gh[pousr]_[A-Za-z0-9]{36,255}`)},
		{"github-token", []string{"github_pat_"}, token(`github_pat_[A-Za-z0-9_]{36,255}`)},
		{"gitlab-token", []string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"}, token(`gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_\-]{20,300}`)},
		{"slack-token", []string{"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"}, token(`xox[abeoprs]-[A-Za-z0-9-]{10,250}`)},
		{"slack-webhook", []string{"hooks.slack.com/"}, token(`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80}`)},
		{"npm-token", []string{"npm_"}, token(`npm_[A-Za-z0-9]{36}`)},
		{"pypi-token", []string{"pypi-ageichlwas5vcmc"}, token(`pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,1000}`)},
		{"api-key", []string{"sk-"}, token(`sk-(?:[a-z0-9]{2,12}-){0,3}[A-Za-z0-9_-]{20,250}`, looksMade)},
		{"stripe-key", []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}, token(`(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,250}`)},
		{"google-key", []string{"aiza"}, token(`AIza[A-Za-z0-9_-]{35}`)},
		{"hugging-face-token", []string{"hf_"}, token(`hf_[A-Za-z]{34}`)},
		{"sendgrid-key", []string{"sg."}, token(`SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}`)},
		{"jwt", []string{"eyj"}, token(`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
		{"authorization", []string{"bearer "}, after(`(?i)bearer +([A-Za-z0-9._~+/=-]{20,})`, looksMade)},
		{"authorization", []string{"basic "}, after(`(?i)basic +([A-Za-z0-9+/]{16,}={0,2})`, looksMade)},
		{"password", []string{"://"}, findURLPassword},
		{"secret", []string{"password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key",
			"access_key", "access-key", "accesskey", "private_key", "auth_key", "account_key", "accountkey", "credential"}, findAssigned},
	}
}

// token makes a find for secrets that are known by their own beginning, where
// the keyword stands. No letter or digit may come right before or behind.
func token(pattern string, checks ...func(string) bool) func(string, int) (int, int, bool) {
	find := after("("+pattern+")", checks...)
	return func(text string, at int) (int, int, bool) {
		if at > 0 && isWordByte(text[at-1]) {
			return 0, 0, false
		}
		start, end, ok := find(text, at)
		if ok && end < len(text) && isWordByte(text[end]) {
			return 0, 0, false
		}
		return start, end, ok
	}
}

// after makes a find whose pattern begins at the keyword and whose first group
// is the secret. The pattern is compiled when it is needed first.
func after(pattern string, checks ...func(string) bool) func(string, int) (int, int, bool) {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A` + pattern) })
	return func(text string, at int) (int, int, bool) {
		m := compiled().FindStringSubmatchIndex(text[at:min(len(text), at+window)])
		if m == nil {
			return 0, 0, false
		}
		start, end := at+m[2], at+m[3]
		for _, check := range checks {
			if !check(text[start:end]) {
				return 0, 0, false
			}
		}
		return start, end, true
	}
}

// findPrivateKey takes a PEM block of a private key: from its first line to its
// last one, or, where that is missing, as far as the lines look like one's.
func findPrivateKey(text string, at int) (int, int, bool) {
	head, _, _ := strings.Cut(text[at:min(len(text), at+100)], "\n")
	if !strings.Contains(head, "PRIVATE KEY") || strings.Count(head, "-----") < 2 {
		return 0, 0, false
	}
	end := at + len("-----BEGIN")
	end += strings.Index(text[end:], "-----") + len("-----")
	for end < len(text) {
		// A key within a string has \n in two characters.
		line := text[end:]
		if i := strings.IndexAny(line, "\n"); i >= 0 {
			line = line[:i+1]
		}
		if i := strings.Index(line, "-----END"); i >= 0 {
			end += i + len("-----END")
			if j := strings.Index(text[end:min(len(text), end+100)], "-----"); j >= 0 {
				end += j + len("-----")
			}
			return at, end, true
		}
		if !isKeyLine(strings.TrimSpace(line)) {
			return at, trimEnd(text, at, end), true
		}
		end += len(line)
	}
	return at, trimEnd(text, at, end), true
}

// isKeyLine says that a line can stand within a PEM block: base64, a header
// such as "DEK-Info: …", or nothing, within comment or string marks.
func isKeyLine(line string) bool {
	line = strings.Trim(line, "\"'`,+#*/;\\ \t\r")
	if line == "" || strings.HasPrefix(line, "Proc-Type:") || strings.HasPrefix(line, "DEK-Info:") {
		return true
	}
	for i := range len(line) {
		if c := line[i]; !isAlnum(c) && c != '+' && c != '/' && c != '=' && c != '\\' {
			return false
		}
	}
	return len(line) >= 16 || strings.HasSuffix(line, "=")
}

func trimEnd(text string, start, end int) int {
	return start + len(strings.TrimRight(text[start:end], " \t\r\n"))
}

// findPrivate takes what a person marked as private. A mark that is not closed
// hides one line.
func findPrivate(text string, at int) (int, int, bool) {
	const closing = "</private>"
	body := at + len("<private>")
	rest := text[body:min(len(text), body+maxPrivate)]
	if i := indexFold(rest, closing); i >= 0 {
		return at, body + i + len(closing), true
	}
	line, _, _ := strings.Cut(rest, "\n")
	if strings.TrimSpace(line) == "" {
		return 0, 0, false
	}
	for end := body + len(line); end > body; end-- {
		// The cut at maxPrivate may lie within a rune.
		if end == len(text) || text[end]&0xC0 != 0x80 {
			return at, end, true
		}
	}
	return 0, 0, false
}

// maxPrivate is how far the end of private text is looked for.
const maxPrivate = 16 << 10

// findURLPassword takes the password of "scheme://user:password@host".
func findURLPassword(text string, at int) (int, int, bool) {
	if at == 0 || !isAlnum(text[at-1]) {
		return 0, 0, false
	}
	start := at + len("://")
	rest := text[start:min(len(text), start+window)]
	if i := strings.IndexAny(rest, " \t\r\n\"'`<>/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	// A password may hold "@"; the host does not.
	userinfo, host := rest, ""
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		userinfo, host = rest[:i], rest[i+1:]
	} else {
		return 0, 0, false
	}
	user, password, ok := strings.Cut(userinfo, ":")
	if !ok || host == "" || strings.Contains(user, "[") || isPlaceholder(password) {
		return 0, 0, false
	}
	start += len(user) + 1
	return start, start + len(password), true
}

// indexFold is strings.Index for ASCII text, blind to case.
func indexFold(s, sub string) int {
	for i := 0; i+len(sub) <= len(s); i++ {
		if s[i] == sub[0] && strings.EqualFold(s[i:i+len(sub)], sub) {
			return i
		}
	}
	return -1
}
