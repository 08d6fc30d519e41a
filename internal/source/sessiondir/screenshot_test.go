package sessiondir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// What pictures of each kind begin with.
const (
	png  = "\x89PNG\r\n\x1a\n...."
	jpg  = "\xFF\xD8\xFF\xE0...."
	webp = "RIFF\x04\x00\x00\x00WEBPVP8 "
)

func TestStoreScreenshot(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join("test-artifacts", "llm-knowledge")
	s := testSession("run-0001")
	s.Screenshots = true
	for _, test := range []struct{ file, text, prefix, suffix string }{
		{"shots/confirm page.png", png, "screenshots/confirm_page-", ".png"},
		{"a.jpeg", jpg, "screenshots/a-", ".jpg"},
		{"b.webp", webp, "screenshots/b-", ".webp"},
		{"mislabelled.png", jpg, "screenshots/mislabelled-", ".jpg"},
		{"..png", png, "screenshots/", ".png"},
		{"größe.png", png, "screenshots/größe-", ".png"},
		{strings.Repeat("n", 150) + ".png", png, "screenshots/nnn", ".png"},
	} {
		path := write(t, root, test.file, test.text, 0)
		for _, name := range []string{test.file, path} {
			got, err := sessiondir.StoreScreenshot(root, dir, s, name)
			if err != nil || !strings.HasPrefix(got, test.prefix) || !strings.HasSuffix(got, test.suffix) || len(got) > memory.MaxNameText {
				t.Errorf("StoreScreenshot(%s): %q, %v; want %s…%s", name, got, err, test.prefix, test.suffix)
				continue
			}
			stored, err := os.ReadFile(filepath.Join(root, dir, "run-0001", filepath.FromSlash(got)))
			if err != nil || string(stored) != test.text {
				t.Errorf("the stored picture of %s holds %q, %v", name, stored, err)
			}
		}
	}
	before := count(t, filepath.Join(root, dir))
	if _, err := sessiondir.StoreScreenshot(root, dir, s, "a.jpeg"); err != nil {
		t.Fatal(err)
	}
	if after := count(t, filepath.Join(root, dir)); after != before {
		t.Errorf("the same picture again made %d files of %d", after, before)
	}
	write(t, root, "a.jpeg", jpg+"another", 0)
	if _, err := sessiondir.StoreScreenshot(root, dir, s, "a.jpeg"); err != nil {
		t.Fatal(err)
	}
	if after := count(t, filepath.Join(root, dir)); after != before+1 {
		t.Errorf("another picture of that name made %d files of %d", after, before)
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	walkFiles(t, dir, func(string, []byte) { n++ })
	return n
}

func TestScreenshotsAreOptIn(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.png", png, 0)
	s := testSession("run-0001")
	if got, err := sessiondir.StoreScreenshot(root, "artifacts", s, "a.png"); got != "a.png" || err != nil {
		t.Errorf("without being asked: %q, %v; want the name as it came", got, err)
	}
	s.Screenshots = true
	if got, err := sessiondir.StoreScreenshot(root, "artifacts", s, ""); got != "" || err != nil {
		t.Errorf("without a name: %q, %v; want none", got, err)
	}
	if _, err := os.Stat(filepath.Join(root, "artifacts")); !os.IsNotExist(err) {
		t.Errorf("a folder was made for nothing: %v", err)
	}
}

func TestStoreScreenshotRefuses(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	secret := write(t, outside, "secret.png", png, 0)
	write(t, root, "text.png", "not a picture", 0)
	write(t, root, "empty.png", "", 0)
	write(t, root, "riff.webp", "RIFF\x04\x00\x00\x00WAVE", 0)
	write(t, root, "largest.png", png+strings.Repeat("x", sessiondir.MaxPicture-len(png)), 0)
	write(t, root, "large.png", png+strings.Repeat("x", sessiondir.MaxPicture-len(png)+1), 0)
	link(t, secret, filepath.Join(root, "link.png"))
	link(t, outside, filepath.Join(root, "folder"))
	s := testSession("run-0001")
	s.Screenshots = true
	for _, test := range []struct {
		name string
		code memory.Code // empty: it is stored
	}{
		{"largest.png", ""},
		{"large.png", memory.CodeInvalidInput},
		{"text.png", memory.CodeInvalidInput},
		{"empty.png", memory.CodeInvalidInput},
		{"riff.webp", memory.CodeInvalidInput},
		{"missing.png", memory.CodeNotFound},
		{filepath.Join("..", filepath.Base(outside), "secret.png"), memory.CodeForbidden},
		{secret, memory.CodeForbidden},
		{"link.png", memory.CodeForbidden},
		{filepath.Join("folder", "secret.png"), memory.CodeForbidden},
		{filepath.Join(root, "link.png"), memory.CodeForbidden},
		{".", memory.CodeForbidden},
	} {
		_, err := sessiondir.StoreScreenshot(root, "artifacts", s, test.name)
		switch {
		case test.code == "" && err != nil:
			t.Errorf("StoreScreenshot(%s): %v", test.name, err)
		case test.code != "" && (err == nil || memory.CodeOf(err) != test.code || memory.AsError(err).Field != "artifacts.screenshot"):
			t.Errorf("StoreScreenshot(%s): %v, code %s; want code %s of artifacts.screenshot", test.name, err, memory.CodeOf(err), test.code)
		}
	}
	if _, err := sessiondir.StoreScreenshot("", filepath.Join(root, "artifacts"), s, "text.png"); memory.CodeOf(err) != memory.CodeForbidden {
		t.Errorf("without a sandbox: %v; want it to be refused", err)
	}
}

// TestScreenshotThroughALinkToTheSandbox names a picture by a path that reaches
// the sandbox through a link.
func TestScreenshotThroughALinkToTheSandbox(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.png", png, 0)
	alias := filepath.Join(t.TempDir(), "alias")
	link(t, root, alias)
	s := testSession("run-0001")
	s.Screenshots = true
	if got, err := sessiondir.StoreScreenshot(root, "artifacts", s, filepath.Join(alias, "a.png")); err != nil || !strings.HasPrefix(got, "screenshots/a-") {
		t.Errorf("StoreScreenshot: %q, %v", got, err)
	}
}
