package store

import "github.com/recalld/recalld/internal/memory"

// readChunks decodes a list of storedChunk. A question reads those of a hundred files, which by
// reflection was the largest part of its processor time. It returns false for what encodeChunks
// does not write.
func readChunks(raw []byte) (list []memory.FileChunk, ok bool) {
	r := cborReader{rest: raw}
	n := r.head(cborArray)
	const least = 1 + 2*(1+len(memory.DocID{})) + 4 + 1 // bytes of a chunk
	if r.bad || n > uint64(len(r.rest))/uint64(least) {
		return nil, false
	}
	list = make([]memory.FileChunk, n)
	for i := range list {
		c := &list[i]
		r.bad = r.bad || r.head(cborArray) != 7
		copy(c.Doc[:], r.take(cborBytes, len(c.Doc)))
		copy(c.Hash[:], r.take(cborBytes, len(c.Hash)))
		for _, field := range []*int{&c.Start, &c.End, &c.StartLine, &c.EndLine} {
			*field = int(r.head(cborUint))
		}
		if c.Symbol = r.text(); r.bad {
			return nil, false
		}
	}
	return list, len(r.rest) == 0
}
