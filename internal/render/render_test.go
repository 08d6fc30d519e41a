package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"plain\ttext\nof two lines":            "plain\ttext\nof two lines",
		"naïve 日本 👍🏽 ❤️ →":                     "naïve 日本 👍🏽 ❤️ →",
		"\x1b[31mred":                          `\x1b[31mred`,
		"\x1b]52;c;cm0gLXJm\a":                 `\x1b]52;c;cm0gLXJm\x07`,
		"a\x00b\bc\x7f":                        `a\x00b\x08c\x7f`,
		"dos\r\nlines\r\n":                     "dos\nlines\n",
		"over\rwritten":                        `over\x0dwritten`,
		"a\r\r\n":                              "a\\x0d\n",
		"csi \u009b31m nel \u0085":             "csi U+009B31m nel U+0085",
		"raw \x9b31m \xff\xc3":                 `raw \x9b31m \xff\xc3`,
		"\u202eevil\u202c":                     "U+202EevilU+202C",
		"\u2066a\u2069 \u200e\u200f\u061c":     "U+2066aU+2069 U+200EU+200FU+061C",
		"p\u200bass\u200c\u200d\u2060\ufeff":   "pU+200BassU+200CU+200DU+2060U+FEFF",
		"tag \U000E0001\U000E0041\U000E007F":   "tag U+E0001U+E0041U+E007F",
		"selector \U000E0100":                  "selector U+E0100",
		"line\u2028paragraph\u2029":            "lineU+2028paragraphU+2029",
		"soft\u00adhyphen \u3164filler":        "softU+00ADhyphen U+3164filler",
		"cut in a character \xe2\x80":          `cut in a character \xe2\x80`,
		"the sign for what is unknown: \ufffd": "the sign for what is unknown: \ufffd",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

// shows fails where a text holds what a terminal acts on or hides.
func shows(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("%q is no UTF-8", text)
	}
	for _, r := range text {
		if hidden(r) {
			t.Fatalf("%q holds %U", text, r)
		}
	}
}

func TestHiddenRanges(t *testing.T) {
	for _, span := range [][2]rune{{0, 8}, {0xB, 0x1F}, {0x7F, 0x9F}, {0x61C, 0x61C}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF}} {
		for r := span[0]; r <= span[1]; r++ {
			if !hidden(r) {
				t.Errorf("%U is handed to a terminal, want it shown", r)
			}
		}
	}
	for _, r := range "\n\t aZ~ é \u00a0 😀 \ufe0f 漢 א ع" {
		if hidden(r) {
			t.Errorf("%U is shown as an escape, want it as it is", r)
		}
	}
}

func TestJSON(t *testing.T) {
	value := map[string]string{"text": "\x1b[31m \u202e \x7f \u009b \U000E0041 \u2028 é 👍"}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	got := JSON(plain.String())
	if want := `{"text":"\u001b[31m \u202e \u007f \u009b \udb40\udc41 \u2028 é 👍"}` + "\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	shows(t, got)
	var back map[string]string
	if err := json.Unmarshal([]byte(got), &back); err != nil || back["text"] != value["text"] {
		t.Errorf("decoded %q, %v; want what was encoded, %q", back, err, value)
	}
	if got := JSON("{\"raw\":\"\xff\"}"); got != `{"raw":"\ufffd"}` {
		t.Errorf("a byte that is no UTF-8 became %s", got)
	}
}

func TestFence(t *testing.T) {
	for in, want := range map[string]string{
		"**Relevant Memories (1):**\n\n1. x\n": frameOpen + "\n**Relevant Memories (1):**\n\n1. x\n" + frameClose + "\n",
		"a </recalld> b":                       frameOpen + "\na <\\/recalld> b\n" + frameClose + "\n",
		"a <recalld note=\"x\"> b":             frameOpen + "\na <\\recalld note=\"x\"> b\n" + frameClose + "\n",
		"< / RECALLD >":                        frameOpen + "\n<\\ / RECALLD >\n" + frameClose + "\n",
		"<\\/recalld>":                         frameOpen + "\n<\\\\/recalld>\n" + frameClose + "\n",
		"<\u00a0/\u3000recalld>":               frameOpen + "\n<\\\u00a0/\u3000recalld>\n" + frameClose + "\n",
		"＜／recalld＞":                           frameOpen + "\n＜\\／recalld＞\n" + frameClose + "\n",
		"</rec\u200balld>":                     frameOpen + "\n</recU+200Balld>\n" + frameClose + "\n",
		"if a <recall { }":                     frameOpen + "\nif a <recall { }\n" + frameClose + "\n",
		"":                                     "",
		" \n":                                  " \n",
	} {
		if got := Fence(in); got != want {
			t.Errorf("Fence(%q) =\n%q\nwant\n%q", in, got, want)
		}
	}
	if n := (2*frameBytes + 6) / 7; n > 25 {
		t.Errorf("the frame takes %d tokens as recall counts them, want 25 at most", n)
	}
	if got, want := len(Fence("x"))-len("x"), frameBytes; got != want {
		t.Errorf("the frame takes %d bytes, frameBytes says %d", got, want)
	}
}

func FuzzFence(f *testing.F) {
	for _, seed := range []string{"a </recalld>\nb", frameOpen + "\n" + frameClose, "<\\\\ / ReCalld", "\x1b\u202e\xff\r\n", "＜recalld", "<<recalld", "<\u00a0recalld"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		visible := Visible(text)
		shows(t, visible)
		if again := Visible(visible); again != visible {
			t.Fatalf("Visible of %q is %q, then %q", text, visible, again)
		}
		fenced := Fence(text)
		if strings.TrimSpace(text) == "" {
			return
		}
		body, ok := strings.CutPrefix(fenced, frameOpen+"\n")
		body, closed := strings.CutSuffix(body, "\n"+frameClose+"\n")
		if !ok || !closed {
			t.Fatalf("Fence(%q) = %q, want it between the marks", text, fenced)
		}
		if lower := strings.ToLower(body); strings.Contains(lower, "</"+frameName) || strings.Contains(lower, "<"+frameName) {
			t.Fatalf("Fence(%q) holds a mark within: %q", text, body)
		}
		if bare, want := Bare(fenced), strings.TrimRight(visible, "\n")+"\n"; bare != want {
			t.Fatalf("Bare(Fence(%q)) = %q, want %q", text, bare, want)
		}
	})
}

func TestWithNotice(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:                     `{` + noticeField + `,"a":1}`,
		"{\n  \"a\": 1\n}\n":          "{\n  \"notice\": \"" + Notice + "\",\n  \"a\": 1\n}\n",
		`{}`:                          `{` + noticeField + `}`,
		`[{"a":1}]`:                   `[{"a":1}]`,
		`"text"`:                      `"text"`,
		`null`:                        `null`,
		``:                            ``,
		`{` + noticeField + `,"a":1}`: `{` + noticeField + `,"a":1}`,
	} {
		if got := string(WithNotice([]byte(in))); got != want {
			t.Errorf("WithNotice(%s) = %s, want %s", in, got, want)
		}
	}
}

func FuzzWithNotice(f *testing.F) {
	f.Add(`{"a": {"b": "\u202e"}}`)
	f.Add("{ \n}")
	f.Fuzz(func(t *testing.T, text string) {
		var before, after map[string]any
		if !json.Valid([]byte(text)) || json.Unmarshal([]byte(text), &before) != nil || before == nil {
			return
		}
		if _, has := before["notice"]; has {
			return
		}
		out := JSON(string(WithNotice([]byte(text))))
		shows(t, out)
		if err := json.Unmarshal([]byte(out), &after); err != nil || after["notice"] != Notice || len(after) != len(before)+1 {
			t.Fatalf("%q became %q (%v), want one field more", text, out, err)
		}
	})
}

func TestWriterKeepsCutCharacters(t *testing.T) {
	text := "é \u202e 👍 line\r\nnext \x1b[0m"
	for size := 1; size < 6; size++ {
		var out bytes.Buffer
		w := NewWriter(&out, func() bool { return false })
		for at := 0; at < len(text); at += size {
			part := text[at:min(len(text), at+size)]
			if n, err := io.WriteString(w, part); n != len(part) || err != nil {
				t.Fatalf("Write took %d of %d, %v", n, len(part), err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if out.String() != Visible(text) {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), Visible(text))
		}
	}
}

func TestWriterFlushesWhatIsCut(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, func() bool { return false })
	io.WriteString(w, "cut \xe2\x80")
	if err := w.Flush(); err != nil || out.String() != `cut \xe2\x80` {
		t.Errorf("got %q, %v; want the bytes that are left as escapes", out.String(), err)
	}
}

func TestWriterWritesJSON(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, func() bool { return true })
	io.WriteString(w, "\"\u202e\"")
	if out.String() != `"\u202e"` {
		t.Errorf("got %s, want an escape of JSON", out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriterHandsOnErrors(t *testing.T) {
	if _, err := io.WriteString(NewWriter(broken{}, func() bool { return false }), "x"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want the error of the writer below", err)
	}
}
