package daemon

import (
	"context"
	"errors"
	"github.com/recalld/recalld/internal/httpserver"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatchVanish(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(dir, path string) error
		want error
	}{
		"folder removed": {func(dir, _ string) error { return os.RemoveAll(dir) }, nil},
		"file removed":   {func(_, path string) error { return os.Remove(path) }, nil},
		"file replaced": {func(_, path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		}, nil},
		"file rewritten": {func(_, path string) error { return os.WriteFile(path, []byte("x"), 0o600) }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			path, other := filepath.Join(dir, "recalld.sock"), filepath.Join(t.TempDir(), "recalld.lock")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path, nil, 0o600), os.WriteFile(other, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			ticks := make(chan time.Time) // unbuffered: a send is a look begun
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- watchVanish(ctx, []string{other, path}, ticks) }()
			ticks <- time.Time{}
			ticks <- time.Time{} // the first look is over: nothing had changed
			if err := tc.do(dir, path); err != nil {
				t.Fatal(err)
			}
			if tc.want != nil {
				ticks <- time.Time{}
				ticks <- time.Time{}
				cancel()
			}
			for {
				select {
				case ticks <- time.Time{}:
					continue
				case err := <-ended:
					if !errors.Is(err, tc.want) {
						t.Errorf("ended with %v, want %v", err, tc.want)
					}
				}
				break
			}
		})
	}
}

// A daemon whose folder was removed must not take the next one's socket away.
func TestSocketLeavesItsSuccessorsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := httpserver.ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := httpserver.ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(), first.Remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the second socket is gone: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the socket is gone before it is removed: %v", err)
	}
	if err := errors.Join(second.Remove(), second.Remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}
