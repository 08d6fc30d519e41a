package store

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// The layout. Every key starts with one letter and a slash; ids hold no NUL.
//
//	m/…                     schema version, sequence number and the one of the commit before,
//	                        which store it is, whether work is held
//	r/<record>              a record
//	p/<project>             a project
//	s/<sandbox>             a sandbox
//	f/<sandbox> 0 <path>    a file, which names its cut or holds its chunks
//	c/<cut:16>              what a text was cut into: its chunks
//	u/<sandbox> 0 <path>    when code of a file was last shown
//	t/<doc>                 a document's terms
//	v/<space:8><doc>        a document's vector in a space
//	x/<space:8>             a space: the model it belongs to
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
	keyPrev   = []byte("m/prev") // chains the commits: in logs a missing one shows
	keyPaused = []byte("m/paused")

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

func key(prefix []byte, id string) []byte { return append(slices.Clip(slices.Clone(prefix)), id...) }

func keyFile(sandbox, path string) []byte {
	return key(prefixFile, sandbox+"\x00"+path)
}

func keyChunkSet(id chunkSetID) []byte { return key(prefixChunkSet, string(id[:])) }

func keyUsed(k memory.FileKey) []byte {
	return key(prefixUsed, k.Sandbox+"\x00"+k.Path)
}

// fileKeyOf reads the file that a key names behind its prefix.
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

func keyTerms(doc memory.DocID) []byte { return append(slices.Clone(prefixTerms), doc[:]...) }

// collectionKey shortens a space's name to 8 bytes.
type collectionKey [8]byte

func collectionKeyOf(space string) collectionKey {
	id := memory.DocumentID(space)
	return collectionKey(id[:8])
}

func keyVector(space collectionKey, doc memory.DocID) []byte {
	return append(prefixVectors(space), doc[:]...)
}

func prefixVectors(space collectionKey) []byte {
	return append(slices.Clone(prefixVector), space[:]...)
}

func keyAudit(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clone(prefixAudit), seq)
}
