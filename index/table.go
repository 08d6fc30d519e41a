package index

const (
	pageBits = 10
	pageSize = 1 << pageBits
)

// Table holds one value per document number. It is an array in pages of 1,024 numbers:
// reading costs nanoseconds, and a value costs one bit more than its size. Pages without
// values are freed, because numbers are never reused and a process that re-indexes for
// months must not grow.
//
// The zero Table is empty and ready. It is not safe for concurrent use: its owner locks.
type Table[T any] struct {
	pages []*page[T]
	len   int
}

type page[T any] struct {
	present [pageSize / 64]uint64
	count   int
	values  [pageSize]T
}

// Len is the number of documents that have a value.
func (t *Table[T]) Len() int { return t.len }

// Get returns the value of doc and whether it has one.
func (t *Table[T]) Get(doc uint32) (value T, ok bool) {
	if p := doc >> pageBits; int(p) < len(t.pages) && t.pages[p] != nil {
		at := doc % pageSize
		return t.pages[p].values[at], t.pages[p].present[at/64]>>(at%64)&1 == 1
	}
	return value, false
}

// Set gives doc a value or replaces the one it has.
func (t *Table[T]) Set(doc uint32, value T) {
	number := int(doc >> pageBits)
	if missing := number + 1 - len(t.pages); missing > 0 {
		t.pages = append(t.pages, make([]*page[T], missing)...)
	}
	p := t.pages[number]
	if p == nil {
		p = new(page[T])
		t.pages[number] = p
	}
	at := doc % pageSize
	if bit := uint64(1) << (at % 64); p.present[at/64]&bit == 0 {
		p.present[at/64] |= bit
		p.count++
		t.len++
	}
	p.values[at] = value
}

// Delete removes the value of doc. Without a value it is a no-op.
func (t *Table[T]) Delete(doc uint32) {
	number := int(doc >> pageBits)
	if number >= len(t.pages) || t.pages[number] == nil {
		return
	}
	p, at := t.pages[number], doc%pageSize
	bit := uint64(1) << (at % 64)
	if p.present[at/64]&bit == 0 {
		return
	}
	p.present[at/64] &^= bit
	p.count--
	t.len--
	var none T // release what the value points to
	p.values[at] = none
	if p.count == 0 {
		t.pages[number] = nil
	}
}
