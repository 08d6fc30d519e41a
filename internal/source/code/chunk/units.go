package chunk

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
	t, _, units := read(path, lang, src)
	return t.named(nil, units, "")
}

// named appends the units that have names.
func (t *text) named(list []Unit, units []unit, prefix string) []Unit {
	for _, u := range units {
		first, last := t.trim(u.first, u.last)
		symbol := Truncate(joinNames(prefix, u.name), maxSymbol)
		if first <= last && u.name != "" {
			list = append(list, Unit{StartLine: first + 1, EndLine: last + 1, Symbol: symbol, Defines: t.definedIn(first, last)})
		}
		list = t.named(list, u.inner, symbol)
	}
	return list
}
