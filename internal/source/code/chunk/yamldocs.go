package chunk

import (
	"bytes"
	"strings"
)

// yamlUnits returns the top-level keys of a YAML text, grouped by documents that say what
// they describe, as Kubernetes' do: "Deployment.web".
func (f *structured) yamlUnits() []unit {
	var units []unit
	for first, n := 0, f.t.lines(); first < n; {
		last := first
		for last+1 < n && !isDocumentMark(f.t.line(last+1)) {
			last++
		}
		inner := f.indented(first, last, 0)
		if name := f.describedBy(first, last); name != "" {
			u := unit{first: first, last: last, name: name}
			for u.first < last && (f.t.blank(u.first) || isDocumentMark(f.t.line(u.first))) {
				u.first++
			}
			for _, in := range inner {
				if in.first >= u.first {
					u.inner = append(u.inner, in)
				}
			}
			units = append(units, u)
		} else {
			units = append(units, inner...)
		}
		first = last + 1
	}
	return units
}

func isDocumentMark(line []byte) bool {
	return hasPrefix(line, "---") && len(bytes.TrimSpace(line)) == 3
}

// describedBy returns the kind and name that a document describes.
func (f *structured) describedBy(first, last int) string {
	kind, name, metadata := "", "", false
	for i := first; i <= last; i++ {
		line := f.t.line(i)
		if len(line) == 0 || f.lines[i].literal {
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(string(line[:min(len(line), maxHead)])), ":")
		value = strings.Trim(upTo(value, "#"), " \t\"'")
		switch indent := f.t.indent(i); {
		case indent == 0:
			metadata = key == "metadata"
			if key == "kind" {
				kind = value
			}
			if _, inline, ok := strings.Cut(value, "name:"); metadata && ok { // metadata: {name: x}
				name = strings.Trim(upTo(inline, ",}"), " \t\"'")
			}
		case metadata && indent <= 4 && key == "name" && name == "":
			name = value
		}
	}
	if kind == "" {
		return ""
	}
	return Truncate(joinNames(kind, name), maxSymbol/2)
}
