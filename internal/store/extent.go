package store

import (
	"errors"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// write is one entry on its way into a transaction.
type write struct {
	key, value []byte // a nil value deletes
	ttl        time.Duration
	// joined says that it is never in another transaction than the one before it.
	joined bool
}

// extent is how much of a transaction something takes. Badger bounds both.
type extent struct{ bytes, entries int64 }

// entryOverhead is more than Badger counts for an entry beside key and value.
const entryOverhead = 16

func (w write) extent() extent {
	return extent{int64(len(w.key) + len(w.value) + entryOverhead), 1}
}

func (e extent) plus(other extent) extent {
	return extent{e.bytes + other.bytes, e.entries + other.entries}
}

func (e extent) within(limit extent) bool {
	return e.bytes <= limit.bytes && e.entries <= limit.entries
}

// whole is what one transaction holds.
func (s *Store) whole() extent {
	return extent{s.db.MaxBatchSize() * 9 / 10, s.db.MaxBatchCount() * 9 / 10}
}

// shared is how far updates may fill a transaction that they have in common. The
// rest is for the jobs that follow from the last of them, which are known only
// when there is no way back.
func (s *Store) shared() extent {
	whole := s.whole()
	return extent{whole.bytes * 3 / 4, whole.entries * 3 / 4}
}

// maxKey is how long a key may be; Badger takes 65,000 bytes.
const maxKey = 60_000

// writable returns an error for what Badger would refuse whatever else is
// written, so that it fails on its own.
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

// apply hands the writes to a Badger transaction.
func apply(txn *badger.Txn, lists ...[]write) error {
	writes := slices.Concat(lists...)
	for _, w := range writes {
		var err error
		switch {
		case w.value == nil:
			err = txn.Delete(w.key)
		case w.ttl > 0:
			err = txn.SetEntry(badger.NewEntry(w.key, w.value).WithTTL(w.ttl))
		default:
			err = txn.Set(w.key, w.value)
		}
		if errors.Is(err, badger.ErrTxnTooBig) {
			return memory.Errorf(memory.CodeInvalidInput, "write of %d entries: %w", len(writes), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inPortions commits writes in as many transactions as they need.
func (s *Store) inPortions(writes []write) error {
	for len(writes) > 0 {
		n := portion(writes, s.whole())
		var size extent
		for _, w := range writes[:n] {
			size = size.plus(w.extent())
		}
		if err := s.makeRoom(size); err != nil {
			return err
		}
		if err := s.db.Update(func(txn *badger.Txn) error { return apply(txn, writes[:n]) }); err != nil {
			return err
		}
		writes = writes[n:]
	}
	return nil
}

// portion is how many of the writes, one at least, go into the next transaction. It
// may pass the limit by those that are joined, of which there is one after another.
func portion(writes []write, limit extent) int {
	n, size := 1, writes[0].extent()
	for n < len(writes) && (writes[n].joined || size.plus(writes[n].extent()).within(limit)) {
		size = size.plus(writes[n].extent())
		n++
	}
	return n
}
