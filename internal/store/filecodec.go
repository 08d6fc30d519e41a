package store

import (
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/recalld/recalld/internal/memory"
)

// storedFile is a file on disk: arrays instead of named fields, since a large repository
// has a hundred thousand chunks. The chunks are encoded on their own, so that a reader of
// the other fields skips them.
type storedFile struct {
	_          struct{} `cbor:",toarray"`
	Project    string
	Hash       memory.DocID
	Size       int64
	ModTime    int64 // ns since 1970
	Lang       string
	Generation uint64
	Chunker    int
	Chunks     cbor.RawMessage // []storedChunk, none if they are in the chunk set
	Head       string
	Pruned     bool
	// SetChunks is the number of chunks in the file's chunk set; 0 means that it has none.
	// SetHead is set if the preview is in the chunk set too.
	SetChunks int
	SetHead   bool
	// ChangeTime is in ns since 1970; 0 is none.
	ChangeTime int64
	Inode      uint64
}

// chunkSetID returns the id of the file's chunk set, zero if it has none.
func (f *storedFile) chunkSetID() chunkSetID {
	if f.SetChunks == 0 {
		return chunkSetID{}
	}
	return chunkSetIDOf(f.Hash, f.Lang, f.Chunker)
}

// fields is the number of fields of a storedFile. Earlier versions of the schema wrote
// fewer: 8 in version 1, 10 in version 2, 12 in versions 3 and 4.
const fields = 14

// lacking are the last fields of a storedFile when they are empty, in CBOR (RFC 8949, 3):
// Head, Pruned, SetChunks, SetHead, ChangeTime, Inode.
var lacking = [...]byte{0x60, 0xf4, 0x00, 0xf4, 0x00, 0x00}

// arrayHeader begins an array of less than 24 elements in CBOR, which it counts.
const arrayHeader = 0x80

// storedChunkSet is a chunk set on disk.
type storedChunkSet struct {
	_      struct{} `cbor:",toarray"`
	Head   string
	Chunks cbor.RawMessage // []storedChunk
}

// noChunks is an empty []storedChunk.
var noChunks = cbor.RawMessage{arrayHeader}

type storedChunk struct {
	_         struct{} `cbor:",toarray"`
	Doc       memory.DocID
	Hash      memory.DocID
	Start     int
	End       int
	StartLine int
	EndLine   int
	Symbol    string
}

func encodeChunks(list []memory.FileChunk) (cbor.RawMessage, error) {
	chunks := make([]storedChunk, len(list))
	for i, c := range list {
		chunks[i] = storedChunk{
			Doc: c.Doc, Hash: c.Hash, Start: c.Start, End: c.End,
			StartLine: c.StartLine, EndLine: c.EndLine, Symbol: c.Symbol,
		}
	}
	return encode(chunks)
}

// decodeChunks leaves to the library what is not as encodeChunks writes it.
func decodeChunks(raw cbor.RawMessage) ([]memory.FileChunk, error) {
	if list, ok := readChunks(raw); ok {
		return list, nil
	}
	chunks, err := decode[[]storedChunk](raw)
	if err != nil {
		return nil, err
	}
	list := make([]memory.FileChunk, len(chunks))
	for i, c := range chunks {
		list[i] = memory.FileChunk{
			Doc: c.Doc, Hash: c.Hash, Start: c.Start, End: c.End,
			StartLine: c.StartLine, EndLine: c.EndLine, Symbol: c.Symbol,
		}
	}
	return list, nil
}

// valueOf returns a file's value without chunks and preview.
func valueOf(f *memory.File) storedFile {
	return storedFile{
		Project: f.Project, Hash: f.Hash, Size: f.Size, ModTime: f.ModTime.UnixNano(), Lang: f.Lang,
		Generation: f.Generation, Chunker: f.Chunker, Pruned: f.Pruned, ChangeTime: nanoseconds(f.ChangeTime), Inode: f.Inode,
	}
}

// nanoseconds returns a time as it is stored, 0 for none; momentOf reads it.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func momentOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// unknownModTime is how the zero time is stored, which a file has that changed while it was
// read: 0 is the time of files in reproducible archives.
var unknownModTime = time.Time{}.UnixNano()

func modTimeOf(ns int64) time.Time {
	if ns == unknownModTime {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

func decodeStoredFile(payload []byte) (storedFile, error) {
	if len(payload) > 0 {
		switch missing := arrayHeader + fields - int(payload[0]); missing {
		case fields - 8, fields - 10, fields - 12:
			payload = slices.Concat([]byte{arrayHeader + fields}, payload[1:], lacking[len(lacking)-missing:])
		}
	}
	return decode[storedFile](payload)
}

// decodeFile reads a file and its chunk set. It returns the id of the chunk set also when
// that cannot be read.
func decodeFile(sandbox, path string, payload []byte, find findChunkSet) (memory.File, chunkSetID, error) {
	in, err := decodeStoredFile(payload)
	if err != nil {
		return memory.File{}, chunkSetID{}, err
	}
	c := chunkSet{head: in.Head}
	id := in.chunkSetID()
	if id == (chunkSetID{}) {
		c.chunks, err = decodeChunks(in.Chunks)
	} else {
		c, err = in.from(find, id)
	}
	if err != nil {
		return memory.File{}, id, err
	}
	return memory.File{
		Project: in.Project, Sandbox: sandbox, Path: path, Hash: in.Hash, Size: in.Size,
		ModTime: modTimeOf(in.ModTime), ChangeTime: momentOf(in.ChangeTime), Inode: in.Inode, Lang: in.Lang,
		Generation: in.Generation, Chunker: in.Chunker, Chunks: c.chunks,
		Head: c.head, Pruned: in.Pruned,
	}, id, nil
}

// from finds the file's chunk set and gives it the file's own preview.
func (f *storedFile) from(find findChunkSet, id chunkSetID) (chunkSet, error) {
	c, err := find(id)
	if err == nil && (len(c.chunks) != f.SetChunks || f.SetHead && c.head == "") {
		err = memory.Errorf(memory.CodeCorrupt, "decode file: its chunk set is another one")
	}
	if !f.SetHead {
		c.head = f.Head
	}
	return c, err
}

func (c *storedChunkSet) decoded() (chunkSet, error) {
	chunks, err := decodeChunks(c.Chunks)
	return chunkSet{c.Head, chunks}, err
}

func decodeChunkSet(payload []byte) (chunkSet, error) {
	in, err := decode[storedChunkSet](payload)
	if err != nil {
		return chunkSet{}, err
	}
	return in.decoded()
}

// decodeMetadata reads the FileMetadata of a file, without its chunks.
func decodeMetadata(payload []byte) (memory.FileMetadata, chunkSetID, error) {
	in, err := decodeStoredFile(payload)
	if err != nil {
		return memory.FileMetadata{}, chunkSetID{}, err
	}
	n := in.SetChunks
	if n == 0 {
		n, err = arrayLen(in.Chunks)
	}
	return memory.FileMetadata{
		Project: in.Project, Hash: in.Hash, Size: in.Size, ModTime: modTimeOf(in.ModTime),
		ChangeTime: momentOf(in.ChangeTime), Inode: in.Inode, Lang: in.Lang,
		Generation: in.Generation, Chunker: in.Chunker, Chunks: n, Head: in.Head != "" || in.SetHead, Pruned: in.Pruned,
	}, in.chunkSetID(), err
}

// arrayLen returns the length in the header of an array in CBOR.
func arrayLen(raw []byte) (int, error) {
	r := cborReader{rest: raw}
	n := r.head(cborArray)
	if r.bad {
		return 0, memory.Errorf(memory.CodeCorrupt, "decode file: its chunks are not an array")
	}
	return int(n), nil
}
