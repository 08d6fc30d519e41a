package table

import (
	"bytes"
	"errors"
	"testing"
)

var encoded = []string{"an", "ant", "ante", "b", "数据", "数据库", "->"}

func TestEncode(t *testing.T) {
	for _, pieces := range [][]string{nil, {"x"}, encoded} {
		v := vocabulary(t, pieces, 3)
		b := v.AppendTo([]byte("head"))
		again, err := ParseVocabulary(b[len("head"):], len(pieces), 3)
		if err != nil {
			t.Fatalf("parse %d pieces: %v", len(pieces), err)
		}
		if again.Pieces() != len(pieces) || again.Size() != v.Size() {
			t.Errorf("%d pieces became %d, size %d became %d", len(pieces), again.Pieces(), v.Size(), again.Size())
		}
		for _, p := range pieces {
			want, _ := v.Token([]byte(p))
			if got, ok := again.Token([]byte(p)); !ok || got != want {
				t.Errorf("%q was token %d and became %d, %v", p, want, got, ok)
			}
		}
	}
}

func TestParseDamaged(t *testing.T) {
	for _, c := range []struct {
		name            string
		text            string
		pieces, buckets int
	}{
		{"too few", "\x00\x01a", 2, 1},
		{"too many", "\x00\x01a\x00\x01b", 1, 1},
		{"cut", "\x00\x02a", 1, 1},
		{"half a head", "\x00\x01a\x00", 1, 1},
		{"begins with more than there is", "\x00\x01a\x02\x01b", 2, 1},
		{"empty piece", "\x00\x00a", 1, 1},
		{"not ascending", "\x00\x01b\x00\x01a", 2, 1},
		{"twice", "\x00\x01b\x01\x00b", 2, 1},
		{"long", "\x00\x41" + string(bytes.Repeat([]byte("x"), MaxPiece+1)), 1, 1},
		{"no bucket", "\x00\x01a", 1, 0},
		{"no number", "", -1, 1},
	} {
		if _, err := ParseVocabulary([]byte(c.text), c.pieces, c.buckets); !errors.Is(err, ErrVocabulary) {
			t.Errorf("%s: error %v, want %v", c.name, err, ErrVocabulary)
		}
	}
}

func FuzzParseVocabulary(f *testing.F) {
	f.Add(vocabulary(f, encoded, 1).AppendTo(nil), len(encoded), 1)
	f.Add([]byte("\x00\x01a\x01\x01b"), 2, 9)
	f.Fuzz(func(t *testing.T, b []byte, pieces, buckets int) {
		v, err := ParseVocabulary(b, pieces, buckets)
		if err != nil {
			if !errors.Is(err, ErrVocabulary) {
				t.Errorf("error %v, want %v", err, ErrVocabulary)
			}
			return
		}
		if v.Pieces() != pieces || v.Buckets() != buckets {
			t.Errorf("%d pieces and %d buckets, want %d and %d", v.Pieces(), v.Buckets(), pieces, buckets)
		}
		for i := range uint32(pieces) {
			if got, ok := v.Token(v.piece(i)); !ok || got != i {
				t.Errorf("%q is token %d, %v, want %d", v.piece(i), got, ok, i)
			}
		}
	})
}
