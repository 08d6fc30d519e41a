//go:build !amd64

package table

func addHalves(lanes []uint64, rows *[rowsAtOnce][]byte, factors *[rowsAtOnce]uint64) {
	addHalvesPlain(lanes, rows, factors)
}
