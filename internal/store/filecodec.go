package store

import (
	"encoding/binary"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/recalld/recalld/internal/memory"
)

// storedFile is a file on disk: arrays instead of named fields, since a large
// repository has a hundred thousand chunks. The chunks are encoded on their own, so
// that whoever only wants the rest passes them over.
type storedFile struct {
	_          struct{} `cbor:",toarray"`
	Project    string
	Hash       memory.DocID
	Size       int64
	ModTime    int64 // ns since 1970
	Lang       string
	Generation uint64
	Chunker    int
	Chunks     cbor.RawMessage // []storedChunk
	Head       string
	Pruned     bool
}

// firstFile is a file as schema version 1 wrote it.
type firstFile struct {
	_          struct{} `cbor:",toarray"`
	Project    string
	Hash       memory.DocID
	Size       int64
	ModTime    int64
	Lang       string
	Generation uint64
	Chunker    int
	Chunks     cbor.RawMessage
}

// firstFileHeader begins a firstFile in CBOR: an array of eight (RFC 8949, 3.1).
const firstFileHeader = 0x88

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

func encodeFile(f *memory.File) ([]byte, error) {
	chunks := make([]storedChunk, len(f.Chunks))
	for i, c := range f.Chunks {
		chunks[i] = storedChunk{
			Doc: c.Doc, Hash: c.Hash, Start: c.Start, End: c.End,
			StartLine: c.StartLine, EndLine: c.EndLine, Symbol: c.Symbol,
		}
	}
	encoded, err := encode(chunks)
	if err != nil {
		return nil, err
	}
	return encode(storedFile{
		Project: f.Project, Hash: f.Hash, Size: f.Size, ModTime: f.ModTime.UnixNano(), Lang: f.Lang,
		Generation: f.Generation, Chunker: f.Chunker, Chunks: encoded, Head: f.Head, Pruned: f.Pruned,
	})
}

func decodeStoredFile(payload []byte) (storedFile, error) {
	if len(payload) == 0 || payload[0] != firstFileHeader {
		return decode[storedFile](payload)
	}
	in, err := decode[firstFile](payload)
	return storedFile{
		Project: in.Project, Hash: in.Hash, Size: in.Size, ModTime: in.ModTime, Lang: in.Lang,
		Generation: in.Generation, Chunker: in.Chunker, Chunks: in.Chunks,
	}, err
}

func decodeFile(sandbox, path string, payload []byte) (memory.File, error) {
	in, err := decodeStoredFile(payload)
	if err != nil {
		return memory.File{}, err
	}
	chunks, err := decode[[]storedChunk](in.Chunks)
	if err != nil {
		return memory.File{}, err
	}
	f := memory.File{
		Project: in.Project, Sandbox: sandbox, Path: path, Hash: in.Hash, Size: in.Size,
		ModTime: time.Unix(0, in.ModTime).UTC(), Lang: in.Lang,
		Generation: in.Generation, Chunker: in.Chunker, Chunks: make([]memory.FileChunk, len(chunks)),
		Head: in.Head, Pruned: in.Pruned,
	}
	for i, c := range chunks {
		f.Chunks[i] = memory.FileChunk{
			Doc: c.Doc, Hash: c.Hash, Start: c.Start, End: c.End,
			StartLine: c.StartLine, EndLine: c.EndLine, Symbol: c.Symbol,
		}
	}
	return f, nil
}

// decodeBrief reads of a file what its FileBrief says, without its chunks.
func decodeBrief(payload []byte) (memory.FileBrief, error) {
	in, err := decodeStoredFile(payload)
	if err != nil {
		return memory.FileBrief{}, err
	}
	n, err := arrayLen(in.Chunks)
	return memory.FileBrief{
		Project: in.Project, Hash: in.Hash, Size: in.Size, ModTime: time.Unix(0, in.ModTime).UTC(), Lang: in.Lang,
		Generation: in.Generation, Chunker: in.Chunker, Chunks: n, Head: in.Head != "", Pruned: in.Pruned,
	}, err
}

// arrayLen is the length of an array in CBOR, which its header says (RFC 8949, 3).
func arrayLen(raw []byte) (int, error) {
	const arrayType = 4
	if len(raw) == 0 || raw[0]>>5 != arrayType {
		return 0, memory.Errorf(memory.CodeCorrupt, "decode file: its chunks are no array")
	}
	switch n, rest := int(raw[0]&0x1f), raw[1:]; {
	case n < 24:
		return n, nil
	case n == 24 && len(rest) >= 1:
		return int(rest[0]), nil
	case n == 25 && len(rest) >= 2:
		return int(binary.BigEndian.Uint16(rest)), nil
	case n == 26 && len(rest) >= 4:
		return int(binary.BigEndian.Uint32(rest)), nil
	}
	return 0, memory.Errorf(memory.CodeCorrupt, "decode file: its chunks have no length")
}
