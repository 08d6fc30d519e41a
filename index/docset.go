package index

import "github.com/RoaringBitmap/roaring/v2"

// docSet is a set of document numbers. Most sets are the chunks of one file, whose numbers are
// in a row: as long as its numbers are one range, a set is that range in 8 bytes. A bitmap
// takes 150 bytes for its first number. The zero docSet is empty.
type docSet struct {
	first, n uint32 // the range, while bitmap is nil
	bitmap   *roaring.Bitmap
}

func (s *docSet) isEmpty() bool {
	if s.bitmap != nil {
		return s.bitmap.IsEmpty()
	}
	return s.n == 0
}

func (s *docSet) add(doc uint32) {
	switch at := doc - s.first; {
	case s.bitmap != nil:
		s.bitmap.Add(doc)
	case s.n == 0:
		s.first, s.n = doc, 1
	case at < s.n:
	case at == s.n && doc > s.first:
		s.n++
	default:
		s.widen()
		s.bitmap.Add(doc)
	}
}

func (s *docSet) remove(doc uint32) {
	switch at := doc - s.first; {
	case s.bitmap != nil:
		s.bitmap.Remove(doc)
	case at >= s.n:
	case at == s.n-1:
		s.n--
	case at == 0:
		s.first++
		s.n--
	default:
		s.widen()
		s.bitmap.Remove(doc)
	}
}

// widen makes a bitmap of the range.
func (s *docSet) widen() {
	bitmap := roaring.New()
	s.addTo(bitmap)
	*s = docSet{bitmap: bitmap}
}

// addMany is add for several numbers.
func (s *docSet) addMany(docs []uint32) {
	for i, doc := range docs {
		if s.bitmap != nil {
			s.bitmap.AddMany(docs[i:])
			return
		}
		s.add(doc)
	}
}

// longRange is the length from which a range is added to a bitmap as such. Each range makes
// the bitmap copy its part with all ranges there; many short ones would take the square of
// their number.
const longRange = 4096

// addTo adds the set to a bitmap.
func (s *docSet) addTo(to *roaring.Bitmap) {
	switch {
	case s.bitmap != nil:
		to.Or(s.bitmap)
	case s.n >= longRange:
		to.AddRange(uint64(s.first), uint64(s.first)+uint64(s.n))
	default:
		for at := range s.n {
			to.Add(s.first + at)
		}
	}
}
