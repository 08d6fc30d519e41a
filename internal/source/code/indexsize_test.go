package code_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/testkit/gosource"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// TestIndexSizeIsAboutRight holds the size that is reckoned from counters against
// the files that the database has written.
func TestIndexSizeIsAboutRight(t *testing.T) {
	underrace.Skip(t, "it compares sizes")
	from := filepath.Join(gosource.Dir(t), "encoding")
	if _, err := os.Stat(from); err != nil {
		t.Skipf("Go's own source is needed: install Go with its src folder: %v", err)
	}
	root := folder(t, nil)
	must(t, os.CopyFS(root, os.DirFS(from)))
	r := newRig(t, rigOptions{})
	q := r.ask(root)
	r.runNext()
	s := r.state(q.Sandbox)
	r.close()
	tables, err := filepath.Glob(filepath.Join(r.dir, "*.sst"))
	must(t, err)
	var real int64
	for _, table := range tables {
		info, err := os.Stat(table)
		must(t, err)
		real += info.Size()
	}
	t.Logf("%d files, %d chunks, %d bytes of source: reckoned %d, written %d", s.Files, s.Chunks, s.Bytes, s.IndexBytes, real)
	if s.IndexBytes < real*3/4 || s.IndexBytes > real*4/3 {
		t.Errorf("the index is reckoned at %d bytes, the database has written %d", s.IndexBytes, real)
	}
}
