package builtin

import "sync"

// NarrowDim is the smaller width that the table was trained for. The program does not
// use it; its vectors are tested because a table must have it to be exchanged.
const NarrowDim = 128

// NewNarrow returns the built-in embedder with vectors of NarrowDim components: the
// beginnings of the vectors of New, scaled to length 1 again.
var NewNarrow = sync.OnceValue(func() *Embedder { return newEmbedder(read, NarrowDim) })
