package table

import "golang.org/x/sys/cpu"

// addHalves adds rows with half a byte per component. Most processors have AVX2, which adds
// eight components at once.
func addHalves(lanes []uint64, rows *[rowsAtOnce][]byte, factors *[rowsAtOnce]uint64) {
	groups := len(lanes) / 8
	for _, row := range rows {
		groups = min(groups, len(row)/groupBytes)
	}
	if !cpu.X86.HasAVX2 || groups == 0 {
		addHalvesPlain(lanes, rows, factors)
		return
	}
	addHalvesAVX2(&lanes[0], &rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0], factors, groups)
}

// addHalvesAVX2 needs eight lanes, and eight bytes of each row, for each of one or more groups,
// and factors below 2³². It checks no bounds.
//
//go:noescape
func addHalvesAVX2(lanes *uint64, a, b, c, d *byte, factors *[rowsAtOnce]uint64, groups int)
