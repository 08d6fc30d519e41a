package indexer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestOwnersOfFiles adds and drops files of few names at random, and compares what is found by
// key and by name with a list of them.
func TestOwnersOfFiles(t *testing.T) {
	for seed := range uint64(50) {
		draw := rand.New(rand.NewPCG(seed, 3))
		e := newOwners()
		var held []memory.FileKey // in the order in which they were added
		for range 200 {
			key := memory.FileKey{Sandbox: fmt.Sprint("s", draw.IntN(2)), Path: fmt.Sprintf("d%d/f%d.go", draw.IntN(4), draw.IntN(3))}
			n, ok := e.file(key)
			at := slices.Index(held, key)
			if ok != (at >= 0) || ok && e.all[n].file.FileKey != key {
				t.Fatalf("seed %d: file %v: %d, %v; held %v", seed, key, n, ok, held)
			}
			if ok {
				e.drop(n)
				held = slices.Delete(held, at, at+1)
			} else {
				e.add(fileOwner(&memory.File{Sandbox: key.Sandbox, Path: key.Path, Project: "p"}))
				held = append(held, key)
			}
			for _, base := range []string{"f0.go", "f1.go", "f2.go", "f3.go"} {
				var got, want []memory.FileKey
				for n := range e.named(base) {
					got = append(got, e.all[n].file.FileKey)
				}
				for _, key := range held {
					if key.Path[3:] == base {
						want = append(want, key)
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: files named %s: %v, want %v", seed, base, got, want)
				}
			}
		}
		all := 0
		for range e.allFiles() {
			all++
		}
		if all != len(held) {
			t.Fatalf("seed %d: %d files, want %d", seed, all, len(held))
		}
	}
}
