package table

import "math"

// grid is the range of steps of a component: -most to most, stored with the offset zero so
// that they are never negative.
type grid struct{ bits, zero, most int }

func gridOf(bits int) grid {
	zero := 1 << (bits - 1)
	return grid{bits: bits, zero: zero, most: zero - 1}
}

// quantiseRows computes the scale and the steps of every row.
func (m *Model) quantiseRows(rows []float32) {
	g, width := gridOf(m.bits), m.widths[0]
	scales := make([]float32, len(m.scales))
	var most float32
	for t := range scales {
		scales[t] = g.scale(rows[t*width:][:width])
		most = max(most, scales[t])
	}
	m.scaleUnit = most / math.MaxUint16
	for t, scale := range scales {
		m.scales[t] = units(scale, m.scaleUnit)
		m.rows = g.pack(m.rows, rows[t*width:][:width], float32(m.scales[t])*m.scaleUnit)
	}
}

// clips are the shares of a row's largest component that are tried as the end of the grid.
// With few steps, clipping the largest components is better than rounding all of them
// coarsely.
var clips = [...]float32{1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6}

// scale returns the size of a step in a row: the one with the least squared error of those
// tried. With many steps no clipping is needed.
func (g grid) scale(row []float32) float32 {
	var most float32
	for _, x := range row {
		most = max(most, x, -x)
	}
	end := most / float32(g.most)
	if most == 0 || g.bits == 8 {
		return end
	}
	best, least := end, math.Inf(1)
	for _, clip := range clips {
		scale := end * clip
		var sum float64
		for _, x := range row {
			// Every product is rounded explicitly: the choice must not depend on whether a
			// machine fuses it with the sum.
			d := float64(x - float32(float32(g.near(x, scale))*scale))
			sum += float64(d * d)
		}
		if sum < least {
			best, least = scale, sum
		}
	}
	return best
}

// near returns the step nearest to x.
func (g grid) near(x, scale float32) int {
	if scale == 0 {
		return 0
	}
	step := math.RoundToEven(float64(x) / float64(scale))
	return int(min(max(step, float64(-g.most)), float64(g.most)))
}

// pack appends the steps of a row to b: a byte for each, or half a byte, the
// lower half first.
func (g grid) pack(b []byte, row []float32, scale float32) []byte {
	perByte := 8 / g.bits
	for i := 0; i < len(row); i += perByte {
		var x byte
		for j := range perByte {
			x |= byte(g.near(row[i+j], scale)+g.zero) << (j * g.bits)
		}
		b = append(b, x)
	}
	return b
}

// at returns the i-th step of a packed row.
func (g grid) at(row []byte, i int) int {
	bit := i * g.bits
	return int(row[bit/8]>>(bit%8))&(1<<g.bits-1) - g.zero
}

// units returns x in whole units.
func units(x, unit float32) uint16 {
	if unit == 0 {
		return 0
	}
	return uint16(min(math.RoundToEven(float64(x)/float64(unit)), math.MaxUint16))
}
