package recalld_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"

	"github.com/recalld/recalld/internal/testkit/golden"
)

// allowedLicenses are the licences that a module in the program may have, by SPDX id. All
// let the program be passed on under the licence of this repository.
var allowedLicenses = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT", "MIT-0", "MPL-2.0"}

// TestLicenses compares the licences of all modules in the program, on every supported
// platform, with docs/licenses.csv, and refuses one that is unknown or not allowed. With
// -update it writes the list.
func TestLicenses(t *testing.T) {
	rows := map[string][]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/recalld")
		c.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("list the modules for %s: %v", system, err)
		}
		for line := range strings.Lines(string(out)) {
			module := strings.Split(strings.TrimSpace(line), "\t")
			if len(module) != 3 || rows[module[0]] != nil {
				continue
			}
			ids := moduleLicenses(t, module[2])
			if problem := licenseProblem(ids); problem != "" {
				t.Errorf("%s %s: %s", module[0], module[1], problem)
			}
			rows[module[0]] = []string{module[0], module[1], strings.Join(ids, " ")}
		}
	}
	if len(rows) < 40 {
		t.Fatalf("%d modules were found, want all of the program", len(rows))
	}
	list := [][]string{{"module", "version", "licenses"}}
	for _, row := range rows {
		list = append(list, row)
	}
	slices.SortFunc(list[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(list); err != nil {
		t.Fatal(err)
	}
	const file = "docs/licenses.csv"
	if golden.Updating() {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, file) != text.String() {
		t.Errorf("%s does not list the modules as they are: run go test . -run Licenses -update, and read the difference", file)
	}
}

// moduleLicenses returns the licences in the license files of a module's folder, sorted.
func moduleLicenses(t *testing.T, dir string) (ids []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "LICENSE-MIT", "LICENSE-APACHE"}, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, licensesIn(text)...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// licensesIn returns the licences in a text. What is less than half covered by licences is
// unknown: the rest may be conditions.
func licensesIn(text []byte) (ids []string) {
	found := licensecheck.Scan(text)
	if found.Percent < 50 {
		return []string{"unknown"}
	}
	for _, m := range found.Match {
		if !m.IsURL {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// licenseProblem says why a module with these licences must not be in the program.
func licenseProblem(ids []string) string {
	if len(ids) == 0 {
		return "it has no license file"
	}
	for _, id := range ids {
		if !slices.Contains(allowedLicenses, id) {
			return "the licence " + id + " is not in allowedLicenses"
		}
	}
	return ""
}

func TestLicenseProblem(t *testing.T) {
	mit := read(t, "LICENSE")
	for name, c := range map[string]struct {
		ids  []string
		good bool
	}{
		"ours":              {licensesIn([]byte(mit)), true},
		"none":              {nil, false},
		"other words":       {licensesIn([]byte("Ask the author before you use this.")), false},
		"one of two":        {[]string{"MIT", "GPL-3.0"}, false},
		"two, both allowed": {[]string{"Apache-2.0", "MIT"}, true},
	} {
		if got := licenseProblem(c.ids); (got == "") != c.good {
			t.Errorf("%s, %v: problem %q, want one: %v", name, c.ids, got, !c.good)
		}
	}
}
