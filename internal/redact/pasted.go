package redact

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pasted are the rules for texts that people paste into lessons and tools print: commands,
// headers, settings. In source code the same forms are far too common.
func pasted() []*rule {
	return append(commands(), []*rule{
		{what: "private", keywords: []string{"<private"}, find: findPrivateText},
		{what: "password", keywords: []string{"password", "passwd", "passphrase", "pwd"}, find: findPassword},
		{what: "password", keywords: []string{"_pass", "-pass"}, find: findPass},
		{what: "password", keywords: []string{"machine "}, reads: command, find: within(command, `(?i)machine\s+\S+\s+login\s+\S+\s+(?:account\s+\S+\s+)?password\s+(\S+)`, isReal)},
		{what: "password", keywords: []string{":5432:"}, find: after(`:5432:[^:\s]+:[^:\s]+:([^\s:]{4,})`, isReal)},
		{what: "secret", keywords: []string{"--password", "--passwd", "--token", "--secret", "--api-key", "--apikey", "--access-token", "--auth-token"}, find: findFlag},
		{what: "secret", keywords: []string{"_authtoken", "_auth", "_password"}, find: after(`(?i)_(?:authtoken|auth|password)[ \t]*=[ \t]*"?([^\s"]{6,})`, isReal)},
		{what: "authorization", keywords: []string{"authorization"},
			find: after(`(?i)authorization['"]?[ \t]*[:=][ \t]*['"]?(?:[a-z-]+[ \t]+)?([a-z0-9._~+/=:-]{8,})`, isMixed)},
		{what: "api-key", keywords: []string{"x-api-key", "x-auth-token", "x-vault-token", "private-token", "x-access-token"},
			find: after(`(?i)(?:x-api-key|x-auth-token|x-vault-token|private-token|x-access-token)['"]?[ \t]*[:=][ \t]*['"]?([^\s'"]{8,})`, isMixed)},
		{what: "cookie", keywords: []string{"cookie:"}, find: after(`(?i)cookie:[ \t]*([\w.-]+=[^\n'"]{12,})`, hasCookie)},
		{what: "registry-auth", keywords: []string{`"auth"`}, find: after(`(?i)"auth"\s*:\s*"([A-Za-z0-9+/]{8,}={0,2})"`, isUserAndPassword)},
		{what: "private-key", keywords: []string{"client-key-data"}, find: after(`(?i)client-key-data['"]?:\s*['"]?([A-Za-z0-9+/]{40,}={0,2})`)},
		{what: "azure-key", keywords: []string{"sharedaccesskey=", "sharedaccesssignature=", "accountkey="},
			find: after(`(?i)(?:sharedaccesskey|sharedaccesssignature|accountkey)=([^\s;"']{16,})`, isReal)},
		{what: "azure-signature", keywords: []string{"&sig=", "?sig="}, find: after(`(?i)[&?]sig=([a-z0-9%+/=_-]{30,})`)},
		{what: "password-hash", keywords: []string{"$2a$", "$2b$", "$2y$"}, find: after(`(\$2[aby]\$\d\d\$[./A-Za-z0-9]{53})`)},
		{what: "password-hash", keywords: []string{"$5$", "$6$", "$y$", "$argon2"}, find: after(`(\$(?:5|6|y|argon2[a-z]{1,2})\$[./A-Za-z0-9=,$+]{30,})`)},
	}...)
}

// given is the value of a flag, bare or in quotes.
const given = `(?:"([^\s",;:)\]}][^"\n]*)"|'([^\s',;:)\]}][^'\n]*)'|([^\s"'|&;<>-][^\s"'|&;<>]*))`

// commands are the rules for passwords on command lines. The same flag means a password
// to some commands and something else to others: -p is a port, a project, parents.
func commands() []*rule {
	// flags are alternatives of a pattern, each with the separator before its value.
	of := func(keywords []string, name, flags string, checks ...func(string) bool) *rule {
		pattern := `(?i:` + name + `)(?:[ \t](?:[^\n]|\\\n)*?)??[ \t](?:` + flags + `)` + given
		return &rule{what: "password", keywords: keywords, reads: command, find: within(command, pattern, append(checks, isReal)...)}
	}
	return []*rule{
		of([]string{"mysql", "mariadb"}, `(?:mysql|mariadb)[a-z-]*`, `-p`, isNoPort),
		// After a blank it is usually the name of a database, but people make this mistake.
		of([]string{"mysql", "mariadb"}, `(?:mysql|mariadb)[a-z-]*`, `-p[ \t]+`, isTold),
		of([]string{"mongo"}, `mongo[a-z]*`, `-p[ \t]?`, isNoPort),
		of([]string{"sshpass "}, `sshpass`, `-p[ \t]*`),
		of([]string{"docker login", "podman login", "registry login", "oc login", "az login"}, `(?:docker|podman|registry|oc|az) login`, `-p[ \t]*|--password[ \t=]`),
		of([]string{"redis-cli"}, `redis-cli`, `-a[ \t]*|--pass[ \t]+`),
		of([]string{"ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami"}, `ldap[a-z]+`, `-w[ \t]*`),
		of([]string{"sqlcmd"}, `sqlcmd`, `-P[ \t]*`),
		of([]string{"mysql", "mariadb", "wget", "mongo", "psql"}, `(?:mysql|mariadb|wget|mongo|psql)[a-z-]*`, `--(?:http-|ftp-|proxy-)?password[ \t=]`),
		// curl -u user:password, -sSu too; --proxy-user and -U.
		{what: "password", keywords: []string{"curl"}, reads: command, find: within(command,
			`(?i:curl)(?:[ \t](?:[^\n]|\\\n)*?)??[ \t](?:-[a-zA-Z]*[uU][ \t]*|--(?:proxy-)?user[ \t=]+)(?:"[^\s":$[]*:([^"\n]+)"|'[^\s':[]*:([^'\n]+)'|[^\s"':$[-][^\s"':$[]*:([^\s"'|&;<>]+))`, isReal, isNoAddress)},
		{what: "password", keywords: []string{"pass:"}, reads: command, find: findOpenSSL},
	}
}

// isNoPort reports whether a value is not a mapping of ports, "3306:3306", after the name
// of a container.
func isNoPort(s string) bool { return kindsOf(s).letters > 0 || !strings.Contains(s, ":") }

// isNoAddress reports whether the text after a colon is not part of an address.
func isNoAddress(s string) bool { return !strings.HasPrefix(s, "//") }

var openSSL = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-pass(?:in|out)?[ \t]+["']?\z`) })

// findOpenSSL takes the password of "openssl … -passin pass:value".
func findOpenSSL(text string, at int) (int, int, bool) {
	if !openSSL().MatchString(text[max(0, at-20):at]) {
		return 0, 0, false
	}
	start := at + len("pass:")
	end := start + runLen(text, start, window)
	value := strings.TrimRight(text[start:end], "\"'`)")
	return start, start + len(value), value != "" && isReal(value)
}

// passNames say whose password a name that ends in pass contains. Without one, it may be a
// pass of a compiler.
var passNames = [...]string{"admin", "root", "user", "db", "database", "mysql", "pg", "postgres", "redis", "mongo", "rabbitmq", "amqp", "smtp", "imap",
	"mail", "email", "ftp", "sftp", "ssh", "ldap", "proxy", "wifi", "vpn", "auth", "http", "login", "sudo", "account", "master", "service", "keystore", "vault", "api"}

// findPass finds the value given to a name that ends in pass: admin_pass, DB_PASS,
// smtp-pass. If the name says whose password it is, any single word on the rest of the line
// counts; otherwise only a word that looks like a password.
func findPass(text string, at int) (int, int, bool) {
	line, _, _ := strings.Cut(text[at:min(len(text), at+window)], "\n")
	i := len("_pass")
	for i < len(line) && (isDigit(line[i]) || line[i] == '"' || line[i] == '\'') {
		i++
	}
	if i == len(line) || isWordByte(line[i]) || line[i] == '-' {
		return 0, 0, false
	}
	i = skipSpace(line, i)
	op := assignment(line[i:])
	if op == "" || op == ":=" {
		return 0, 0, false
	}
	start, end := valueAt(line, skipSpace(line, i+len(op)))
	value := line[start:end]
	front := at
	for front > 0 && at-front < maxName && isWordByte(text[front-1]) {
		front--
	}
	words := nameWords(text[front:at])
	whose := len(words) > 0 && slices.Contains(passNames[:], words[len(words)-1])
	alone := strings.Trim(line[end:], " \t\r\"'`,;}") == ""
	passes := isTold
	if k := kindsOf(value); whose && alone && len(value) >= 4 && k.letters > 0 && (k.digits > 0 || k.signs > 0 || k.separators == 0) {
		passes = func(s string) bool { return !isAbout(s) }
	}
	return passwordIn(line, at, start, end, passes)
}

// command is how much of a command, or of an entry of a netrc file, is searched for its
// password, in bytes.
const command = 300

// isReal reports whether a value is not a placeholder.
func isReal(s string) bool { return !isPlaceholder(s) }

// isMixed reports whether a value is neither a placeholder nor a word: it has a digit and
// a letter.
func isMixed(s string) bool {
	k := kindsOf(s)
	return !isPlaceholder(s) && k.digits > 0 && k.letters > 0
}

// hasCookie reports whether a cookie of a header is long enough to open a session.
func hasCookie(header string) bool {
	for pair := range strings.SplitSeq(header, ";") {
		_, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if len(value) >= 12 && isMixed(value) {
			return true
		}
	}
	return false
}

// isUserAndPassword reports whether a text is base64 of "user:password".
func isUserAndPassword(s string) bool {
	decoded, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		decoded, err = base64.RawStdEncoding.DecodeString(s)
	}
	return err == nil && strings.Contains(string(decoded), ":")
}

// findPrivateText finds text that a person marked as private. Marks may be nested. An
// open mark hides everything after it, because its intended end is unknown.
func findPrivateText(text string, at int) (int, int, bool) {
	body := at + tagLen(text[at:], "<private")
	if body == at || strings.TrimSpace(text[body:]) == "" {
		return 0, 0, false
	}
	depth := 1
	for i := body; i < len(text); i++ {
		if text[i] != '<' {
			continue
		}
		if n := tagLen(text[i:], "</private"); n > 0 {
			if depth--; depth == 0 {
				return at, i + n, true
			}
			i += n - 1
		} else if n := tagLen(text[i:], "<private"); n > 0 {
			depth++
			i += n - 1
		}
	}
	return at, len(text), true
}

// tagLen returns the length of the tag at the front of s: its name, in any case,
// attributes, which may span 200 bytes, and ">".
func tagLen(s, name string) int {
	if len(s) <= len(name) || !strings.EqualFold(s[:len(name)], name) {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), len(name)+200)], '>')
	if end < 0 || end > len(name) && !strings.ContainsRune(" \t\r\n", rune(s[len(name)])) {
		return 0
	}
	return end + 1
}

// findFlag finds the value of a flag such as --password: any value after "=", after a
// blank only one that is not a word, because that may be prose.
func findFlag(text string, at int) (int, int, bool) {
	line := text[at:min(len(text), at+window)]
	i := 2
	for i < len(line) && (isWordByte(line[i]) || line[i] == '-') {
		i++
	}
	if i >= len(line) || line[i] != '=' && line[i] != ' ' {
		return 0, at + i, false
	}
	switch line[2:i] {
	case "password", "passwd", "token", "secret", "api-key", "apikey", "access-token", "auth-token":
	default: // --password-stdin, --token-file
		return 0, at + i, false
	}
	equals := line[i] == '='
	i++
	start, end := valueAt(line, i)
	value := line[start:end]
	short := len(value) < 4 && !(equals && strings.HasPrefix(line[2:], "pass")) // a password after its own flag may be this short
	if short || isPlaceholder(value) || strings.HasPrefix(value, "-") {
		return 0, at + end, false
	}
	if k := kindsOf(value); !equals && k.digits+k.signs == 0 {
		return 0, 0, false
	}
	return at + start, at + end, true
}

// findPassword finds passwords where findAssigned is too careful: in connection strings,
// lines of settings, and sentences.
func findPassword(text string, at int) (int, int, bool) {
	line, _, _ := strings.Cut(text[at:min(len(text), at+window)], "\n")
	i := 0
	for i < len(line) && isWordByte(line[i]) {
		i++
	}
	name := i
	told := name + aboutLen(line[name:])
	for _, verb := range [...]string{" is ", " was ", " \"", " '", " `"} {
		if rest, ok := strings.CutPrefix(line[told:], verb); ok {
			word := strings.TrimLeft(rest, "\"'`")
			start := len(line) - len(word)
			word, _, _ = strings.Cut(word, " ")
			return passwordIn(line, at, start, start+len(strings.TrimRight(word, "\"'`.,;:!?")), func(s string) bool {
				// What is only quoted may be the name of a hash: it needs a sign too.
				return isTold(s) && (strings.HasSuffix(verb, " ") || kindsOf(s).signs > 0)
			})
		}
	}
	i = skipSpace(line, i)
	op := assignment(line[i:])
	if op != "=" && op != ":" || strings.HasPrefix(line[i:], "::") {
		return 0, at + i, false
	}
	tight := i == name && op == "="
	i = skipSpace(line, i+1)
	tight = tight && i == name+1
	start, end := valueAt(line, i)
	if end < len(line) && (line[end] == '(' || line[end] == ')' || line[end] == ',' || line[end] == '[') {
		return 0, 0, false // an expression
	}
	switch {
	case tight && inConnection(text, at):
		return passwordIn(line, at, start, end, func(s string) bool { return len(s) >= 3 })
	case tight && isEnvName(text, at, at+name):
		return passwordIn(line, at, start, end, func(s string) bool { return len(s) >= 4 && !strings.HasPrefix(s, "/") })
	}
	return passwordIn(line, at, start, end, isTold)
}

// aboutLen returns how long " of the staging database" is, which may stand between the word
// password and its verb: a preposition and at most five words.
func aboutLen(line string) int {
	end := 0
	for _, preposition := range [...]string{" of ", " for ", " to ", " on "} {
		if strings.HasPrefix(line, preposition) {
			end = len(preposition) - 1
		}
	}
	if end == 0 {
		return 0
	}
	for words := 0; ; words++ {
		if rest := line[end:]; strings.HasPrefix(rest, " is ") || strings.HasPrefix(rest, " was ") {
			return end
		}
		n := 1
		for end+n < len(line) && (isWordByte(line[end+n]) || line[end+n] == '-') {
			n++
		}
		if words == 5 || n == 1 || end+n >= len(line) || line[end+n] != ' ' {
			return 0
		}
		end += n
	}
}

// passwordIn returns line[start:end], which begins at text[at:], if it passes.
func passwordIn(line string, at, start, end int, passes func(string) bool) (int, int, bool) {
	value := line[start:end]
	if isPlaceholder(value) || strings.ContainsAny(value, " (){}[]<>\\") || !passes(value) {
		return 0, at + end, false
	}
	return at + start, at + end, true
}

// isTold reports whether a value in a sentence or list of settings is a password, not a
// word or a type: it has letters and digits, and no separators unless it also has
// signs.
func isTold(s string) bool {
	k := kindsOf(s)
	return len(s) >= 6 && k.letters > 0 && k.digits > 0 && (k.signs > 0 || k.separators == 0)
}

// valueAt returns the position of the value at line[i:]: within its quotes, or up to
// white space or a closing sign.
func valueAt(line string, i int) (start, end int) {
	if i < len(line) && strings.IndexByte("\"'`", line[i]) >= 0 {
		value := quoted(line[i+1:], line[i])
		return i + 1, i + 1 + len(value)
	}
	end = len(line)
	if n := strings.IndexAny(line[i:], " \t\r\n\"'`,;&)<>("); n >= 0 {
		end = i + n
	}
	return i, end
}

// connectionNames stand beside a password in a connection string.
var connectionNames = [...]string{"server=", "host=", "data source=", "user id=", "uid=", "user=", "username=", "database=", "dbname=", "initial catalog="}

// inConnection reports whether text[at:] follows another pair of a connection string or
// of the query of an address: "Server=db;User Id=sa;Password=", "host=db password=",
// "?user=a&password=".
func inConnection(text string, at int) bool {
	start := at
	for start > 0 && at-start < 300 && text[start-1] != '\n' {
		start--
	}
	before := strings.ToLower(text[start:at])
	if strings.HasSuffix(before, ", ") {
		return false // the arguments of a call
	}
	for _, name := range connectionNames {
		if strings.Contains(before, name) {
			return true
		}
	}
	behind := strings.ToLower(text[at:min(len(text), at+200)])
	behind, _, _ = strings.Cut(behind, "\n")
	return strings.HasSuffix(before, "?") || strings.HasSuffix(before, "&") || strings.Contains(behind, ";user id=") || strings.Contains(behind, ";uid=")
}
