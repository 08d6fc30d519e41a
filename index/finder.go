package index

// Finder is a hash table of numbers that stand for keys. Its owner has the keys and gives
// their hashes, so that a number takes some 6 bytes; a map would hold each key a second time.
// It uses open addressing, at most 3/4 full. The zero Finder is empty and ready. It is not
// safe for concurrent changes: its owner locks.
type Finder struct {
	slots []uint32 // number plus one; 0 is free
	len   int
}

const minFinder = 16

// Len is how many numbers there are.
func (f *Finder) Len() int { return f.len }

// Find returns the number whose key has the hash and for which is returns true.
func (f *Finder) Find(hash uint64, is func(number uint32) bool) (number uint32, ok bool) {
	if f.len == 0 {
		return 0, false
	}
	mask := uint64(len(f.slots) - 1)
	for i := hash & mask; f.slots[i] != 0; i = (i + 1) & mask {
		if number := f.slots[i] - 1; is(number) {
			return number, true
		}
	}
	return 0, false
}

// Add adds a number that is not there. hashOf returns the hash of a number's key.
func (f *Finder) Add(number uint32, hashOf func(number uint32) uint64) {
	f.Grow(1, hashOf)
	f.place(number+1, hashOf(number))
	f.len++
}

// Grow makes room for n more numbers.
func (f *Finder) Grow(n int, hashOf func(number uint32) uint64) {
	size := max(len(f.slots), minFinder)
	for 4*(f.len+n) > 3*size {
		size *= 2
	}
	if size == len(f.slots) {
		return
	}
	before := f.slots
	f.slots = make([]uint32, size)
	for _, s := range before {
		if s != 0 {
			f.place(s, hashOf(s-1))
		}
	}
}

func (f *Finder) place(slot uint32, hash uint64) {
	mask := uint64(len(f.slots) - 1)
	i := hash & mask
	for f.slots[i] != 0 {
		i = (i + 1) & mask
	}
	f.slots[i] = slot
}

// Remove removes a number. hashOf must still have its key. An unknown number is a no-op.
func (f *Finder) Remove(number uint32, hashOf func(number uint32) uint64) {
	if f.len == 0 {
		return
	}
	mask := uint64(len(f.slots) - 1)
	free := hashOf(number) & mask
	for f.slots[free] != number+1 {
		if f.slots[free] == 0 {
			return
		}
		free = (free + 1) & mask
	}
	f.len--
	// Numbers that found this slot taken move up.
	for i := (free + 1) & mask; f.slots[i] != 0; i = (i + 1) & mask {
		if home := hashOf(f.slots[i]-1) & mask; (i-home)&mask >= (i-free)&mask {
			f.slots[free] = f.slots[i]
			free = i
		}
	}
	f.slots[free] = 0
}
