// Package golden compares what a test produced with a file in testdata. One file
// holds one text, or many in sections, each below a line "-- name --". With -update the
// file is written instead; read the difference before you commit it.
package golden

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// noNewline ends a section whose text does not end with a newline.
const noNewline = "\\ no newline at the end\n"

// Updating reports whether golden files are written rather than compared.
func Updating() bool { return *update }

// Equal compares a text with a file.
func Equal(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		write(t, path, got)
	}
	if diff := cmp.Diff(read(t, path), got); diff != "" {
		t.Errorf("%s differs, -want +got (write it anew with -update):\n%s", path, diff)
	}
}

// Sections are the texts of one file, in the order in which they were added.
type Sections struct {
	t     testing.TB
	path  string
	want  map[string]string
	got   strings.Builder
	added map[string]bool
}

// Open reads a file of sections. At the end of the test a section that was not added
// is an error, or with -update is removed; so one test adds all sections of a file.
func Open(t testing.TB, path string) *Sections {
	t.Helper()
	s := &Sections{t: t, path: path, added: map[string]bool{}}
	if !*update {
		s.want = Parse(read(t, s.path))
	}
	t.Cleanup(s.close)
	return s
}

// Equal compares a text with a section.
func (s *Sections) Equal(name, got string) {
	s.t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n" + noNewline
	}
	if s.added[name] {
		s.t.Errorf("%s: section %q is compared twice", s.path, name)
	}
	if parsed := Parse("-- " + name + " --\n" + got); len(parsed) != 1 || parsed[name] != got {
		s.t.Errorf("%s: section %q has a line that looks like the head of a section", s.path, name)
	}
	s.added[name] = true
	s.got.WriteString("-- " + name + " --\n" + got)
	if want, ok := s.want[name]; !*update && !ok {
		s.t.Errorf("%s has no section %q (write it with -update):\n%s", s.path, name, got)
	} else if diff := cmp.Diff(want, got); !*update && diff != "" {
		s.t.Errorf("%s, %s differs, -want +got (write it anew with -update):\n%s", s.path, name, diff)
	}
}

func (s *Sections) close() {
	if *update {
		write(s.t, s.path, s.got.String())
		return
	}
	for name := range s.want {
		if !s.added[name] && !s.t.Failed() {
			s.t.Errorf("%s: nothing is compared with section %q (remove it with -update)", s.path, name)
		}
	}
}

// Parse splits a file into its sections.
func Parse(file string) map[string]string {
	sections := map[string]string{}
	name := ""
	for line := range strings.Lines(file) {
		if head, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- "); ok && strings.HasSuffix(head, " --") {
			name = strings.TrimSuffix(head, " --")
			sections[name] = ""
			continue
		}
		if name != "" {
			sections[name] += line
		}
	}
	return sections
}

// read returns a file with the line ends of Unix, whatever git made of them.
func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing (write it with -update)", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), "\r\n", "\n")
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
