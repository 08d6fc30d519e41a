package store

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkStateBesideReceipt is what one turn of a session costs: its state edited
// and a receipt written, durably, by one writer.
func BenchmarkStateBesideReceipt(b *testing.B) {
	s := benchLedger(b, Options{}, 0)
	if _, err := s.Commit(b.Context(), memory.Batch{Sessions: []memory.Session{session("x-1")}}); err != nil {
		b.Fatal(err)
	}
	turn := 0
	for b.Loop() {
		turn++
		_, err := s.Commit(b.Context(), memory.Batch{
			States: []memory.StateEdit{{Key: stateOf("x-1"), Edit: func([]byte) ([]byte, error) {
				return json.Marshal(map[string]any{"version": turn, "discovered": benchNames[:]})
			}}},
			Receipts: []memory.Receipt{benchReceipt(turn, "x-1", turn)},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

var benchNames = func() (names [40]string) {
	for i := range names {
		names[i] = fmt.Sprintf("server-%d:a_tool_%d", i%5, i)
	}
	return names
}()

// benchReceipt is one with 20 items and 20 that were withheld.
func benchReceipt(n int, session string, turn int) memory.Receipt {
	r := receipt(n, inTurn(session, turn), ofPurpose(memory.PurposeContext))
	r.ID = fmt.Sprintf("rc-%08d", n)
	r.Request.Query = "How do I sign a transaction in the send flow?"
	for i := range 20 {
		r.Items = append(r.Items, memory.ReceiptItem{
			ID: fmt.Sprintf("o-%016x", i), Kind: memory.Tool, Relevance: .8, Tokens: 40, Name: "a_tool", Server: "a-server", Mode: memory.IncludeAgent,
		})
		r.Withheld = append(r.Withheld, memory.Withheld{ID: fmt.Sprintf("l-%016x", i), Kind: memory.Lesson, Reason: memory.BelowThreshold, NearestScore: .3})
	}
	return r
}

// benchSessions is how many sessions the receipts of benchLedger are of.
const benchSessions = 1000

// benchLedger opens a store with n receipts, one a turn, of benchSessions in turns.
func benchLedger(b *testing.B, opts Options, n int) *Store {
	b.Helper()
	opts.Dir = b.TempDir()
	s, err := Open(opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, err := s.Load(b.Context(), memory.Loader{}); err != nil {
		b.Fatal(err)
	}
	var batch memory.Batch
	for i := range min(n, benchSessions) {
		batch.Sessions = append(batch.Sessions, session(fmt.Sprintf("x-%d", i)))
	}
	for i := range n {
		batch.Receipts = append(batch.Receipts, benchReceipt(i, fmt.Sprintf("x-%d", i%benchSessions), i/benchSessions))
		if len(batch.Receipts) == 400 || i == n-1 {
			if _, err := s.Commit(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			batch = memory.Batch{}
		}
	}
	return s
}

func BenchmarkReceipts(b *testing.B) {
	const n = 100_000
	s := benchLedger(b, Options{NoSync: true}, n)
	for _, q := range []struct {
		name   string
		filter memory.ReceiptFilter
		want   int
	}{
		{"turn", memory.ReceiptFilter{Project: "p-1", Session: "x-500", Turn: new(50)}, 1},
		{"session", memory.ReceiptFilter{Project: "p-1", Session: "x-500"}, 20},
		{"newest", memory.ReceiptFilter{Project: "p-1"}, 20},
		{"since", memory.ReceiptFilter{Project: "p-1", Since: receipt(n - 10).At}, 10},
		{"nothing", memory.ReceiptFilter{Project: "p-2"}, 0}, // looks at all of them
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				got, _, err := s.Receipts(q.filter, 20)
				if err != nil || len(got) != q.want {
					b.Fatalf("%d receipts, %v; want %d", len(got), err, q.want)
				}
			}
		})
	}
}
