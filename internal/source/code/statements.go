package code

import "strings"

// sqlName finds what a statement makes or changes.
var sqlName = lazyPattern(`(?is)^\s*(?:create|alter|drop|insert|update|delete|comment|grant|with)\b[^;(]*?\b` +
	`(?:table|view|function|procedure|trigger|index|type|schema|sequence|policy|role|extension|into|from|on)\s+` +
	`(?:if\s+(?:not\s+)?exists\s+)?([\w."\x60\[\]]+)`)

// statements finds the statements of SQL: up to a line that ends with a
// semicolon outside of brackets and of BEGIN … END.
func (f *structured) statements() []unit {
	var units []unit
	n := f.t.lines()
	for i := 0; i < n; {
		if f.t.blank(i) {
			i++
			continue
		}
		first := i
		for i < n && f.lines[i].comment && !f.t.blank(i) {
			i++
		}
		if i >= n || f.t.blank(i) {
			units = append(units, unit{first: first, last: i - 1})
			continue
		}
		head, blocks := i, 0
		for ; i < n; i++ {
			blocks = max(0, blocks+f.blocksOpened(i))
			if f.lines[i].last == ';' && blocks == 0 && (i+1 == n || f.lines[i+1].paren == 0 && !f.lines[i+1].literal) {
				break
			}
		}
		last := min(i, n-1)
		i = last + 1
		name := submatch(sqlName(), f.head(head, last))
		f.define(head, strings.Trim(name, "\"`[]"))
		units = append(units, unit{first: first, last: last, name: strings.Trim(name, "\"`[]")})
	}
	return units
}

// blocksOpened is how many blocks of a procedure a line opens, less those that
// it closes. BEGIN of a transaction is a statement, with a semicolon behind.
func (f *structured) blocksOpened(i int) int {
	if f.lines[i].literal || f.lines[i].comment {
		return 0
	}
	line := strings.ToUpper(string(f.t.trimmed(i)))
	switch {
	case line == "BEGIN" || strings.HasSuffix(line, " BEGIN"), strings.HasPrefix(line, "CASE") && !strings.Contains(line, " END"):
		return 1
	case line == "END" || line == "END;" || strings.HasPrefix(line, "END ") && !strings.HasPrefix(line, "END IF") &&
		!strings.HasPrefix(line, "END LOOP") && !strings.HasPrefix(line, "END WHILE"):
		return -1
	}
	return 0
}
