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

// append adds the row of a vector, which must not be zero.
func (r *rows) append(vec []float32) {
	if len(r.scales)%r.perPage == 0 {
		r.pages = append(r.pages, make([]int8, r.perPage*r.dim))
	}
	r.scales = append(r.scales, 0)
	r.set(uint32(len(r.scales)-1), vec)
}

// set replaces a row. Rounding what was rounded changes nothing, and the store rounds in the
// same way (internal/store/codec.go, which must not depend on an index), so nothing is lost.
func (r *rows) set(slot uint32, vec []float32) {
	var most float64
	for _, x := range vec {
		most = max(most, math.Abs(float64(x)))
	}
	row := r.row(slot)
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

// widen writes the components of a row to out, without its scale.
func widen(row []int8, out []float32) {
	out = out[:len(row)]
	for len(row) >= 8 {
		c, o := (*[8]int8)(row), (*[8]float32)(out)
		o[0], o[1], o[2], o[3] = float32(c[0]), float32(c[1]), float32(c[2]), float32(c[3])
		o[4], o[5], o[6], o[7] = float32(c[4]), float32(c[5]), float32(c[6]), float32(c[7])
		row, out = row[8:], out[8:]
	}
	for i, c := range row {
		out[i] = float32(c)
	}
}
