package recall

import (
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// written writes what a question mentions: a name as it is, a place in <>, what may
// be either as both.
func written(ms []mention) []string {
	var out []string
	for _, m := range ms {
		s := ""
		if m.place.Path != "" {
			s = "<" + m.place.String() + ">"
		}
		if m.name.Name != "" {
			s += m.name.String()
		}
		out = append(out, s)
	}
	return out
}

func TestMentionedNames(t *testing.T) {
	for question, want := range map[string]string{
		// The whole question.
		"readTransfer": "readTransfer", "serve": "serve", " parse ": "parse", "Serve()": "Serve", "`x`": "x", "über": "über",
		// Written like a name.
		"where is readTransfer defined":        "readTransfer",
		"what does read_file do?":              "read_file",
		"is company-backends empty":            "company-backends",
		"why does HTTPServer crash":            "HTTPServer",
		"how fast is utf8 validation":          "utf8",
		"the callers of serve() in http":       "serve",
		"what is `serve` for":                  "serve",
		"is __init__ called twice":             "__init__",
		"does @cached_property lock":           "cached_property",
		"$httpClient is undefined":             "httpClient",
		"compare http.NewRequest, http.NewPut": "<http.NewRequest>http.NewRequest <http.NewPut>http.NewPut",
		"what does (*Server).Serve do":         "<Server.Serve>Server.Serve",
		"what does (Server).Serve do":          "<Server.Serve>Server.Serve",
		"Foo::bar and ns::Foo::bar":            "Foo.bar Foo.bar",
		"Array#flatMap or App\\User":           "Array.flatMap <App\\User>App.User",
		"who frees ptr->next_item":             "<ptr.next_item>ptr.next_item",
		"obj.method() returns nil":             "<obj.method>obj.method",
		"self.handle_request fails":            "handle_request",
		"net/http.NewRequest":                  "<net/http.NewRequest>http.NewRequest",
		// Where only a name can stand.
		"where is serve defined":               "serve",
		"where is the function serve declared": "serve",
		"what does serve do":                   "serve",
		"How does Authentication work?":        "Authentication",
		"definition of serve":                  "serve",
		"the method serve of a server":         "serve",
		"who calls serve":                      "serve",
		// English is none.
		"where is error handling implemented":   "",
		"how does the server handle a transfer": "",
		"what does it do":                       "",
		"Read the file and serve it":            "",
		"list all files (old ones too)":         "",
		"delete the file(s) of a user":          "",
		"definition of done in this team":       "",
		"URLs and IDs and the API of GitHub":    "GitHub",
		"a well-known problem, and/or a bug":    "well-known <and/or>",
		"see https://example.com/a/b.html":      "",
		"it costs 10.5 or 3 of 4":               "",
		"e.g. parse this, i.e. that":            "<e.g> <i.e>", // nothing declares those
		"":                                      "",
		"... --- !!!":                           "",
	} {
		if got := strings.Join(written(mentions(question).mentions), " "); got != want {
			t.Errorf("%q mentions %q, want %q", question, got, want)
		}
	}
}

func TestMentionedPlaces(t *testing.T) {
	for question, want := range map[string]string{
		"net/http/transfer.go:123":                          "net/http/transfer.go:123",
		"\t/usr/local/go/src/net/http/server.go:2092 +0x1d": "/usr/local/go/src/net/http/server.go:2092",
		`File "a/b.py", line 12, in run`:                    "a/b.py:12",
		"at foo (src/x.ts:10:5)":                            "src/x.ts:10",
		"  --> src/lib.rs:45:9":                             "src/lib.rs:45",
		`at Shop.Cart.Add() in C:\src\Shop\Cart.cs:line 12`: `C:\src\Shop\Cart.cs:12`,
		"b.cs:line 12":                                      "b.cs:12",
		"at com.acme.Cart.add(Cart.java:42)":                "Cart.java:42",
		"/app/lib/a.rb:12:in `each'":                        "/app/lib/a.rb:12",
		"PHP Fatal error in /app/b.php on line 7":           "/app/b.php:7",
		"died at foo.pl line 12.":                           "foo.pl:12",
		"main.c:12:5: error: expected ;":                    "main.c:12",
		"src/x.ts(10,5): error TS2304":                      "src/x.ts:10",
		"see src/x.ts#L10-L20":                              "src/x.ts:10",
		"file:///home/me/x.js:3:1":                          "home/me/x.js:3",
		"Makefile:12: missing separator":                    "Makefile:12",
		"what is in transfer.go":                            "transfer.go",
		"explain src/auth/login.ts.":                        "src/auth/login.ts",
		"src/app/[id]/page.tsx:5":                           "/page.tsx:5", // brackets separate
		"x.go:0":                                            "x.go",
		"x.go:99999999999999999999":                         "x.go",
	} {
		var got []string
		for _, m := range mentions(question).mentions {
			if m.place.Path != "" {
				got = append(got, m.place.String())
			}
		}
		if !slices.Contains(got, want) {
			t.Errorf("%q is about %q, want %q", question, got, want)
		}
	}
}

// TestTracebackEndsWithWhatMatters: Python puts the innermost frame last.
func TestTracebackEndsWithWhatMatters(t *testing.T) {
	frames := `File "a.py", line 1, in <module>` + "\n" + `File "b.py", line 2, in run`
	if got := mentions(frames).mentions; got[0].place.Path != "a.py" {
		t.Errorf("first %v", got)
	}
	got := mentions("Traceback (most recent call last):\n" + frames).mentions
	if got[0].place.Path != "b.py" {
		t.Errorf("of a traceback first comes %v, want b.py", got[0])
	}
	deep := strings.Repeat(`File "a.py", line 1, in <module>`+"\n", 2*maxMentions) + `File "b.py", line 2, in run`
	got = mentions("why does parse_config fail?\nTraceback (most recent call last):\n" + deep).mentions
	if len(got) != maxMentions || got[0].place.Path != "b.py" || got[maxMentions-1].name.Name != "parse_config" {
		t.Errorf("of a deep traceback the mentions are %v; want b.py first and parse_config last", got)
	}
}

func TestMentionsAreBounded(t *testing.T) {
	q := mentions(strings.Repeat("readFile a/b.go:1 ", 400))
	if len(q.mentions) != maxMentions || !q.alone {
		t.Errorf("%d mentions, alone %v; want %d and nothing else said", len(q.mentions), q.alone, maxMentions)
	}
	if mentions("fix readFile").alone {
		t.Error("a question with another word is said to be nothing but a mention")
	}
}

func FuzzMentions(f *testing.F) {
	for _, s := range []string{"where is (*Server).Serve", `C:\a\b.cs:line 12`, "a::b->c", "File \"a.py\", line 1", "((((*x).y", "`", "x(1", ":::1", "\xff.\xfe:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, question string) {
		q := mentions(question)
		if len(q.mentions) > maxMentions {
			t.Errorf("%d mentions", len(q.mentions))
		}
		for _, m := range q.mentions {
			if m.name.Name == "" && m.place.Path == "" {
				t.Errorf("%q mentions nothing", question)
			}
			if m.place.Line < 0 || strings.ContainsAny(m.name.Name, " .:\t\n") {
				t.Errorf("%q mentions %+v", question, m)
			}
		}
		_ = declarationOf(memory.Name{Name: question}.Name, question)
	})
}
