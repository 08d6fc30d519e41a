package redact

// keywords finds the keywords of all rules in one pass. It is an Aho–Corasick automaton,
// ignoring ASCII case, in which every state has a step for every class of bytes instead
// of failure links.
type keywords struct {
	class   [256]uint8 // byte to class; 0 is all bytes that are in no keyword
	classes int
	// next is state*classes + class to state. pack brings it into the form that scan needs:
	// states are multiplied by classes, and the top bit means that a keyword ends there.
	next  []uint32
	found [][]keyword
}

const ends = 1 << 31

// keyword is a keyword that ends in a state.
type keyword struct {
	rule *rule
	len  int
}

// hit is a position at which a rule is tried.
type hit struct {
	rule *rule
	at   int // of the keyword's first byte
}

func newKeywords(rules []*rule) *keywords {
	k := &keywords{classes: 1}
	for _, r := range rules {
		for _, word := range r.keywords {
			for i := range len(word) {
				if c := word[i]; k.class[c] == 0 {
					k.class[c] = uint8(k.classes)
					if c >= 'a' && c <= 'z' {
						k.class[c-'a'+'A'] = uint8(k.classes)
					}
					k.classes++
				}
			}
		}
	}
	k.addState()
	for _, r := range rules {
		for _, word := range r.keywords {
			state := 0
			for i := range len(word) {
				step := state*k.classes + int(k.class[word[i]])
				if k.next[step] == 0 {
					k.next[step] = uint32(k.addState())
				}
				state = int(k.next[step])
			}
			k.found[state] = append(k.found[state], keyword{r, len(word)})
		}
	}
	k.link()
	k.pack()
	return k
}

func (k *keywords) addState() int {
	k.next = append(k.next, make([]uint32, k.classes)...)
	k.found = append(k.found, nil)
	return len(k.found) - 1
}

// link fills in the missing steps, breadth first: a missing step is copied from the state
// of the longest suffix.
func (k *keywords) link() {
	suffix := make([]int, len(k.found))
	var queue []int
	for c := range k.classes {
		if s := int(k.next[c]); s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		k.found[state] = append(k.found[state], k.found[suffix[state]]...)
		for c := range k.classes {
			step := state*k.classes + c
			fallback := k.next[suffix[state]*k.classes+c]
			if s := int(k.next[step]); s != 0 {
				suffix[s] = int(fallback)
				queue = append(queue, s)
			} else {
				k.next[step] = fallback
			}
		}
	}
}

// pack prepares next for scan. A state fits in 31 bits: the keywords have some 1,500 states
// of 40 classes.
func (k *keywords) pack() {
	for i, state := range k.next {
		k.next[i] = state * uint32(k.classes)
		if len(k.found[state]) > 0 {
			k.next[i] |= ends
		}
	}
}

func (k *keywords) scan(text string) []hit {
	var hits []hit
	next, at := k.next, uint32(0)
	for i := range len(text) {
		at = next[int(at)+int(k.class[text[i]])]
		if at < ends {
			continue
		}
		at &^= ends
		for _, w := range k.found[int(at)/k.classes] {
			hits = append(hits, hit{w.rule, i + 1 - w.len})
		}
	}
	return hits
}
