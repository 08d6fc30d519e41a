package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store/lsm"
)

// rebuild makes a new database, in opts.Dir, of everything that can be read from the files
// in another folder, which it does not change. Of a damaged database it uses all tables
// that are not known to be dropped. The new database has the identity that the witness
// knows, and a sequence number that is not below the witness's.
// What is missing is taken from refill, if it is not nil.
func rebuild(from string, x *examination, opts Options, refill *Refill) error {
	// Mkdir fails if another user has created the folder meanwhile.
	if err := errors.Join(os.RemoveAll(opts.Dir), os.Mkdir(opts.Dir, 0o700)); err != nil {
		return fmt.Errorf("make room for what can be read: %w", err)
	}
	if err := copyEntries(from, x.damage != nil, opts); err != nil {
		return fmt.Errorf("copy what can be read: %w", err)
	}
	if x.damage != nil && refill != nil {
		if err := refill.fill(opts); err != nil {
			return fmt.Errorf("take what is missing from the backup: %w", err)
		}
	}
	db, err := openBadger(badgerOptions(opts))
	if err != nil {
		return err
	}
	err = mend(db, opts.Analyze, x)
	if err != nil {
		err = fmt.Errorf("mend what was read: %w", err)
	}
	return errors.Join(err, db.Close())
}

// writeBatch opens the database in opts.Dir and writes the batch that fill fills, unless that
// fails.
func writeBatch(opts Options, fill func(*badger.DB, *badger.WriteBatch) error) error {
	db, err := openBadger(badgerOptions(opts).WithSyncWrites(false))
	if err != nil {
		return err
	}
	batch := db.NewWriteBatch()
	if err = fill(db, batch); err == nil {
		err = batch.Flush()
	} else {
		batch.Cancel()
	}
	return errors.Join(err, db.Close())
}

// openMade opens a database that was made from another one. The caller must call start.
func openMade(opts Options) (*Store, error) {
	db, err := openBadger(badgerOptions(opts))
	if err != nil {
		return nil, err
	}
	return newStore(opts, &handle{DB: db})
}

// copyEntries writes all entries with their versions: Badger decides which of a key is
// current.
func copyEntries(from string, damaged bool, opts Options) error {
	db, err := badger.OpenManaged(badgerOptions(opts).WithSyncWrites(false))
	if err != nil {
		return err
	}
	batch := db.NewManagedWriteBatch()
	now := uint64(time.Now().Unix())
	var failed error
	err = lsm.Salvage(from, damaged, func(e *lsm.Entry) {
		if failed != nil || len(e.Key) == 0 || e.Version == 0 {
			return
		}
		k, value := bytes.Clone(e.Key), bytes.Clone(e.Value)
		if e.Deleted() || e.ExpiresAt > 0 && e.ExpiresAt <= now {
			failed = batch.DeleteAt(k, e.Version)
			return
		}
		entry := badger.NewEntry(k, value)
		entry.ExpiresAt = e.ExpiresAt
		failed = batch.SetEntryAt(entry, e.Version)
	})
	if err = errors.Join(err, failed); err == nil {
		err = batch.Flush()
	} else {
		batch.Cancel()
	}
	return errors.Join(err, db.Close())
}

// mender makes the values that were read consistent again.
type mender struct {
	View
	analyze func(string) []byte
	writes  []write // a nil value deletes
}

func (m *mender) del(key []byte) { m.writes = append(m.writes, write{key: key}) }
func (m *mender) put(key, payload []byte) {
	m.writes = append(m.writes, write{key: key, value: seal(key, payload)})
}

// mend removes what cannot be read and what depends on something missing, and restores
// what it can: terms from texts, sessions from their steps. A file with missing chunks is
// removed, and indexed again at the next scan of its sandbox. The next Load sweeps what
// has no reference any more.
func mend(db *badger.DB, analyze func(string) []byte, x *examination) error {
	m := &mender{analyze: analyze}
	err := db.View(func(txn *badger.Txn) error {
		m.View = View{txn}
		unread := m.values()
		terms := m.documents(unread)
		sessions := m.sessions()
		if err := m.records(terms, sessions, unread); err != nil {
			return err
		}
		files := m.files(terms, unread)
		m.dangling(sessions, files, unread)
		return m.meta(x)
	})
	if err != nil {
		return err
	}
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	for _, w := range m.writes {
		if err := w.apply(batch); err != nil {
			return err
		}
	}
	return batch.Flush()
}

// values deletes the values with a wrong checksum and returns their keys.
func (m *mender) values() map[string]bool {
	unread := map[string]bool{}
	for k := range m.damagedValues() {
		unread[string(k)] = true
		m.del(k)
	}
	return unread
}

// documents returns the documents with terms, and deletes vectors of unknown collections.
func (m *mender) documents(unread map[string]bool) map[memory.DocID]bool {
	terms := map[memory.DocID]bool{}
	for k := range m.keys(prefixTerms) {
		if len(k) == len(prefixTerms)+len(memory.DocID{}) && !unread[string(k)] {
			terms[memory.DocID(k[len(prefixTerms):])] = true
		}
	}
	collections := map[collectionKey]bool{}
	for k := range m.keys(prefixCollection) {
		if len(k) == len(prefixCollection)+len(collectionKey{}) && !unread[string(k)] {
			collections[collectionKey(k[len(prefixCollection):])] = true
		}
	}
	at := len(prefixVector) + len(collectionKey{})
	for k := range m.keys(prefixVector) {
		if len(k) != at+len(memory.DocID{}) || !collections[collectionKey(k[len(prefixVector):at])] {
			m.del(k)
		}
	}
	return terms
}

func (m *mender) sessions() map[memory.SessionKey]bool {
	sessions := map[memory.SessionKey]bool{}
	for x, err := range m.Sessions("") {
		if err == nil {
			sessions[x.Key()] = true
		}
	}
	return sessions
}

// records keeps every record that can be read. A step without its session gets a bare
// session.
func (m *mender) records(terms map[memory.DocID]bool, sessions map[memory.SessionKey]bool, unread map[string]bool) error {
	for k := range m.keys(prefixRecord) {
		if unread[string(k)] {
			continue
		}
		r, err := m.Record(string(k[len(prefixRecord):]))
		if err != nil || r.Doc != memory.DocumentID(r.Text) || !terms[r.Doc] && m.analyze == nil {
			m.del(k)
			continue
		}
		if !terms[r.Doc] {
			terms[r.Doc] = true
			m.put(keyTerms(r.Doc), m.analyze(r.Text))
		}
		x := memory.Session{ID: r.Session, Project: r.Project, CreatedAt: r.Created, Bare: true}
		if r.Kind != memory.Step || sessions[x.Key()] {
			continue
		}
		sessions[x.Key()] = true
		b, err := encode(x)
		if err != nil {
			return err
		}
		m.put(keySession(x.Key()), b)
	}
	return nil
}

// files keeps the files whose chunks are all there, and returns their keys.
func (m *mender) files(terms map[memory.DocID]bool, unread map[string]bool) map[string]bool {
	kept := map[string]bool{}
next:
	for k := range m.keys(prefixFile) {
		if unread[string(k)] {
			continue
		}
		at := fileKeyOf(k[len(prefixFile):])
		f, err := m.File(at.Sandbox, at.Path)
		if err != nil {
			m.del(k)
			continue
		}
		for _, c := range f.Chunks {
			if !terms[c.Doc] {
				m.del(k)
				continue next
			}
		}
		kept[string(k[len(prefixFile):])] = true
	}
	for k := range m.keys(prefixChunkSet) {
		if unread[string(k)] {
			continue
		}
		id, err := parseChunkSet(k)
		if err == nil {
			_, err = m.chunkSet(id)
		}
		if err != nil {
			m.del(k)
		}
	}
	return kept
}

// dangling removes what belongs to something missing, and restores the turns of receipts.
func (m *mender) dangling(sessions map[memory.SessionKey]bool, files, unread map[string]bool) {
	for k := range m.keys(prefixUsed) {
		if !files[string(k[len(prefixUsed):])] {
			m.del(k)
		}
	}
	for k := range m.keys(prefixState) {
		if at, ok := parseState(k); !ok ||
			at.Kind == memory.StateSession && !sessions[memory.SessionKey{Project: at.Project, ID: at.ID}] {
			m.del(k)
		}
	}
	turns := map[string]write{} // by receipt
	for k := range m.keys(prefixReceipt) {
		if unread[string(k)] {
			continue
		}
		r, err := m.Receipt(string(k[len(prefixReceipt):]))
		if err != nil {
			m.del(k)
			continue
		}
		if r.Session == "" {
			continue
		}
		if t, err := turnOf(&r); err == nil {
			turns[r.ID] = write{key: t.key(), value: seal(t.key(), nil), ttl: m.left(k)}
		}
	}
	for k := range m.keys(prefixTurn) {
		if t, ok := parseTurn(k); ok && bytes.Equal(turns[t.receipt].key, k) {
			delete(turns, t.receipt)
		} else {
			m.del(k)
		}
	}
	for _, w := range turns {
		m.writes = append(m.writes, w)
	}
}

// left is how long a value is kept from now on; 0 means forever.
func (m *mender) left(key []byte) time.Duration {
	item, err := m.txn.Get(key)
	if err != nil || item.ExpiresAt() == 0 {
		return 0
	}
	return max(time.Until(time.Unix(int64(item.ExpiresAt()), 0)), time.Second)
}

// meta sets the schema version, if it is missing, the identity and the sequence number.
func (m *mender) meta(x *examination) error {
	if _, err := getUint(m.txn, keySchema); err != nil {
		m.putNumber(keySchema, Schema())
	}
	if x.last.Store != 0 {
		m.putNumber(keyID, x.last.Store)
	}
	seq, err := getUint(m.txn, keySeq)
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) && memory.CodeOf(err) != memory.CodeCorrupt {
		return err
	}
	m.putNumber(keySeq, max(seq, x.seq, x.last.Seq))
	return nil
}

func (m *mender) putNumber(key []byte, n uint64) { m.put(key, bigEndian(n)) }
