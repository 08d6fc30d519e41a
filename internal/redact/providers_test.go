package redact

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
)

// maker makes values of secrets anew for each test, so that none stands in this
// file for a scanner to find.
type maker struct{ rng *rand.Rand }

const (
	lowerHex = "0123456789abcdef"
	lower36  = "abcdefghijklmnopqrstuvwxyz0123456789"
	base62   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	base32   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	digits   = "0123456789"
)

func (m maker) of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.rng.IntN(len(alphabet))]
	}
	// At least one digit and one letter, as chance gives them nearly always.
	if alphabet != digits {
		b[n/2] = '7'
		b[n/3] = alphabet[len(alphabet)/3]
	}
	return string(b)
}

func (m maker) pick(list ...string) string { return list[m.rng.IntN(len(list))] }
func (m maker) hex(n int) string           { return m.of(lowerHex, n) }
func (m maker) lower(n int) string         { return m.of(lower36, n) }
func (m maker) alnum(n int) string         { return m.of(base62, n) }

// TestProviders holds that secrets of many providers are found, whole, in a
// sentence, a line of settings and a string of JSON.
func TestProviders(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(1, 2))}
	b64 := func(n int) string { return base64.StdEncoding.EncodeToString([]byte(m.alnum(n))) }
	providers := map[string]string{
		"1password":    "A3-" + m.of(base32, 6) + "-" + m.of(base32, 11) + "-" + m.of(base32, 5) + "-" + m.of(base32, 5) + "-" + m.of(base32, 5),
		"adobe":        "p8e-" + m.lower(32),
		"age":          "AGE-SECRET-KEY-1" + m.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
		"alibaba":      "LTAI" + m.lower(20),
		"anthropic":    "sk-ant-" + "api03-" + m.alnum(93) + "AA",
		"artifactory":  "AKCp" + m.alnum(69),
		"aws":          "AKIA" + m.of(base32, 16),
		"azure ad":     m.of("abcxyz", 3) + "7Q~" + m.alnum(31),
		"clojars":      "CLOJARS_" + m.lower(60),
		"databricks":   "dapi" + m.hex(32),
		"digitalocean": "dop_v1_" + m.hex(64),
		"docker hub":   "dckr_" + "pat_" + m.alnum(27),
		"doppler":      "dp.pt." + m.lower(43),
		"duffel":       "duffel_test_" + m.alnum(43),
		"dynatrace":    "dt0c01." + m.lower(24) + "." + m.lower(64),
		"easypost":     "EZAK" + m.lower(54),
		"flutterwave":  "FLWSECK_TEST-" + m.of("abcdefgh0123456789", 32) + "-X",
		"fly.io":       "fo1_" + m.alnum(43),
		"frame.io":     "fio-u-" + m.alnum(64),
		"github":       "ghp_" + m.alnum(36),
		"github app":   "ghs_" + m.alnum(36),
		"github fine":  "github_" + "pat_" + m.alnum(82),
		"gitlab":       "glpat-" + m.alnum(20),
		"gitlab ci":    "glrt-" + m.alnum(20),
		"google":       "AIza" + m.alnum(35),
		"grafana":      "glsa_" + m.alnum(32) + "_" + m.hex(8),
		"harness":      "pat." + m.alnum(22) + "." + m.alnum(24) + "." + m.alnum(20),
		"heroku":       "HRKU-AA" + m.alnum(58),
		"hugging face": "hf_" + strings.Map(noDigit, m.of("abcdefghijklmnopqrstuvwxyzABCDEFGH", 34)),
		"infracost":    "ico-" + m.alnum(32),
		"jwt":          "eyJ" + b64(20)[:24] + ".eyJ" + b64(30)[:32] + "." + m.alnum(43),
		"linear":       "lin_api_" + m.lower(40),
		"notion":       "ntn_" + m.of(digits, 11) + m.alnum(35),
		"npm":          "npm_" + m.alnum(36),
		"openai":       "sk-proj-" + m.alnum(74) + "T3BlbkFJ" + m.alnum(74),
		"perplexity":   "pplx-" + m.alnum(48),
		"planetscale":  "pscale_tkn_" + m.alnum(43),
		"postman":      "PMAK-" + m.hex(24) + "-" + m.hex(34),
		"prefect":      "pnu_" + m.lower(36),
		"pulumi":       "pul-" + m.hex(40),
		"pypi":         "pypi-AgEIcHlwaS5vcmc" + m.alnum(60),
		"readme":       "rdme_" + m.lower(70),
		"rubygems":     "rubygems_" + m.hex(48),
		"sendgrid":     "SG." + m.alnum(22) + "." + m.alnum(43),
		"sendinblue":   "xkeysib-" + m.hex(64) + "-" + m.lower(16),
		"sentry":       "sntryu_" + m.hex(64),
		"shippo":       "shippo_live_" + m.hex(40),
		"shopify":      "shpat_" + m.hex(32),
		"slack":        "xoxb-" + m.of(digits, 12) + "-" + m.of(digits, 12) + "-" + m.alnum(24),
		"slack hook":   "https://hooks.slack.com/services/T" + m.of(base32, 10) + "/B" + m.of(base32, 10) + "/" + m.alnum(24),
		"sourcegraph":  "sgp_" + m.hex(40),
		"square":       "EAAA" + m.alnum(60),
		"stripe":       "sk_live_" + m.alnum(24),
		"twilio":       "SK" + m.hex(32),
		"vault":        "hvs." + m.alnum(95),
		"yandex aws":   "AKIA" + m.of(base32, 16),
	}
	if len(providers) < 40 {
		t.Fatalf("%d providers, want 40", len(providers))
	}
	for name, secret := range providers {
		for _, frame := range []string{
			"The deploy failed until %s was set.", "\nDEPLOY_VALUE=%s\nNEXT=1\n", `{"env":{"value":"%s","n":1}}`, "- value: '%s'\n", "%s",
		} {
			text := strings.ReplaceAll(frame, "%s", secret)
			clean, n := Redact(text)
			if n == 0 || strings.Contains(clean, secret[len(secret)/2:]) {
				t.Errorf("%s: Redact(%q) = %q", name, text, clean)
			}
		}
	}
}

func noDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return 'k'
	}
	return r
}

// TestPasted holds that the values in settings, headers, commands and connection
// strings are found, and only these.
func TestPasted(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(3, 4))}
	key64 := base64.StdEncoding.EncodeToString([]byte(m.alnum(64)))
	login := base64.StdEncoding.EncodeToString([]byte("ann:hunter2x"))
	for name, test := range map[string]struct{ before, secret, behind string }{
		"postgres":             {"postgres://app:", "hunter2", "@db:5432/x"},
		"redis without a user": {"redis://:", "hunter2", "@cache:6379/0"},
		"mongodb":              {"mongodb+srv://app:", "p%40ss", "@c0.mongodb.net/x?retryWrites=true"},
		"amqp":                 {"amqp://guest1:", "sw0rdfish", "@mq/"},
		"sql server":           {"Server=db;Database=x;User Id=sa;Password=", "Sommer", ";Encrypt=true"},
		"sql server, first":    {"Password=", "Sommer", ";User ID=sa;Server=db"},
		"odbc":                 {"Driver={PostgreSQL};Server=db;Uid=app;Pwd=", "hunter2", ";"},
		"libpq":                {"host=db user=app password=", "hunter2", " dbname=x"},
		"jdbc":                 {"jdbc:mysql://db/x?user=app&password=", "hunter2", "&useSSL=false"},
		"azure storage":        {"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", key64, ";EndpointSuffix=core.windows.net"},
		"azure bus":            {"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=", key64, ""},
		"sas":                  {"https://a.blob.core.windows.net/c?sv=2022&sig=", strings.ReplaceAll(key64, "=", "%3D"), ""},
		"env":                  {"DB_HOST=db\nDB_PASSWORD=", "hunter2", "\nDB_PORT=5432\n"},
		"env, quoted":          {"export API_TOKEN=\"", m.alnum(30), "\"\n"},
		"compose":              {"    environment:\n      - POSTGRES_PASSWORD=", "hunter2", "\n"},
		"yaml":                 {"db:\n  password: ", "hunter2", "\n  port: 5432\n"},
		"ini":                  {"[client]\nuser = root\npassword = ", "hunter2", "\n"},
		"prose":                {"The admin password is ", "Tr0ub4dor&3", ", of all things."},
		"flag":                 {"deploy --password=", "correcthorse", " --verbose"},
		"flag, apart":          {"deploy --token ", "s3cr3tvalue", " --verbose"},
		"mysql":                {"mysql -uroot -p", "hunter2", " app < dump.sql"},
		"sshpass":              {"sshpass -p '", "hunter2", "' ssh host"},
		"docker login":         {"docker login -u ann -p ", "hunter2x", " registry.example"},
		"curl":                 {"curl -u ", "ann:hunter2x9", " https://x.example/a"},
		"pgpass":               {"db.example:5432:app:ann:", "hunter2", "\n"},
		"netrc":                {"machine api.example\n  login ann\n  password ", "hunter2", "\n"},
		"npmrc":                {"//registry.example/:_authToken=", m.alnum(20), "\n"},
		"npmrc, basic":         {"_auth=", login, "\n"},
		"docker config":        {`{"auths":{"registry.example":{"auth":"`, login, `"}}}`},
		"kubeconfig":           {"    client-key-data: ", key64, "\n"},
		"k8s secret":           {"kind: Secret\ndata:\n  ", "pass: " + login + login, "\n"},
		"mailgun":              {"mailgun_key = '", "key-" + m.hex(32), "'"},
		"airtable":             {"airtable: ", "pat" + m.alnum(14) + "." + m.hex(64), "\n"},
		"mapbox":               {"mapbox = \"", "pk." + m.lower(60) + "." + m.lower(22), "\""},
		"linkedin":             {"linkedin_secret=", m.lower(16), "\n"},
		"datadog":              {"datadog_api_key: ", m.lower(40), "\n"},
		"algolia":              {"algolia_key=\"", m.lower(32), "\""},
		"bearer":               {"Authorization: Bearer ", m.alnum(32), ""},
		"token header":         {"-H 'Authorization: token ", m.hex(20), "'"},
		"basic":                {"Authorization: Basic ", login + "", "\n"},
		"api key header":       {"X-Api-Key: ", m.alnum(24), "\n"},
		"gitlab header":        {"PRIVATE-TOKEN: ", m.alnum(20), "\n"},
		"cookie":               {"Cookie: ", "sid=" + m.alnum(32) + "; theme=dark", "\n"},
		"set-cookie":           {"Set-Cookie: ", "session=" + m.alnum(32) + "; Path=/; HttpOnly", "\n"},
		"password hash":        {"ann:", "$2y$" + "10$" + m.alnum(53), "\n"},
		"key":                  {"k: |\n", pemHead + "\n" + pemBody + pemTail, "\n"},
		"ssh key":              {"", "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + pemBody + "-----END OPENSSH " + "PRIVATE KEY-----", "\n"},
		"private":              {"note ", "<private>the board meets\nMonday</private>", " end"},
		"private, open":        {"note ", "<PRIVATE>the board meets\nMonday", ""},
	} {
		text := test.before + test.secret + test.behind
		clean, n := Redact(text)
		what := strings.TrimSuffix(strings.TrimPrefix(clean, test.before+markStart), "]"+test.behind)
		if n == 0 || what == clean || strings.ContainsAny(what, "[] \n") {
			t.Errorf("%s: Redact(%q)\n got %q", name, text, clean)
		}
		if again, n := Redact(clean); n != 0 {
			t.Errorf("%s: redacting again gives %q", name, again)
		}
	}
}
