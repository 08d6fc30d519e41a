package code

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkAnchor is what an anchor costs when a lesson is told, and when it is shown: the
// code is as it was, or it changed. The file has 1,000 lines.
func BenchmarkAnchor(b *testing.B) {
	body := bytes.Repeat([]byte("\n// Step does one step of the work and returns its error.\nfunc Step(n int) error {\n\tif n > limit {\n\t\treturn errTooMany\n\t}\n\treturn work(n)\n}\n"), 120)
	src := append([]byte("package a\n\n"), body...)
	src = append(src, []byte("\n// Last is the last.\nfunc Last() { work(1) }\n")...)
	root := b.TempDir()
	path := filepath.Join(root, "a.go")
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	write(src)
	at, want := memory.Location{Root: root, Path: "a.go"}, memory.AnchorRequest{Path: "a.go", Symbol: "Last"}
	v := NewVerifier()
	a, err := v.Anchor(b.Context(), at, want)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("made", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Anchor(b.Context(), at, want); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, run := range []struct {
		name string
		text []byte
	}{{"unchanged", src}, {"changed", bytes.Replace(src, []byte("is the last"), []byte("was the last"), 1)}} {
		write(run.text)
		b.Run(run.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Compare(b.Context(), at, []memory.Anchor{a}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
