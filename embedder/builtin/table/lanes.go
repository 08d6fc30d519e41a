package table

import "encoding/binary"

// Rows are summed with two components in a 64-bit word, each in a lane of 32 bits, and four
// rows at a time. So plain Go does two multiplications in one, and the memory accesses to
// four rows overlap. Eight bytes of a row are a group, whose components go to as many
// lanes: the first half of them to the lower lanes of its words, the second half to the
// upper ones. Lanes hold sums of stored steps, which are never negative; the offset that
// stands for zero is subtracted at the end.
const (
	groupBytes = 8
	byteMask   = 0x000000ff_000000ff // every fourth byte
	halfMask   = 0x0000000f_0000000f // every eighth half of a byte
	rowsAtOnce = 4
	// maxRows is how many rows lanes can sum without overflow: 256 · 2¹⁶ · 255 < 2³².
	maxRows = 256
)

// sum adds up the rows of the terms found, times their factors.
func (p *Pooler) sum() {
	clear(p.total)
	// Padding to a multiple of rowsAtOnce has factor 0.
	for len(p.found)%rowsAtOnce != 0 {
		p.found = append(p.found, term{})
	}
	for rest := p.found; len(rest) > 0; {
		terms := rest[:min(maxRows, len(rest))]
		rest = rest[len(terms):]
		clear(p.lanes)
		for i := 0; i < len(terms); i += rowsAtOnce {
			p.addRows(terms[i : i+rowsAtOnce])
		}
		p.gather(terms)
	}
}

// addRows adds four rows, times their factors, to the lanes.
func (p *Pooler) addRows(terms []term) {
	var rows [rowsAtOnce][]byte
	var factors [rowsAtOnce]uint64
	for i, t := range terms {
		rows[i], factors[i] = p.model.row(t.token, len(p.total)), t.factor
	}
	if p.model.bits == 4 {
		addHalves(p.lanes, &rows, &factors)
	} else {
		addBytes(p.lanes, &rows, &factors)
	}
}

// addBytes adds rows with one byte per component.
func addBytes(lanes []uint64, rows *[rowsAtOnce][]byte, factors *[rowsAtOnce]uint64) {
	a, b, c, d := rows[0], rows[1], rows[2], rows[3]
	fa, fb, fc, fd := factors[0], factors[1], factors[2], factors[3]
	for len(lanes) >= 4 && len(a) >= groupBytes && len(b) >= groupBytes && len(c) >= groupBytes && len(d) >= groupBytes {
		wa, wb := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		wc, wd := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(d)
		lanes[0] += (wa&byteMask)*fa + (wb&byteMask)*fb + (wc&byteMask)*fc + (wd&byteMask)*fd
		lanes[1] += (wa>>8&byteMask)*fa + (wb>>8&byteMask)*fb + (wc>>8&byteMask)*fc + (wd>>8&byteMask)*fd
		lanes[2] += (wa>>16&byteMask)*fa + (wb>>16&byteMask)*fb + (wc>>16&byteMask)*fc + (wd>>16&byteMask)*fd
		lanes[3] += (wa>>24&byteMask)*fa + (wb>>24&byteMask)*fb + (wc>>24&byteMask)*fc + (wd>>24&byteMask)*fd
		lanes, a, b, c, d = lanes[4:], a[groupBytes:], b[groupBytes:], c[groupBytes:], d[groupBytes:]
	}
}

// addHalvesPlain is addHalves in Go. It gives the same lanes to the bit.
func addHalvesPlain(lanes []uint64, rows *[rowsAtOnce][]byte, factors *[rowsAtOnce]uint64) {
	a, b, c, d := rows[0], rows[1], rows[2], rows[3]
	fa, fb, fc, fd := factors[0], factors[1], factors[2], factors[3]
	for len(lanes) >= 8 && len(a) >= groupBytes && len(b) >= groupBytes && len(c) >= groupBytes && len(d) >= groupBytes {
		wa, wb := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		wc, wd := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(d)
		for i := range lanes[:8] {
			lanes[i] += (wa&halfMask)*fa + (wb&halfMask)*fb + (wc&halfMask)*fc + (wd&halfMask)*fd
			wa, wb, wc, wd = wa>>4, wb>>4, wc>>4, wd>>4
		}
		lanes, a, b, c, d = lanes[8:], a[groupBytes:], b[groupBytes:], c[groupBytes:], d[groupBytes:]
	}
}

// gather adds the lanes of the terms to the total.
func (p *Pooler) gather(terms []term) {
	var bias int64
	for _, t := range terms {
		bias += int64(t.factor)
	}
	bias *= int64(gridOf(p.model.bits).zero)
	half := groupBytes * 8 / p.model.bits / 2
	lanes := p.lanes
	for total := p.total; len(total) > 0; total = total[2*half:] {
		for i, word := range lanes[:half] {
			total[i] += int64(uint32(word)) - bias
			total[half+i] += int64(word>>32) - bias
		}
		lanes = lanes[half:]
	}
}
