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

func (s *Service) receipt(req memory.RecallRequest, a *memory.RecallResponse, f found, start time.Time) memory.Receipt {
	r := memory.Receipt{
		ID: a.Receipt, At: start.UTC(), Request: s.withoutSecrets(req), Project: a.Project,
		Withheld: a.Withheld, Degraded: a.Degraded, Tokens: a.Tokens, Spaces: f.spaces,
		Calibration: s.opts.Calibration.Version, Took: memory.Millis(s.opts.Clock().Sub(start)), Seq: f.seq,
		Items: make([]memory.ReceiptItem, len(a.Items)),
	}
	for i, item := range a.Items {
		r.Items[i] = memory.ReceiptItem{
			ID: item.ID, Kind: item.Kind, Relevance: item.Relevance, RankFactors: item.RankFactors, Tokens: item.Tokens,
			Provenance: item.Provenance,
		}
	}
	return r
}

// withoutSecrets returns a copy of a request whose texts can be kept: a question
// may quote what the answer would not, and so may all that narrows it.
func (s *Service) withoutSecrets(req memory.RecallRequest) memory.RecallRequest {
	texts := []*string{&req.Query, &req.Project, &req.Repo, &req.Caller.Dir, &req.Caller.Client, &req.Caller.Session}
	if req.IDs != nil {
		req.IDs = s.cleanAll(req.IDs) // what was sent as an id may be anything
	}
	if req.Scope != nil {
		req.Scope = new(*req.Scope)
		texts = append(texts, &req.Scope.Session)
	}
	if req.Filters != nil {
		f := new(*req.Filters)
		req.Filters = f
		texts = append(texts, &f.FlowTag, &f.Screen, &f.GitBranch, &f.Lang, &f.Path, &f.Tag)
	}
	for _, text := range texts {
		*text = s.clean(*text)
	}
	return req
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
