package vector

import "math"

// rows hold vectors at a quarter of their size: a signed byte for each component, in steps of
// the largest one. The cosine of an embedding with its row is above .999. They are in pages
// without pointers, which the garbage collector does not look into.
type rows struct {
	dim, perPage int
	pages        [][]int8
	// scales bring rows to unit length, by slot.
	scales []float32
}

// pageBytes is the size of a page, unless a row is larger.
const pageBytes = 1 << 18

func newRows(dim int) rows { return rows{dim: dim, perPage: max(1, pageBytes/dim)} }

// grow adds a slot, whose row must be set.
func (r *rows) grow() {
	if len(r.scales)%r.perPage == 0 {
		r.pages = append(r.pages, make([]int8, r.perPage*r.dim))
	}
	r.scales = append(r.scales, 0)
}

// setRow sets a row, which must not be zero.
func (r *rows) setRow(slot uint32, row []int8) {
	copy(r.row(slot), row)
	r.scales[slot] = float32(1 / norm(row))
}

// set makes a row of a vector, which must not be zero. Rounding what was rounded changes
// nothing, and the store rounds in the same way (internal/store/codec.go, which must not depend
// on an index), so nothing is lost.
func (r *rows) set(slot uint32, vec []float32) {
	most, row := largest(vec), r.row(slot)
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

// dropLast moves the last row to a slot and removes it.
func (r *rows) dropLast(to uint32) {
	last := uint32(len(r.scales) - 1)
	copy(r.row(to), r.row(last))
	r.scales[to] = r.scales[last]
	r.scales = r.scales[:last]
	if n := len(r.pages) - 1; int(last)%r.perPage == 0 {
		r.pages[n] = nil // its memory is free
		r.pages = r.pages[:n]
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
