package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// update is one call of Update on its way through the committer. Its outcome is
// reported once: by closing done, or to then if that is set.
type update struct {
	fn   func(*Tx) error
	seq  uint64
	err  error
	done chan struct{}
	then func(error)
}

func (u *update) end(err error) {
	u.err = err
	if u.then != nil {
		u.then(err)
		return
	}
	close(u.done)
}

// group is the state that the updates of one transaction share.
type group struct {
	txn  *badger.Txn
	size batchSize
	// ran are the updates whose writes are in txn, in order.
	ran       []*update
	changes   []memory.Change
	refs      map[memory.DocID]int32
	chunkSets map[chunkSetID]int32
	seq       uint64
	projects  bool // projects were written or removed
	sandboxes []sandboxChange
	checked   bool // the guard has found room
	written   bool // new documents of an update may be committed already
	planned   bool // the queue's schedule is locked until the outcome is certain
	// after is written once the group is committed, in transactions of its own.
	after []write
}

// maxGroup bounds the updates of one commit: enough to share one sync among many
// writers, few enough that the first of them need not wait long.
const maxGroup = 512

// Update runs fn in the committer and returns when its writes are durable and applied to
// the indexes. An error of fn is returned unchanged and leaves the store unchanged. If fn
// wrote nothing, Update returns the sequence number of the last committed update. fn must
// be quick and is run once.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	u := &update{fn: fn, done: make(chan struct{})}
	if err := s.submit(u); err != nil {
		return 0, err
	}
	<-u.done // a submitted update is committed or refused soon, so ctx does not end the wait
	return u.seq, u.err
}

func (s *Store) submit(u *update) error {
	s.acceptLock.RLock()
	defer s.acceptLock.RUnlock()
	if s.closed {
		return ErrClosed
	}
	s.updates <- u
	return nil
}

// betweenCommits runs fn in the committer between two commits, with mu held: nothing is
// half written or half counted then.
func (s *Store) betweenCommits(fn func()) error {
	s.acceptLock.RLock()
	defer s.acceptLock.RUnlock()
	if s.closed {
		return ErrClosed
	}
	done := make(chan struct{})
	s.pauses <- func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		fn()
		close(done)
	}
	<-done
	return nil
}

// committer runs until updates is closed and everything accepted is committed.
func (s *Store) committer() {
	defer close(s.done)
	timer := time.NewTimer(flushAfter)
	timer.Stop()
	armed := false // the first receipt that waits sets the time, not the last
	rest := time.NewTimer(s.opts.restAfter)
	defer rest.Stop()
	commit := func(us []*update) {
		s.wake()
		s.commit(us)
		rest.Reset(s.opts.restAfter)
	}
	for {
		select {
		case u, open := <-s.updates:
			if !open {
				commit(nil)
				return
			}
			commit(s.gather(u))
		case pause := <-s.pauses:
			pause()
		case <-s.flush:
			if !armed {
				armed = true
				timer.Reset(flushAfter)
			}
		case <-rest.C:
			if !s.rest() {
				rest.Reset(s.opts.restAfter)
			}
		case <-timer.C:
			armed = false
			commit(nil)
		}
	}
}

// gather takes the waiting updates and does not wait for more.
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

// commit runs the updates in order, in as few transactions as possible.
func (s *Store) commit(us []*update) {
	if err := s.Broken(); err != nil {
		for _, u := range us {
			u.end(err)
		}
		return
	}
	g := s.begin()
	g = s.addUsed(s.addPending(g))
	for _, u := range us {
		g = s.run(g, u)
	}
	_ = s.end(g) // its updates have the error
}

func (s *Store) begin() *group {
	return &group{
		txn: s.db.NewTransaction(true), refs: map[memory.DocID]int32{}, chunkSets: map[chunkSetID]int32{}, seq: s.Seq(),
	}
}

// run adds one update to the group and returns the group for the next update: a new one
// if this update did not fit.
func (s *Store) run(g *group, u *update) *group {
	tx := s.newTx(g)
	err := u.fn(tx)
	if err == nil && !tx.empty() {
		err = tx.finish(g.seq+1, s.opts.Clock().UTC())
	}
	if err == nil {
		err = errors.Join(writable(tx.preWrites), writable(tx.writes))
	}
	if err == nil && (!tx.empty() || len(tx.jobs) > 0) {
		err = s.mayWrite(g)
	}
	if err != nil {
		u.end(err)
		return g
	}
	if len(g.ran) > 0 && !g.size.plus(tx.size).within(s.shared()) {
		// The update may have read writes of this group, and its number follows theirs: if the
		// group is not committed, the update must fail too.
		if err := s.end(g); err != nil {
			u.end(err)
			return s.begin()
		}
		g = s.begin()
		tx.group = g
	}
	if err := s.add(g, tx); err != nil {
		// The transaction may hold half of the update, so the whole group fails. This happens
		// only if the updates fitted by our count.
		u.end(err)
		s.fail(g, err)
		return s.begin()
	}
	g.include(u, tx)
	if len(g.after) == 0 {
		return g
	}
	_ = s.end(g) // nothing may write again what is still to be removed
	return s.begin()
}

// add writes an update into the group's transaction. What does not fit goes into other
// transactions, in an order in which a crash does no harm: new documents before, since
// nothing refers to them until the rest is committed, and swept ones after, when nothing
// refers to them any more. Load sweeps what is left.
func (s *Store) add(g *group, tx *Tx) error {
	s.queue.plan(g, tx)
	if tx.size.within(s.whole()) {
		return apply(g.txn, tx.preWrites, tx.writes, tx.swept)
	}
	// Before preWrites are committed, it is certain that the rest fits.
	if err := apply(g.txn, tx.writes); err != nil {
		return err
	}
	g.written = true
	if err := s.inBatches(tx.preWrites); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	g.after = tx.swept
	return nil
}

// include adds an update, whose writes are in the transaction, to the group.
func (g *group) include(u *update, tx *Tx) {
	g.size = g.size.plus(tx.size)
	if !tx.empty() {
		g.seq++
		tx.change.Seq = g.seq
		g.changes = append(g.changes, tx.change)
	}
	for doc, n := range tx.refs {
		g.refs[doc] += n
	}
	for id, n := range tx.chunkSets {
		g.chunkSets[id] += n
	}
	g.projects = g.projects || tx.projects
	g.sandboxes = append(g.sandboxes, tx.sandboxes...)
	u.seq = g.seq
	g.ran = append(g.ran, u)
}

// end commits the group, applies it to the indexes and acknowledges, in this order: a
// write that was acknowledged is found by the next query. If it fails, the group's
// updates get the error.
func (s *Store) end(g *group) error {
	if len(g.changes) > 0 {
		err := errors.Join(setUint(g.txn, keySeq, g.seq), setUint(g.txn, keyPrev, s.Seq()))
		if err == nil {
			err = s.makeRoom(g.size)
		}
		if err == nil {
			if err = g.txn.Commit(); err != nil {
				err = s.breakDown(err)
			}
		}
		if err == nil {
			err = s.checkFiles()
		}
		if err != nil {
			if code := memory.CodeOf(err); code != memory.CodeReadOnly && code != memory.CodeUnavailable { // whose texts are complete
				err = fmt.Errorf("commit: %w", err)
			}
			s.fail(g, err)
			return err
		}
	}
	g.txn.Discard()
	// From here on the group is durable and nothing may fail it.
	if err := s.inBatches(g.after); err != nil {
		s.leftUnswept(err)
	}
	s.settle(g)
	if len(g.changes) > 0 {
		s.writeWitness()
	}
	s.queue.settle(g, true)
	if len(g.changes) > 0 {
		s.opts.Apply(g.changes)
	}
	for _, u := range g.ran {
		u.end(nil)
	}
	return nil
}

// fail reports the error to every update of a group that was not committed.
func (s *Store) fail(g *group, err error) {
	g.txn.Discard()
	if g.written {
		s.leftUnswept(err)
	}
	s.queue.settle(g, false)
	for _, u := range g.ran {
		u.end(err)
	}
}

func (s *Store) newTx(g *group) *Tx {
	return &Tx{
		View: View{txn: g.txn}, s: s, group: g, refs: map[memory.DocID]int32{},
		chunkSets: map[chunkSetID]int32{}, newChunkSets: map[chunkSetID]storedChunkSet{},
	}
}
