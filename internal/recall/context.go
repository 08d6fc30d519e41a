package recall

import (
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// What others that hand out memories share with answers, so that a token, a receipt
// and a written memory are the same everywhere.

// Tokens estimates how many tokens a text takes, as every budget counts them: one for
// every 3.5 bytes. Texts in parts take no fewer than the whole.
func Tokens(text string) int { return tokens(text) }

// ReceiptID makes an id for a receipt. Ids sort by time.
func ReceiptID(at time.Time) string { return receiptID(at) }

// Markdown writes items as the markdown answer does (contracts 2 and 4): lessons and
// other records, then code. It is empty where there are none, and ends with a line's
// end elsewhere.
func Markdown(items []memory.Item) string { return markdown(&memory.Answer{Items: items}) }

// Alike says that two texts are near-duplicates, of which an answer shows one.
func (s *Service) Alike(a, b string) bool {
	return a == b || jaccard(s.opts.Analyze(a), s.opts.Analyze(b)) >= nearDuplicate
}
