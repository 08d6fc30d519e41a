package recall

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// TestOwnVersionFirst: of a piece that several worktrees have, each changed in its own
// way, the caller's is shown, however the others rank, and in the place of the best.
func TestOwnVersionFirst(t *testing.T) {
	body := "func retry() { again and again until the server answers or the deadline has passed in "
	s := newShelf()
	in := func(box string) memory.FileKey { return memory.FileKey{Sandbox: box, Path: "retry.go"} }
	s.chunk(body+"theirs }", in("/theirs"))
	for _, path := range []string{"a.go", "b.go", "c.go"} {
		s.chunk("something else of "+path+strings.Repeat(" "+path, 9), at(path))
	}
	s.chunk(body+"mine }", in("/mine"))
	for dir, want := range map[string]string{"/mine/sub": "mine", "/theirs": "theirs", "": "theirs", "/elsewhere": "theirs"} {
		a := s.ask(t, memory.RecallRequest{Query: "needle", Caller: memory.Caller{Dir: dir}})
		if len(a.Items) != 3 || !strings.HasSuffix(a.Items[0].Text, want+" }") || a.Items[0].Source.Sandbox != "/"+want {
			t.Errorf("from %q: %+v, want the piece of %s first", dir, a.Items, want)
		}
		for _, item := range a.Items[min(1, len(a.Items)):] {
			if item.Source.Path == "retry.go" {
				t.Errorf("from %q: retry.go of %s as well", dir, item.Source.Sandbox)
			}
		}
	}
}

// TestCodeOfAnotherWorktreeIsMarked, also where the caller's own has changed since and
// that of another folder is shown in its place; nothing is where no code is the caller's.
func TestCodeOfAnotherWorktreeIsMarked(t *testing.T) {
	s := newShelf()
	in := func(box, path string) memory.FileKey { return memory.FileKey{Sandbox: box, Path: path} }
	s.chunk("func mine() { one thing }", in("/mine", "mine.go"))
	s.chunk("func theirs() { another matter }", in("/theirs", "theirs.go"))
	s.chunk("func both() { alike everywhere }", in("/theirs", "both.go"), in("/mine", "both.go"))
	s.gates[in("/mine", "both.go")] = &memory.GateError{Reason: memory.Changed}
	for dir, want := range map[string]string{"/mine": "theirs.go both.go", "/theirs/sub": "mine.go", "": "", "/elsewhere": ""} {
		a := s.ask(t, memory.RecallRequest{Query: "what", Caller: memory.Caller{Dir: dir}})
		var marked []string
		for _, item := range a.Items {
			if item.Foreign {
				marked = append(marked, item.Source.Path)
			}
			if told := strings.Contains(render.Item(item, 1), " [in "+item.Source.Sandbox+"]\n"); told != item.Foreign {
				t.Errorf("from %q: %s is foreign: %v, and the text says so: %v", dir, item.Source.Path, item.Foreign, told)
			}
		}
		if got := strings.Join(marked, " "); got != want || len(a.Items) != 3 {
			t.Errorf("from %q: of %d pieces %q are marked, want %q", dir, len(a.Items), got, want)
		}
	}
}
