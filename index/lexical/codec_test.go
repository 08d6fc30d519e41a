package lexical

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/index"
)

func TestEncodeTerms(t *testing.T) {
	for _, c := range []struct {
		name  string
		terms index.Terms
	}{
		{"none", index.Terms{}},
		{"one", index.Terms{{Text: "walnut", Count: 1}}},
		{"shared beginnings", index.Terms{{Text: "read", Count: 2}, {Text: "reader", Count: 300}, {Text: "readfil", Count: 1}}},
		{"long", index.Terms{{Text: strings.Repeat("a", 40), Count: 1}, {Text: strings.Repeat("a", 41), Count: math.MaxUint32}}},
		{"beyond ASCII", index.Terms{{Text: "école", Count: 1}, {Text: "全文", Count: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := DecodeTerms(EncodeTerms(c.terms))
			if err != nil || !slices.Equal(got, c.terms) {
				t.Errorf("got %v, %v, want %v", got, err, c.terms)
			}
		})
	}
}

// TestEncoding pins the bytes: a change of them needs a new version.
func TestEncoding(t *testing.T) {
	got := EncodeTerms(index.Terms{{Text: "read", Count: 2}, {Text: "reader", Count: 1}})
	want := []byte("\x01\x02\x0a\x40read\x02\x24er\x01")
	if !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDecodeDecomposed: terms that were stored before Analyze composed characters are found by
// the composed ones; declared names stay as they are written.
func TestDecodeDecomposed(t *testing.T) {
	stored := index.Terms{{Text: "#Zo\u0308llner", Count: 1}, {Text: "zo\u0308llner", Count: 2}, {Text: "zx", Count: 1}, {Text: "zöllner", Count: 3}}
	want := index.Terms{{Text: "#Zo\u0308llner", Count: 1}, {Text: "zx", Count: 1}, {Text: "zöllner", Count: 5}}
	got, err := DecodeTerms(EncodeTerms(stored))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", format(got), err, format(want))
	}
}

func TestDecodeTermsCorrupt(t *testing.T) {
	good := EncodeTerms(Analyze("the reader reads what the writer has written down"))
	for n := range good {
		if _, err := DecodeTerms(good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("first %d of %d bytes: got error %v, want ErrCorrupt", n, len(good), err)
		}
	}
	for name, b := range map[string]string{
		"more bytes":           string(good) + "x",
		"another version":      "\x02" + string(good[1:]),
		"out of order":         "\x01\x02\x02\x10b\x01\x10a\x01",
		"twice the same":       "\x01\x02\x02\x10a\x01\x01\x01",
		"never occurs":         "\x01\x01\x01\x10a\x00",
		"occurs too often":     "\x01\x01\x01\x10a\xff\xff\xff\xff\x7f",
		"shares too much":      "\x01\x02\x05\x10a\x01\x24bc\x01",
		"sizes do not add up":  "\x01\x01\x05\x10a\x01",
		"count beyond bytes":   "\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00",
		"total beyond bytes":   "\x01\x01\xff\xff\xff\xff\x0f\x10a\x01",
		"length beyond 64 bit": "\x01\x01\x01\xf0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01",
		"empty first term":     "\x01\x01\x00\x00\x01",
	} {
		t.Run(name, func(t *testing.T) {
			if terms, err := DecodeTerms([]byte(b)); !errors.Is(err, ErrCorrupt) {
				t.Errorf("got %v, %v, want ErrCorrupt", terms, err)
			}
		})
	}
}

func FuzzDecodeTerms(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x00\x00"))
	f.Add(EncodeTerms(Analyze("the reader reads what the writer has written down")))
	f.Fuzz(func(t *testing.T, b []byte) {
		terms, err := DecodeTerms(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("error %v does not wrap ErrCorrupt", err)
			}
			return
		}
		again, err := DecodeTerms(EncodeTerms(terms))
		if err != nil || !slices.Equal(again, terms) {
			t.Errorf("stored and read again: %v, %v, want %v", again, err, terms)
		}
	})
}
