package table

import "encoding/binary"

// Rows are summed two components to a 64-bit word, each in a lane of 32 bits,
// and four rows at a time: plain Go that does in one multiplication what would
// take two, and waits for the memory of four rows at once. Lanes hold sums of
// bytes as they are, which are never negative; what zero stands for is taken
// off at the end.
const (
	lanesPerWord = 2
	laneMask     = 0x000000ff_000000ff
	rowsAtOnce   = 4
	// maxRows is how many rows lanes can take: 256 · 2¹⁶ · 255 < 2³².
	maxRows = 256
)

// sum adds up the rows of the terms found, times their factors.
func (p *Pooler) sum() {
	clear(p.total)
	// Rows that are missing to a multiple of rowsAtOnce count nothing.
	for len(p.found)%rowsAtOnce != 0 {
		p.found = append(p.found, term{})
	}
	for rest := p.found; len(rest) > 0; {
		terms := rest[:min(maxRows, len(rest))]
		rest = rest[len(terms):]
		clear(p.lanes)
		for i := 0; i < len(terms); i += rowsAtOnce {
			p.addRows((*[rowsAtOnce]term)(terms[i:]))
		}
		p.gather(terms)
	}
}

// addRows adds four rows, times their factors, to the lanes. Of every eight
// components the words hold 0 and 4, 1 and 5, 2 and 6, 3 and 7.
func (p *Pooler) addRows(t *[rowsAtOnce]term) {
	width := len(p.total)
	a, b := p.model.row(t[0].token)[:width], p.model.row(t[1].token)[:width]
	c, d := p.model.row(t[2].token)[:width], p.model.row(t[3].token)[:width]
	fa, fb, fc, fd := t[0].factor, t[1].factor, t[2].factor, t[3].factor
	lanes := p.lanes
	for len(lanes) >= 4 && len(a) >= lane && len(b) >= lane && len(c) >= lane && len(d) >= lane {
		wa, wb := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		wc, wd := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(d)
		lanes[0] += (wa&laneMask)*fa + (wb&laneMask)*fb + (wc&laneMask)*fc + (wd&laneMask)*fd
		lanes[1] += (wa>>8&laneMask)*fa + (wb>>8&laneMask)*fb + (wc>>8&laneMask)*fc + (wd>>8&laneMask)*fd
		lanes[2] += (wa>>16&laneMask)*fa + (wb>>16&laneMask)*fb + (wc>>16&laneMask)*fc + (wd>>16&laneMask)*fd
		lanes[3] += (wa>>24&laneMask)*fa + (wb>>24&laneMask)*fb + (wc>>24&laneMask)*fc + (wd>>24&laneMask)*fd
		lanes, a, b, c, d = lanes[4:], a[lane:], b[lane:], c[lane:], d[lane:]
	}
}

// gather adds the lanes of the terms to the total.
func (p *Pooler) gather(terms []term) {
	var bias int64
	for _, t := range terms {
		bias += zero * int64(t.factor)
	}
	for i := 0; i < len(p.total); i += lane {
		for j, word := range p.lanes[i/lanesPerWord:][:lane/lanesPerWord] {
			p.total[i+j] += int64(uint32(word)) - bias
			p.total[i+j+lane/lanesPerWord] += int64(word>>32) - bias
		}
	}
}
