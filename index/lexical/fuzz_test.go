package lexical

import (
	"testing"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/indextest"
)

// FuzzAgainstReference changes an index and the reference as the input says, with filters
// and universes of its choice, and compares their answers.
func FuzzAgainstReference(f *testing.F) {
	f.Add([]byte("words of documents and queries"))
	f.Add([]byte{0xff, 0x10, 0x20, 0x30, 0, 0xff, 0x7f, 0x80, 1, 2, 3, 4, 5, 0xfe, 0xfd, 0, 0, 0, 0, 0x55, 0xaa})
	f.Fuzz(func(t *testing.T, input []byte) {
		choices := indextest.NewChoices(input[:min(len(input), 600)])
		c := newCorpusOf(choices.Rand, 12)
		x, ref := newIndex(t), newReference(Options{})
		const documents = 40
		for choices.More() {
			doc := c.rng.Uint32N(documents)
			switch c.rng.IntN(5) {
			case 0:
				x.Delete(doc)
				ref.delete(doc)
			case 1, 2:
				compare(t, c, x, ref, documents)
			default:
				body := Analyze(c.text(c.rng.IntN(12)))
				var extra index.Terms
				if c.rng.IntN(3) == 0 {
					extra = Analyze(c.text(c.rng.IntN(4)))
				}
				x.UpsertFields(doc, body, extra)
				ref.upsert(doc, body, extra)
			}
			if t.Failed() {
				return
			}
		}
		compare(t, c, x, ref, documents)
	})
}
