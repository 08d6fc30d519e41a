package clean

// maxUses is how many pairs may have the same text. More would teach that texts with one
// frequent partner mean the same.
const maxUses = 3

// Seen drops repeated pairs, and pairs of a text that was used maxUses times. Its zero
// value is empty. It is not safe for concurrent use, because the result depends on the
// order.
type Seen struct {
	pairs map[uint64]struct{}
	uses  map[uint64]uint8
}

// Check returns a reason if a pair was seen often enough; otherwise it records the pair.
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
