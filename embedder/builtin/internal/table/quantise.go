package table

import "math"

// zero is the byte of a component that is 0.
const zero = 128

// grid is where the bytes of a row may be: zero + k·step, k from -most to most.
type grid struct{ step, most int }

func gridOf(bits int) grid {
	if bits == 4 {
		return grid{step: 16, most: 7}
	}
	return grid{step: 1, most: 127}
}

// quantiseRows finds the scale and the bytes of every row.
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
		m.scales[t] = steps(scale, m.scaleUnit)
		g.quantise(rows[t*width:][:width], float32(m.scales[t])*m.scaleUnit, m.row(uint32(t)))
	}
}

// clips are the parts of a row's largest component that are tried as the end of
// the grid. With few steps it is better to cut the largest components than to
// round all of them coarsely.
var clips = [...]float32{1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6}

// scale returns what one byte is worth in a row, so that the squared error is
// the least of those tried. Many steps are fine enough for any component.
func (g grid) scale(row []float32) float32 {
	var most float32
	for _, x := range row {
		most = max(most, x, -x)
	}
	end := most / float32(g.most*g.step)
	if most == 0 || g.step == 1 {
		return end
	}
	var best float32
	least := math.Inf(1)
	for _, clip := range clips {
		scale := end * clip
		var sum float64
		for _, x := range row {
			d := float64(x - float32(float32(g.near(x/scale))*scale))
			sum += float64(d * d) // rounded: the choice must not depend on fused products
		}
		if sum < least {
			best, least = scale, sum
		}
	}
	return best
}

// quantise writes the bytes of a row.
func (g grid) quantise(row []float32, scale float32, dst []byte) {
	for i, x := range row {
		dst[i] = zero
		if scale > 0 {
			dst[i] = byte(zero + g.near(x/scale))
		}
	}
}

// near returns the place on the grid nearest to x, 0 being zero.
func (g grid) near(x float32) int {
	k := int(math.RoundToEven(float64(x) / float64(g.step)))
	return min(max(k, -g.most), g.most) * g.step
}

// steps returns x in whole units.
func steps(x, unit float32) uint16 {
	if unit == 0 {
		return 0
	}
	return uint16(min(math.RoundToEven(float64(x)/float64(unit)), math.MaxUint16))
}
