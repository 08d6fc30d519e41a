package golden

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// recorder is a test that notes its failures and is ended by hand.
type recorder struct {
	testing.TB
	failures []string
	cleanup  func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanup = f }
func (r *recorder) Failed() bool     { return len(r.failures) > 0 }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestSections(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "testdata/x", "-- a --\none\ntwo\n-- b --\nend"+"\n"+noNewline)
	for name, test := range map[string]struct {
		compare func(*Sections)
		want    string // part of the only failure; empty for none
	}{
		"same":        {func(s *Sections) { s.Equal("a", "one\ntwo\n"); s.Equal("b", "end") }, ""},
		"changed":     {func(s *Sections) { s.Equal("a", "one"); s.Equal("b", "end") }, "a differs"},
		"newline":     {func(s *Sections) { s.Equal("a", "one\ntwo"); s.Equal("b", "end") }, "a differs"},
		"missing":     {func(s *Sections) { s.Equal("a", "one\ntwo\n"); s.Equal("b", "end"); s.Equal("c", "") }, `no section "c"`},
		"superfluous": {func(s *Sections) { s.Equal("a", "one\ntwo\n") }, `section "b"`},
		"twice":       {func(s *Sections) { s.Equal("a", "one\ntwo\n"); s.Equal("a", "one\ntwo\n") }, "twice"},
		"a head":      {func(s *Sections) { s.Equal("a", "one\n-- d --\n") }, "looks like"},
	} {
		r := &recorder{TB: t}
		s := Open(r, "testdata/x")
		test.compare(s)
		r.cleanup()
		switch all := strings.Join(r.failures, "\n"); {
		case test.want == "" && all != "":
			t.Errorf("%s: %s, want no failure", name, all)
		case test.want != "" && !strings.Contains(all, test.want):
			t.Errorf("%s: %q, want %q", name, all, test.want)
		}
	}
}

func TestUpdate(t *testing.T) {
	t.Chdir(t.TempDir())
	defer func(before bool) { *update = before }(*update)
	*update = true
	r := &recorder{TB: t}
	s := Open(r, "testdata/deep/x")
	s.Equal("b", "two")
	s.Equal("a", "one\n")
	r.cleanup()
	Equal(r, "testdata/deep/y", "text")
	*update = false
	Equal(r, "testdata/deep/y", "text")
	if got, err := os.ReadFile("testdata/deep/x"); err != nil || string(got) != "-- b --\ntwo\n"+noNewline+"-- a --\none\n" || r.Failed() {
		t.Errorf("wrote %q, %v, %q", got, err, r.failures)
	}
}
