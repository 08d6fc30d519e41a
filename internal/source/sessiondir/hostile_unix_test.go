//go:build unix

package sessiondir_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/source/sessiondir"
	"github.com/recalld/recalld/internal/testkit/badfile"
)

// TestHostileSessionFiles: whatever lies where a file of a session is expected, it is reported
// by its path, soon and in little memory, and the steps beside it are read: once and by polls.
func TestHostileSessionFiles(t *testing.T) {
	for name, whole := range map[string]string{
		"session.json": `{"sessionId":"run-0001","goal":"make the tests pass"}`,
		"steps/2.json": `{"timestamp":"2026-05-01T11:00:00Z","tool":{"name":"edit"}}`,
	} {
		for bad, put := range badfile.All {
			f := newFollower(t)
			f.step("run-0001", "1.json", "read", time.Minute)
			f.step("run-0001", "3.json", "test", time.Minute)
			path := filepath.Join(f.dir, "run-0001", filepath.FromSlash(name))
			must(t, put(path, whole))
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				setTime(t, path, time.Minute) // nobody is writing it
			}
			for how, read := range map[string]func() *collected{
				"read": func() *collected { return collect(t, sessiondir.ReadTree(f.dir)) },
				"poll": f.poll,
			} {
				var got *collected
				took := badfile.Bounded(t, name+" is "+bad, func() { got = read() })
				if tools := got.tools("run-0001"); !slices.Equal(tools, []string{"read", "test"}) {
					t.Errorf("%s is %s, %s: the steps are %v", name, bad, how, tools)
				}
				if len(got.problems) != 1 || got.problems[0].File != path || len(got.problems[0].Message) > 300 || strings.ContainsAny(got.problems[0].Message, "\x00\n") {
					t.Errorf("%s is %s, %s: the problems are %.400v", name, bad, how, got.problems)
				}
				if took > 128<<20 {
					t.Errorf("%s is %s, %s: %d MB were allocated", name, bad, how, took>>20)
				}
			}
			if again := f.poll(); len(again.problems) > 0 {
				t.Errorf("%s is %s: the second poll reports %v again", name, bad, again.problems)
			}
		}
	}
}
