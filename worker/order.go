package worker

import (
	"cmp"
	"slices"
)

// order counts how many waiting jobs stand ahead of one: those of a higher
// priority, and of the same priority those that came earlier.
type order struct {
	levels []*level // by priority, highest first, none empty
}

// level is the places of one priority.
type level struct {
	priority int
	places   places
}

func (o *order) find(priority int) (int, bool) {
	return slices.BinarySearchFunc(o.levels, priority, func(l *level, p int) int {
		return cmp.Compare(p, l.priority)
	})
}

func (o *order) add(priority int, place uint64) {
	i, ok := o.find(priority)
	if !ok {
		o.levels = slices.Insert(o.levels, i, &level{priority: priority})
	}
	o.levels[i].places.add(place)
}

// remove takes out what add put in.
func (o *order) remove(priority int, place uint64) {
	i, _ := o.find(priority)
	o.levels[i].places.remove(place)
	if o.levels[i].places.size == 0 {
		o.levels = slices.Delete(o.levels, i, i+1)
	}
}

// ahead returns the number of jobs before the given one.
func (o *order) ahead(priority int, place uint64) int {
	n := 0
	for _, l := range o.levels {
		if l.priority <= priority {
			if l.priority == priority {
				n += l.places.rank(place)
			}
			break
		}
		n += l.places.size
	}
	return n
}

// chunkSize bounds what an insertion moves: half a page of memory.
const chunkSize = 256

// places is a sorted set of numbers in chunks. It is filled at its end and
// emptied near its front, as a queue is, and there it costs next to nothing;
// a rank adds up the chunks before it.
type places struct {
	chunks [][]uint64 // none empty
	size   int
}

// chunk returns the index of the chunk that holds, or should hold, the place.
func (p *places) chunk(place uint64) int {
	i, ok := slices.BinarySearchFunc(p.chunks, place, func(c []uint64, v uint64) int {
		return cmp.Compare(c[0], v)
	})
	if !ok && i > 0 {
		i--
	}
	return i
}

func (p *places) add(place uint64) {
	p.size++
	if len(p.chunks) == 0 {
		p.chunks = append(p.chunks, []uint64{place})
		return
	}
	i := p.chunk(place)
	c := p.chunks[i]
	at, _ := slices.BinarySearch(c, place)
	switch {
	case len(c) < chunkSize:
		p.chunks[i] = slices.Insert(c, at, place)
	case i == len(p.chunks)-1 && at == len(c):
		p.chunks = append(p.chunks, append(make([]uint64, 0, chunkSize), place))
	default:
		left, right := c[:chunkSize/2:chunkSize/2], slices.Clone(c[chunkSize/2:])
		if at <= len(left) {
			left = slices.Insert(left, at, place)
		} else {
			right = slices.Insert(right, at-len(left), place)
		}
		p.chunks[i] = left
		p.chunks = slices.Insert(p.chunks, i+1, right)
	}
}

func (p *places) remove(place uint64) {
	i := p.chunk(place)
	at, _ := slices.BinarySearch(p.chunks[i], place)
	p.size--
	p.chunks[i] = slices.Delete(p.chunks[i], at, at+1)
	if len(p.chunks[i]) == 0 {
		p.chunks = slices.Delete(p.chunks, i, i+1)
	}
}

// rank returns how many places are smaller.
func (p *places) rank(place uint64) int {
	if len(p.chunks) == 0 {
		return 0
	}
	i, n := p.chunk(place), 0
	for _, c := range p.chunks[:i] {
		n += len(c)
	}
	at, _ := slices.BinarySearch(p.chunks[i], place)
	return n + at
}
