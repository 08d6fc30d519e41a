package recall

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// receiptID sorts by time, so that the ledger is in order.
func receiptID(at time.Time) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails, see crypto/rand
	return fmt.Sprintf("rc-%012x%s", at.UnixMilli(), hex.EncodeToString(tail[:]))
}

func (s *Service) receipt(req memory.RecallRequest, a *memory.Answer, f found, start time.Time) memory.Receipt {
	r := memory.Receipt{
		ID: a.Receipt, At: start.UTC(), Request: req, Project: a.Project,
		Withheld: a.Withheld, Degraded: a.Degraded, Tokens: a.Tokens, Spaces: f.spaces,
		Calibration: s.opts.Calibration.Version, Took: memory.Millis(s.opts.Clock().Sub(start)), Seq: f.seq,
		Items: make([]memory.ReceiptItem, len(a.Items)),
	}
	// The question may quote what the answer would not.
	r.Request.Query, _ = s.opts.Redact(req.Query)
	for i, item := range a.Items {
		r.Items[i] = memory.ReceiptItem{
			ID: item.ID, Kind: item.Kind, Relevance: item.Relevance, RankFactors: item.RankFactors, Tokens: item.Tokens,
		}
	}
	return r
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
