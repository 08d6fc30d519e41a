package table

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var kindNames = [...]string{Word: "word", Number: "number", Pair: "pair", Whole: "whole", Flag: "flag", Operator: "operator"}

// pieces returns the pieces of a text, those that are no words with their kind.
func pieces(text string) []string {
	var s Splitter
	var got []string
	s.Split(text, func(k Kind, piece []byte) {
		if k == Word {
			got = append(got, string(piece))
		} else {
			got = append(got, kindNames[k]+" "+string(piece))
		}
	})
	return got
}

func TestSplit(t *testing.T) {
	long := strings.Repeat("x", 3*MaxWord/2)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"The cat sat.", "the,cat,sat,operator ."},
		{"parseHTTPRequest", "parse,http,request,whole parsehttprequest"},
		{"HTTPServer2", "http,server,number 2,whole httpserver2"},
		{"MAX_RETRY_count", "max,retry,count,whole maxretrycount"},
		{"__init__", "init"},
		{"file-name e-mail", "file,name,whole filename,e,mail,whole email"},
		{"don't won’t", "don,t,whole dont,won,t,whole wont"},
		{"'quoted' x-", "quoted,x,operator -"},
		{"a - b", "a,operator -,b"},
		{"ls -la --max-depth=1", "ls,la,flag -la,max,depth,whole maxdepth,flag -maxdepth,operator =,number 1"},
		{"x=-1", "x,operator =-,number 1"},
		{"a->b != c::d || ...", "a,operator ->,b,operator !=,c,operator ::,d,operator ||,operator ..."},
		{"-----\n====", ""},
		{"f(x)[1], \"y\";", "f,x,number 1,y"},
		{"1234567890", "number 123456"},
		{"GRÖSSE Straße ŒuvreÉtat", "grösse,straße,œuvre,état,whole œuvreétat"},
		{"連 数据库 a数据b", "pair 連,pair 数据,pair 据库,a,pair 数据,b"},
		{"\xff\xfe a\xffb", "a,b"},
		{"?! … →", "operator ?!"},
		{"🙂", ""},
		{long, long[:MaxWord] + "," + long[MaxWord:] + ",whole " + long},
		{long + long, long[:MaxWord] + "," + long[:MaxWord] + "," + long[:MaxWord]},
	} {
		if diff := cmp.Diff(c.want, strings.Join(pieces(c.text), ",")); diff != "" {
			t.Errorf("%.40q is split otherwise (-want +got):\n%s", c.text, diff)
		}
	}
}

// names gives tokens of a vocabulary names that can be read.
func names(t *testing.T, v *Vocabulary, text string) []string {
	t.Helper()
	var got []string
	NewTokenizer(v).Tokens(text, func(token uint32) {
		switch {
		case int(token) >= v.Size():
			t.Fatalf("%q has token %d of %d", text, token, v.Size())
		case int(token) < v.Pieces():
			got = append(got, string(v.piece(token)))
		default:
			got = append(got, "?")
		}
	})
	return got
}

func vocabulary(t testing.TB, pieces []string, buckets int) *Vocabulary {
	t.Helper()
	v, err := NewVocabulary(pieces, buckets)
	if err != nil {
		t.Fatalf("new vocabulary: %v", err)
	}
	return v
}

func TestTokens(t *testing.T) {
	v := vocabulary(t, []string{"read", "file", "readfile", "->", "-r", "404", "数据"}, 1000)
	for _, c := range []struct{ text, want string }{
		{" \n\t ", ""},
		{"readFile", "read file readfile"},
		{"read_file -> x", "read file readfile -> ?"},
		{"fileRead", "file read"},        // a whole that is unknown counts for nothing
		{"lock", "? ? ?"},                // <loc lock ock>
		{"it", "?"},                      // <it>
		{"grün", "? ? ?"},                // by code points, not bytes
		{"404 405", "404 ?"},             // an unknown number is one token
		{"数据库", "数据 ?"},                  //
		{"read == -r -x", "read ? -r ?"}, // an unknown operator or flag counts for nothing, its words do
		{"==", "? ?"},                    // but something there must be
		{"🙂🙃", "? ?"},
		{"\xff", "?"},
	} {
		if diff := cmp.Diff(c.want, strings.Join(names(t, v, c.text), " ")); diff != "" {
			t.Errorf("%q has other tokens (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestVocabulary(t *testing.T) {
	list := []string{"zebra", "ant", "数据", "->", "an", "ante"}
	v := vocabulary(t, list, 7)
	if v.Pieces() != 6 || v.Buckets() != 7 || v.Size() != 13 {
		t.Errorf("%d pieces, %d buckets, size %d, want 6, 7 and 13", v.Pieces(), v.Buckets(), v.Size())
	}
	for i, p := range slices.Sorted(slices.Values(list)) {
		if token, ok := v.Token([]byte(p)); !ok || int(token) != i || string(v.piece(token)) != p {
			t.Errorf("%q is token %d, %v, want %d", p, token, ok, i)
		}
	}
	for _, p := range []string{"", "a", "antes", "zebr"} {
		if token, ok := v.Token([]byte(p)); ok {
			t.Errorf("%q is not there, but token %d", p, token)
		}
	}
	for _, c := range []struct {
		name    string
		pieces  []string
		buckets int
	}{
		{"no bucket", nil, 0},
		{"too many buckets", nil, MaxTokens + 1},
		{"too many together", []string{"a"}, MaxTokens},
		{"empty piece", []string{"a", ""}, 1},
		{"long piece", []string{strings.Repeat("x", MaxPiece+1)}, 1},
		{"twice", []string{"a", "b", "a"}, 1},
	} {
		if _, err := NewVocabulary(c.pieces, c.buckets); !errors.Is(err, ErrVocabulary) {
			t.Errorf("%s: error %v, want %v", c.name, err, ErrVocabulary)
		}
	}
}

func TestTokensCost(t *testing.T) {
	tk := NewTokenizer(vocabulary(t, []string{"the", "migration"}, 1000))
	emit := func(uint32) {}
	const text = "The migration failed: 数据 !! ünder_score parseHTTPRequest2 -x"
	tk.Tokens(text, emit)
	if n := testing.AllocsPerRun(100, func() { tk.Tokens(text, emit); tk.Tokens("!!", emit) }); n > 0 {
		t.Errorf("a text costs %v allocations, want none", n)
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"aB1_cD2", "ABc", "數據a1数", "\xff\xfe", "ǅ ŉ İ", "--x-y'z", strings.Repeat("Ab", 100)} {
		f.Add(s)
	}
	v := vocabulary(f, []string{"a", "ab", "b1", "->", "数据"}, 100)
	tk := NewTokenizer(v)
	f.Fuzz(func(t *testing.T, text string) {
		pieces := 0
		new(Splitter).Split(text, func(k Kind, piece []byte) {
			pieces++
			if len(piece) == 0 || !utf8.Valid(piece) || k != Word && len(piece) > MaxPiece || utf8.RuneCount(piece) > MaxWord && k == Word {
				t.Errorf("%q has the %s %q", text, kindNames[k], piece)
			}
		})
		if pieces > 3*len(text) {
			t.Errorf("%d pieces in %d bytes", pieces, len(text))
		}
		var first, second []uint32
		tk.Tokens(text, func(token uint32) { first = append(first, token) })
		tk.Tokens(text, func(token uint32) { second = append(second, token) })
		if !slices.Equal(first, second) {
			t.Errorf("%q has tokens %v, then %v", text, first, second)
		}
		if (strings.TrimSpace(text) == "") != (len(first) == 0) {
			t.Errorf("%q has %d tokens", text, len(first))
		}
		for _, token := range first {
			if int(token) >= v.Size() {
				t.Errorf("%q has token %d of %d", text, token, v.Size())
			}
		}
	})
}
