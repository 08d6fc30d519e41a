package store

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// The layout. Every key starts with a letter and a slash. Ids contain no NUL.
//
//	m/…                     schema version, sequence number and its predecessor, the store's
//	                        id, whether background work is paused, what tells its saved
//	                        indexes apart
//	r/<record>              a record
//	p/<project>             a project
//	s/<sandbox>             a sandbox
//	f/<sandbox> 0 <path>    a file, with its chunks or the id of its chunk set
//	c/<chunk set:16>        the chunks of a text
//	u/<sandbox> 0 <path>    when code of a file was last shown
//	t/<doc>                 a document's terms
//	v/<collection:8><doc>   a document's vector in a vector collection
//	x/<collection:8>        a vector collection: its name and probes
//	j/<job>, J/<job>        a waiting or running job, a dead letter
//	n/<project> 0 <session> a session
//	g/<project> 0 <kind> 0 <id>  a state: JSON as it came
//	d/<record>              a tombstone: the record was forgotten
//	l/<receipt>             the ledger
//	i/<project> 0 <session> 0 <turn:4><receipt> 0 <purpose>  a turn: a receipt of a session
//	a/<seq:8>               the audit log
//	q/<request>             what a client's write was answered, for a day
var (
	keySchema = []byte("m/schema")
	keySeq    = []byte("m/seq")
	keyID     = []byte("m/id")   // a random number that tells stores apart
	keyPrev   = []byte("m/prev") // chains the commits, so that a missing one is noticed
	keyPaused = []byte("m/paused")
	keySaved  = []byte("m/saved") // which saved indexes belong to the database

	prefixRecord     = []byte("r/")
	prefixProject    = []byte("p/")
	prefixSandbox    = []byte("s/")
	prefixFile       = []byte("f/")
	prefixChunkSet   = []byte("c/")
	prefixUsed       = []byte("u/")
	prefixTerms      = []byte("t/")
	prefixVector     = []byte("v/")
	prefixCollection = []byte("x/")
	prefixJob        = []byte("j/")
	prefixDead       = []byte("J/")
	prefixSession    = []byte("n/")
	prefixState      = []byte("g/")
	prefixTomb       = []byte("d/")
	prefixReceipt    = []byte("l/")
	prefixTurn       = []byte("i/")
	prefixAudit      = []byte("a/")
	prefixRequest    = []byte("q/")
)

func key[ID ~string | ~[]byte](prefix []byte, id ID) []byte {
	return append(slices.Clone(prefix), id...)
}

func keyFile(sandbox, path string) []byte {
	return key(prefixFile, sandbox+"\x00"+path)
}

func keyChunkSet(id chunkSetID) []byte { return key(prefixChunkSet, id[:]) }

// parseChunkSet reads what keyChunkSet wrote.
func parseChunkSet(k []byte) (chunkSetID, error) {
	if len(k) != len(prefixChunkSet)+len(chunkSetID{}) {
		return chunkSetID{}, corrupt(k, "the key has the wrong length")
	}
	return chunkSetID(k[len(prefixChunkSet):]), nil
}

func keyUsed(k memory.FileKey) []byte {
	return key(prefixUsed, k.Sandbox+"\x00"+k.Path)
}

// fileKeyOf parses a key without its prefix.
func fileKeyOf(rest []byte) memory.FileKey {
	sandbox, path, _ := strings.Cut(string(rest), "\x00")
	return memory.FileKey{Sandbox: sandbox, Path: path}
}

func keySession(k memory.SessionKey) []byte {
	return key(prefixSession, k.Project+"\x00"+k.ID)
}

func keyState(k memory.StateKey) []byte {
	return key(prefixState, k.Project+"\x00"+k.Kind+"\x00"+k.ID)
}

func prefixStates(project string) []byte { return key(prefixState, project+"\x00") }

func prefixTurns(project string) []byte { return key(prefixTurn, project+"\x00") }

func prefixSessionTurns(k memory.SessionKey) []byte {
	return key(prefixTurn, k.Project+"\x00"+k.ID+"\x00")
}

func keyTerms(doc memory.DocID) []byte { return key(prefixTerms, doc[:]) }

// collectionKey is a collection's name shortened to 8 bytes.
type collectionKey [8]byte

func collectionKeyOf(name string) collectionKey {
	id := memory.DocumentID(name)
	return collectionKey(id[:8])
}

func keyVector(c collectionKey, doc memory.DocID) []byte {
	return append(prefixVectors(c), doc[:]...)
}

func prefixVectors(c collectionKey) []byte { return key(prefixVector, c[:]) }

func keyCollection(c collectionKey) []byte { return key(prefixCollection, c[:]) }

func keyAudit(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clone(prefixAudit), seq)
}
