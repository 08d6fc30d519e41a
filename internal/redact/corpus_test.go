package redact

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/testkit/gosource"
)

// planted is a made secret in a text as people and agents write it.
type planted struct {
	kind, place, secret, text string
}

// places are where a secret is planted, and how a text of that place is cleaned.
var places = []struct {
	name  string
	clean func(string) (string, int)
}{
	{"lesson", Redact},
	{"step", Redact},
	{"code", Code},
	{"question", Redact},
	{"tool input", func(text string) (string, int) { return Value(text, "command") }},
}

// leakKind is a kind of secret: how one is made, and how it is written in each place, with
// %s for the secret. A kind with one form is written so everywhere.
type leakKind struct {
	name  string
	make  func(m maker) string
	forms []string // by place
}

// around writes a token with its own form, which stands alone, in each place.
var around = []string{
	"Rotate %s before the release: the old one stopped the deploy",
	"error: request with %s was refused (401)",
	"\tclient := newClient(\"%s\")\n",
	"why does the service answer 403 when I send %s?",
	"deploy --verbose --with %s --now",
}

// setting writes a value that only a name beside it gives away.
func setting(name string) []string {
	return []string{
		"Set " + name + "=%s in the environment, or the job fails",
		"+ env\nHOME=/root\n" + name + "=%s\nLANG=C\n",
		"\tos.Setenv(\"" + name + "\", \"%s\")\n",
		"is " + name + "=%s still valid?",
		"export " + name + "='%s' && make deploy",
	}
}

func same(form string) []string { return []string{form, form, form, form, form} }

// leakKinds are the 40 kinds of the corpus. They were written down before anything was
// measured, and a kind that is missed stays. The form of one, Hugging Face, was wrong then: its
// tokens have no digits.
func leakKinds() []leakKind {
	alnum := func(prefix string, n int) func(maker) string {
		return func(m maker) string { return prefix + m.alnum(n) }
	}
	hex := func(prefix string, n int) func(maker) string {
		return func(m maker) string { return prefix + m.hex(n) }
	}
	word := func(m maker) string {
		return m.pick("Harbor", "violet", "Tundra", "maple", "Quartz") + m.pick("!", "-", "_", "#") + m.of(digits, 4) + m.pick("x", "Kq", "zW")
	}
	b64 := func(n int) func(maker) string {
		return func(m maker) string { return base64.StdEncoding.EncodeToString([]byte(m.alnum(n))) }
	}
	return []leakKind{
		{"AWS access key id", func(m maker) string { return "AKIA" + m.of(base32, 16) }, around},
		{"AWS secret key", alnum("", 40), setting("AWS_SECRET_ACCESS_KEY")},
		{"Anthropic key", func(m maker) string { return "sk-ant-" + "api03-" + m.alnum(93) + "AA" }, around},
		{"OpenAI project key", alnum("sk-"+"proj-", 64), around},
		{"Google API key", alnum("AI"+"za", 35), around},
		{"GitHub token", alnum("gh"+"p_", 36), around},
		{"GitHub fine-grained token", alnum("github_"+"pat_", 82), around},
		{"GitLab token", alnum("gl"+"pat-", 20), around},
		{"Slack bot token", func(m maker) string {
			return "xo" + "xb-" + m.of(digits, 12) + "-" + m.of(digits, 12) + "-" + m.alnum(24)
		}, around},
		{"Slack webhook", func(m maker) string {
			return "T" + m.of(base32, 8) + "/B" + m.of(base32, 8) + "/" + m.alnum(24)
		}, same("curl -d @note.json https://hooks.slack.com/services/%s")},
		{"Discord webhook", alnum("", 68), same("post to https://discord.com/api/webhooks/1122334455667788990/%s when it is done")},
		{"Stripe key", alnum("sk_"+"live_", 24), around},
		{"Stripe webhook secret", alnum("wh"+"sec_", 32), around},
		{"Twilio key", hex("S"+"K", 32), around},
		{"Twilio auth token", hex("", 32), setting("TWILIO_AUTH_TOKEN")},
		{"SendGrid key", func(m maker) string { return "S" + "G." + m.alnum(22) + "." + m.alnum(43) }, around},
		{"Mailgun key", hex("", 32), setting("MAILGUN_API_KEY")},
		{"npm token", alnum("np"+"m_", 36), around},
		{"npmrc token", func(m maker) string {
			return m.hex(8) + "-" + m.hex(4) + "-" + m.hex(4) + "-" + m.hex(4) + "-" + m.hex(12)
		},
			same("//registry.example.org/:_authToken=%s")},
		{"PyPI token", alnum("pypi-"+"AgEIcHlwaS5vcmc", 80), around},
		{"Docker Hub token", alnum("dckr_"+"pat_", 27), around},
		{"Docker config", b64(24), same(`{"auths":{"registry.example.org":{"auth":"%s"}}}`)},
		{"Kubernetes token", func(m maker) string {
			return "ey" + "J" + m.alnum(30) + ".ey" + "J" + m.alnum(80) + "." + m.alnum(64)
		}, same("users:\n- name: admin\n  user:\n    token: %s\n")},
		{"JWT", func(m maker) string {
			return "ey" + "J" + m.alnum(20) + ".ey" + "J" + m.alnum(60) + "." + m.alnum(43)
		}, around},
		{"Azure storage key", b64(64), same("DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=%s;EndpointSuffix=core.windows.net")},
		{"Azure AD client secret", func(m maker) string { return m.of("abcxyz", 3) + "7Q~" + m.alnum(31) }, around},
		{"Google service account key", func(m maker) string { return m.alnum(64) },
			same("{\"type\":\"service_account\",\"private_key\":\"-----BEGIN " + "PRIVATE KEY-----\\n%s\\n-----END " + "PRIVATE KEY-----\\n\"}")},
		{"private key (PEM)", func(m maker) string { return m.alnum(64) },
			same("-----BEGIN " + "RSA PRIVATE KEY-----\n%s\n-----END " + "RSA PRIVATE KEY-----\n")},
		{"Hugging Face token", func(m maker) string {
			return "h" + "f_" + strings.Map(noDigit, m.of("abcdefghijklmnopqrstuvwxyzABCDEFGH", 34))
		}, around},
		{"Databricks token", hex("da"+"pi", 32), around},
		{"Telegram bot token", func(m maker) string { return m.of(digits, 10) + ":A" + "A" + m.alnum(33) }, around},
		{"Vault token", alnum("hv"+"s.", 90), around},
		{"PostgreSQL URL", word, same("postgres://shop:%s@db.internal:5432/shop")},
		{"Redis URL", alnum("", 24), same("redis://:%s@cache.internal:6379/0")},
		{"MySQL password flag", word, same("mysqldump -h db.internal -u root -p%s shop")},
		{"curl user and password", word, same("curl -u deploy:%s https://ci.internal/job")},
		{"basic authorization", b64(24), same("Authorization: Basic %s")},
		{"bearer authorization", alnum("", 40), same("curl -H 'Authorization: Bearer %s' https://api.internal/v1")},
		{"session cookie", hex("", 48), same("Cookie: theme=dark; sessionid=%s; lang=en")},
		{"password in a sentence", word, []string{
			"The password of the staging database is %s, it is in no vault",
			"login failed: password \"%s\" was not accepted",
			"\t// the password is %s\n",
			"does the admin password %s still work?",
			"echo 'password: %s' > login.txt",
		}},
	}
}

// corpus makes 500 planted secrets: each kind in every place, twice or three times.
func corpus(seed uint64) (all []planted) {
	kinds := leakKinds()
	for i := range 500 {
		m := maker{rand.New(rand.NewPCG(seed, uint64(i)))}
		kind, place := kinds[i%len(kinds)], (i/len(kinds))%len(places)
		secret := kind.make(m)
		all = append(all, planted{kind.name, places[place].name, secret, fmt.Sprintf(kind.forms[place], secret)})
	}
	return all
}

// isFound reports whether nothing that is of use is left of a secret: no 8 bytes of it in
// a row.
func (p planted) isFound() bool {
	i := slices.IndexFunc(places, func(x struct {
		name  string
		clean func(string) (string, int)
	}) bool {
		return x.name == p.place
	})
	clean, _ := places[i].clean(p.text)
	const left = 8
	for at := 0; at+left <= len(p.secret); at++ {
		if strings.Contains(clean, p.secret[at:at+left]) {
			return false
		}
	}
	return true
}

// TestCorpus counts the planted secrets that are found and missed, by kind. make secrets
// prints the table.
func TestCorpus(t *testing.T) {
	type count struct{ found, missed int }
	byKind, byPlace := map[string]count{}, map[string]count{}
	missed, where := 0, map[string]map[string]bool{}
	for _, p := range corpus(1) {
		k, l := byKind[p.kind], byPlace[p.place]
		if p.isFound() {
			k.found++
			l.found++
		} else {
			k.missed++
			l.missed++
			missed++
			if where[p.kind] == nil {
				where[p.kind] = map[string]bool{}
			}
			where[p.kind][p.place] = true
		}
		byKind[p.kind], byPlace[p.place] = k, l
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| kind | found | missed | missed in |\n|---|---|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		fmt.Fprintf(&table, "| %s | %d | %d | %s |\n", kind, byKind[kind].found, byKind[kind].missed, strings.Join(slices.Sorted(maps.Keys(where[kind])), ", "))
	}
	for _, p := range places {
		fmt.Fprintf(&table, "| %s, all kinds | %d | %d | |\n", p.name, byPlace[p.name].found, byPlace[p.name].missed)
	}
	fmt.Fprintf(&table, "| all | %d | %d | |", 500-missed, missed)
	t.Log("\n" + table.String())
	if len(byKind) != 40 || missed > mostMissed {
		t.Errorf("%d secrets of %d kinds are missed, want at most %d of 40", missed, len(byKind), mostMissed)
	}
}

// mostMissed is how many secrets of the corpus were missed when it was measured last.
const mostMissed = 17

// TestFalseAlarms counts what the rules for code and those for texts find in Go's own
// source without tests, which has no secrets, by MB.
func TestFalseAlarms(t *testing.T) {
	if os.Getenv("RECALLD_TEST_LONG") == "" {
		t.Skip("reads Go's source: make secrets")
	}
	size, files := 0, 0
	alarms := map[string]map[string]int{"code": {}, "texts": {}}
	err := filepath.WalkDir(gosource.Dir(t), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == "testdata" {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size, files = size+len(text), files+1
		for name, find := range map[string]func(string) []Span{"code": FindCode, "texts": Find} {
			for _, s := range find(string(text)) {
				alarms[name][s.What]++
				t.Logf("%s: %s: %s: %.60q", name, s.What, filepath.Base(path), text[s.Start:s.End])
			}
		}
		return nil
	})
	if err != nil || files < 1000 {
		t.Fatalf("%d files of Go's source, %v", files, err)
	}
	for _, name := range slices.Sorted(maps.Keys(alarms)) {
		n := 0
		for _, k := range alarms[name] {
			n += k
		}
		t.Logf("rules for %s: %d alarms in %.1f MB of %d files, %.2f per MB: %v", name, n, float64(size)/1e6, files, float64(n)/float64(size)*1e6, alarms[name])
		if most := float64(size) / 1e6; float64(n) > most {
			t.Errorf("rules for %s: %d alarms in %.1f MB, want at most one per MB", name, n, most)
		}
	}
}

// TestSentences holds that words which are no secrets stay where passwords are told, and that
// text which is hostile to the rules with a look behind is read within its bounds.
func TestSentences(t *testing.T) {
	for _, text := range []string{
		"the password of the user is wrong", "the password for the new build is required", "password 'sha256' is the method",
		"the password of the", "password of is ", "password of a b c d e f is maple#1234", "q~", "Q~", "7Q~short", "é7Q~" + strings.Repeat("a", 200),
		`os.Setenv("API_KEY", key)`, `os.Setenv("API_KEY", "changeme")`, `os.Setenv("LANG", "C.UTF-8#12345")`, "see http://host/#user:x@y", "http://host#user:word@x",
	} {
		for name, clean := range map[string]func(string) (string, int){"texts": Redact, "code": Code} {
			if got, n := clean(text); n != 0 {
				t.Errorf("%s: %q becomes %q, want it unchanged", name, text, got)
			}
		}
	}
}
