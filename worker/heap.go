package worker

// heap is a binary min-heap whose items know their place in it, so that any of
// them can be taken out or moved in logarithmic time.
type heap[T any] struct {
	items []T
	// before says that a comes out ahead of b.
	before func(a, b T) bool
	// at is where an item keeps its place.
	at func(T) *int
}

func (h *heap[T]) len() int { return len(h.items) }

// peek returns the first item; the heap must not be empty.
func (h *heap[T]) peek() T { return h.items[0] }

func (h *heap[T]) push(x T) {
	*h.at(x) = len(h.items)
	h.items = append(h.items, x)
	h.up(len(h.items) - 1)
}

func (h *heap[T]) remove(x T) {
	i, last := *h.at(x), len(h.items)-1
	h.swap(i, last)
	var zero T
	h.items[last] = zero
	h.items = h.items[:last]
	if i < last {
		h.settle(i)
	}
}

// fix restores the order after x has changed.
func (h *heap[T]) fix(x T) { h.settle(*h.at(x)) }

func (h *heap[T]) settle(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

func (h *heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(h.items[i], h.items[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

// down says whether the item moved.
func (h *heap[T]) down(i int) bool {
	start := i
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if right := child + 1; right < len(h.items) && h.before(h.items[right], h.items[child]) {
			child = right
		}
		if !h.before(h.items[child], h.items[i]) {
			break
		}
		h.swap(i, child)
		i = child
	}
	return i > start
}

func (h *heap[T]) swap(i, j int) {
	if i == j {
		return
	}
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.at(h.items[i]), *h.at(h.items[j]) = i, j
}
