package index_test

import (
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/indextest"
)

// FuzzAttributes changes attributes as the input says, and compares the documents that
// match a value, a prefix or both with those that a look at every document finds.
func FuzzAttributes(f *testing.F) {
	f.Add([]byte("set change delete ask"))
	f.Add([]byte{0xff, 0, 0x80, 1, 0xff, 0x40, 2, 0xc0, 3, 0, 0, 0x11, 0xff, 0xff, 0x70, 7, 0xe0, 0x90})
	keys, values := []string{"lang", "path", "tag"}, []string{"a", "a/b", "a/bc", "b", "", "a/", "ø"}
	f.Fuzz(func(t *testing.T, input []byte) {
		var a index.Attributes
		model := map[uint32]map[index.Attr]bool{}
		c := indextest.NewChoices(input[:min(len(input), 400)])
		some := func() (attrs []index.Attr) {
			for range c.IntN(4) {
				attrs = append(attrs, index.Attr{Key: keys[c.IntN(len(keys))], Value: values[c.IntN(len(values))]})
			}
			return attrs
		}
		for c.More() {
			doc := c.Uint32N(6) * 70_000 // over several containers of a bitmap
			switch c.IntN(4) {
			case 0:
				a.Delete(doc)
				delete(model, doc)
			case 1:
				add := some()
				a.Change(doc, add, nil)
				if model[doc] == nil {
					model[doc] = map[index.Attr]bool{}
				}
				for _, x := range add {
					model[doc][x] = true
				}
			case 2:
				attrs := some()
				a.Set(doc, attrs)
				model[doc] = map[index.Attr]bool{}
				for _, x := range attrs {
					model[doc][x] = true
				}
			default:
				key, value, prefix := keys[c.IntN(len(keys))], values[c.IntN(len(values))], values[c.IntN(len(values))]
				clause := index.Clause{Key: key, Values: []string{value}}
				byPrefix := c.IntN(2) == 0
				if byPrefix {
					clause = index.Clause{Key: key, Pattern: &index.Pattern{Name: prefix, Prefix: prefix, Fits: func(string) bool { return true }}}
				}
				want := roaring.New()
				for doc, attrs := range model {
					for x := range attrs {
						if x.Key == key && (byPrefix && strings.HasPrefix(x.Value, prefix) || !byPrefix && x.Value == value) {
							want.Add(doc)
						}
					}
				}
				if got := a.Match(clause); !got.Equals(want) {
					t.Fatalf("%+v: got %v, want %v of %v", clause, got, want, model)
				}
			}
			if got := len(a.Of(doc)); got != len(model[doc]) {
				t.Fatalf("document %d has %d attributes, want %d", doc, got, len(model[doc]))
			}
		}
		if a.Len() != len(model) {
			t.Errorf("Len is %d, want %d", a.Len(), len(model))
		}
	})
}
