package redact

import (
	"regexp"
	"strings"
	"sync"
)

// rule is one kind of secret.
type rule struct {
	// what is the kind in the mark: lower case, no spaces, none of ",;)}&<>".
	what string
	// keywords, in lower case: find is called for each occurrence, in any case. A keyword
	// should be rare in ordinary text.
	keywords []string
	// find returns the secret that belongs to the keyword at text[at:]. If there is none,
	// end is how far it has read if this is more than a few words, else 0.
	find func(text string, at int) (start, end int, ok bool)
	// reads is how far find reads over white space, in bytes; 0 if it reads a word or
	// two.
	reads int
	// leak is set instead of find for a rule of gitleaks.
	leak *leak
}

// window is how much text after a keyword a pattern sees. No token is longer; private
// keys and private text are found without patterns.
const window = 4096

// codeRules lists the rules for source code. New kinds of secrets that gitleaks does not
// know, or that occur in code, are added here.
func codeRules() []*rule {
	return append(formats(), &rule{what: "private", keywords: []string{"<private>"}, find: findPrivate})
}

// textRules lists our rules for other texts, in addition to the rules of gitleaks.
func textRules() []*rule {
	return append(formats(), pasted()...)
}

// formats are the rules of both sets.
func formats() []*rule {
	return []*rule{
		{what: "private-key", keywords: []string{"-----begin"}, find: findPrivateKey},
		// Formats as documented by the providers and known to gitleaks.
		{what: "aws-key", keywords: []string{"akia", "asia", "abia", "acca"}, find: token(`(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}`)},
		{what: "github-token", keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, find: token(`gh[pousr]_[A-Za-z0-9]{36,255}`)},
		{what: "github-token", keywords: []string{"github_pat_"}, find: token(`github_pat_[A-Za-z0-9_]{36,255}`)},
		{what: "gitlab-token", keywords: []string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"}, find: token(`gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_\-]{20,300}`)},
		{what: "slack-token", keywords: []string{"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"}, find: token(`xox[abeoprs]-[A-Za-z0-9-]{10,250}`)},
		{what: "slack-webhook", keywords: []string{"hooks.slack.com/"}, find: token(`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80}`)},
		{what: "discord-webhook", keywords: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, find: token(`discord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{60,80}`)},
		{what: "databricks-token", keywords: []string{"dapi"}, find: token(`dapi[0-9a-f]{32}(?:-[0-9])?`)},
		{what: "vault-token", keywords: []string{"hvs.", "hvb."}, find: token(`hv[sb]\.[A-Za-z0-9_-]{24,300}`, looksMade)},
		{what: "azure-secret", keywords: []string{"q~"}, find: findAzure},
		{what: "secret", keywords: []string{"setenv("}, find: after(setenv, isReal, isSecretString)},
		{what: "npm-token", keywords: []string{"npm_"}, find: token(`npm_[A-Za-z0-9]{36}`)},
		{what: "docker-token", keywords: []string{"dckr_pat_", "dckr_oat_"}, find: token(`dckr_[po]at_[A-Za-z0-9_-]{27,}`)},
		{what: "pypi-token", keywords: []string{"pypi-ageichlwas5vcmc"}, find: token(`pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,1000}`)},
		{what: "api-key", keywords: []string{"sk-"}, find: token(`sk-(?:[a-z0-9]{2,12}-){0,3}[A-Za-z0-9_-]{20,250}`, looksMade)},
		{what: "stripe-key", keywords: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}, find: token(`(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,250}`)},
		{what: "telegram-token", keywords: []string{":aa"}, find: findTelegram},
		{what: "google-key", keywords: []string{"aiza"}, find: token(`AIza[A-Za-z0-9_-]{35}`)},
		{what: "hugging-face-token", keywords: []string{"hf_"}, find: token(`hf_[A-Za-z]{34}`)},
		{what: "sendgrid-key", keywords: []string{"sg."}, find: token(`SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}`)},
		{what: "jwt", keywords: []string{"eyj"}, find: token(`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
		{what: "authorization", keywords: []string{"bearer "}, find: after(`(?i)bearer +([A-Za-z0-9._~+/=-]{20,})`, looksMade)},
		{what: "authorization", keywords: []string{"basic "}, find: after(`(?i)basic +([A-Za-z0-9+/]{16,}={0,2})`, looksMade)},
		{what: "password", keywords: []string{"://"}, find: findURLPassword},
		{what: "secret", keywords: []string{"password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key",
			"access_key", "access-key", "accesskey", "private_key", "auth_key", "account_key", "accountkey", "credential"}, find: findAssigned},
	}
}

// token makes a find for secrets that begin with the keyword. No letter or digit may be
// adjacent.
func token(pattern string, checks ...func(string) bool) func(string, int) (int, int, bool) {
	find := after("("+pattern+")", checks...)
	return func(text string, at int) (int, int, bool) {
		if at > 0 && isWordByte(text[at-1]) {
			return 0, 0, false
		}
		start, end, ok := find(text, at)
		if ok && end < len(text) && isWordByte(text[end]) {
			return 0, end, false
		}
		return start, end, ok
	}
}

// after makes a find whose pattern begins at the keyword, and whose first group that is
// not empty is the secret. The pattern is compiled at its first use.
func after(pattern string, checks ...func(string) bool) func(string, int) (int, int, bool) {
	return within(window, pattern, checks...)
}

// within is after for patterns that skip text between keyword and secret, and would read
// all of a long line for each keyword: they see n bytes.
func within(n int, pattern string, checks ...func(string) bool) func(string, int) (int, int, bool) {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A` + pattern) })
	return func(text string, at int) (int, int, bool) {
		m := compiled().FindStringSubmatchIndex(text[at:min(len(text), at+n)])
		if m == nil {
			return 0, at + runLen(text, at, min(n, mismatch)), false
		}
		start, end := secretOf(m, 0)
		start, end = at+start, at+end
		for _, check := range checks {
			if !check(text[start:end]) {
				return 0, end, false
			}
		}
		return start, end, true
	}
}

// findPrivateKey finds a PEM block of a private key: from its first to its last line, or,
// without a last line, as far as the lines look like lines of a key.
func findPrivateKey(text string, at int) (int, int, bool) {
	head, _, _ := strings.Cut(text[at:min(len(text), at+100)], "\n")
	if !strings.Contains(head, "PRIVATE KEY") || strings.Count(head, "-----") < 2 {
		return 0, 0, false
	}
	end := at + len("-----BEGIN")
	end += strings.Index(text[end:], "-----") + len("-----")
	for end < len(text) {
		// A key in a string literal has \n as two characters.
		line := text[end:min(len(text), end+maxKeyLine)]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
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

// isKeyLine reports whether a line may be in a PEM block: base64, a header such as
// "DEK-Info: …", or nothing, possibly in a comment or string.
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

// findPrivate finds text marked as private in code. An open mark hides one line only,
// because it may just be mentioned.
func findPrivate(text string, at int) (int, int, bool) {
	const closing = "</private>"
	body := at + len("<private>")
	rest := text[body:min(len(text), body+maxPrivate)]
	if i := indexFold(rest, closing); i >= 0 {
		if inner := strings.ToLower(strings.TrimSpace(rest[:i])); inner == "true" || inner == "false" {
			return 0, 0, false // a property of MSBuild
		}
		return at, body + i + len(closing), true
	}
	line, _, _ := strings.Cut(rest, "\n")
	if strings.TrimSpace(line) == "" {
		return 0, 0, false
	}
	for end := body + len(line); end > body; end-- {
		// The limit maxPrivate may be within a rune.
		if end == len(text) || text[end]&0xC0 != 0x80 {
			return at, end, true
		}
	}
	return 0, 0, false
}

// maxPrivate is how far the end of private text is searched.
const maxPrivate = 16 << 10

// maxKeyLine is the longest line of a private key: in a string literal one line holds the
// whole key.
const maxKeyLine = 64 << 10

// findTelegram finds the token of a bot: its number, a colon and 35 characters that begin
// with AA.
func findTelegram(text string, at int) (int, int, bool) {
	start := at
	for start > 0 && isDigit(text[start-1]) && at-start < 11 {
		start--
	}
	const signs = 35
	end := at + 1
	for end < len(text) && end-at <= signs+1 && (isWordByte(text[end]) || text[end] == '-') {
		end++
	}
	if n := at - start; n < 8 || n > 10 || end-at-1 != signs || kindsOf(text[at:end]).digits == 0 && !looksMixed(text[at:end]) {
		return 0, 0, false
	}
	return start, end, true
}

// setenv is a call that sets a variable with the name of a secret: os.Setenv("API_KEY", "…").
const setenv = `(?i)setenv\(\s{0,8}["'][a-z0-9_]{0,60}(?:secret|token|passw|api_?key|access_?key|private_?key|credential)[a-z0-9_]{0,40}["'],\s{0,8}["']([^"'\s]{8,500})["']`

// findAzure finds a client secret of Azure AD, around its third to fifth character: three of
// any kind, a digit, "Q~" and 31 to 34 others.
func findAzure(text string, at int) (int, int, bool) {
	const before, least, most = 4, 31, 34
	in := func(i int) bool {
		return i >= 0 && i < len(text) && (isWordByte(text[i]) || strings.IndexByte("~.-", text[i]) >= 0)
	}
	start, end := at-before, at+len("Q~")
	for i := start; i < at; i++ {
		if !in(i) {
			return 0, 0, false
		}
	}
	if text[at] != 'Q' || !isDigit(text[at-1]) || start > 0 && isWordByte(text[start-1]) {
		return 0, 0, false
	}
	for end < len(text) && in(end) && end-at <= most+2 {
		end++
	}
	for end > at && text[end-1] == '.' { // of the sentence
		end--
	}
	if n := end - at - 2; n < least || n > most {
		return 0, 0, false
	}
	return start, end, true
}

// looksMixed reports whether a text has letters of both cases.
func looksMixed(s string) bool { return strings.ToLower(s) != s && strings.ToUpper(s) != s }

// findURLPassword finds the password of "scheme://user:password@host".
func findURLPassword(text string, at int) (int, int, bool) {
	if at == 0 || !isAlnum(text[at-1]) {
		return 0, 0, false
	}
	start := at + len("://")
	rest := text[start:min(len(text), start+window)]
	if i := strings.IndexAny(rest, " \t\r\n\"'`<>/?\\"); i >= 0 {
		rest = rest[:i]
	}
	// A password may contain "@" and, though it should not, "#"; user and host do not.
	end := strings.LastIndexByte(rest, '@')
	if end < 0 || end == len(rest)-1 { // no user, or no host
		return 0, 0, false
	}
	user, password, ok := strings.Cut(rest[:end], ":")
	if !ok || strings.ContainsAny(user, "[#") || isPlaceholder(password) {
		return 0, 0, false
	}
	start += len(user) + 1
	return start, start + len(password), true
}

// indexFold is strings.Index for ASCII text, ignoring case.
func indexFold(s, sub string) int {
	for i := 0; i+len(sub) <= len(s); i++ {
		if s[i] == sub[0] && strings.EqualFold(s[i:i+len(sub)], sub) {
			return i
		}
	}
	return -1
}
