package redact

import (
	"go/parser"
	gotoken "go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/testkit/gosource"
)

// Secrets of the tests are put together here, so that no scanner takes this
// file for a leak.
const (
	alnum36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	hex40   = "0123456789abcdef0123456789abcdef01234567"
)

var (
	pemHead = "-----BEGIN " + "RSA PRIVATE KEY-----"
	pemTail = "-----END " + "RSA PRIVATE KEY-----"
	pemBody = strings.Repeat("MIIEowIBAAKCAQEAx4UbaDzY5xjW6hc9jwN0mX33XpTDVW9WJ8gkR0Pq1bLc3uHs\n", 4)
)

func TestRedact(t *testing.T) {
	jwt := "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".dBjftJeZ4CVPmB92K27uhbUJU1p1r"
	for name, test := range map[string]struct{ in, want string }{
		"aws":                {"key AKIA" + "IOSFODNN7EXAMPL2 end", "key [redacted:aws-key] end"},
		"github":             {"ghp_" + alnum36, "[redacted:github-token]"},
		"github in a string": {`tok := "gho_` + alnum36 + `"`, `tok := "[redacted:github-token]"`},
		"github fine":        {"github_pat_" + alnum36, "[redacted:github-token]"},
		"gitlab":             {"glpat-" + alnum36[:20], "[redacted:gitlab-token]"},
		"slack":              {"xoxb-" + "123456789012-abcdefghij", "[redacted:slack-token]"},
		"npm":                {"npm_" + alnum36, "[redacted:npm-token]"},
		"openai-like":        {"sk-" + "proj-" + alnum36, "[redacted:api-key]"},
		"jwt":                {"cookie=" + jwt + ";", "cookie=[redacted:jwt];"},
		"bearer":             {"Authorization: Bearer " + alnum36, "Authorization: Bearer [redacted:authorization]"},
		"pem":                {"a\n" + pemHead + "\n" + pemBody + pemTail + "\nb", "a\n[redacted:private-key]\nb"},
		"pem, torn":          {"a\n" + pemHead + "\n" + pemBody + "}\nb", "a\n[redacted:private-key]\n}\nb"},
		"url":                {"postgres://app:hunter2@db:5432/x", "postgres://app:[redacted:password]@db:5432/x"},
		"url, @ inside":      {"amqp://u:p@ss@h/", "amqp://u:[redacted:password]@h/"},
		"private":            {"a <private>call\nme</private> b", "a [redacted:private] b"},
		"private, open":      {"a <private>call me\nb", "a [redacted:private]"},
		"private, nested":    {"a <Private>b<PRIVATE>c</private>d</private> e", "a [redacted:private] e"},
		"private, empty":     {"a <private></private>b", "a [redacted:private]b"},
		"private, reason":    {"a <private why=\"hr\">b</private> c", "a [redacted:private] c"},
		"env":                {"export DB_PASSWORD=correcthorse\n", "export DB_PASSWORD=[redacted:password]\n"},
		"env in yaml":        {"  - API_KEY=abcdefghij", "  - API_KEY=[redacted:secret]"},
		"code":               {`password := "hunter2"`, `password := "[redacted:secret]"`},
		"json":               {`{"api_key": "s3cr3t-v4lue!"}`, `{"api_key": "[redacted:secret]"}`},
		"yaml":               {"token: " + alnum36, "token: [redacted:secret]"},
		"hash":               {`secret => 'q1w2e3r4t5'`, `secret => '[redacted:secret]'`},
		"two":                {"npm_" + alnum36 + " npm_" + alnum36, "[redacted:npm-token] [redacted:npm-token]"},
		"token in url":       {"https://x:ghp_" + alnum36 + "@h/o/r", "https://x:[redacted:password]@h/o/r"},
		"umlauts around":     {"ä <private>ö</private> ü", "ä [redacted:private] ü"},
	} {
		got, n := Redact(test.in)
		if got != test.want {
			t.Errorf("%s: Redact(%q)\n got %q\nwant %q", name, test.in, got, test.want)
		}
		if n == 0 {
			t.Errorf("%s: nothing counted", name)
		}
		if again, n := Redact(got); again != got || n != 0 {
			t.Errorf("%s: redacting again gives %q", name, again)
		}
	}
}

func TestRedactLeavesCodeAlone(t *testing.T) {
	for _, text := range []string{
		"", "plain text", "a password is wanted",
		"password := getPassword()", "token = parser.Next()", "token: Token;", "tok, err := lexer.Token()",
		`if password == "hunter2x" {`, `password = os.Getenv("DB_PASSWORD")`, `const tokenType = "identifier"`,
		`Token: "string"`, `{"token": "keyword.control.go"}`, "secret: Uint8Array", "password: str = Field(...)",
		"PASSWORD=$DB_PASSWORD", "PASSWORD=${DB_PASSWORD:-none}", "password: ${{ secrets.NPM_PASSWORD }}",
		`password = "your-password-1"`, `api_key="<your key 1>"`, `token := "%s-%d-12"`, "api_key = config.api_key_v2",
		"secretKeyRef: my-secret-name", "tokens[i] = token.IDENT", "pwd=/home/user/work", "PWD=/home/user/work12",
		"http://localhost:8080/a@b", "https://host/path?x=a:b@c", "git@host:org/repo.git", "ssh://git@host/x",
		"https://user:password@host", "the sk-learn library is a fine one to use", "sk-this-is-a-long-css-class-name",
		"-----BEGIN CERTIFICATE-----\nMIIEowIBAAKCAQEA\n-----END CERTIFICATE-----", "-----BEGIN", "<private>", "<private>\n",
		"npm_config_registry_and_a_long_name_follows", "akia", "bearer of bad news and a longtailed_identifierWithCase",
		"eyJ", "mov eax, AKIAX", "passwordFieldValidator2 = NewPasswordFieldValidator2(ctx)", "basic authenticationMiddleware",
		"docker login --username AWS --password-stdin 123456789012.dkr.ecr.eu-west-1.amazonaws.com", "key: NewEncapsulationKey1024",
		"PASSWORD=` + secret + `", "the password is wrong", "password: required", "pass --token twice", "Password=Password;Server=db", "mysql -p",
		"Cookie: theme=dark", "Authorization: Bearer $TOKEN", "connect(host=h, user=u, password=pw)", "_auth=${NPM_AUTH}", `"auth": "required"`,
		`tokenURL = "/oauth2/token"`, `secretName: "tls-cert-v2"`, "Token int32 // the token",
	} {
		for name, f := range map[string]func(string) (string, int){"Redact": Redact, "Code": Code} {
			if got, n := f(text); got != text || n != 0 {
				t.Errorf("%s(%q) = %q, %d", name, text, got, n)
			}
		}
	}
}

// TestOwnSources counts what the rules for texts take out of this repository's
// own documents and sources, tests with their made-up secrets left out.
func TestOwnSources(t *testing.T) {
	bytes := 0
	for _, dir := range []string{"memory", "ingest", "recall", "indexer", "store", "mcp", "api", "config", "eval/testdata/lessons", "eval/testdata/parcels", "../docs", ".."} {
		paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			info, err := os.Stat(path)
			if err != nil || info.IsDir() {
				continue
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bytes += len(b)
			for _, s := range Find(string(b)) {
				if s.What == "private" { // documents speak of the mark
					continue
				}
				t.Errorf("%s: %s is found in %q", path, s.What, b[max(0, s.Start-40):s.End])
			}
		}
	}
	if bytes < 100_000 {
		t.Errorf("only %d bytes were read", bytes)
	}
}

// TestStandardLibrary counts what is taken out of ordinary Go code: what is
// found there must be the few secrets that tests and examples hold.
func TestStandardLibrary(t *testing.T) {
	src := gosource.Dir(t)
	files, bytes, found := 0, 0, 0
	for _, dir := range []string{"go/parser", "go/token", "net/http", "net/url", "encoding/json", "text/template/parse", "os", "cmd/go/internal/load"} {
		paths, _ := filepath.Glob(filepath.Join(src, filepath.FromSlash(dir), "*.go"))
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files++
			bytes += len(b)
			clean, n := Code(string(b))
			if n > 0 {
				t.Logf("%s: %v", path, FindCode(string(b)))
			}
			found += n
			if _, err := parser.ParseFile(gotoken.NewFileSet(), path, clean, parser.SkipObjectResolution); err != nil {
				t.Errorf("redacting broke the code: %v", err)
			}
		}
	}
	if files == 0 {
		t.Skip("Go's own source is needed: install Go with its src folder")
	}
	// An Authorization header and a password in the comments of request.go and url.go.
	if found > 2 {
		t.Errorf("%d secrets found in %d files, %d bytes", found, files, bytes)
	}
}

// TestLikelyIsSure holds that what is skipped before a pattern of gitleaks is
// tried could not have matched.
func TestLikelyIsSure(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(5, 6))}
	for _, r := range all().leaks.rules {
		if r.likely == nil {
			continue
		}
		for i := range 20_000 {
			var text string
			switch {
			case strings.HasPrefix(r.ID, "curl-"):
				text = "curl" + m.pick(" ", " -s ", " \\\n ", strings.Repeat(" -d a", m.rng.IntN(250))) + m.pick("-H ", "--header=", "-u", "--user ") + m.pick("", "'", `"`) +
					m.pick("Authorization: Bearer ", "a:", "X-Api-Key: ") + m.alnum(8+m.rng.IntN(20)) + m.pick("", "'", `"`)
			case r.ID == genericKey:
				text = m.pick(r.Keywords...) + m.pick("", "_id", " of x", ".a-b", "  ") + m.pick("", " ", "'", "\" ", "\n") + m.pick("=", ":", ":=", "=>", " || ", ",", "?=", "-") +
					m.pick("", " ", "'", "=\"", " = ") + m.alnum(6+m.rng.IntN(20)) + m.pick("", "'", "\n", ";")
			default:
				text = m.pick("s.", "hvs.", "eyJ") + m.alnum(10+m.rng.IntN(100)) + m.pick("", " ", ".eyJ"+m.alnum(30)+"."+m.alnum(20))
			}
			if !r.compiled().MatchString(text) {
				continue
			}
			likely := false
			for _, h := range all().words.scan(text) {
				likely = likely || h.rule.leak == r && r.likely(text, h.at)
			}
			if !likely {
				t.Fatalf("%s, %d: %q is skipped and matches", r.ID, i, text)
			}
		}
	}
}

// TestWorkIsLinear feeds every keyword of every rule with texts that repeat it, and
// counts the bytes that rules read in vain. Of a text four times as long they are no
// more than four times as many, and of any text a fixed multiple.
func TestWorkIsLinear(t *testing.T) {
	const n, most = 1 << 10, (maxRead + window) / partSize
	work := func(text string) map[*rule]int {
		total := map[*rule]int{}
		all().look(text, func(r *rule, read int) { total[r] += read })
		return total
	}
	keywords := map[string]bool{"password": true}
	for _, r := range textRules() {
		for _, word := range r.keywords {
			keywords[word] = true
		}
	}
	for _, r := range all().leaks.rules {
		for _, word := range r.Keywords {
			keywords[word] = true
		}
	}
	for word := range keywords {
		for _, sign := range []string{"", "=", " -p "} {
			unit := word + sign
			once, fourfold := work(strings.Repeat(unit, n/len(unit))), work(strings.Repeat(unit, 4*(n/len(unit))))
			for r, shown := range fourfold {
				if shown > most*4*n || shown > 4*once[r]+maxRead+window {
					t.Errorf("%s reads %d bytes of %q for %d KB and %d for %d KB, want four times as much and %d a byte at most",
						r.what, once[r], unit, n>>10, shown, 4*n>>10, most)
				}
			}
		}
	}
	// What a match is compared with is a line, which may be all of the text.
	if line := lineAround(strings.Repeat("x", 1<<20), 1<<19, 1<<19+10); len(line) > 4<<10 {
		t.Errorf("a match is compared with %d bytes around it, want those near", len(line))
	}
}

// TestFewTriesInVain counts the tries that read far and find nothing, of texts that
// repeat a keyword: what such a try has read is accounted for, so they are few.
func TestFewTriesInVain(t *testing.T) {
	const n, most = 16 << 10, 16 // tries of one rule in each KB
	for unit, what := range map[string]string{"curl -H ": "curl-auth-header", "curl -u\n": "curl-auth-user", "curl -a=b1 --user ": "curl-auth-user",
		"--password-": "secret", "--password_": "secret", "password": "secret", "access-key-": "secret"} {
		tries := map[*rule]int{}
		all().look(strings.Repeat(unit, n/len(unit)), func(r *rule, _ int) { tries[r]++ })
		for r, got := range tries {
			if r.what == what && got > most*n>>10 {
				t.Errorf("%s is tried %d times in %d KB of %q, want %d a KB at most", r.what, got, n>>10, unit, most)
			}
		}
	}
	curl := 0
	all().look(strings.Repeat("curl ", n/5), func(r *rule, _ int) {
		if r.leak != nil {
			curl++
		}
	})
	if curl > 0 {
		t.Errorf("the patterns of gitleaks are tried %d times on curl without a flag, want none", curl)
	}
}

// BenchmarkRepetitive redacts 200 KB of what was slow, and an ordinary text of the same
// length as the reference: x_ordinary is how much longer it takes.
func BenchmarkRepetitive(b *testing.B) {
	const size = 200 << 10
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	ordinary := fill("compiling internal/redact/rules.go with key files and the api of auth\n" +
		"2026-01-15T12:00:00Z info request served path=/v1/items status=200 took=3.4ms\n")
	for _, unit := range []string{"password=", "sk-", "discord", "discord=", "glpat-", "xoxe-", "x-vault-token=", "mysql ", "secret ", "curl ", "curl -H ", "--password-", "-----BEGIN RSA PRIVATE KEY----- x "} {
		b.Run(strings.TrimSpace(unit), func(b *testing.B) {
			text := fill(unit)
			start := time.Now()
			Redact(ordinary)
			reference := time.Since(start)
			b.SetBytes(size)
			for b.Loop() {
				Redact(text)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(reference), "x_ordinary")
		})
	}
}

// BenchmarkWorstRule redacts, for every rule, a text of nothing but its keyword, and
// reports how much longer twice the text takes at worst: 2 is linear, 4 is a rule
// that looks at everything again at each of its keywords.
func BenchmarkWorstRule(b *testing.B) {
	rules := textRules()
	for _, r := range all().leaks.rules {
		rules = append(rules, &rule{what: r.ID, keywords: r.Keywords})
	}
	measure := func(text string) time.Duration {
		start := time.Now()
		Redact(text)
		return time.Since(start)
	}
	var worst float64
	var slowest time.Duration
	for b.Loop() {
		for _, r := range rules {
			for _, sign := range []string{" ", "="} {
				text := strings.Repeat(r.keywords[0]+sign, 4<<10/(len(r.keywords[0])+len(sign)))
				took := max(measure(text), time.Millisecond) // less is noise
				double := measure(text + text)
				worst, slowest = max(worst, float64(double)/float64(took)), max(slowest, double)
			}
		}
	}
	b.ReportMetric(worst, "x_for_twice")
	b.ReportMetric(slowest.Seconds()*1e3, "ms-slowest-8KB")
}

func TestApply(t *testing.T) {
	spans := []Span{{2, 6, "a"}, {8, 12, "b"}, {20, 22, "c"}}
	for _, test := range []struct {
		text   string
		offset int
		want   string
	}{
		{"0123456789abcdef", 0, "01[redacted:a]67[redacted:b]cdef"},
		{"456789ab", 4, "[redacted:a]67[redacted:b]"},
		{"67", 6, "67"},
		{"89", 8, "[redacted:b]"},
		{"", 4, ""},
	} {
		if got := Apply(test.text, test.offset, spans); got != test.want {
			t.Errorf("Apply(%q, %d) = %q, want %q", test.text, test.offset, got, test.want)
		}
	}
}

func TestDropHighEntropy(t *testing.T) {
	for _, word := range []string{
		hex40, strings.ToUpper(hex40), "0x" + hex40[:32], alnum36, "d41d8cd9-8f00-3204-a980-0998ecf8427e",
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzT9kLm3Qa2", "k3j9x2m8q1w7e5r6t4y0", "MIIEowIBAAKCAQEAx4UbaDzY5xjW6hc9jwN0mX33",
	} {
		if !DropHighEntropy(word) {
			t.Errorf("%q is kept", word)
		}
	}
	for _, word := range []string{
		"", "x", "deadbeef", "0123456789abcdef", "TestParseHTTP2FrameHeadersAndContinuation", "golang.org/x/crypto/ssh/terminal",
		"application/vnd.openxmlformats-officedocument", "x86_64-unknown-linux-gnu-v2", "iso8859_15_to_utf8_table", "getElementsByClassNameNS2",
		"internationalization", "AVX512VBMI2InstructionSetEnabled", "2006-01-02T15:04:05.000Z07:00", "SHA256WithRSAEncryptionPKCS1v15",
	} {
		if DropHighEntropy(word) {
			t.Errorf("%q is dropped", word)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("password=\"hunter2\" ghp_" + alnum36)
	f.Add(pemHead + "\n" + pemBody + pemTail)
	f.Add("a://b:c@d <private>\xff</private> token: " + alnum36)
	f.Add("https://[redacted:password]:x1!aaaaaaa@h secret='[redacted:a'")
	f.Fuzz(func(t *testing.T, text string) {
		for _, set := range []*set{code(), all()} {
			clean, n := redact(text, set.find)
			if n == 0 && clean != text {
				t.Fatalf("%q became %q without a count", text, clean)
			}
			if again, n := redact(clean, set.find); again != clean || n != 0 {
				t.Fatalf("%q became %q, then %q", text, clean, again)
			}
			if utf8.ValidString(text) && !utf8.ValidString(clean) {
				t.Fatalf("%q became %q, which is not UTF-8", text, clean)
			}
			last := 0
			for _, s := range set.find(text) {
				if s.Start < last || s.End <= s.Start || s.End > len(text) {
					t.Fatalf("%q: span %+v after %d", text, s, last)
				}
				last = s.End
			}
		}
		DropHighEntropy(text)
	})
}

// BenchmarkRedactText reads what a step may hold: the output of a build, with a
// line of code here and there.
func BenchmarkRedactText(b *testing.B) {
	text := strings.Repeat("compiling internal/redact/rules.go with key files and the api of auth\n"+
		"\tif err := s.opts.Projects.Resolve(ctx, token); err != nil { // access to the session\n"+
		"2026-01-15T12:00:00Z info request served path=/v1/items status=200 took=3.4ms\n", 300)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Redact(text)
	}
}

// TestMSBuildPrivate: a property of that name is no mark in code.
func TestMSBuildPrivate(t *testing.T) {
	const project = "<Reference>\n  <Private>True</Private>\n</Reference>"
	if clean, n := Code(project); n != 0 || clean != project {
		t.Errorf("%d removed: %s", n, clean)
	}
	if _, n := Code("// <private>true story</private>"); n != 1 {
		t.Errorf("%d removed of a private text", n)
	}
}

func BenchmarkRedactCode(b *testing.B) {
	var src strings.Builder
	paths, _ := filepath.Glob(filepath.Join(gosource.Dir(b), "net", "http", "*.go"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		src.Write(text)
	}
	text := src.String()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Code(text)
	}
}

func TestIsBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"[redacted:private]": true, " [redacted:private], [redacted:jwt]. ": true, "[redacted:private": true,
		"use [redacted:private]": false, "[redacted:private] 7": false, "": false, "…": false, "[redacted:private] →": false,
	} {
		if got := IsBlank(text); got != want {
			t.Errorf("IsBlank(%q) = %v", text, got)
		}
	}
}
