//go:build !amd64

package vector

func distances256(codes []uint64, slots []uint32, planes *[4 * queryBits]uint64, out []uint32) {
	distances256Plain(codes, slots, planes, out)
}

func dotRow(row []int8, query []int16) int64 { return dotRowPlain(row, query) }
