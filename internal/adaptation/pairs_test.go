package adaptation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found lists the pairs of a text, one a line, with line breaks of B as slashes.
func found(lang, text string) string {
	var all []string
	pairsOf(lang, text, func(a, b string) {
		var lines []string
		for line := range strings.Lines(strings.TrimSpace(b)) {
			lines = append(lines, strings.TrimSpace(line))
		}
		all = append(all, a+" → "+strings.Join(lines, "/"))
	})
	return strings.Join(all, "\n")
}

func TestPairs(t *testing.T) {
	for _, c := range []struct{ name, lang, text, want string }{
		{"doc comment and name", "go", `// Renew asks the warehouse to extend a lease. It runs out
// otherwise.
func renewOldLease(id string) error {
	l, err := find(id)

	// A lease that is gone stays gone.
	if err != nil {
		return err
	}
	return l.extend()
}

func next() {}
`, `Renew asks the warehouse to extend a lease. → func renewOldLease(id string) error {/l, err := find(id)//if err != nil {/return err/}/return l.extend()/}
renew old lease → l, err := find(id)//if err != nil {/return err/}/return l.extend()/}
A lease that is gone stays gone. → if err != nil {/return err/}`},
		{"Go comments begin with the name", "go", "// Lease is a right to use a fakeStore.\ntype Lease struct {\n\tid string\n}\n",
			"is a right to use a fakeStore. → type Lease struct {/id string/}"},
		{"header of several lines, receiver", "go", "// Sends one parcel to its door.\nfunc (c *courier) send(\n\tp parcel,\n) error {\n\treturn c.carry(p)\n}\nvar x = 1\n",
			"Sends one parcel to its door. → func (c *courier) send(/p parcel,/) error {/return c.carry(p)/}"},
		{"method name", "go", "func (c *courier) sendAllParcels() {\n\tc.one()\n\tc.two()\n}\n", "send all parcels → c.one()/c.two()/}"},
		{"docstring", "python", "def close_gate(gate):\n    \"\"\"Shut the gate for the night.\"\"\"\n    gate.lock()\n    gate.dark = True\n\ndef other():\n    pass\n",
			"Shut the gate for the night. → def close_gate(gate):/gate.lock()/gate.dark = True"},
		{"block comment", "javascript", "/**\n * Counts the parcels of a van.\n * @param van the van\n */\nfunction count(van) {\n  return van.parcels.length;\n}\n",
			"Counts the parcels of a van. → function count(van) {/return van.parcels.length;/}"},
		{"settings", "yaml", "# How long a lease lasts.\nlease: 5m\n\nother: 1\n", "How long a lease lasts. → lease: 5m"},
		{"message", "go", "\tif l == nil {\n\t\treturn errors.New(\"the lease ran out long ago\")\n\t}\n", "the lease ran out long ago → if l == nil {/return errors.New(\"\")/}"},
		{"no prose", "go", "//go:build linux\n//nolint:all\npackage x\n\n// x := f(y)\nvar y = 1\n", ""},
		{"includes are no comments", "c", "#include <the.h>\n#define of the thing\nint x;\n", ""},
		{"Markdown", "markdown", "# Guide\n\nA guide to leases and vans.\n\n## Renewing a lease\n\nLeases end. To renew one run:\n\n```sh\nlease renew 5\n```\n",
			"Guide → A guide to leases and vans.\nTo renew one run → lease renew 5\nRenewing a lease → Leases end. To renew one run://lease renew 5"},
	} {
		if diff := cmp.Diff(c.want, found(c.lang, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestLongLines: a generated line is not read, and the lines around it are, however they
// end.
func TestLongLines(t *testing.T) {
	const head = "// Renews a lease that is about to end.\nfunction renewLease(id) {\n  return extend(id);\n}\n"
	minified := strings.Repeat(`function f(a){throw new Error("the warehouse lost its last key")}`, 200)
	want, got := found("javascript", head), found("javascript", strings.ReplaceAll(head, "\n", "\r\n")+minified+"\r\n")
	if want == "" || got != want {
		t.Errorf("with a line of %d bytes there are %q, without it %q", len(minified), got, want)
	}
}

// TestAddFile: copies of a file and what is not worth learning add nothing.
func TestAddFile(t *testing.T) {
	const source = "package lease\n\n// Renew asks the warehouse to extend a lease before it ends.\nfunc Renew(id string) error {\n\treturn find(id).extend()\n}\n"
	c := &corpus{}
	c.addFile("p/lease.go", "go", source)
	n := len(c.pairs)
	c.addFile("q/lease.go", "go", source)
	c.addFile("p/licence.go", "go", "// Copyright by the people of the warehouse.\nfunc Licence() {\n\treturn\n}\n")
	c.addFile("p/data.go", "go", "// The sums of all files are here.\nvar sums = []int{\n\t0x12345678, 0x9,\n\t123456789, 1234, 5678, 12, 12, 1, 1, 1, 1, 1, 1, 1, 1,\n}\n")
	if n != 1 || len(c.pairs) != n || c.documents() != 1 {
		t.Errorf("%d pairs, %d after a copy, a licence and data, of %d documents", n, len(c.pairs), c.documents())
	}
}

// TestManyOfOneFile: a long file does not rule.
func TestManyOfOneFile(t *testing.T) {
	var text strings.Builder
	for i := range 2 * maxOfDocument {
		fmt.Fprintf(&text, "// The drawer with number %d is open.\ndrawer%d := open()\n\n", i, i)
	}
	c := &corpus{}
	c.addFile("drawers", "go", text.String())
	if len(c.pairs) != maxOfDocument {
		t.Errorf("%d pairs of one file, want %d", len(c.pairs), maxOfDocument)
	}
}

func FuzzPairs(f *testing.F) {
	for _, s := range []string{"// a b c.\nx()\n", "/* a b c", "\"\"\"\nx", "# a\n```\nb", "def f(x):\n  '''a b c'''", "f(((\n\t)", "\xff// \x00"} {
		f.Add("go", s)
		f.Add("markdown", s)
	}
	f.Fuzz(func(t *testing.T, lang, text string) {
		var all []string
		pairsOf(lang, text, func(a, b string) {
			if o, ok := newSample("d", a, b); ok && (len(o.A) > maxText || len(o.B) > maxText) {
				t.Errorf("a pair of %d and %d bytes", len(o.A), len(o.B))
			}
			all = append(all, a, b)
		})
		if again := len(strings.Split(text, "\n")); len(all) > 8*again {
			t.Errorf("%d texts of %d lines", len(all), again)
		}
		var same []string
		pairsOf(lang, text, func(a, b string) { same = append(same, a, b) })
		if !slices.Equal(all, same) {
			t.Error("the same text gives other pairs")
		}
	})
}
