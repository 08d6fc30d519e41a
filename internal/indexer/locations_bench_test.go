package indexer

import (
	"fmt"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkFiles finds the files that a path may mean among 100,000, a tenth of which
// have one name. Against it stands a look at every path.
//
//	go test ./internal/indexer -run '^$' -bench Files -benchmem
func BenchmarkFiles(b *testing.B) {
	x := &Indexer{owners: newOwners()}
	const files = 100_000
	for i := range files {
		name := fmt.Sprintf("file%d.ts", i%20_000)
		if i%10 == 0 {
			name = "index.ts"
		}
		x.owners.add(fileOwner(&memory.File{Project: "p", Sandbox: "s", Path: fmt.Sprintf("packages/p%d/src/m%d/%s", i%100, i/100, name), Lang: "typescript"}))
	}
	sel := memory.Selection{Project: "p", Kinds: []memory.Kind{memory.Chunk}}
	for _, query := range []struct {
		name, path string
		want       int
	}{
		{"path", "packages/p51/src/m300/file10051.ts", 1}, {"base", "file10051.ts", 5}, {"absolute", "/home/me/shop/packages/p51/src/m300/file10051.ts", 1},
		{"commonest base", "index.ts", maxFiles}, {"commonest path", "p50/src/m9/index.ts", 1}, {"unknown", "nothing.ts", 0},
	} {
		b.Run(query.name, func(b *testing.B) {
			for b.Loop() {
				if got := x.files(query.path, sel); len(got) != query.want {
					b.Fatalf("%d files, want %d", len(got), query.want)
				}
			}
		})
	}
	b.Run("every path", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for i := range x.owners.all {
				if endsWith(x.owners.all[i].file.Path, "file10051.ts") {
					n++
				}
			}
			if n != 5 {
				b.Fatalf("%d files, want 5", n)
			}
		}
	})
}
