//go:build unix

package githistory

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/git/gittest"
)

// TestFiles: near changes speak for their files; less so the older they are and the more
// files they changed, and a file's second change less than its first.
func TestFiles(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	old := now.Add(-halfLife)
	change := func(at time.Time, message string, files ...string) git.Change {
		return git.Change{Time: at, Message: message, Files: files}
	}
	for name, test := range map[string]struct {
		changes []git.Change
		want    map[string]float64
	}{
		"none":            {nil, map[string]float64{}},
		"nothing near":    {[]git.Change{change(now, "paint a logo", "logo")}, map[string]float64{}},
		"one":             {[]git.Change{change(now, "timeout of retries", "a"), change(now, "paint a logo", "b")}, map[string]float64{"a": 1}},
		"an old one":      {[]git.Change{change(now, "timeout of retries", "a"), change(old, "timeout of retries", "b")}, map[string]float64{"a": 1, "b": .5}},
		"of four files":   {[]git.Change{change(now, "timeout of retries", "a"), change(now, "timeout of retries", "b", "c", "d", "e")}, map[string]float64{"a": 1, "b": .5, "c": .5, "d": .5, "e": .5}},
		"twice":           {[]git.Change{change(now, "timeout of retries", "a"), change(now, "timeout of retries", "a"), change(now, "timeout of retries", "b")}, map[string]float64{"a": 1, "b": 1 / 1.5}},
		"too many of one": {[]git.Change{change(now, "timeout of retries"), change(now, "timeout of retries", "b")}, map[string]float64{"b": 1}},
	} {
		got := newCommits(test.changes).files(t.Context(), "why does the timeout end all retries?")
		if !maps.EqualFunc(got, test.want, func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestFolders: a folder is read when it is asked about, again when HEAD has moved, and not
// after it was dropped.
func TestFolders(t *testing.T) {
	r := gittest.New(t, nil)
	h := New("git", slog.New(slog.DiscardHandler))
	defer h.Close()
	ask := func() map[string]float64 { return h.Files(t.Context(), "box", r.Dir, "umlauts of the parser") }
	if got := ask(); got != nil {
		t.Errorf("before it is read: %v", got)
	}
	h.wait.Wait()
	if got := ask(); len(got) != 0 {
		t.Errorf("before a commit said so: %v", got)
	}
	reads := h.uses
	if <-h.Refresh("box", r.Dir); h.uses != reads {
		t.Error("the log was read again although HEAD has not moved")
	}
	r.Write("parse.go", "package parse\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "accept umlauts")
	<-h.Refresh("box", r.Dir)
	if got := ask(); got["parse.go"] != 1 {
		t.Errorf("after the commit: %v", got)
	}
	h.Drop("box")
	if got := h.folders["box"]; got != nil {
		t.Error("a dropped folder is still held")
	}
	<-h.Refresh("gone", filepath.Join(r.Dir, "nowhere"))
	if got := h.Files(t.Context(), "gone", r.Dir, "umlauts"); len(got) != 0 {
		t.Errorf("a folder that is gone has %v", got)
	}
}

// TestFoldersAreBounded: of many folders the ones read last are held.
// TestLogThatFailsIsReadAgain: a log that could not be read at all is read at the next look, though
// HEAD has not moved.
func TestLogThatFailsIsReadAgain(t *testing.T) {
	r := gittest.New(t, nil)
	r.Write("parse.go", "package parse\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "accept umlauts")
	program, broken := filepath.Join(t.TempDir(), "git"), filepath.Join(t.TempDir(), "broken")
	script := fmt.Sprintf("#!/bin/sh\nif [ -e '%s' ]; then case \"$*\" in *--name-only*) exit 1;; esac; fi\nexec git \"$@\"\n", broken)
	if err := errors.Join(os.WriteFile(program, []byte(script), 0o700), os.WriteFile(broken, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	h := New(program, slog.New(slog.DiscardHandler))
	defer h.Close()
	<-h.Refresh("box", r.Dir)
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	<-h.Refresh("box", r.Dir)
	if got := h.Files(t.Context(), "box", r.Dir, "umlauts of the parser"); got["parse.go"] != 1 {
		t.Errorf("after a log that failed: %v, want parse.go", got)
	}
}

func TestFoldersAreBounded(t *testing.T) {
	r := gittest.New(t, nil)
	h := New("git", slog.New(slog.DiscardHandler))
	defer h.Close()
	for i := range maxFolders + 3 {
		<-h.Refresh(string(rune('a'+i)), r.Dir)
	}
	if _, last := h.folders[string(rune('a'+maxFolders+2))]; len(h.folders) != maxFolders || !last {
		t.Errorf("%d folders are held, the last one: %v", len(h.folders), last)
	}
}

// TestDroppedWhileRead: a history that is dropped while it is read, with too many others
// held, lets the oldest of them go and is not held itself.
func TestDroppedWhileRead(t *testing.T) {
	r := gittest.New(t, nil)
	h := New("git", slog.New(slog.DiscardHandler))
	defer h.Close()
	for i := range maxFolders + 1 {
		h.folders[string(rune('a'+i))] = &folder{used: i + 1}
	}
	h.uses = maxFolders + 1
	if again := h.load("dropped", r.Dir, &folder{reading: true}); again {
		t.Error("what was dropped is read again")
	}
	_, oldest := h.folders["a"]
	if _, dropped := h.folders["dropped"]; len(h.folders) != maxFolders || oldest || dropped {
		t.Errorf("%d folders are held, the oldest: %v, the dropped one: %v", len(h.folders), oldest, dropped)
	}
}

// TestMovedWhileLookedAt: where HEAD moves while git looks at it, the history is read again,
// although the look found nothing new.
func TestMovedWhileLookedAt(t *testing.T) {
	r := gittest.New(t, nil)
	at := t.TempDir()
	// The program waits with what it read when it finds the file "wait".
	script := fmt.Sprintf(`#!/bin/sh
at='%s'
[ -e "$at/wait" ] || exec git "$@"
out=$(git "$@")
rm "$at/wait"
until [ -e "$at/moved" ]; do sleep 0.01; done
echo "$out"
`, at)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("git", script)
	h := New(filepath.Join(at, "git"), slog.New(slog.DiscardHandler))
	defer h.Close()
	<-h.Refresh("box", r.Dir)
	write("wait", "")
	done := h.Refresh("box", r.Dir)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(at, "wait")); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("git does not look at HEAD")
		}
	}
	r.Write("parse.go", "package parse\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "accept umlauts")
	h.Refresh("box", r.Dir)
	write("moved", "")
	<-done
	if got := h.Files(t.Context(), "box", r.Dir, "umlauts of the parser"); got["parse.go"] != 1 {
		t.Errorf("after HEAD moved meanwhile: %v, want parse.go", got)
	}
}
