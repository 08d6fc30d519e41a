package repofiles

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/testkit/backend"
)

// TestTrustedByPattern: a pattern of the settings may lead through a symbolic link, though
// the roots that it is compared with never do.
func TestTrustedByPattern(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(base, "disk", "team-a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("disk", filepath.Join(base, "src")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	store := backend.New(t, backend.Options{}).Store
	for _, test := range []struct {
		setting, root string
		want          bool
	}{
		{"src", "disk/team-a", true},
		{"src/team-*", "disk/team-a", true},
		{"src/team-*", "disk/team-a/sub", true},
		{"src/later", "disk/later", true}, // it need not exist when the daemon starts
		{"src/team-*", "disk/other", false},
		{"src/team-*", "team-a", false},
	} {
		trust, err := newTrust(&Options{Store: store, Logger: slog.New(slog.DiscardHandler), Trusted: []string{filepath.Join(base, test.setting)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := trust.configured(filepath.Join(base, test.root)); got != test.want {
			t.Errorf("the setting %s trusts %s: %v, want %v", test.setting, test.root, got, test.want)
		}
	}
}
