package store

import (
	"errors"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// write is one entry of a transaction.
type write struct {
	key, value []byte // a nil value deletes
	ttl        time.Duration
	// joined is set if it must be in the same transaction as the write before it.
	joined bool
}

// batchSize is the part of a transaction that something takes. Badger bounds both.
type batchSize struct{ bytes, entries int64 }

// entryOverhead is more than Badger counts for an entry besides key and value.
const entryOverhead = 16

func (w write) size() batchSize {
	return batchSize{int64(len(w.key) + len(w.value) + entryOverhead), 1}
}

func (b batchSize) plus(other batchSize) batchSize {
	return batchSize{b.bytes + other.bytes, b.entries + other.entries}
}

func (b batchSize) within(limit batchSize) bool {
	return b.bytes <= limit.bytes && b.entries <= limit.entries
}

// whole is the size of one transaction.
func (s *Store) whole() batchSize {
	return batchSize{s.db.MaxBatchSize() * 9 / 10, s.db.MaxBatchCount() * 9 / 10}
}

// shared is how far updates may fill a transaction that they share. The rest is for
// the jobs that follow from the last update, which are known only when it cannot be
// refused any more.
func (s *Store) shared() batchSize {
	whole := s.whole()
	return batchSize{whole.bytes * 3 / 4, whole.entries * 3 / 4}
}

// maxKey is how long a key may be; Badger takes 65,000 bytes.
const maxKey = 60_000

// writable returns an error for a write that Badger would always refuse, so that only
// its own update fails.
func writable(writes []write) error {
	for _, w := range writes {
		if len(w.key) > maxKey {
			return memory.Invalid("", "keys of at most 60,000 bytes", "a name or path of %d bytes cannot be stored", len(w.key))
		}
		if len(w.value) > maxValue {
			return memory.Invalid("", "16 MiB", "a value of %d bytes cannot be stored", len(w.value))
		}
	}
	return nil
}

// apply adds the writes to a Badger transaction.
func apply(txn *badger.Txn, lists ...[]write) error {
	writes := slices.Concat(lists...)
	for _, w := range writes {
		err := w.apply(txn)
		if errors.Is(err, badger.ErrTxnTooBig) {
			return memory.Errorf(memory.CodeInvalidInput, "write of %d entries: %w", len(writes), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apply puts a write into a transaction or a batch.
func (w *write) apply(to interface {
	Delete(key []byte) error
	SetEntry(*badger.Entry) error
}) error {
	if w.value == nil {
		return to.Delete(w.key)
	}
	entry := badger.NewEntry(w.key, w.value)
	if w.ttl > 0 {
		entry.WithTTL(w.ttl)
	}
	return to.SetEntry(entry)
}

// inBatches commits writes in as many transactions as they need.
func (s *Store) inBatches(writes []write) error {
	for len(writes) > 0 {
		n, size := fitting(writes, s.whole())
		if err := s.makeRoom(size); err != nil {
			return err
		}
		err := s.db.Update(func(txn *badger.Txn) error { return apply(txn, writes[:n]) })
		if errors.Is(err, badger.ErrTxnTooBig) { // nothing was written
			return err
		}
		if err != nil {
			return s.breakDown(err)
		}
		writes = writes[n:]
	}
	return nil
}

// fitting returns how many of the writes fit into the next transaction, at least one, and
// their size. It may exceed the limit by joined writes, of which there is at most one in a row.
func fitting(writes []write, limit batchSize) (n int, size batchSize) {
	n, size = 1, writes[0].size()
	for n < len(writes) && (writes[n].joined || size.plus(writes[n].size()).within(limit)) {
		size = size.plus(writes[n].size())
		n++
	}
	return n, size
}
