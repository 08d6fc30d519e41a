package chunk

import "github.com/recalld/recalld/internal/language"

// Unit is a declaration with its comment, or a section, with its lines from 1.
type Unit struct {
	StartLine, EndLine int
	// Symbol is its path, as a chunk of it alone would have.
	Symbol string
	// Defines are the names that its lines declare.
	Defines []string
}

// Units returns the named units that Split makes chunks of, before small ones are joined
// and large ones are split. A large unit comes before its members.
func Units(path, lang string, src []byte) []Unit {
	if lang == "" {
		lang = language.Of(path, src)
	}
	t := newText(src)
	if t.lines() == 0 {
		return nil
	}
	all := unitsOf(t, lang)
	t.sortDefines()
	return t.named(nil, all, "")
}

// named appends the units that have names.
func (t *text) named(list []Unit, units []unit, prefix string) []Unit {
	for _, u := range units {
		first, last := u.first, u.last
		for first <= last && t.blank(first) {
			first++
		}
		for last >= first && t.blank(last) {
			last--
		}
		symbol := Truncate(joinNames(prefix, u.name), maxSymbol)
		if first <= last && u.name != "" {
			list = append(list, Unit{StartLine: first + 1, EndLine: last + 1, Symbol: symbol, Defines: t.definedIn(first, last)})
		}
		list = t.named(list, u.inner, symbol)
	}
	return list
}
