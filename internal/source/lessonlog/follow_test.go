package lessonlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// polled is what one poll found, as text: "name:line lesson" for a line,
// "name:line!" for a problem.
func polled(t *testing.T, f *Follower, root, dir string) []string {
	t.Helper()
	var found []string
	for part, err := range f.Poll(root, dir) {
		if err != nil {
			t.Fatalf("Poll: %v", err)
		}
		found = append(found, words(part)...)
	}
	return found
}

func words(part FileLines) []string {
	var found []string
	name := filepath.Base(part.File)
	for i, l := range part.Lines {
		found = append(found, fmt.Sprintf("%s:%d %s", name, part.Numbers[i], l.Lesson))
	}
	for _, p := range part.Problems {
		found = append(found, fmt.Sprintf("%s:%d!", filepath.Base(p.File), p.Line))
	}
	return found
}

func line(text string) string { return string(Encode(lesson(text))) }

// mustAppend writes as another program does, without the lock.
func mustAppend(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, errors.Join(err, f.Close()))
}

// mustTouch moves a file's time on, for systems whose times are coarse.
func mustTouch(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	when := info.ModTime().Add(time.Second)
	must(t, os.Chtimes(path, when, when))
}

func TestPoll(t *testing.T) {
	long := strings.Repeat("x", MaxLine+10)
	for _, test := range []struct {
		name  string
		start string
		// change is made between two polls.
		change    func(t *testing.T, log string)
		was, then []string
	}{
		{"nothing new", line("a"), func(*testing.T, string) {}, []string{"r.jsonl:1 a"}, nil},
		{"a new line", line("a"), func(t *testing.T, log string) { mustAppend(t, log, line("b")) },
			[]string{"r.jsonl:1 a"}, []string{"r.jsonl:2 b"}},
		{"a torn line waits", line("a") + `{"lesson":`, func(t *testing.T, log string) { mustAppend(t, log, "\"b\"}\n") },
			[]string{"r.jsonl:1 a"}, []string{"r.jsonl:2 b"}},
		{"a torn line stays torn", `{"lesson":"a"}`, func(t *testing.T, log string) { mustAppend(t, log, " ") }, nil, nil},
		{"a torn line that another writer ends", line("a") + `{"les`, func(t *testing.T, log string) { mustAppend(t, log, "\n"+line("b")) },
			[]string{"r.jsonl:1 a"}, []string{"r.jsonl:3 b", "r.jsonl:2!"}},
		{"bad lines are skipped once", "bad\n" + line("a") + "{}\n\n \n", func(t *testing.T, log string) { mustAppend(t, log, line("b")) },
			[]string{"r.jsonl:2 a", "r.jsonl:1!", "r.jsonl:3!"}, []string{"r.jsonl:6 b"}},
		{"a byte order mark and CRLF", "\uFEFF{\"lesson\":\"a\"}\r\n", func(t *testing.T, log string) { mustAppend(t, log, "{\"lesson\":\"b\"}\r\n") },
			[]string{"r.jsonl:1 a"}, []string{"r.jsonl:2 b"}},
		{"a line that is too long", long + "\n" + line("a"), func(t *testing.T, log string) { mustAppend(t, log, line("b")) },
			[]string{"r.jsonl:2 a", "r.jsonl:1!"}, []string{"r.jsonl:3 b"}},
		{"a line that is too long and not ended", long, func(t *testing.T, log string) { mustAppend(t, log, long+"\n"+line("b")) },
			[]string{"r.jsonl:1!"}, []string{"r.jsonl:2 b"}},
		{"cut", line("a") + line("b"), func(t *testing.T, log string) { mustWrite(t, log, line("b")) },
			[]string{"r.jsonl:1 a", "r.jsonl:2 b"}, []string{"r.jsonl:1 b"}},
		{"emptied", line("a"), func(t *testing.T, log string) { mustWrite(t, log, "") },
			[]string{"r.jsonl:1 a"}, nil},
		{"rewritten and longer", line("a"), func(t *testing.T, log string) { mustWrite(t, log, line("b")+line("c")) },
			[]string{"r.jsonl:1 a"}, []string{"r.jsonl:1 b", "r.jsonl:2 c"}},
		{"rewritten at the same length", line("a"), func(t *testing.T, log string) { mustWrite(t, log, line("b")); mustTouch(t, log) },
			[]string{"r.jsonl:1 a"}, []string{"r.jsonl:1 b"}},
		{"replaced", line("a"), func(t *testing.T, log string) {
			mustWrite(t, log+".new", line("a")+line("b"))
			must(t, os.Rename(log+".new", log))
		}, []string{"r.jsonl:1 a"}, []string{"r.jsonl:1 a", "r.jsonl:2 b"}},
		{"rotated", line("a"), func(t *testing.T, log string) {
			must(t, os.Rename(log, log+".1"))
			mustWrite(t, log, line("b"))
		}, []string{"r.jsonl:1 a"}, []string{"r.jsonl:1 b"}},
		{"removed", line("a"), func(t *testing.T, log string) {
			must(t, os.Remove(log))
		}, []string{"r.jsonl:1 a"}, nil},
		{"another log", line("a"), func(t *testing.T, log string) { mustWrite(t, filepath.Join(filepath.Dir(log), "q.jsonl"), line("b")) },
			[]string{"r.jsonl:1 a"}, []string{"q.jsonl:1 b"}},
		{"other files", line("a"), func(t *testing.T, log string) {
			mustWrite(t, log+".lock/x", line("b"))
			mustWrite(t, filepath.Join(filepath.Dir(log), "sub", "x.jsonl"), line("b"))
			mustWrite(t, filepath.Join(filepath.Dir(log), ".x.jsonl"), line("b"))
			mustWrite(t, filepath.Join(filepath.Dir(log), "x.json"), line("b"))
		}, []string{"r.jsonl:1 a"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			log := filepath.Join(dir, "r.jsonl")
			mustWrite(t, log, test.start)
			f := New()
			if got := polled(t, f, "", dir); !slices.Equal(got, test.was) {
				t.Errorf("the first poll found %q, want %q", got, test.was)
			}
			test.change(t, log)
			if got := polled(t, f, "", dir); !slices.Equal(got, test.then) {
				t.Errorf("the second poll found %q, want %q", got, test.then)
			}
			if got := polled(t, f, "", dir); got != nil {
				t.Errorf("a third poll found %q", got)
			}
		})
	}
}

func TestPollOfAFolderThatComesAndGoes(t *testing.T) {
	root := t.TempDir()
	f := New()
	if got := polled(t, f, root, "logs"); got != nil {
		t.Errorf("no folder holds %q", got)
	}
	if _, err := Append(t.Context(), root, "logs", "r", lesson("a")); err != nil {
		t.Fatal(err)
	}
	want := []string{"r.jsonl:1 a"}
	if got := polled(t, f, root, "logs"); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	must(t, os.RemoveAll(filepath.Join(root, "logs")))
	if got := polled(t, f, root, "logs"); got != nil || len(f.folders) != 0 {
		t.Errorf("a folder that is gone holds %q; %d folders are remembered", got, len(f.folders))
	}
}

// A part at which the loop ends was not kept, and comes again.
func TestPollGivesAgainWhatWasNotTaken(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range partLines + 1 {
		text.WriteString(line(fmt.Sprint(i)))
	}
	mustWrite(t, filepath.Join(dir, "r.jsonl"), text.String())
	f := New()
	for range 2 {
		for part, err := range f.Poll("", dir) {
			if err != nil || len(part.Lines) != partLines || part.Numbers[0] != 1 {
				t.Fatalf("the first part has %d lines from line %d, error %v", len(part.Lines), part.Numbers[0], err)
			}
			break
		}
	}
	var taken int
	for part, err := range f.Poll("", dir) {
		must(t, err)
		if taken += len(part.Lines); taken > partLines {
			break // all but the last part are taken
		}
	}
	want := []string{fmt.Sprintf("r.jsonl:%d %d", partLines+1, partLines)}
	if got := polled(t, f, "", dir); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	f.Reset("", dir)
	if got := polled(t, f, "", dir); len(got) != partLines+1 {
		t.Errorf("after Reset %d lines are found, want all %d", len(got), partLines+1)
	}
}

func TestPollReportsFilesOnce(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "a.jsonl"), line("a"))
	mustWrite(t, filepath.Join(dir, "outside"), line("secret"))
	mustLink(t, filepath.Join(dir, "outside"), filepath.Join(dir, "b.jsonl"))
	f := New()
	want := []string{"a.jsonl:1 a", "b.jsonl:0!"}
	if got := polled(t, f, "", dir); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := polled(t, f, "", dir); got != nil {
		t.Errorf("a second poll tells again of %q", got)
	}
	must(t, os.Remove(filepath.Join(dir, "b.jsonl")))
	mustWrite(t, filepath.Join(dir, "b.jsonl"), line("b"))
	if got, want := polled(t, f, "", dir), []string{"b.jsonl:1 b"}; !slices.Equal(got, want) {
		t.Errorf("once it can be read, %q is found, want %q", got, want)
	}
}

func TestPollBoundsTheFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		mustWrite(t, filepath.Join(dir, fmt.Sprint(i, ".jsonl")), line("a"))
	}
	f := New()
	f.maxFiles = 3
	if got := polled(t, f, "", dir); len(got) != 4 || got[0] != filepath.Base(dir)+":0!" {
		t.Errorf("found %q, want a problem of the folder and three lines", got)
	}
	if got := polled(t, f, "", dir); got != nil {
		t.Errorf("a second poll found %q", got)
	}
}

func TestPollOutsideItsRoot(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	mustWrite(t, filepath.Join(outside, "r.jsonl"), line("secret"))
	mustLink(t, outside, filepath.Join(root, "logs"))
	f := New()
	var failed bool
	for part, err := range f.Poll(root, "logs") {
		failed = err != nil
		if len(part.Lines) > 0 {
			t.Errorf("a link led out of the repository: %v", words(part))
		}
	}
	if !failed {
		t.Error("a folder that leads out of the repository is no error")
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "my-app.jsonl")
	var text strings.Builder
	text.WriteString("bad\n")
	for i := range 2 * partLines {
		fmt.Fprintf(&text, "{\"lesson\":\"%d\"}\n", i)
	}
	text.WriteString(`{"lesson":"last","repo":"other","timestamp":"2025-01-01T00:00:00Z"}`)
	mustWrite(t, log, text.String())
	changed := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	must(t, os.Chtimes(log, changed, changed))
	var lines []memory.LogLine
	var problems []memory.ImportProblem
	for part, err := range ReadFile(log) {
		must(t, err)
		if len(part.Lines) > partLines {
			t.Errorf("a part has %d lines", len(part.Lines))
		}
		lines = append(lines, part.Lines...)
		problems = append(problems, part.Problems...)
	}
	if len(lines) != 2*partLines+1 || len(problems) != 1 || problems[0].Line != 1 || problems[0].File != log {
		t.Fatalf("%d lines and the problems %v, want %d and one of line 1", len(lines), problems, 2*partLines+1)
	}
	first, last := lines[0], lines[len(lines)-1]
	if first.Repo != "my-app" || !first.Timestamp.Equal(changed) {
		t.Errorf("a bare line is of %q at %s, want the log's name and time", first.Repo, first.Timestamp)
	}
	if want := Hash(memory.LogLine{Lesson: "0", Repo: "my-app"}); first.Hash != want {
		t.Errorf("the hash of a bare line is %s, want %s, which the log's time does not change", first.Hash, want)
	}
	if last.Lesson != "last" || last.Repo != "other" {
		t.Errorf("the last line is %+v", last)
	}
}

func TestReadFileFails(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		path string
		is   func(error) bool
	}{
		{filepath.Join(dir, "none.jsonl"), func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{filepath.Join(dir, "none", "x.jsonl"), func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{dir, func(err error) bool { return memory.CodeOf(err) == memory.CodeForbidden }},
	} {
		var got error
		for _, err := range ReadFile(test.path) {
			got = err
		}
		if !test.is(got) {
			t.Errorf("ReadFile(%s): unexpected error %v", test.path, got)
		}
	}
}

// BenchmarkPollUnchanged measures a poll of unchanged logs.
func BenchmarkPollUnchanged(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".jsonl")), []byte(strings.Repeat(line("a lesson"), 500)), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	f := New()
	for range f.Poll("", dir) {
	}
	for b.Loop() {
		for part := range f.Poll("", dir) {
			b.Fatalf("found %v", words(part))
		}
	}
}

// BenchmarkReadFile is the price of a line, 1,000 to a log.
func BenchmarkReadFile(b *testing.B) {
	log := filepath.Join(b.TempDir(), "r.jsonl")
	text := strings.Repeat(strings.ReplaceAll(contractLine, "\n", "")+"\n", 1000)
	if err := os.WriteFile(log, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for _, err := range ReadFile(log) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
