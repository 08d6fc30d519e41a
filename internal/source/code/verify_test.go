package code

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

const verified = `package a

// First is first.
func First() {
	work()
}

// Second is second.
func Second() {
	work()
}
`

// locate gives the location of the lines from first to last of a text.
func locate(root, name, src string, first, last int) memory.Location {
	starts := chunk.LineStarts([]byte(src))
	start, end := starts[first-1], starts[last]
	for end > starts[last-1] && (src[end-1] == '\n' || src[end-1] == '\r') {
		end--
	}
	return memory.Location{Project: "p", Sandbox: "s", Root: root, Path: name, Lang: "go", Chunk: memory.FileChunk{
		Hash: hashOf([]byte(src[start:end])), Start: start, End: end, StartLine: first, EndLine: last,
	}}
}

// refused reports whether a verification was refused for a reason, with no text.
func refused(t *testing.T, what string, v memory.Verified, err error, want memory.Reason) {
	t.Helper()
	gate, ok := errors.AsType[*memory.GateError](err)
	if !ok || gate.Reason != want {
		t.Errorf("%s: %v, want the reason %s", what, err, want)
	}
	if v != (memory.Verified{}) {
		t.Errorf("%s: shown all the same: %+v", what, v)
	}
}

func TestVerify(t *testing.T) {
	root := tree(t, map[string]string{"dir/a.go": verified})
	at := locate(root, "dir/a.go", verified, 8, 11)
	want := "// Second is second.\nfunc Second() {\n\twork()\n}"
	for _, test := range []struct {
		name, disk string
		start      int // line; 0 is refused
		reason     memory.Reason
	}{
		{"as it was", verified, 8, ""},
		{"moved down", "// new\n\n" + verified, 10, ""},
		{"moved up", strings.TrimPrefix(verified, "package a\n\n"), 6, ""},
		{"something behind", verified + "\nvar x int\n", 8, ""},
		{"without the last newline", strings.TrimSuffix(verified, "\n"), 8, ""},
		{"another before", strings.Replace(verified, "first.", "the first of all.", 1), 8, ""},
		{"there twice", strings.Replace(verified, "package a\n", "package a\n"+want+"\n\n\n\n", 1) + "\n", 2, ""},
		{"edited", strings.Replace(verified, "second.", "edited.", 1), 0, memory.Changed},
		{"as many bytes", strings.Replace(verified, "Second()", "secOND()", 1), 0, memory.Changed},
		{"its last line goes on", strings.TrimSuffix(verified, "\n") + " // more\n", 0, memory.Changed},
		{"its first line begins earlier", strings.Replace(verified, "// Second", "x // Second", 1), 0, memory.Changed},
		{"indented", strings.Replace(verified, "func Second", "\tfunc Second", 1), 0, memory.Changed},
		{"cut short", verified[:len(verified)-4], 0, memory.Changed},
		{"emptied", "", 0, memory.Changed},
		{"CRLF", strings.ReplaceAll(verified, "\n", "\r\n"), 0, memory.Changed},
		{"binary", verified + "\x00", 0, memory.Binary},
		{"latin-1", "// caf\xe9\n" + verified, 0, memory.Binary},
		{"very large", verified + strings.Repeat("x\n", maxVerified/2), 0, memory.Changed},
	} {
		put(t, root, "dir/a.go", test.disk)
		v, err := NewVerifier().Verify(t.Context(), at)
		if test.start == 0 {
			refused(t, test.name, v, err, test.reason)
			continue
		}
		if err != nil || v.Text != want || v.Path != "dir/a.go" || v.StartLine != test.start || v.EndLine != test.start+3 || v.Moved != (test.start != 8) {
			t.Errorf("%s: %+v, %v", test.name, v, err)
		}
	}
}

func TestVerifyRedacts(t *testing.T) {
	src := "package a\n\n/* <private>\nouter\n*/\nvar inner = 1\n// </private>\nvar token = \"npm_" + strings.Repeat("a1B2c3", 6) + "\"\n"
	root := tree(t, map[string]string{"a.go": src})
	v, err := NewVerifier().Verify(t.Context(), locate(root, "a.go", src, 5, 8))
	if err != nil || strings.Contains(v.Text, "inner") || strings.Contains(v.Text, "a1B2c3") || !strings.Contains(v.Text, "var token") {
		t.Errorf("Verify = %q, %v", v.Text, err)
	}
}

func TestVerifyPaths(t *testing.T) {
	outer := tree(t, map[string]string{"secret.go": verified, "box/a.go": verified, "box/dir/b.go": verified, "other/b.go": verified})
	root := filepath.Join(outer, "box")
	for name, want := range map[string]memory.Reason{
		"missing.go": memory.Gone, "dir/missing.go": memory.Gone, "a.go/b.go": memory.Gone, "dir": memory.Gone,
		"../secret.go": memory.Outside, "dir/../../secret.go": memory.Outside, "dir/../a.go": memory.Outside, "./a.go": memory.Outside,
		"": memory.Outside, "/etc/hostname": memory.Outside, filepath.ToSlash(outer) + "/secret.go": memory.Outside,
		"dir//b.go": memory.Outside, "a.go\x00": memory.Unreadable, "\xff.go": memory.Outside,
		"..\u2215secret.go": memory.Gone, "\u2024\u2024/secret.go": memory.Gone, "a.go\u200b": memory.Gone, "．．/secret.go": memory.Gone,
	} {
		v, err := NewVerifier().Verify(t.Context(), locate(root, name, verified, 8, 11))
		refused(t, name, v, err, want)
	}
	v, err := NewVerifier().Verify(t.Context(), locate(filepath.Join(outer, "no such root"), "a.go", verified, 8, 11))
	refused(t, "a missing root", v, err, memory.Gone)

	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	v, err = NewVerifier().Verify(ctx, locate(root, "a.go", verified, 8, 11))
	refused(t, "too late", v, err, memory.TooSlow)

	links := []struct {
		link, target, path string
		want               memory.Reason
	}{
		{"out.go", "../secret.go", "out.go", memory.Outside},
		{"abs.go", filepath.Join(outer, "secret.go"), "abs.go", memory.Outside},
		{"up", "..", "up/secret.go", memory.Outside},
		{"up", "..", "up/box/a.go", memory.Outside}, // back in, by way of the outside
		{"sub", "../other", "sub/b.go", memory.Outside},
		{"loop", "loop", "loop", memory.Unreadable},
		{"in.go", "a.go", "in.go", ""},
		{"in", "dir", "in/b.go", ""},
	}
	for _, l := range links {
		link := filepath.Join(root, l.link)
		if err := os.Symlink(l.target, link); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		v, err := NewVerifier().Verify(t.Context(), locate(root, l.path, verified, 8, 11))
		if l.want != "" {
			refused(t, l.path+" by "+l.target, v, err, l.want)
		} else if err != nil || v.StartLine != 8 {
			t.Errorf("%s by %s: %+v, %v", l.path, l.target, v, err)
		}
		must(t, os.Remove(link))
	}

	// A folder on the way is replaced by a link that leads out.
	must(t, os.RemoveAll(filepath.Join(root, "dir")))
	must(t, os.Symlink("../other", filepath.Join(root, "dir")))
	v, err = NewVerifier().Verify(t.Context(), locate(root, "dir/b.go", verified, 8, 11))
	refused(t, "a parent became a link", v, err, memory.Outside)

	// The root itself is.
	must(t, os.Rename(root, root+".was"))
	must(t, os.Symlink("other", root))
	v, err = NewVerifier().Verify(t.Context(), locate(root, "b.go", verified, 8, 11))
	refused(t, "the root became a link", v, err, memory.Outside)
}

// TestVerifyWhileReplaced has a file replaced, and its folder turned into a
// link that leads out and back, while it is verified: what is shown was in the
// sandbox.
func TestVerifyWhileReplaced(t *testing.T) {
	evil := strings.Replace(verified, "second.", "outside", 1)
	outer := tree(t, map[string]string{"box/dir/a.go": verified, "evil/a.go": verified + evil})
	root := filepath.Join(outer, "box")
	if err := os.Symlink("../evil", filepath.Join(root, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	at := locate(root, "dir/a.go", verified, 8, 11)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		dir, link, aside := filepath.Join(root, "dir"), filepath.Join(root, "link"), filepath.Join(root, "aside")
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			for _, move := range [][2]string{{dir, aside}, {link, dir}, {dir, link}, {aside, dir}} {
				if err := os.Rename(move[0], move[1]); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	shown := 0
	for range 2000 {
		v, err := NewVerifier().Verify(t.Context(), at)
		if err == nil {
			shown++
			// Both files hold the text there; only the sandbox's is short.
			if v.Moved || v.StartLine != 8 {
				t.Fatalf("shown from elsewhere: %+v", v)
			}
		} else if gate, ok := errors.AsType[*memory.GateError](err); !ok || gate.Reason != memory.Gone && gate.Reason != memory.Outside && gate.Reason != memory.Unreadable {
			t.Fatalf("refused by %v", err)
		}
	}
	close(stop)
	must(t, <-done)
	t.Logf("shown %d of 2000 times", shown)
}

func BenchmarkVerify10(b *testing.B) {
	src := strings.Repeat(verified, 500)
	root := tree(b, map[string]string{"a/b/c/d.go": src})
	at := locate(root, "a/b/c/d.go", src, 11*200+8, 11*200+11)
	moved := at
	moved.Chunk.Start, moved.Chunk.End = at.Chunk.Start+1, at.Chunk.End+1
	for name, at := range map[string]memory.Location{"in place": at, "moved": moved} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for range 10 {
					if _, err := NewVerifier().Verify(b.Context(), at); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
