package access

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestList: a client is found by its token, which the file does not have, until it is removed.
func TestList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	l := OpenList(path)
	if known, err := l.Clients(); len(known) > 0 || err != nil {
		t.Fatalf("without a file there are %v, %v", known, err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	token, err := l.Add(Policy{Name: "ci", ReadOnly: true}, now)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), token) {
		t.Errorf("the file holds the token: %s, %v", text, err)
	}
	running := OpenList(path) // the daemon's
	if p := running.Bearer(token); p == nil || p.Name != "ci" || !p.ReadOnly {
		t.Errorf("the token finds %+v", p)
	}
	for _, wrong := range []string{"", token + "x", strings.ToLower(token), "ci"} {
		if p := running.Bearer(wrong); p != nil {
			t.Errorf("%q finds %+v", wrong, p)
		}
	}
	if _, err := l.Add(Policy{Name: "ci"}, now); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a second one of the name: %v", err)
	}
	if _, err := running.Named("cj"); memory.CodeOf(err) != memory.CodeForbidden {
		t.Errorf("an unknown name: %v", err)
	}
	if err := l.Remove("cj"); memory.CodeOf(err) != memory.CodeNotFound || !strings.Contains(memory.AsError(err).Hint, "ci") {
		t.Errorf("removing an unknown name: %v", err)
	}
	if err := l.Remove("ci"); err != nil {
		t.Fatal(err)
	}
	if p := running.Bearer(token); p != nil {
		t.Errorf("the removed client's token finds %+v", p)
	}
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("the lock stays")
	}
}

// TestHostileList: of a file that cannot be believed no client may do anything, and no
// command changes it.
func TestHostileList(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON": "{", "another shape": `{"clients": {"a": 1}}`, "a name with a line": `{"clients": [{"name": "a\nb"}]}`, "no name": `{"clients": [{}]}`,
		"a negative rate": `{"clients": [{"name": "a", "rate": -1}]}`, "too many at a time": `{"clients": [{"name": "a", "concurrent": 100000}]}`,
		"a project without an id": `{"clients": [{"name": "a", "projects": [{"name": "shop"}]}]}`, "nothing": "",
		"a restriction of a newer version": `{"clients": [{"name": "a", "hours": "9-17"}]}`, "one for all": `{"clients": [{"name": "a"}], "hours": "9-17"}`,
		"one of a project": `{"clients": [{"name": "a", "projects": [{"id": "p", "branch": "main"}]}]}`, "two lists": `{"clients": [{"name": "a"}]} {"clients": []}`,
		"a bracket too much": `{"clients": [{"name": "a"}]}}`,
		"a long file":        strings.Repeat(" ", maxListFile+1),
	} {
		path := filepath.Join(t.TempDir(), "clients.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		l := OpenList(path)
		if _, err := l.Named("a"); err == nil {
			t.Errorf("%s: the client is known", name)
		}
		if _, err := l.Add(Policy{Name: "b"}, time.Now()); err == nil {
			t.Errorf("%s: a client is added", name)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != content {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// TestNames: what cannot name a client is refused with the limit.
func TestNames(t *testing.T) {
	l := OpenList(filepath.Join(t.TempDir(), "clients.json"))
	for _, name := range []string{"", "a b", "a/b", "ä", "a\x00", "a\r\nX: y", strings.Repeat("a", maxName+1)} {
		if _, err := l.Add(Policy{Name: name}, time.Now()); memory.AsError(err).Field != "name" || memory.AsError(err).Limit == "" {
			t.Errorf("%q is answered with %v", name, err)
		}
	}
	if _, err := l.Add(Policy{Name: strings.Repeat("a", maxName)}, time.Now()); err != nil {
		t.Errorf("the longest name: %v", err)
	}
}

// TestListIsReadAgain: a list that could not be read, for lack of file handles for one, is read again
// though the file has not changed since.
func TestListIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	if _, err := OpenList(path).Add(Policy{Name: "ci"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	put := func(text string) { // which does not show in size, mode and time
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	l := OpenList(path)
	put(strings.Repeat("?", len(text)))
	if _, err := l.Named("ci"); err == nil {
		t.Fatal("a list that is not understood was read")
	}
	put(string(text))
	if _, err := l.Named("ci"); err != nil {
		t.Errorf("when it can be read again: %v", err)
	}
}
