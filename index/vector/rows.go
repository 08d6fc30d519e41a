package vector

import (
	"math"
	"slices"
	"unsafe"

	"github.com/recalld/recalld/index"
)

// rows hold vectors at a quarter of their size: a signed byte for each component, in steps of
// the largest one. The cosine of an embedding with its row is above .999. They are in pages
// without pointers, which the garbage collector does not look into.
type rows struct {
	dim, perPage int
	pages        [][]int8
	// unchanged says of each page that it is full and as it was saved last. It may lie in the
	// saved file: a change copies it first.
	unchanged []bool
	// owner keeps the saved file in memory, which the garbage collector does not know.
	owner any
	// savedRows is how many rows were saved last.
	savedRows int
	// scales bring rows to unit length, by slot.
	scales []float32
}

// pageBytes is the size of a page, unless a row is larger.
const pageBytes = 1 << 18

func newRows(dim int) rows { return rows{dim: dim, perPage: max(1, pageBytes/dim)} }

// grow adds a slot, whose row must be set.
func (r *rows) grow() {
	if len(r.scales)%r.perPage == 0 {
		r.pages, r.unchanged = append(r.pages, make([]int8, r.perPage*r.dim)), append(r.unchanged, false)
	}
	r.scales = append(r.scales, 0)
}

// set makes a row of a vector, which must not be zero. Rounding what was rounded changes
// nothing, and the store rounds in the same way (internal/store/codec.go, which must not depend
// on an index), so nothing is lost.
func (r *rows) set(slot uint32, vec []float32) {
	most, row := largest(vec), r.own(slot)
	for i, x := range vec {
		row[i] = int8(math.Round(float64(x) / most * math.MaxInt8))
	}
	r.scales[slot] = float32(1 / norm(row))
}

// norm is the length of a row.
func norm(row []int8) float64 {
	var squares int64
	for _, c := range row {
		squares += int64(c) * int64(c)
	}
	return math.Sqrt(float64(squares))
}

func (r *rows) row(slot uint32) []int8 {
	at := int(slot) % r.perPage * r.dim
	return r.pages[int(slot)/r.perPage][at : at+r.dim]
}

// own is row for changes.
func (r *rows) own(slot uint32) []int8 {
	if p := int(slot) / r.perPage; r.unchanged[p] {
		r.pages[p], r.unchanged[p] = slices.Clone(r.pages[p]), false
	}
	return r.row(slot)
}

// dropLast moves the last row to a slot and removes it.
func (r *rows) dropLast(to uint32) {
	last := uint32(len(r.scales) - 1)
	if int(last)%r.perPage != 0 {
		r.own(last) // its page is not full any more
	}
	if to != last {
		copy(r.own(to), r.row(last))
	}
	r.scales[to] = r.scales[last]
	r.scales = r.scales[:last]
	if n := len(r.pages) - 1; int(last)%r.perPage == 0 {
		r.pages[n] = nil // its memory is free
		r.pages, r.unchanged = r.pages[:n], r.unchanged[:n]
	}
}

// vector writes the unit vector of a row to out.
func (r *rows) vector(slot uint32, out []float32) {
	row := r.row(slot)
	long := norm(row)
	for i, c := range row {
		out[i] = float32(float64(c) / long)
	}
}

// save writes all rows, one after another at the end.
func (r *rows) save(to *index.Saver) {
	for _, scale := range r.scales {
		to.Float(float64(scale))
	}
	r.savedRows = len(r.scales)
	left := r.savedRows * r.dim
	for i, page := range r.pages {
		n := min(left, len(page))
		to.Bytes(unsafe.Slice((*byte)(unsafe.Pointer(&page[0])), n))
		left -= n
		r.unchanged[i] = n == len(page) // the last one may grow
	}
}

// restore takes rows that were saved. Full pages stay where they are.
func (r *rows) restore(from *index.Restorer, count int) {
	r.scales = make([]float32, count)
	for slot := range r.scales {
		scale := from.Float()
		if r.scales[slot] = float32(scale); scale <= 0 || scale > 1 { // a row has whole numbers
			from.Fail("the scale of a vector is out of range")
		}
	}
	saved := from.Bytes(count * r.dim)
	if from.Err() != nil {
		return
	}
	r.owner, r.savedRows = from.Owner(), count
	for page := range slices.Chunk(signed(saved), r.perPage*r.dim) {
		full := len(page) == r.perPage*r.dim
		if !full { // it may grow
			page = append(make([]int8, 0, r.perPage*r.dim), page...)[:r.perPage*r.dim]
		}
		r.pages, r.unchanged = append(r.pages, page), append(r.unchanged, full)
	}
}

// remap lets the pages that were saved lie in what was saved.
func (r *rows) remap(saved []byte, owner any) {
	saved = saved[len(saved)-r.savedRows*r.dim:]
	size := r.perPage * r.dim
	for i, is := range r.unchanged {
		if is {
			r.pages[i] = signed(saved[i*size:][:size])
		}
	}
	r.owner = owner // last: nothing lies in what the former one has
}

// signed is the same bytes.
func signed(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// roundedQuery is a query as rows are compared with it: signed whole numbers, times unit.
// Their products with rows are whole numbers, too, so the sums are the same on any processor,
// in whatever order they are made.
type roundedQuery struct {
	components []int16
	unit       float32
}

// set rounds a query, which must not be zero. The rounding changes a cosine by √dim/65,534 at
// most, usually by a hundredth of that.
func (r *roundedQuery) set(query []float32) {
	most := largest(query)
	r.components = r.components[:0]
	for _, x := range query {
		r.components = append(r.components, int16(math.Round(float64(x)/most*math.MaxInt16)))
	}
	r.unit = float32(most / math.MaxInt16)
}

// largest is the largest component, whatever its sign.
func largest(vec []float32) (most float64) {
	for _, x := range vec {
		most = max(most, math.Abs(float64(x)))
	}
	return most
}

// dotRowPlain is dotRow on any processor.
func dotRowPlain(row []int8, query []int16) (sum int64) {
	query = query[:len(row)]
	for i, c := range row {
		sum += int64(c) * int64(query[i])
	}
	return sum
}
