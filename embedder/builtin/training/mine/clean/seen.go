package clean

// maxUses is how many pairs may hold the same text. More would teach that
// texts which merely share a frequent side mean the same.
const maxUses = 3

// Seen drops pairs that were seen before, and those of a text that was seen
// maxUses times. Its zero value has seen nothing. It is not safe for
// concurrent use: which of several alike is kept depends on their order.
type Seen struct {
	pairs map[uint64]struct{}
	uses  map[uint64]uint8
}

// Check returns why a pair has been seen enough, if so, and else remembers it.
func (s *Seen) Check(a, b string) (Reason, bool) {
	if s.uses == nil {
		s.pairs, s.uses = map[uint64]struct{}{}, map[uint64]uint8{}
	}
	keyA, keyB := Key(a), Key(b)
	both := keyA*31 + keyB
	if _, ok := s.pairs[both]; ok {
		return Repeated, true
	}
	if s.uses[keyA] >= maxUses || s.uses[keyB] >= maxUses {
		return Frequent, true
	}
	s.pairs[both] = struct{}{}
	s.uses[keyA]++
	s.uses[keyB]++
	return "", false
}
