package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParseLog reads what a git that is not git may write.
func FuzzParseLog(f *testing.F) {
	f.Add([]byte(commitMark+"1700000000\x00mend it\x00\na.go\x00b.go\x00"+commitMark+"1600000000\x00\xff\x00"), 1)
	f.Add([]byte("a.go\x00"+commitMark+"-1\x00"+commitMark+"99999999999999999999\x00"), 3)
	f.Fuzz(func(t *testing.T, text []byte, maxFiles int) {
		all, err := parseLog(strings.NewReader(string(text)), maxFiles)
		if err != nil && len(text) < maxToken {
			t.Errorf("%q: %v", text, err)
		}
		for _, c := range all {
			if len(c.Files) > max(maxFiles, 0) || len(c.Message) > maxMessage || !utf8.ValidString(c.Message) {
				t.Errorf("%q is read as %+v, with at most %d files", text, c, maxFiles)
			}
		}
	})
}

// FuzzParseConfig reads settings of repositories. A value that git would write is read as it
// is.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("[core]\n\tfileMode = FALSE ; no\n[remote \"origin\"] url = \"a # b\"\n[torn\n"), "a \"b\\ # c")
	f.Fuzz(func(t *testing.T, text []byte, value string) {
		ParseConfig(text)
		if strings.ContainsAny(value, "\n\r\x00") || strings.TrimSpace(value) != value || len(value) > 1000 {
			return
		}
		escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
		c := ParseConfig([]byte("[core]\n\tname = \"" + escaped + "\"\n"))
		if got, ok := c.Get("core", "name"); !ok || got != value {
			t.Errorf("%q is read as %q, %t", value, got, ok)
		}
	})
}

// FuzzParseCommit reads the text of commits.
func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree 1\nparent 2\nparent 3\nauthor a <a@example.org> 1 +0000\n\nmend it\n"))
	f.Add([]byte("parent 2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := parseCommit(text); err == nil && c.Tree == "" {
			t.Errorf("%q is a commit without a tree: %+v", text, c)
		}
	})
}

// FuzzPack looks up a commit in a pack and an index of other people's making.
func FuzzPack(f *testing.F) {
	name := strings.Repeat("ab", 20)
	fanout := strings.Repeat("\x00\x00\x00\x00", 0xab) + strings.Repeat("\x00\x00\x00\x01", 256-0xab)
	idx := idxMagic + fanout + strings.Repeat("\xab", 20) + "\x00\x00\x00\x00" + "\x00\x00\x00\x0c" + strings.Repeat("\x00", 40)
	deflated := "\x78\x9c\x4b\x4c\x04\x02\x00\x04\x00\x01\x86" // of no commit
	f.Add([]byte(idx), []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x15"+deflated+strings.Repeat("\x00", 20)))
	f.Add([]byte(idx), []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x65\x01"+deflated+strings.Repeat("\x00", 20)))
	dir := f.TempDir()
	packs := filepath.Join(dir, "objects", "pack")
	if err := os.MkdirAll(packs, 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, idx, pack []byte) {
		for ext, text := range map[string][]byte{".idx": idx, ".pack": pack} {
			if err := os.WriteFile(filepath.Join(packs, "pack-1"+ext), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		o, err := OpenObjects(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		if c, err := o.Commit(name); err == nil {
			t.Errorf("a commit whose text does not have its hash is read: %+v", c)
		}
	})
}
