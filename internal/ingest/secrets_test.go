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
		c := &cleaner{redact: redactSecret}
		if got := string(c.json(json.RawMessage(tc.in))); got != tc.want || c.n != tc.n {
			t.Errorf("%s: %s becomes %s with %d taken out, want %s and %d", name, tc.in, got, c.n, tc.want, tc.n)
		}
	}
}

// TestSecretByItsKey: a password is one for what it is called.
func TestSecretByItsKey(t *testing.T) {
	const secret = "kx7Qp2vT9w"
	for _, in := range []string{
		`{"password":"` + secret + `"}`, `{"db":{"host":"h","password":"` + secret + `"}}`, `{"command":"PASSWORD=` + secret + ` make"}`,
	} {
		c := &cleaner{redact: redact.Redact}
		got := string(c.json(json.RawMessage(in)))
		if strings.Contains(got, secret) || c.n != 1 || !json.Valid([]byte(got)) {
			t.Errorf("%s becomes %s with %d taken out, want the password out", in, got, c.n)
		}
	}
	c := &cleaner{redact: redact.Redact}
	const harmless = `{"name":"kx7Qp2vT9w","list":[{"password":"x"}],"path":"src/a.go"}`
	if got := string(c.json(json.RawMessage(harmless))); got != harmless {
		t.Errorf("%s becomes %s", harmless, got)
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

// FuzzRewriteStrings: what comes out is the same value with other strings.
func FuzzRewriteStrings(f *testing.F) {
	for _, seed := range []string{
		`{"a":"hunter2","b":[1.0,{"c":null}]}`, `"\u0068unter2\ud83d\ude00"`, `[[[]],{}," \\\" "]`, `{"":""}`, `{"a" : "b"`, `"\ud800"`, "\"\xff\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		c := &cleaner{redact: redactSecret}
		out := rewriteStrings(json.RawMessage(in), c.value)
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
		if again := rewriteStrings(out, c.value); string(again) != string(out) {
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
		c := &cleaner{redact: redact.Redact}
		c.json(json.RawMessage(page.String()))
	}
}
