package lexical

// arena hands out ranges of bytes from large pages, which hold no pointers: the collector
// need not look at millions of posting lists one by one. A page is written front to back
// and could as well be a part of a mapped file.
type arena struct {
	pages [][]byte
	used  int // bytes of the last page
}

// A range begins at a multiple of arenaUnit, so that 32 bits address 16 GB. The first page
// grows from firstPage to pageBytes, so that a small index is small. Behind the last range
// of a page are pageSlack bytes: a number of some bits is read as a word of 8 bytes.
const (
	pageBytes = 1 << 20
	firstPage = 1 << 12
	arenaUnit = 4
	pageSlack = 8
)

// take returns where n fresh bytes begin, which lie in one page; n is at most firstPage. A
// copy of pages made before stays readable, because the first page grows as a copy.
func (a *arena) take(n int) (offset uint32) {
	n = (n + arenaUnit - 1) &^ (arenaUnit - 1)
	last := len(a.pages) - 1
	switch {
	case last < 0:
		a.pages, last = [][]byte{make([]byte, firstPage+pageSlack)}, 0
	case a.used+n <= len(a.pages[last])-pageSlack:
	case len(a.pages[last]) < pageBytes:
		grown := make([]byte, 2*(len(a.pages[0])-pageSlack)+pageSlack)
		copy(grown, a.pages[0])
		a.pages = [][]byte{grown}
	default:
		a.pages = append(a.pages, make([]byte, pageBytes+pageSlack))
		a.used = 0
		last++
	}
	offset = uint32((last*pageBytes + a.used) / arenaUnit)
	a.used += n
	return offset
}

// bytesAt returns the bytes from an offset to the end of its page.
func bytesAt(pages [][]byte, offset uint32) []byte {
	at := uint64(offset) * arenaUnit
	return pages[at/pageBytes][at%pageBytes:]
}
