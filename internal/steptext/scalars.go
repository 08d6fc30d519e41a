package steptext

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
)

// ScalarKind says what a scalar of a JSON value is.
type ScalarKind byte

// The kinds of scalars.
const (
	ScalarKey ScalarKind = iota // the name of an object's field
	ScalarText
	ScalarNumber
	ScalarOther // true, false, null
)

// Scalar is one leaf of a JSON value, or a key, and where it stands.
type Scalar struct {
	Kind ScalarKind
	// Text is what a text or a key says, and how anything else is written.
	Text string
	// Start and End are its bytes in the value.
	Start, End int
	// Keys lead to it, outermost first; a list adds none. They must not be kept.
	Keys []string
	// In numbers the object or list that it stands in, in the order in which these
	// begin, from 1; 0 is none. List says that it is a list.
	In   int
	List bool
}

// Key is the key that the scalar, or the list it stands in, is the value of.
func (s Scalar) Key() string {
	if len(s.Keys) == 0 {
		return ""
	}
	return s.Keys[len(s.Keys)-1]
}

// Scalars walks the scalars of a JSON value in their order. What is not valid JSON
// has none.
func Scalars(value []byte) iter.Seq[Scalar] {
	return func(yield func(Scalar) bool) {
		if !json.Valid(value) {
			return
		}
		w := scalarWalk{value: value}
		for i := 0; i < len(value); {
			switch c := value[i]; c {
			case ' ', '\t', '\n', '\r', ':', ',':
				i++
			case '{', '[':
				w.begin(c == '[')
				i++
			case '}', ']':
				w.end()
				i++
			default:
				s := w.scalar(i)
				if !yield(s) {
					return
				}
				i = s.End
			}
		}
	}
}

// scalarWalk is a walk over a value that is valid JSON.
type scalarWalk struct {
	value  []byte
	levels []scalarLevel
	keys   []string
	begun  int // objects and lists
}

// scalarLevel is an object or list that has begun: outer are the keys before it.
type scalarLevel struct {
	number, outer int
	list          bool
}

func (w *scalarWalk) begin(list bool) {
	w.begun++
	w.levels = append(w.levels, scalarLevel{w.begun, len(w.keys), list})
}

func (w *scalarWalk) end() {
	last := len(w.levels) - 1
	w.keys = w.keys[:w.levels[last].outer]
	w.levels = w.levels[:last]
}

// scalar reads what begins at i. A key is among its own Keys from the next one on.
func (w *scalarWalk) scalar(i int) Scalar {
	s := Scalar{Start: i, Keys: w.keys}
	outer := 0
	if n := len(w.levels); n > 0 {
		at := w.levels[n-1]
		s.In, s.List, outer = at.number, at.list, at.outer
	}
	if w.value[i] != '"' {
		for s.End = i; s.End < len(w.value) && !strings.ContainsRune(" \t\r\n,]}", rune(w.value[s.End])); {
			s.End++
		}
		s.Kind, s.Text = ScalarNumber, string(w.value[i:s.End])
		if c := s.Text[0]; c == 't' || c == 'f' || c == 'n' {
			s.Kind = ScalarOther
		}
		return s
	}
	s.End = stringEnd(w.value, i)
	s.Kind, s.Text = ScalarText, unquote(w.value[i:s.End])
	if s.In > 0 && !s.List && beforeColon(w.value, s.End) {
		s.Kind, s.Keys = ScalarKey, w.keys[:outer]
		w.keys = append(w.keys[:outer], s.Text)
	}
	return s
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(value []byte, i int) int {
	for i++; value[i] != '"'; i++ {
		if value[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquote returns what a string of valid JSON says.
func unquote(literal []byte) string {
	text := string(literal[1 : len(literal)-1])
	if strings.IndexByte(text, '\\') < 0 && utf8.ValidString(text) {
		return text
	}
	_ = json.Unmarshal(literal, &text) // it is valid
	return text
}

// beforeColon says that what ends at i is the key of an object.
func beforeColon(value []byte, i int) bool {
	for i < len(value) && strings.IndexByte(" \t\r\n", value[i]) >= 0 {
		i++
	}
	return i < len(value) && value[i] == ':'
}
