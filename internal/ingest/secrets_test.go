package ingest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/redact"
)

// wordCleaner takes out one word, and fullCleaner what a daemon does.
func wordCleaner() *cleaner {
	return &cleaner{redact: redactSecret, redactValue: func(value string, _ ...string) (string, int) { return redactSecret(value) }}
}

func fullCleaner() *cleaner { return &cleaner{redact: redact.Redact, redactValue: redact.Value} }

func TestSecretsInJSON(t *testing.T) {
	for name, tc := range map[string]struct {
		in, want string
		n        int
	}{
		"a value":         {`{"a":"say hunter2"}`, `{"a":"say [redacted]"}`, 1},
		"deep":            {`{"a":[{"b":["hunter2",{"c":"hunter2"}]}]}`, `{"a":[{"b":["[redacted]",{"c":"[redacted]"}]}]}`, 2},
		"a key":           {`{"hunter2":true}`, `{"[redacted]":true}`, 1},
		"a text":          {`"hunter2"`, `"[redacted]"`, 1},
		"escaped letters": {`"\u0068unter2"`, `"[redacted]"`, 1},
		"quotes around":   {`"\"hunter2\" <b> & ü \\"`, `"\"[redacted]\" <b> & ü \\"`, 1},
		"nothing in it": {` { "z" : 1.50e+07 , "a" : [ 10000000000000000001 , -0.0 , null , "<\u00fc\/>" ] } `,
			` { "z" : 1.50e+07 , "a" : [ 10000000000000000001 , -0.0 , null , "<\u00fc\/>" ] } `, 0},
		"a value of such a key": {`{"hunter2":"abc"}`, `{"[redacted]":"abc"}`, 1},
		"numbers beside it":     {`{"z":1.50,"s":"hunter2","a":1e2}`, `{"z":1.50,"s":"[redacted]","a":1e2}`, 1},
		"not JSON":              {`{"a":"hunter2"`, `{"a":"hunter2"`, 0},
		"null":                  {`null`, ``, 0},
		"nothing":               {``, ``, 0},
	} {
		c := wordCleaner()
		if got := string(c.json(json.RawMessage(tc.in))); got != tc.want || c.n != tc.n {
			t.Errorf("%s: %s becomes %s with %d taken out, want %s and %d", name, tc.in, got, c.n, tc.want, tc.n)
		}
	}
}

// TestSecretByItsNames: a password is one for what it is called, in whatever form.
func TestSecretByItsNames(t *testing.T) {
	for in, secret := range map[string]string{
		`{"password":"kx7Qp2vT9w"}`:                               "kx7Qp2vT9w",
		`{"db":{"host":"h","password":"kx7Qp2vT9w"}}`:             "kx7Qp2vT9w",
		`{"command":"PASSWORD=kx7Qp2vT9w make"}`:                  "kx7Qp2vT9w",
		`{"password":"correcthorsebattery"}`:                      "correcthorsebattery",
		`{"password":12345678,"port":5432}`:                       "12345678",
		`{"secret":{"value":"correcthorse"}}`:                     "correcthorse",
		`{"credentials":{"pass":"hunter2"}}`:                      "hunter2",
		`{"name":"DB_PASSWORD","value":"correcthorse"}`:           "correcthorse",
		`{"env":[{"value":"correcthorse","name":"DB_PASSWORD"}]}`: "correcthorse",
		`{"name":"Authorization","value":"Token abcdef12"}`:       "abcdef12",
		`{"element":"Password field","text":"correcthorse"}`:      "correcthorse",
		`{"args":["mysql","--password","S3cr3tPass"]}`:            "S3cr3tPass",
		`{"args":["mysql","--password","correcthorse"]}`:          "correcthorse",
		`["curl","-u","bob:kx7Qp2vT9w","https://example.org"]`:    "kx7Qp2vT9w",
		`["mysql","-u","root","-pkx7Qp2vT9w"]`:                    "kx7Qp2vT9w",
		`["docker","login","-u","bob","-p","kx7Qp2vT9w"]`:         "kx7Qp2vT9w",
		`["curl","-H","Authorization: Bearer kx7Qp2vT9wkx7Qp2"]`:  "kx7Qp2vT9wkx7Qp2",
	} {
		c := fullCleaner()
		got := c.json(json.RawMessage(in))
		if strings.Contains(string(got), secret) || c.n != 1 || !json.Valid(got) {
			t.Errorf("%s becomes %s with %d taken out, want %s out", in, got, c.n, secret)
		}
		c = fullCleaner()
		if again := c.json(got); string(again) != string(got) || c.n != 0 {
			t.Errorf("%s becomes %s the second time", got, again)
		}
		c = fullCleaner()
		extra := c.extra(map[string]json.RawMessage{"note": json.RawMessage(in)})
		if strings.Contains(string(extra["note"]), secret) {
			t.Errorf("in an unknown field %s becomes %s, want %s out", in, extra["note"], secret)
		}
	}
}

// TestOrdinaryStepsStay: what only sounds like a secret is kept.
func TestOrdinaryStepsStay(t *testing.T) {
	for _, in := range []string{
		`{"name":"kx7Qp2vT9w","list":[{"password":"x"}],"path":"src/a.go"}`,
		`{"max_tokens":1000,"usage":{"token":128000,"input_tokens":52311},"token_type":"bearer"}`,
		`{"password":true,"secret":false,"token":null,"passwd":"","pwd":"********"}`,
		`{"type":"object","properties":{"password":{"type":"string","minLength":8,"description":"The new one"}}}`,
		`{"errors":{"password":["must be at least 8 characters"]},"pass":118,"fail":2}`,
		`{"role":"textbox","name":"Password","value":""}`,
		`{"name":"max_tokens","value":"100000000"}`,
		`["grep","-rn","--include","*.go","password","internal"]`,
		`["npm","run","test","--","--token-limit","8192000"]`,
		`{"selector":"#password","text":"Send 12 ETH"}`,
	} {
		c := fullCleaner()
		if got := string(c.json(json.RawMessage(in))); got != in || c.n != 0 {
			t.Errorf("%s becomes %s", in, got)
		}
	}
}

func TestSecretsInUnknownFields(t *testing.T) {
	c := fullCleaner()
	got := c.extra(map[string]json.RawMessage{
		"deploy":                           json.RawMessage(`{"user":"bob","db":[{"password":"correcthorse"}]}`),
		"password":                         json.RawMessage(`"correcthorse"`),
		" name ":                           json.RawMessage(`1.50`),
		"https://u:kx7Qp2vT9w@example.org": json.RawMessage(`{}`),
	})
	want := map[string]json.RawMessage{
		"deploy":   json.RawMessage(`{"user":"bob","db":[{"password":"[redacted:password]"}]}`),
		"password": json.RawMessage(`"[redacted:password]"`),
		" name ":   json.RawMessage(`1.50`),
		"https://u:[redacted:password]@example.org": json.RawMessage(`{}`),
	}
	if diff := cmp.Diff(want, got); diff != "" || c.n != 3 {
		t.Errorf("%d taken out (-want +got):\n%s", c.n, diff)
	}
}

// tokens are a JSON value's tokens, strings as they are said and not written.
func tokens(t *testing.T, raw []byte) (texts []string, others []json.Token) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts, others
		}
		if err != nil {
			t.Fatalf("%s is no JSON: %v", raw, err)
		}
		if text, ok := token.(string); ok {
			texts = append(texts, text)
			token = "a text"
		}
		others = append(others, token)
	}
}

// FuzzRewrite: what comes out is the same value with other strings.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		`{"a":"hunter2","b":[1.0,{"c":null}]}`, `"\u0068unter2\ud83d\ude00"`, `[[[]],{}," \\\" "]`, `{"":""}`, `{"a" : "b"`, `"\ud800"`, "\"\xff\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		c := wordCleaner()
		out := c.rewrite(json.RawMessage(in), "")
		if !json.Valid([]byte(in)) {
			if string(out) != in {
				t.Errorf("%q is no JSON and becomes %q", in, out)
			}
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q becomes %q, which is no JSON", in, out)
		}
		before, shape := tokens(t, []byte(in))
		after, shapeAfter := tokens(t, out)
		if diff := cmp.Diff(shape, shapeAfter); diff != "" {
			t.Fatalf("%q becomes %q (-before +after):\n%s", in, out, diff)
		}
		for i := range before {
			if want, _ := redactSecret(before[i]); after[i] != want {
				t.Errorf("%q in %q becomes %q, want %q", before[i], in, after[i], want)
			}
		}
		if again := c.rewrite(out, ""); string(again) != string(out) {
			t.Errorf("%q becomes %q the second time", out, again)
		}
	})
}

// BenchmarkSecretsInJSON cleans a page as large as a step may hold.
func BenchmarkSecretsInJSON(b *testing.B) {
	var page strings.Builder
	page.WriteString(`{"a11y":{"nodes":[{"ref":"e0","role":"none","name":""}`)
	for page.Len() < 250<<10 {
		page.WriteString(`,{"ref":"e12","role":"button","name":"Confirm the transaction of 0.1 ETH"}`)
	}
	page.WriteString(`]}}`)
	b.SetBytes(int64(page.Len()))
	for b.Loop() {
		c := fullCleaner()
		c.json(json.RawMessage(page.String()))
	}
}
