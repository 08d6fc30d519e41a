package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// A receipt of a session is found by a turn: a key without a value, made of project,
// session, turn, receipt and purpose. It is written and removed with the receipt.
type turn struct {
	memory.SessionKey
	number  uint32
	receipt string
	purpose memory.Purpose
}

// turnOf returns the turn of a receipt that has a session, or CodeInvalidInput if that
// cannot be part of a key.
func turnOf(r *memory.Receipt) (turn, error) {
	t := turn{memory.SessionKey{Project: r.Project, ID: r.Session}, uint32(r.Turn), r.ID, r.Purpose}
	if strings.ContainsRune(t.Project+t.ID+t.receipt+string(t.purpose), 0) {
		return t, memory.Invalid("session", "", "%q cannot name a session of a receipt", r.Session)
	}
	if r.Turn < 0 || r.Turn > math.MaxUint32 {
		return t, memory.Invalid("turn", "0–4294967295", "is %d", r.Turn)
	}
	return t, nil
}

func (t turn) key() []byte {
	k := binary.BigEndian.AppendUint32(prefixSessionTurns(t.SessionKey), t.number)
	return append(append(append(k, t.receipt...), 0), t.purpose...)
}

// parseTurn reads what turn.key wrote.
func parseTurn(key []byte) (t turn, ok bool) {
	project, rest, ok1 := bytes.Cut(key[len(prefixTurn):], []byte{0})
	session, rest, ok2 := bytes.Cut(rest, []byte{0})
	if !ok1 || !ok2 || len(rest) < 4 {
		return t, false
	}
	receipt, purpose, ok := bytes.Cut(rest[4:], []byte{0})
	return turn{
		SessionKey: memory.SessionKey{Project: string(project), ID: string(session)},
		number:     binary.BigEndian.Uint32(rest), receipt: string(receipt), purpose: memory.Purpose(purpose),
	}, ok && len(receipt) > 0
}

// leastKept is how long an old receipt that is written again is kept at least.
const leastKept = time.Minute

// PutReceipt writes a receipt, or replaces the one of its id, in the update; see also
// Store.EnqueueReceipt. A receipt of a stored session is kept as long as the session, any
// other for Options.KeepReceipts after its time.
func (tx *Tx) PutReceipt(r memory.Receipt) error {
	b, err := encode(r)
	if err != nil {
		return err
	}
	before, err := tx.turnsOf(r.ID)
	if err != nil {
		return err
	}
	var now []byte
	ttl := tx.keptFor(r.At)
	if r.Session != "" {
		t, err := turnOf(&r)
		if err != nil {
			return err
		}
		stored, err := tx.hasSession(t.SessionKey)
		if err != nil {
			return err
		}
		if stored { // else the session was forgotten, and nothing would remove the receipt
			ttl = 0
		}
		now = t.key()
	}
	for _, k := range before {
		if !bytes.Equal(k, now) {
			tx.del(k)
		}
	}
	// The receipt first, so that its turn does not expire before it: a turn without a receipt
	// is skipped, but a receipt without its turn counts as damage.
	tx.putFor(ttl, key(prefixReceipt, r.ID), b)
	if now != nil {
		tx.putFor(ttl, now, nil)
	}
	return nil
}

// keptFor returns how much longer a receipt of a time is kept; 0 means forever.
func (tx *Tx) keptFor(at time.Time) time.Duration {
	keep := tx.s.opts.KeepReceipts
	if keep == 0 || at.IsZero() {
		return keep
	}
	return max(keep-tx.s.opts.Clock().Sub(at), leastKept)
}

// dropReceipt removes a receipt, if it exists, and its turn.
func (tx *Tx) dropReceipt(id string) error {
	turns, err := tx.turnsOf(id)
	if err != nil {
		return err
	}
	for _, k := range turns {
		tx.del(k)
	}
	tx.del(key(prefixReceipt, id))
	return nil
}

// turnsOf returns the keys of the turns of a receipt, at most one. The turns of a damaged
// receipt are searched for.
func (tx *Tx) turnsOf(id string) (keys [][]byte, _ error) {
	r, err := tx.Receipt(id)
	old, was, err := existing(tx.s, r, err)
	switch {
	case err != nil || !was || old != nil && old.Session == "":
		return nil, err
	case old != nil:
		t, err := turnOf(old)
		return [][]byte{t.key()}, err
	}
	for k := range tx.keys(prefixTurn) {
		if t, ok := parseTurn(k); ok && t.receipt == id {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// dropTurns removes the turns under a prefix of keys, and their receipts.
func (tx *Tx) dropTurns(prefix []byte) {
	for k := range tx.keys(prefix) {
		if t, ok := parseTurn(k); ok {
			tx.preDelete(k, key(prefixReceipt, t.receipt))
		} else {
			tx.preDelete(k)
		}
	}
}

// Receipts returns the receipts that a filter chooses, newest first by id, at most limit,
// and whether there are more. It includes receipts that are not yet written. It finds a
// session's receipts by their turns; otherwise it reads only receipts newer than the oldest
// result, or than the filter's Since.
func (s *Store) Receipts(f memory.ReceiptFilter, limit int) (found []memory.Receipt, more bool, err error) {
	if limit < 1 {
		return nil, false, memory.Invalid("limit", "at least 1", "is %d", limit)
	}
	if f.Session != "" && f.Project == "" {
		return nil, false, memory.Invalid("project", "", "a session is named with its project")
	}
	// Waiting receipts first: one that is written meanwhile is found twice, not missed.
	waiting := map[string]bool{}
	s.mu.Lock()
	for _, r := range slices.Backward(s.pending) {
		if !waiting[r.ID] && chosen(&f, headOf(&r)) && handedOut(&f, &r) && (f.Before == "" || r.ID < f.Before) {
			found = append(found, r)
		}
		waiting[r.ID] = true
	}
	s.mu.Unlock()
	err = s.View(func(v View) error {
		stored := 0
		take := func(r memory.Receipt) bool {
			if !waiting[r.ID] {
				found = append(found, r)
				stored++
			}
			return stored <= limit // one more shows that there are more
		}
		if f.Session != "" {
			s.sessionReceipts(v, &f, take)
		} else {
			s.recentReceipts(v, &f, take)
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(found, func(a, b memory.Receipt) int { return cmp.Compare(b.ID, a.ID) })
	if len(found) > limit {
		return found[:limit:limit], true, nil
	}
	return found, false, nil
}

// sessionReceipts calls take with the chosen receipts of a session, newest first, until it
// returns false.
func (s *Store) sessionReceipts(v View, f *memory.ReceiptFilter, take func(memory.Receipt) bool) {
	prefix := prefixSessionTurns(memory.SessionKey{Project: f.Project, ID: f.Session})
	if f.Turn != nil {
		if *f.Turn < 0 || *f.Turn > math.MaxUint32 {
			return // there is none
		}
		prefix = binary.BigEndian.AppendUint32(prefix, uint32(*f.Turn))
	}
	var ids []string
	for k := range v.keys(prefix) {
		if t, ok := parseTurn(k); ok && (len(f.Purposes) == 0 || slices.Contains(f.Purposes, t.purpose)) {
			ids = append(ids, t.receipt)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Backward(ids) {
		if f.Before != "" && id >= f.Before {
			continue
		}
		r, err := v.Receipt(id)
		if memory.CodeOf(err) == memory.CodeNotFound {
			continue // it expired between the two reads
		}
		if s.damaged(err) {
			continue
		}
		if before(f, r.At) {
			return
		}
		if chosen(f, headOf(&r)) && handedOut(f, &r) && !take(r) {
			return
		}
	}
}

// maxLooked is how many receipts are looked at for those that hold an item.
const maxLooked = 5000

// recentReceipts walks the receipts back in time and calls take with the chosen ones, until
// it returns false.
func (s *Store) recentReceipts(v View, f *memory.ReceiptFilter, take func(memory.Receipt) bool) {
	it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefixReceipt, Reverse: true})
	defer it.Close()
	first := append(slices.Clone(prefixReceipt), 0xff) // after the last id: no id begins with this byte
	if f.Before != "" {
		first = key(prefixReceipt, f.Before)
	}
	looked := 0
	for it.Seek(first); it.Valid(); it.Next() {
		if looked++; f.Item != "" && looked > maxLooked {
			return
		}
		if f.Before != "" && bytes.Equal(it.Item().Key(), first) {
			continue
		}
		var r memory.Receipt
		var wanted, done bool
		item := it.Item()
		err := item.Value(func(value []byte) error {
			payload, err := unseal(item.Key(), value)
			if err != nil || f.Item != "" && !bytes.Contains(payload, []byte(f.Item)) {
				return err
			}
			head, err := decode[receiptHead](payload)
			if done = before(f, head.At); err != nil || done {
				return err
			}
			if wanted = chosen(f, head); wanted {
				r, err = decode[memory.Receipt](payload)
				wanted = err == nil && handedOut(f, &r)
			}
			return err
		})
		if s.damaged(err) {
			continue
		}
		if done || wanted && !take(r) {
			return
		}
	}
}

// receiptHead has the fields of a receipt that a filter needs. Items and candidates, most
// of a receipt, are not decoded.
type receiptHead struct {
	At      time.Time      `json:"at"`
	Project string         `json:"project"`
	Session string         `json:"session"`
	Turn    int            `json:"turn"`
	Purpose memory.Purpose `json:"purpose"`
}

func headOf(r *memory.Receipt) receiptHead {
	return receiptHead{r.At, r.Project, r.Session, r.Turn, r.Purpose}
}

func chosen(f *memory.ReceiptFilter, r receiptHead) bool {
	return (f.Project == "" || f.Project == r.Project) &&
		(f.Session == "" || f.Session == r.Session) &&
		(f.Turn == nil || *f.Turn == r.Turn) &&
		!r.At.Before(f.Since) &&
		(len(f.Purposes) == 0 || slices.Contains(f.Purposes, r.Purpose))
}

// handedOut says that a receipt has the item that a filter asks for.
func handedOut(f *memory.ReceiptFilter, r *memory.Receipt) bool {
	return f.Item == "" || slices.ContainsFunc(r.Items, func(i memory.ReceiptItem) bool { return i.ID == f.Item })
}

// idSlack is how far the order by id and the order by time may differ: the id is made when
// the query arrives, separately from the time.
const idSlack = time.Minute

// before reports whether a receipt is so old that no earlier one is chosen.
func before(f *memory.ReceiptFilter, at time.Time) bool {
	return !f.Since.IsZero() && at.Before(f.Since.Add(-idSlack))
}

// checkReceipts reports turns without their receipt, and receipts of sessions without their
// turn. Of two that expire together, one may be gone a second before the other.
func checkReceipts(v View, bad func(string, ...any)) {
	turns := map[string]turn{}
	brief := map[string]bool{}
	for item := range v.items(prefixTurn, prefixTurn, 0) {
		k := item.KeyCopy(nil)
		t, ok := parseTurn(k)
		if !ok {
			bad("stored value %q: the key names no turn", k)
			continue
		}
		if _, twice := turns[t.receipt]; twice {
			bad("receipt %s: it has two turns", t.receipt)
		}
		turns[t.receipt], brief[t.receipt] = t, item.ExpiresAt() > 0
	}
	for r, err := range v.Receipts() {
		if err != nil {
			bad("%w", err)
			continue
		}
		if r.Session == "" {
			continue
		}
		want, err := turnOf(&r)
		if got, ok := turns[r.ID]; (!ok || got != want) && err == nil {
			bad("receipt %s: its turn %d of session %s is not stored", r.ID, r.Turn, r.Session)
		}
		delete(turns, r.ID)
	}
	for id, t := range turns {
		if !brief[id] {
			bad("turn %d of session %s: its receipt %s is not stored", t.number, t.ID, id)
		}
	}
}

// flushAfter is how long a receipt may wait for a commit.
const flushAfter = time.Second

// EnqueueReceipt keeps a receipt and writes it with the next commit, within a second. A
// crash before that loses it. It is a no-op while the store is read-only.
func (s *Store) EnqueueReceipt(r memory.Receipt) {
	if s.readOnly() {
		return
	}
	s.mu.Lock()
	s.pending = append(s.pending, r)
	s.mu.Unlock()
	s.wantFlush()
}

// wantFlush asks for a commit soon. Every waiting receipt asks for one: whether a commit
// that is running still includes it cannot be known.
func (s *Store) wantFlush() {
	select {
	case s.flush <- struct{}{}:
	default:
	}
}

// addPending writes the waiting receipts, each as an update of its own: together they
// may not fit, and one that fails must not fail others.
func (s *Store) addPending(g *group) *group {
	s.mu.Lock()
	waiting := slices.Clone(s.pending)
	s.mu.Unlock()
	for _, r := range waiting {
		g = s.run(g, &update{
			fn:   func(tx *Tx) error { return tx.PutReceipt(r) },
			then: func(err error) { s.written(r.ID, err) },
		})
	}
	return g
}

// written removes a receipt from the list. One that could not be written is dropped:
// retrying would delay all later ones forever.
func (s *Store) written(id string, err error) {
	if err != nil && s.Trouble() == nil && s.Broken() == nil { // which are reported once
		s.opts.Logger.Error("receipt was not written", "part", "store", "receipt", id, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.pending, func(r memory.Receipt) bool { return r.ID == id }); i >= 0 {
		s.pending = slices.Delete(s.pending, i, i+1)
	}
}
