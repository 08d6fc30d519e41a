package lessonlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// mustWrite makes a file with its folders.
func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.WriteFile(path, []byte(text), 0o666))
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// mustLink skips the test where links cannot be made, as on Windows.
func mustLink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

func lesson(text string) memory.LogLine { return memory.LogLine{Lesson: text, Repo: "r"} }

// Append writes one line, as a Writer with one line to write does.
func Append(ctx context.Context, root, dir, repo string, line memory.LogLine) (path string, err error) {
	text, err := encoded(repo, line)
	if err != nil {
		return "", err
	}
	path, _, err = appendAll(ctx, root, dir, repo, [][]byte{text})
	return path, err
}

func TestAppend(t *testing.T) {
	root := t.TempDir()
	const dir = "agent-knowledge/logs"
	want := filepath.Join(root, "agent-knowledge", "logs", "r.jsonl")
	for i := range 3 {
		path, err := Append(t.Context(), root, dir, "r", lesson(fmt.Sprint("lesson ", i)))
		if err != nil || path != want {
			t.Fatalf("Append = %s, %v; want %s", path, err, want)
		}
	}
	var text string
	for i := range 3 {
		text += string(Encode(lesson(fmt.Sprint("lesson ", i))))
	}
	if got := mustRead(t, want); got != text {
		t.Errorf("the log holds\n%s\nwant\n%s", got, text)
	}
	entries, err := os.ReadDir(filepath.Dir(want))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the log there is something left: %v, %v", entries, err)
	}
	other := filepath.Join(t.TempDir(), "far", "logs")
	if path, err := Append(t.Context(), "", other, "r", lesson("x")); err != nil || path != filepath.Join(other, "r.jsonl") {
		t.Errorf("Append to an absolute folder = %s, %v", path, err)
	}
}

func TestAppendMendsATornLine(t *testing.T) {
	for name, before := range map[string]string{"torn": `{"lesson":"to`, "torn text": "{\"lesson\":\"a\"}\nxyz", "zeros of a crash": "\x00\x00"} {
		dir := t.TempDir()
		log := filepath.Join(dir, "r.jsonl")
		mustWrite(t, log, before)
		if _, err := Append(t.Context(), "", dir, "r", lesson("whole")); err != nil {
			t.Fatal(err)
		}
		if got, want := mustRead(t, log), before+"\n"+string(Encode(lesson("whole"))); got != want {
			t.Errorf("%s: the log holds %q, want %q", name, got, want)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	root := t.TempDir()
	for _, test := range []struct {
		name, root, dir, repo string
		line                  memory.LogLine
		code                  memory.Code
		field                 string
	}{
		{"no repository", root, "logs", "", lesson("x"), memory.CodeInvalidInput, "repo"},
		{"no lesson", root, "logs", "r", lesson(" "), memory.CodeInvalidInput, "lesson"},
		{"a long command", root, "logs", "r", memory.LogLine{Lesson: "x", Command: strings.Repeat("c", 2001)}, memory.CodeInvalidInput, "command"},
		{"a folder that leaves", root, "../logs", "r", lesson("x"), memory.CodeInvalidInput, "dir"},
		{"no root", "", "logs", "r", lesson("x"), memory.CodeInvalidInput, "dir"},
		{"no folder", root, "", "r", lesson("x"), memory.CodeInvalidInput, "dir"},
	} {
		_, err := Append(t.Context(), test.root, test.dir, test.repo, test.line)
		problem, ok := errors.AsType[*memory.Error](err)
		if !ok || problem.Code != test.code || problem.Field != test.field {
			t.Errorf("%s: error %v, want %s about %s", test.name, err, test.code, test.field)
		}
	}
	if entries, _ := os.ReadDir(root); len(entries) > 0 {
		t.Errorf("a line that is refused leaves %v behind", entries)
	}
}

func TestAppendRefusesALineThatIsTooLong(t *testing.T) {
	dir := t.TempDir()
	// sized is a line of so many bytes.
	sized := func(bytes int) memory.LogLine {
		l := lesson("x")
		l.Extra = map[string]json.RawMessage{"more": json.RawMessage(`""`)}
		l.Extra["more"] = json.RawMessage(`"` + strings.Repeat("x", bytes-len(Encode(l))) + `"`)
		return l
	}
	if _, err := Append(t.Context(), "", dir, "r", sized(MaxLine)); err != nil {
		t.Errorf("a line of %d bytes: %v", MaxLine, err)
	}
	_, err := Append(t.Context(), "", dir, "r", sized(MaxLine+1))
	if problem, ok := errors.AsType[*memory.Error](err); !ok || problem.Field != "line" {
		t.Errorf("a line of %d bytes: %v, want an error about line", MaxLine+1, err)
	}
}

func TestAppendKeepsToItsRoot(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.jsonl")
	mustWrite(t, secret, "kept\n")
	for name, link := range map[string]func(root string){
		"the folder is a link": func(root string) { mustLink(t, outside, filepath.Join(root, "logs")) },
		"the log is a link": func(root string) {
			mustWrite(t, filepath.Join(root, "logs", "other.jsonl"), "")
			mustLink(t, secret, filepath.Join(root, "logs", "secret.jsonl"))
		},
		"the log is a folder": func(root string) {
			must(t, os.MkdirAll(filepath.Join(root, "logs", "secret.jsonl"), 0o777))
		},
	} {
		root := t.TempDir()
		link(root)
		if path, err := Append(t.Context(), root, "logs", "secret", lesson("x")); err == nil {
			t.Errorf("%s: Append wrote to %s", name, path)
		}
	}
	if got := mustRead(t, secret); got != "kept\n" {
		t.Errorf("the file outside holds %q", got)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("the folder outside holds %v", entries)
	}
}

func TestLockOfAWriterThatWasKilled(t *testing.T) {
	dir := t.TempDir()
	lock := filepath.Join(dir, "r.jsonl.lock")
	synctest.Test(t, func(t *testing.T) {
		mustMkdir(t, lock)
		start := time.Now()
		if _, err := Append(t.Context(), "", dir, "r", lesson("x")); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < staleAfter || waited > staleAfter+time.Second {
			t.Errorf("waited %s for a lock that never changed, want %s", waited, staleAfter)
		}
	})
	if _, err := os.Stat(lock); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock is still there: %v", err)
	}
}

func TestLockThatChangesHandsIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	lock := filepath.Join(dir, "r.jsonl.lock")
	synctest.Test(t, func(t *testing.T) {
		mustMkdir(t, lock)
		ctx, cancel := context.WithTimeout(t.Context(), 3*staleAfter)
		defer cancel()
		var renewing sync.WaitGroup
		renewing.Go(func() {
			for i := 1; ctx.Err() == nil; i++ {
				// As a writer that has just taken it would leave it.
				when := time.Unix(int64(i), 0)
				if err := os.Chtimes(lock, when, when); err != nil {
					t.Error(err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(staleAfter / 2):
				}
			}
		})
		_, err := Append(ctx, "", dir, "r", lesson("x"))
		renewing.Wait()
		if memory.CodeOf(err) != memory.CodeUnavailable || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want unavailable: the lock was not the same for %s", err, staleAfter)
		}
	})
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("another writer's lock was taken away: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "r.jsonl")); err == nil {
		t.Error("a line was written without the lock")
	}
}

func mustMkdir(t *testing.T, path string) {
	t.Helper()
	must(t, os.Mkdir(path, 0o777))
}

func TestAppendByMany(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 16, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if _, err := Append(t.Context(), "", dir, "r", lesson(fmt.Sprintf("%d of %d %s", i, w, strings.Repeat("é", 1500)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for line := range strings.Lines(mustRead(t, filepath.Join(dir, "r.jsonl"))) {
		l, err := Parse([]byte(line))
		if err != nil {
			t.Errorf("a line is not whole: %v", err)
		}
		seen[l.Lesson] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d lines are there, %d were written", len(seen), writers*each)
	}
}

// BenchmarkAppend is the price of a line for a writer that is alone.
func BenchmarkAppend(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if _, err := Append(b.Context(), "", dir, "r", lesson("a lesson")); err != nil {
			b.Fatal(err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
