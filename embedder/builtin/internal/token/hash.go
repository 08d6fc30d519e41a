package token

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), over bytes to find a
// piece and over code points for a gram. The buckets of a model depend on it:
// another hash needs another version of the file.
const (
	fnvPrime  = 0x100000001b3
	fnvOffset = 0xcbf29ce484222325
)

func hash(piece []byte) uint64 {
	h := uint64(fnvOffset)
	for _, b := range piece {
		h = (h ^ uint64(b)) * fnvPrime
	}
	return mix(h)
}

func hashRunes(gram []rune) uint64 {
	h := uint64(fnvOffset)
	for _, r := range gram {
		h = (h ^ uint64(uint32(r))) * fnvPrime
	}
	return mix(h)
}

// mix spreads the bits, of which FNV leaves the upper ones poor for short
// input: the finaliser of MurmurHash3 (https://github.com/aappleby/smhasher),
// public domain.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
