package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestEndingStoreLeavesItsSuccessorAlone: a store whose data folder was removed or moved
// away, and that ends after another was opened in its place, takes nothing from that one.
func TestEndingStoreLeavesItsSuccessorAlone(t *testing.T) {
	// A store that was killed: its successor is at its second log, and the store that
	// ends has one of that name ready.
	killed := filepath.Join(t.TempDir(), "killed")
	of := t.TempDir()
	s := open(t, Options{Dir: filepath.Join(of, "store")})
	if _, err := remember(s, "one"); err != nil {
		t.Fatal(err)
	}
	copyFolder(t, of, killed)
	for name, leave := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+".moved") },
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			dir := filepath.Join(data, "store")
			must(t, os.Mkdir(data, 0o700))
			ends := open(t, Options{Dir: dir})
			if _, err := remember(ends, "other"); err != nil {
				t.Fatal(err)
			}
			must(t, leave(data))
			copyFolder(t, killed, data)
			s := open(t, Options{Dir: dir})
			_ = ends.Close() // its folder is gone
			_, err := remember(s, "two")
			if err = errors.Join(err, s.Close()); err != nil {
				t.Errorf("the store in its place takes no write any more: %v", err)
			}
			s = open(t, Options{Dir: dir})
			load(t, s)
			for _, id := range []string{"l-one", "l-two"} {
				if _, err := s.Record(id); err != nil {
					t.Errorf("%s of the store in its place is gone: %v", id, err)
				}
			}
			if damage := s.Damage(); damage != nil {
				t.Errorf("the store in its place says: %s", damage.Text())
			}
		})
	}
}
