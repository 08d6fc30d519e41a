package watch

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mirror is the known state of a root for a reader that looks only where batches say.
type mirror struct {
	root  string
	files map[string]string // text by path
}

// look takes over what a path is now, with all below it.
func (m *mirror) look(t *testing.T, rel string) {
	t.Helper()
	for known := range m.files {
		if rel == "." || known == rel || strings.HasPrefix(known, rel+"/") {
			delete(m.files, known)
		}
	}
	maps.Copy(m.files, onDisk(t, m.root, rel))
}

// take looks where a batch says.
func (m *mirror) take(t *testing.T, b Batch) {
	t.Helper()
	if b.All || b.Gone {
		m.look(t, ".")
	}
	for _, p := range b.Paths {
		m.look(t, p)
	}
}

// onDisk reads the files at and below a path.
func onDisk(t *testing.T, root, rel string) map[string]string {
	t.Helper()
	files := map[string]string{}
	// A change during the reading is reported again.
	_ = filepath.WalkDir(filepath.Join(root, rel), func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if text, err := os.ReadFile(at); err == nil {
			name, err := filepath.Rel(root, at)
			must(t, err)
			files[filepath.ToSlash(name)] = string(text)
		}
		return nil
	})
	return files
}

// TestRandomChanges: whatever is done to the folders of two roots, in them and from
// one to the other, who looks where the batches say knows in the end what is there.
func TestRandomChanges(t *testing.T) {
	for round := range 6 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			seed := rand.Uint64()
			if round == 0 {
				seed = 1 // the same each time
			}
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			w, err := New(Options{Quiet: 5 * time.Millisecond, MaxDelay: 20 * time.Millisecond, MaxPaths: 30})
			must(t, err)
			defer w.Close()
			mirrors := map[string]*mirror{}
			var roots []string
			for range 2 {
				root := tempDir(t)
				roots = append(roots, root)
				mirrors[root] = &mirror{root: root, files: map[string]string{}}
				must(t, w.Add(Root{Path: root}))
				if b := next(t, w); !b.All || b.Root != root {
					t.Fatalf("the first batch is %+v, want all of %s", b, root)
				}
				needEvents(t, w, root)
			}
			stop, taken := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(taken)
				done := map[string]bool{}
				for len(done) < len(roots) {
					select {
					case b := <-w.Batches():
						mirrors[b.Root].take(t, b)
						for _, root := range roots {
							done[root] = mirrors[root].files["end"] != ""
						}
						maps.DeleteFunc(done, func(_ string, ended bool) bool { return !ended })
					case <-stop:
						return
					}
				}
			}()
			place := func() string {
				parts := []string{roots[random.IntN(2)]}
				for range 1 + random.IntN(3) {
					parts = append(parts, string(rune('a'+random.IntN(4))))
				}
				return path.Join(parts...)
			}
			for i := range 1500 {
				// Most of them are impossible now and then: what fails changes nothing.
				switch at := place(); random.IntN(7) {
				case 0, 1:
					_ = os.MkdirAll(at, 0o755)
				case 2, 3:
					_ = os.WriteFile(at+".go", fmt.Appendf(nil, "text %d", i), 0o644)
				case 4:
					_ = os.Rename(at, place())
				case 5:
					_ = os.Rename(at+".go", place()+".go")
				case 6:
					_ = os.RemoveAll(at)
				}
			}
			for _, root := range roots {
				write(t, root, "end", "the end")
			}
			select {
			case <-taken:
			case <-time.After(patience):
				close(stop)
				<-taken
				t.Error("the last change is not reported")
			}
			for _, root := range roots {
				want := onDisk(t, root, ".")
				for name, text := range want {
					if got := mirrors[root].files[name]; got != text {
						t.Errorf("%s/%s is known as %q and is %q", root, name, got, text)
					}
				}
				for name := range mirrors[root].files {
					if _, there := want[name]; !there {
						t.Errorf("%s/%s is known and is not there", root, name)
					}
				}
			}
		})
	}
}
