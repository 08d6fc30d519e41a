package store

import (
	"context"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// update is one call of Update on its way through the committer.
type update struct {
	fn   func(*Tx) error
	seq  uint64
	err  error
	done chan struct{}
}

// group is what the updates of one transaction have in common.
type group struct {
	txn  *badger.Txn
	size int64
	// ran are the updates whose writes are in txn, in order.
	ran      []*update
	changes  []memory.Change
	refs     map[memory.DocID]int32
	seq      uint64
	projects bool // some were written or removed
	planned  bool // the queue's schedule is locked until the outcome is certain
	hooks    []func(committed bool)
}

// Limits of what is gathered into one commit: enough to spread one sync over
// many writers, little enough that the first of them need not wait long.
const (
	maxGroup = 512
	// flushAfter is how long a receipt may wait for a commit to ride on.
	flushAfter = time.Second
)

// Update runs fn in the committer and returns when its writes are durable and
// applied to the indexes. An error of fn is returned as it is and leaves the
// store unchanged. The sequence number is that of the last committed update
// when fn wrote nothing. fn must be quick and may run once only.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	u := &update{fn: fn, done: make(chan struct{})}
	if err := s.submit(u); err != nil {
		return 0, err
	}
	<-u.done // once submitted the outcome is certain and near: no half answer
	return u.seq, u.err
}

func (s *Store) submit(u *update) error {
	s.intake.RLock()
	defer s.intake.RUnlock()
	if s.closed {
		return ErrClosed
	}
	s.updates <- u
	return nil
}

// Later keeps a receipt and writes it with the next commit, within a second at
// the latest. A crash before that loses it.
func (s *Store) Later(r memory.Receipt) {
	s.mu.Lock()
	first := len(s.pending) == 0
	s.pending = append(s.pending, r)
	s.mu.Unlock()
	if first {
		select {
		case s.flush <- struct{}{}:
		default:
		}
	}
}

// committer runs until the intake is closed and everything accepted is
// committed.
func (s *Store) committer() {
	defer close(s.done)
	timer := time.NewTimer(flushAfter)
	timer.Stop()
	for {
		select {
		case u, open := <-s.updates:
			if !open {
				s.commit(nil)
				return
			}
			timer.Stop()
			s.commit(s.gather(u))
		case <-s.flush:
			timer.Reset(flushAfter)
		case <-timer.C:
			s.commit(nil)
		}
	}
}

// gather takes what is waiting and never waits for more.
func (s *Store) gather(first *update) []*update {
	us := []*update{first}
	for len(us) < maxGroup {
		select {
		case u, open := <-s.updates:
			if !open {
				return us
			}
			us = append(us, u)
		default:
			return us
		}
	}
	return us
}

// commit runs the updates in order, in as few transactions as hold them.
func (s *Store) commit(us []*update) {
	g := s.begin()
	g = s.addPending(g)
	for _, u := range us {
		g = s.run(g, u)
	}
	s.end(g)
}

func (s *Store) begin() *group {
	return &group{
		txn: s.db.NewTransaction(true), refs: map[memory.DocID]int32{}, seq: s.Seq(),
	}
}

// addPending writes the receipts that waited for a commit.
func (s *Store) addPending(g *group) *group {
	s.mu.Lock()
	receipts := s.pending
	s.mu.Unlock()
	if len(receipts) == 0 {
		return g
	}
	u := &update{done: make(chan struct{}), fn: func(tx *Tx) error {
		for _, r := range receipts {
			if err := tx.PutReceipt(r); err != nil {
				return err
			}
		}
		return nil
	}}
	g = s.run(g, u)
	g.hooks = append(g.hooks, func(committed bool) {
		if !committed {
			s.opts.Logger.Error("receipts were not written", "part", "store", "receipts", len(receipts))
		}
		s.mu.Lock()
		s.pending = s.pending[len(receipts):]
		s.mu.Unlock()
	})
	return g
}

// run adds one update to the group and returns the group that the next one
// goes into: another one when this update did not fit.
func (s *Store) run(g *group, u *update) *group {
	tx := s.newTx(g)
	err := u.fn(tx)
	if err == nil && !tx.empty() {
		err = tx.finish(g.seq+1, s.opts.Clock().UTC())
	}
	if err != nil {
		u.err = err
		close(u.done)
		return g
	}
	if limit := s.db.MaxBatchSize() * 9 / 10; g.size+tx.size > limit {
		s.end(g)
		g = s.begin()
		if tx.size > limit {
			// Documents first: until the rest is committed nothing refers to
			// them, and what a crash leaves behind is swept at the next start.
			if err := s.writeAhead(tx.docs, limit); err != nil {
				u.err = fmt.Errorf("commit: %w", err)
				close(u.done)
				return g
			}
			tx.docs = nil
		}
	}
	if err := s.queue.plan(g, tx); err != nil {
		u.err = err
		close(u.done)
		s.fail(g, err)
		return s.begin()
	}
	for _, writes := range [][]write{tx.docs, tx.writes} {
		if err := apply(g.txn, writes); err != nil {
			// The transaction may hold half of the update: none of it counts.
			u.err = err
			close(u.done)
			s.fail(g, err)
			return s.begin()
		}
	}
	g.size += tx.size
	if !tx.empty() {
		g.seq++
		tx.change.Seq = g.seq
		g.changes = append(g.changes, tx.change)
	}
	for doc, n := range tx.refs {
		g.refs[doc] += n
	}
	g.projects = g.projects || tx.projects
	u.seq = g.seq
	g.ran = append(g.ran, u)
	return g
}

// writeAhead commits writes in transactions of at most limit bytes.
func (s *Store) writeAhead(writes []write, limit int64) error {
	for len(writes) > 0 {
		var size int64
		n := 0
		for n < len(writes) && (n == 0 || size+writes[n].size() <= limit) {
			size += writes[n].size()
			n++
		}
		if err := s.db.Update(func(txn *badger.Txn) error { return apply(txn, writes[:n]) }); err != nil {
			return err
		}
		writes = writes[n:]
	}
	return nil
}

// end commits the group, applies it to the indexes and acknowledges.
func (s *Store) end(g *group) {
	if len(g.changes) > 0 {
		err := setUint(g.txn, keySeq, g.seq)
		if err == nil {
			err = g.txn.Commit()
		}
		if err != nil {
			s.fail(g, fmt.Errorf("commit: %w", err))
			return
		}
	}
	g.txn.Discard()
	s.settle(g)
	for _, hook := range g.hooks {
		hook(true)
	}
	if len(g.changes) > 0 {
		s.opts.Apply(g.changes)
	}
	for _, u := range g.ran {
		close(u.done)
	}
}

// fail answers every update of a group that was not committed.
func (s *Store) fail(g *group, err error) {
	g.txn.Discard()
	for _, hook := range g.hooks {
		hook(false)
	}
	for _, u := range g.ran {
		u.err = err
		close(u.done)
	}
}

// settle brings the counts up to date with a committed group.
func (s *Store) settle(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = g.seq
	for doc, n := range g.refs {
		s.addRef(doc, n)
	}
	for _, c := range g.changes {
		s.count(c)
	}
	if g.projects {
		s.projects = nil
		s.projectsAt++
	}
	s.settleSessions(g.changes)
}

// addRef is called with mu held. While loading a count may be negative for a
// moment, when a reference was dropped before Load came across it, and one of
// zero is kept: Load sweeps those at its end.
func (s *Store) addRef(doc memory.DocID, n int32) {
	if s.refs[doc] += n; s.refs[doc] == 0 && s.loaded {
		delete(s.refs, doc)
	}
}

// count is called with mu held.
func (s *Store) count(c memory.Change) {
	for _, r := range c.Records {
		if r.Old != nil {
			s.counts[r.Old.Kind]--
		}
		if r.New != nil {
			s.counts[r.New.Kind]++
		}
	}
	for _, f := range c.Files {
		if f.Old != nil {
			s.counts[memory.Chunk] -= len(f.Old.Chunks)
		}
		if f.New != nil {
			s.counts[memory.Chunk] += len(f.New.Chunks)
		}
	}
}

func (s *Store) references(doc memory.DocID) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refs[doc]
}

func (s *Store) isLoaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

func (s *Store) newTx(g *group) *Tx {
	return &Tx{View: View{txn: g.txn}, s: s, group: g, refs: map[memory.DocID]int32{}}
}
