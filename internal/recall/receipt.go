package recall

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// ReceiptID returns a new id for a receipt. Ids sort by time, so that the ledger is in order.
func ReceiptID(at time.Time) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails, see crypto/rand
	return fmt.Sprintf("rc-%012x%s", at.UnixMilli(), hex.EncodeToString(tail[:]))
}

// makeReceipt records how the answer was made, and the session that asked.
func (r *run) makeReceipt() {
	a := r.answer
	r.receipt = memory.Receipt{
		ID: a.Receipt, At: r.start.UTC(), Request: r.s.withoutSecrets(r.req), Project: a.Project,
		Withheld: a.Withheld, Degraded: a.Degraded, Tokens: a.Tokens, Budget: r.req.MaxTokens, Spaces: r.spaces,
		Calibration: r.s.opts.Calibration.Version, Took: memory.Millis(r.s.opts.Clock().Sub(r.start)), Seq: r.seq,
		Items: make([]memory.ReceiptItem, len(a.Items)),
	}
	for i, item := range a.Items {
		r.receipt.Items[i] = memory.ReceiptItem{
			ID: item.ID, Kind: item.Kind, Strength: item.Strength, Relevance: item.Relevance, RankFactors: item.RankFactors, Tokens: item.Tokens,
			Provenance: item.Provenance, Name: r.names[item.ID].name, Server: r.names[item.ID].server,
		}
	}
	if len(r.req.IDs) == 0 {
		r.receipt.Settings = r.settings.inForce(r.levels, r.limits)
	}
	if r.receipt.Session = r.s.asker(a.Project, r.req.Caller); r.receipt.Session != "" {
		r.receipt.Turn = r.s.opts.Turn(memory.SessionKey{Project: a.Project, ID: r.receipt.Session})
	}
}

// withoutSecrets returns a redacted copy of a request, for the receipt: a question and its
// filters may contain secrets.
func (s *Service) withoutSecrets(req memory.RecallRequest) memory.RecallRequest {
	texts := []*string{&req.Query, &req.Project, &req.Repo, &req.Caller.Dir, &req.Caller.Client, &req.Caller.Session}
	if req.IDs != nil {
		req.IDs = s.cleanAll(req.IDs) // a caller may send any text as an id
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
