package contrast

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// loss computes the loss of a batch and its gradient: the cross-entropy of choosing the
// right b for each a and the right a for each b among all of the batch (InfoNCE, van den
// Oord et al., 2018; both ways as in CLIP, Radford et al., 2021), the mean over the widths.
// With unit vectors a_i and b_j, their cosine s_ij and temperature τ, the loss of a width
// is the mean over i of
//
//	½(log Σ_j exp(s_ij/τ) − s_ii/τ) + ½(log Σ_j exp(s_ji/τ) − s_ii/τ)
//
// Its buffers are kept between batches. It is for one goroutine at a time.
type loss struct {
	widths      []int
	temperature float32
	workers     int // see Model.Workers

	raw     []float32   // dot products of the components so far, pairs×pairs
	segment []float32   // dot products of the components of one segment
	pull    [][]float32 // by width: the derivatives of the loss by raw
	blocks  []float32   // sums over columns of blocks of rows, one after another

	a, b, bT []float32 // components of one segment: pairs×segment, and turned
	grad     []float32
	da, db   []float32
}

// blockRows is how many rows are added up in one column sum. Blocks do not depend on the
// number of goroutines, so neither do the sums.
const blockRows = 64

func newLoss(widths []int, temperature float64, workers int) *loss {
	return &loss{workers: workers, widths: widths, temperature: float32(temperature), pull: make([][]float32, len(widths))}
}

// of returns the loss of a batch of n pairs with the unit vectors a and b, one after
// another, and its derivatives by them, which are valid until the next call. masked lists
// for each a the indices of other b that also belong to it, or whose own a is the same.
// They count neither as right nor as wrong.
func (l *loss) of(a, b []float32, n int, masked [][]int) (value float64, da, db []float32) {
	width := len(a) / n
	l.raw = grown(l.raw, n*n)
	l.segment = grown(l.segment, n*n)
	l.da, l.db = grown(l.da, n*width), grown(l.db, n*width)
	clear(l.raw)
	clear(l.da)
	clear(l.db)
	start := 0
	for k, end := range l.widths {
		l.cut(a, b, n, start, end)
		vek32.MatMul_Into(l.segment, l.a, l.bT, end-start)
		vek32.Add_Inplace(l.raw, l.segment)
		l.pull[k] = grown(l.pull[k], n*n)
		value += l.ofWidth(a, b, n, k, masked)
		start = end
	}
	for k := len(l.widths) - 1; k >= 0; k-- {
		if k+1 < len(l.widths) { // a component belongs to its width and all wider ones
			vek32.Add_Inplace(l.pull[k], l.pull[k+1])
		}
		start = 0
		if k > 0 {
			start = l.widths[k-1]
		}
		l.spread(a, b, n, k, start)
	}
	return value, l.da, l.db
}

// cut copies the components start to end of all vectors: a and b as they are, and b also
// transposed.
func (l *loss) cut(a, b []float32, n, start, end int) {
	width, part := len(a)/n, end-start
	l.a, l.b, l.bT = grown(l.a, n*part), grown(l.b, n*part), grown(l.bT, n*part)
	for i := range n {
		copy(l.a[i*part:(i+1)*part], a[i*width+start:])
		copy(l.b[i*part:(i+1)*part], b[i*width+start:])
	}
	turn(l.bT, l.b, n, part)
}

// ofWidth returns the loss of width k, from the dot products in raw. It sets pull to the
// derivatives by them, and adds to da and db the derivatives through the lengths of the cut
// vectors.
func (l *loss) ofWidth(a, b []float32, n, k int, masked [][]int) float64 {
	scaleA, scaleB := inverseLengths(a, n, l.widths[k]), inverseLengths(b, n, l.widths[k])
	pull := l.pull[k]
	rowSums, right := make([]float32, n), make([]float32, n)

	// Pass one: e^((cosine-1)/τ), which never overflows, and its sums.
	blocks := (n + blockRows - 1) / blockRows
	l.blocks = grown(l.blocks, blocks*n)
	clear(l.blocks)
	inParallel(l.workers, blocks, func(first, end int) {
		for i := first * blockRows; i < min(end*blockRows, n); i++ {
			row := pull[i*n : (i+1)*n]
			vek32.Mul_Into(row, l.raw[i*n:(i+1)*n], scaleB)
			vek32.MulNumber_Inplace(row, scaleA[i]/l.temperature)
			vek32.AddNumber_Inplace(row, -1/l.temperature)
			right[i] = row[i]
			vek32.Exp_Inplace(row)
			for _, j := range masked[i] {
				row[j] = 0
			}
			rowSums[i] = vek32.Sum(row)
			at := i / blockRows * n
			vek32.Add_Inplace(l.blocks[at:at+n], row)
		}
	})
	columnSums := l.addBlocks(blocks, n)

	var value float64
	for i := range n {
		value += (math.Log(float64(rowSums[i]))+math.Log(float64(columnSums[i])))/2 - float64(right[i])
	}
	share := 1 / (float32(n) * float32(len(l.widths)))

	// Pass two: the derivatives by the dot products. Let G = ∂/∂cosine. The cosine of cut
	// vectors is raw·scaleA·scaleB, so the derivative by raw is G·scaleA·scaleB, and the
	// length of a contributes −a·scaleA²·Σ_j ∂raw_ij·raw_ij.
	shrinkA := make([]float32, n)
	inverseColumns := make([]float32, n)
	for j, s := range columnSums {
		inverseColumns[j] = 1 / s
	}
	clear(l.blocks)
	inParallel(l.workers, blocks, func(first, end int) {
		factor := make([]float32, n)
		for i := first * blockRows; i < min(end*blockRows, n); i++ {
			row, raw := pull[i*n:(i+1)*n], l.raw[i*n:(i+1)*n]
			vek32.AddNumber_Into(factor, inverseColumns, 1/rowSums[i])
			vek32.Mul_Inplace(row, factor)
			row[i] -= 2
			vek32.MulNumber_Inplace(row, share/2/l.temperature*scaleA[i])
			vek32.Mul_Inplace(row, scaleB)
			vek32.Mul_Into(factor, row, raw)
			shrinkA[i] = vek32.Sum(factor)
			at := i / blockRows * n
			vek32.Add_Inplace(l.blocks[at:at+n], factor)
		}
	})
	l.shorten(l.da, a, k, shrinkA, scaleA)
	l.shorten(l.db, b, k, l.addBlocks(blocks, n), scaleB)
	return value * float64(share)
}

func (l *loss) addBlocks(blocks, n int) []float32 {
	sums := make([]float32, n)
	for k := range blocks {
		vek32.Add_Inplace(sums, l.blocks[k*n:(k+1)*n])
	}
	return sums
}

// shorten adds to dv, the derivatives by v, the part that comes from the lengths of its
// vectors at width k.
func (l *loss) shorten(dv, v []float32, k int, shrink, scale []float32) {
	n := len(shrink)
	width := len(v) / n
	scratch := make([]float32, l.widths[k])
	for i := range n {
		at := i * width
		addScaled(dv[at:at+l.widths[k]], v[at:at+l.widths[k]], -shrink[i]*scale[i]*scale[i], scratch)
	}
}

// spread propagates pull[k] to the components of da and db from start to the end of width
// k.
func (l *loss) spread(a, b []float32, n, k, start int) {
	end := l.widths[k]
	width, part := len(a)/n, end-start
	l.cut(a, b, n, start, end)
	l.grad = grown(l.grad, n*part)
	vek32.MatMul_Into(l.grad, l.pull[k], l.b, n)
	for i := range n {
		vek32.Add_Inplace(l.da[i*width+start:i*width+end], l.grad[i*part:(i+1)*part])
	}
	// pullᵀ·a is (aᵀ·pull)ᵀ: this avoids transposing the large matrix.
	turn(l.bT, l.a, n, part)
	vek32.MatMul_Into(l.grad, l.bT, l.pull[k], n)
	turn(l.b, l.grad, part, n)
	for i := range n {
		vek32.Add_Inplace(l.db[i*width+start:i*width+end], l.b[i*part:(i+1)*part])
	}
}

// inverseLengths returns 1 over the length of each vector cut to width, and 0 for a zero
// vector.
func inverseLengths(v []float32, n, width int) []float32 {
	inverse := make([]float32, n)
	full := len(v) / n
	for i := range inverse {
		if length := vek32.Norm(v[i*full : i*full+width]); length > 0 {
			inverse[i] = 1 / length
		}
	}
	return inverse
}

// turn transposes the rows×columns matrix src into dst.
func turn(dst, src []float32, rows, columns int) {
	const tile = 16 // a tile of both fits the first-level cache
	for i0 := 0; i0 < rows; i0 += tile {
		for j0 := 0; j0 < columns; j0 += tile {
			for i := i0; i < min(i0+tile, rows); i++ {
				for j := j0; j < min(j0+tile, columns); j++ {
					dst[j*rows+i] = src[i*columns+j]
				}
			}
		}
	}
}

// grown returns a slice of n values, reusing buf's memory if it is large enough.
func grown[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
