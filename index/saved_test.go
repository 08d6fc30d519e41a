package index

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSavedNumbersAndTexts(t *testing.T) {
	var b bytes.Buffer
	to := NewSaver(&b)
	long := strings.Repeat("long ", saverRoom/3)
	for range 3 {
		to.Uint(1 << 60)
		to.Uint(7)
		to.Word(1<<64 - 1)
		to.Float(-.25)
		to.String(long)
		to.Bytes([]byte("end"))
	}
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	read := func(b []byte) error {
		in := NewRestorer(b, nil)
		for range 3 {
			large, small, word, f, text, end := in.Uint(), in.Below(8), in.Word(), in.Float(), in.String(), in.Bytes(3)
			if in.Err() == nil && (large != 1<<60 || small != 7 || word != 1<<64-1 || f != -.25 || text != long || string(end) != "end") {
				t.Fatalf("read %d, %d, %d, %v, %d bytes, %q", large, small, word, f, len(text), end)
			}
		}
		return in.End()
	}
	if err := read(whole); err != nil {
		t.Errorf("what was saved: %v", err)
	}
	for n := range 40 {
		for _, cut := range []int{n, len(whole) - 1 - n} {
			if err := read(whole[:cut]); !errors.Is(err, ErrSaved) {
				t.Errorf("cut to %d of %d bytes: %v, want ErrSaved", cut, len(whole), err)
			}
		}
	}
	if err := read(append(slices.Clone(whole), 0)); !errors.Is(err, ErrSaved) {
		t.Errorf("with a byte more: %v, want ErrSaved", err)
	}
}

// TestNumberTooLarge: nothing is allocated for more things than there can be.
func TestNumberTooLarge(t *testing.T) {
	var b bytes.Buffer
	to := NewSaver(&b)
	to.Uint(1 << 50)
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	in := NewRestorer(b.Bytes(), nil)
	if n := in.Count(1); n != 0 || !errors.Is(in.Err(), ErrSaved) {
		t.Errorf("a count of more than is there: %d, %v", n, in.Err())
	}
}
