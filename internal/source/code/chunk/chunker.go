package chunk

import (
	"bytes"
	"slices"
	"strings"
)

// unit is a part of a text that belongs together: a declaration, a section.
type unit struct {
	first, last int // lines
	name        string
	// inner are the members of the unit, in order, if it is larger than a chunk and of a
	// kind that has members.
	inner []unit
}

// separator joins the names on the way to a unit.
const separator = "."

// chunker makes chunks of units: it joins small units, splits large ones, and leaves the
// others as they are.
type chunker struct {
	t      *text
	lang   string
	hidden []bool // lines that must not be in any chunk; nil is none
	chunks []Chunk

	// The units that are being joined; none if open is false.
	open   bool
	joined unit
	names  []string
	small  bool // all of them are below smallUnit
}

// splitAll makes chunks of a whole text. The lines between units are units, too.
func (c *chunker) splitAll(units []unit) {
	c.addAll(units, 0, c.t.lines()-1, "")
	c.flush()
}

// addAll adds the units between two lines and what lies between them.
func (c *chunker) addAll(units []unit, first, last int, prefix string) {
	for _, u := range units {
		if u.first > first {
			c.add(unit{first: first, last: u.first - 1}, prefix)
		}
		c.add(u, prefix)
		first = u.last + 1
	}
	if first <= last {
		c.add(unit{first: first, last: last}, prefix)
	}
}

func (c *chunker) add(u unit, prefix string) {
	u.first, u.last = c.t.trim(u.first, u.last)
	if u.first > u.last || c.addAround(u, prefix) {
		return
	}
	name := Truncate(joinNames(prefix, u.name), maxSymbol)
	size := c.t.size(u.first, u.last)
	switch {
	case size > maxChunk && len(u.inner) > 0:
		c.flush()
		c.addMembers(u, name)
		c.flush()
	case size > maxChunk:
		c.flush()
		c.split(u.first, u.last, name)
	case c.open && c.joins(u, size):
		c.joined.last = u.last
		c.addName(name)
		c.small = c.small && size < smallUnit
	default:
		c.flush()
		c.open, c.joined, c.small = true, u, size < smallUnit
		c.addName(name)
	}
}

// joins reports whether a unit is joined with the ones before it: one of them is small,
// and together they stay well below a chunk.
func (c *chunker) joins(u unit, size int) bool {
	if c.onlyCloses(u) {
		return c.t.size(c.joined.first, u.last) <= maxChunk
	}
	return (c.small || size < smallUnit) && c.t.size(c.joined.first, u.last) <= maxJoined
}

// onlyCloses reports whether a unit consists of closing brackets only.
func (c *chunker) onlyCloses(u unit) bool {
	for i := u.first; i <= u.last; i++ {
		if line := bytes.Trim(c.t.line(i), "})]; \t,"); len(line) > 0 && string(line) != "end" {
			return false
		}
	}
	return true
}

// addMembers adds a unit by its members. Lines before the first member are the head;
// lines after the last belong to the last if they only close the unit.
func (c *chunker) addMembers(u unit, name string) {
	first := u.first
	if head := u.inner[0].first; head > first {
		c.add(unit{first: first, last: head - 1}, name)
		first = head
	}
	members := u.inner
	if tail := (unit{first: members[len(members)-1].last + 1, last: u.last}); tail.first <= tail.last && c.onlyCloses(tail) {
		members = slices.Clone(members)
		members[len(members)-1].last = u.last
	}
	c.addAll(members, first, u.last, name)
}

// addAround adds the parts of a unit around hidden lines, and reports whether there were
// any.
func (c *chunker) addAround(u unit, prefix string) bool {
	if c.hidden == nil {
		return false
	}
	first, found := u.first, false
	for i := u.first; i <= u.last; i++ {
		if !c.hidden[i] {
			continue
		}
		if first < i {
			c.add(unit{first: first, last: i - 1, name: u.name}, prefix)
		}
		c.flush()
		first, found = i+1, true
	}
	if found && first <= u.last {
		c.add(unit{first: first, last: u.last, name: u.name}, prefix)
	}
	return found
}

// split splits lines that are more than a chunk at the cheapest places.
func (c *chunker) split(first, last int, name string) {
	t := c.t
	from, overlap := first, 0
	for from <= last {
		end := c.partEnd(from+overlap, last, from)
		c.emit(from, end, overlap, name)
		next := end + 1
		for next <= last && t.blank(next) {
			next++
		}
		if next > last {
			return
		}
		overlap = 0
		for from = next; from > first && t.size(from-1, next-1) <= maxOverlap; from-- {
			overlap++
		}
		// An overlap does not begin with a blank line.
		for overlap > 0 && t.blank(from) {
			from++
			overlap--
		}
		if overlap > 0 && t.size(from, next) > maxChunk {
			from, overlap = next, 0
		}
	}
}

// partEnd returns the last line of a part that begins at from, whose first line outside
// of the overlap is start: the last line if all fits, else the line before the cheapest
// place in the second half of a chunk, as late as possible.
func (c *chunker) partEnd(start, last, from int) int {
	t := c.t
	left := t.size(from, last)
	if left <= maxChunk {
		return last
	}
	// The rest is divided evenly, so that the last part is not tiny.
	parts := (left + maxChunk - 1) / maxChunk
	least := left / parts / 2
	end, best := start, -1
	for i := start + 1; i <= last && t.size(from, i-1) <= maxChunk; i++ {
		end = i - 1
		if t.size(from, i-1) < least || t.blank(i) {
			continue
		}
		if best < 0 || t.costAt(i) <= t.costAt(best) {
			best = i
		}
	}
	if best >= 0 {
		return best - 1
	}
	return end
}

func (c *chunker) addName(name string) {
	if name != "" && (len(c.names) == 0 || c.names[len(c.names)-1] != name) {
		c.names = append(c.names, name)
	}
}

// flush makes a chunk of the joined units.
func (c *chunker) flush() {
	if c.open {
		c.emit(c.joined.first, c.joined.last, 0, listNames(c.names))
	}
	c.open, c.names = false, c.names[:0]
}

// emit makes a chunk of lines, without blank ones at the ends.
func (c *chunker) emit(first, last, overlap int, symbol string) {
	for last > first && c.t.blank(last) {
		last--
	}
	start := c.t.starts[first]
	end := c.t.starts[last] + len(c.t.line(last))
	c.chunks = append(c.chunks, Chunk{
		Start: start, End: end, StartLine: first + 1, EndLine: last + 1, Overlap: overlap, Symbol: symbol,
		Defines:  c.t.definedIn(first+overlap, last),
		Declares: onlyDeclares(c.lang, c.t.src[start:end]), Test: isInnerTest(c.lang, symbol),
		Doc: DocText(c.lang, symbol, string(c.t.src[start:end])),
	})
}

func joinNames(prefix, name string) string {
	switch {
	case prefix == "":
		return name
	case name == "":
		return prefix
	case strings.Contains(prefix, headingSeparator):
		return prefix + headingSeparator + name
	}
	return prefix + separator + name
}

// listNames joins names, each once, as many as fit.
func listNames(names []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			continue
		}
		seen[n] = true
		if b.Len() == 0 {
			b.WriteString(Truncate(n, maxSymbol))
		} else if b.Len()+2+len(n) <= maxSymbol {
			b.WriteString(", ")
			b.WriteString(n)
		}
	}
	return b.String()
}
