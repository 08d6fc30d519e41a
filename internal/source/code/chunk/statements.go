package chunk

import (
	"bytes"
	"strings"
)

// sqlName finds the name of what a statement creates or changes.
var sqlName = lazyPattern(`(?is)^\s*(?:create|alter|drop|insert|update|delete|comment|grant|with)\b[^;(]*?\b` +
	`(?:table|view|function|procedure|proc|trigger|index|type|domain|schema|database|sequence|policy|role|extension|into|from|on)\s+` +
	`(?:(?:concurrently|only|if\s+not\s+exists|if\s+exists)\s+)*([\w."\x60\[\]]+)`)

// statements finds the statements of SQL. One ends at a semicolon at the end of a line
// outside of brackets and of BEGIN … END, at the sign set by DELIMITER, or at a line with
// the end of a batch (GO, /).
func (f *structured) statements() []unit {
	end := f.t.lines() - 1
	delimiter := ""
	lead := func(i int) int {
		if f.lines[i].comment {
			i++
		}
		return i
	}
	return f.unitsBetween(0, end, lead, func(first, head int) unit {
		last := head
		if word, sign, ok := strings.Cut(string(f.t.trimmed(head)), " "); ok && strings.EqualFold(word, "delimiter") {
			if delimiter = strings.TrimSpace(sign); delimiter == ";" {
				delimiter = ""
			}
		} else {
			last = min(f.statementEnd(head, delimiter), end)
		}
		name := unquoteSQL(submatch(sqlName(), f.head(head, last)))
		if creates(f.t.trimmed(head)) {
			f.define(head, name)
		}
		return unit{first: first, last: last, name: name}
	})
}

// statementEnd returns the last line of the statement that begins at a line.
func (f *structured) statementEnd(i int, delimiter string) int {
	n, blocks := f.t.lines(), 0
	for ; i < n; i++ {
		line := f.t.trimmed(i)
		outside := i+1 == n || f.lines[i+1].paren == 0 && !f.lines[i+1].literal
		switch {
		case f.lines[i].literal && !outside:
		case delimiter != "":
			if bytes.HasSuffix(line, []byte(delimiter)) && outside {
				return i
			}
			continue
		case len(line) == 2 && strings.EqualFold(string(line), "go"), len(line) == 1 && line[0] == '/':
			return i
		}
		blocks = max(0, blocks+f.blocksOpened(i))
		if f.lines[i].last == ';' && blocks == 0 && outside {
			return i
		}
	}
	return n - 1
}

// creates reports whether a statement creates what it names.
func creates(line []byte) bool {
	return len(line) > 6 && strings.EqualFold(string(line[:6]), "create")
}

// unquoteSQL removes quotes and brackets from a name.
func unquoteSQL(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"`[]", r) {
			return -1
		}
		return r
	}, name)
}

// blocksOpened returns how many blocks of a procedure a line opens, less those that it
// closes. BEGIN of a transaction is a statement with a semicolon.
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
