package lsa

import (
	"cmp"
	"math"
	"slices"
)

// inverseCholesky returns R⁻¹ for the upper triangular R with RᵀR = gram, an
// l×l matrix. It returns errRank if gram is singular.
func inverseCholesky(gram []float64, l int) ([]float32, error) {
	r := make([]float64, l*l)
	var largest float64
	for i := range l {
		largest = max(largest, gram[i*l+i])
	}
	for i := range l {
		for j := i; j < l; j++ {
			s := gram[i*l+j]
			for k := range i {
				s -= r[k*l+i] * r[k*l+j]
			}
			if i == j {
				if s <= largest*1e-14 { // below the precision of float32 sums
					return nil, errRank
				}
				r[i*l+i] = math.Sqrt(s)
			} else {
				r[i*l+j] = s / r[i*l+i]
			}
		}
	}
	inverse := make([]float32, l*l)
	column := make([]float64, l)
	for j := range l { // solve R·column = e_j from below
		clear(column)
		for i := j; i >= 0; i-- {
			s := 0.0
			if i == j {
				s = 1
			}
			for k := i + 1; k <= j; k++ {
				s -= r[i*l+k] * column[k]
			}
			column[i] = s / r[i*l+i]
			inverse[i*l+j] = float32(column[i])
		}
	}
	return inverse, nil
}

// eigen returns the eigenvalues of the symmetric l×l matrix a, largest first,
// and its eigenvectors as columns, by Jacobi's rotations (Golub and Van Loan,
// "Matrix Computations", section 8.5). a is written to.
func eigen(a []float64, l int) (values, vectors []float64) {
	v := make([]float64, l*l)
	for i := range l {
		v[i*l+i] = 1
	}
	const sweeps = 30 // about ten are needed: convergence is quadratic
	for range sweeps {
		if offDiagonal(a, l) == 0 {
			break
		}
		for p := range l {
			for q := p + 1; q < l; q++ {
				rotate(a, v, l, p, q)
			}
		}
	}
	order := make([]int, l)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a[j*l+j], a[i*l+i]) })
	values, vectors = make([]float64, l), make([]float64, l*l)
	for k, from := range order {
		values[k] = a[from*l+from]
		for i := range l {
			vectors[i*l+k] = v[i*l+from]
		}
	}
	return values, vectors
}

// offDiagonal is the sum of the squares off the diagonal, 0 if they are negligible.
func offDiagonal(a []float64, l int) float64 {
	var off, on float64
	for i := range l {
		for j := range l {
			if i == j {
				on += a[i*l+j] * a[i*l+j]
			} else {
				off += a[i*l+j] * a[i*l+j]
			}
		}
	}
	if off <= 1e-24*on {
		return 0
	}
	return off
}

// rotate makes a[p,q] zero.
func rotate(a, v []float64, l, p, q int) {
	if a[p*l+q] == 0 {
		return
	}
	theta := (a[q*l+q] - a[p*l+p]) / (2 * a[p*l+q])
	t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range l {
		x, y := a[p*l+k], a[q*l+k]
		a[p*l+k], a[q*l+k] = c*x-s*y, s*x+c*y
	}
	for k := range l {
		x, y := a[k*l+p], a[k*l+q]
		a[k*l+p], a[k*l+q] = c*x-s*y, s*x+c*y
		x, y = v[k*l+p], v[k*l+q]
		v[k*l+p], v[k*l+q] = c*x-s*y, s*x+c*y
	}
}
