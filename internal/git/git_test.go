package git

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEnvironment: what directs git, as in a hook, is not handed on; the user's own
// config is.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_TRACE", "GIT_ALLOW_PROTOCOL"} {
		t.Setenv(name, "hostile")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "mine")
	env := environment(filepath.FromSlash("/a/b"))
	for _, kv := range env {
		if strings.Contains(kv, "hostile") && strings.HasPrefix(kv, "GIT_") {
			t.Errorf("git is started with %s", kv)
		}
	}
	for _, want := range []string{"GIT_CONFIG_GLOBAL=mine", "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_CEILING_DIRECTORIES=" + filepath.FromSlash("/a")} {
		if !slices.Contains(env, want) {
			t.Errorf("git is started without %s", want)
		}
	}
}

// TestListBounds: a name that is too long ends the listing, and no part of it is
// taken for a name.
func TestListBounds(t *testing.T) {
	var got []string
	name := func(s string) error { got = append(got, s); return nil }
	n, err := names(strings.NewReader("a\x00a\x00b\x00"+strings.Repeat("x", maxName+1)+"\x00c\x00"), name)
	if n != 2 || !errors.Is(err, errTooMuch) || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("listed %d names %q, %v; want a and b, and an error", n, got, err)
	}
	got = nil
	if n, err := names(strings.NewReader("a\x00tor"), name); n != 1 || err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("of a torn listing %d names %q, %v; want a alone", n, got, err)
	}
	stop := errors.New("stop")
	if _, err := names(strings.NewReader("a\x00b\x00"), func(string) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of a name becomes %v", err)
	}
}

func TestListWithoutGit(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := List(context.Background(), "git", t.TempDir(), Files, nil, nil)
	if !errors.Is(err, ErrNotAsked) {
		t.Errorf("without git: %v, want %v", err, ErrNotAsked)
	}
}

func TestParseConfig(t *testing.T) {
	c := ParseConfig([]byte("[core]\n\tfileMode = FALSE ; no\n\tbare\n# x = y\n[Remote \"Origin x\"] URL = \"a # b\"\n[core] worktree=../w\n[torn\nurl = z\n[core]\nworktree = last"))
	if !c.Off("core", "filemode") || c.Off("core", "bare") || c.Off("core", "none") {
		t.Errorf("switches are read as others: %+v", c)
	}
	if v, ok := c.Get("core", "worktree"); !ok || v != "last" {
		t.Errorf("core.worktree = %q, %t; want the last one", v, ok)
	}
	if !slices.Contains(c, Setting{"remote", "Origin x", "url", "a # b"}) {
		t.Errorf("the remote is not among %+v", c)
	}
	for head, name := range map[string]string{`[remote "a]b"]`: "a]b", `[remote "a\"]b" ]`: `a"]b`, `[remote "a\\"]`: `a\`} {
		if c, want := ParseConfig([]byte(head+" url = x]\n")), (Config{{"remote", name, "url", "x]"}}); !slices.Equal(c, want) {
			t.Errorf("%s is read as %+v, want %+v", head, c, want)
		}
	}
}

func FuzzParseIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00aaaaaaaaaaaaaaaaaaaa"), false)
	f.Fuzz(func(t *testing.T, b []byte, long bool) {
		hashLen := 20
		if long {
			hashLen = 32
		}
		entries, err := parseIndex(b, hashLen)
		if err != nil && entries != nil {
			t.Error("entries beside an error")
		}
		c := comparison{ctx: context.Background(), hashLen: hashLen, entries: entries}
		c.tree(entries, 0)
	})
}

func FuzzApplyDelta(f *testing.F) {
	f.Add([]byte("base text"), []byte("\x09\x04\x91\x00\x04"))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if out, err := applyDelta(base, delta); err == nil && len(out) > maxCommit {
			t.Errorf("a delta makes %d bytes", len(out))
		}
	})
}
