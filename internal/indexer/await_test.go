package indexer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/embedder/embeddertest"
)

// TestAwait waits for the end of a load, but no longer than it may and than it is asked.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, err := New(Options{Builtin: &embeddertest.Fake{Name: "fake/own", Dim: 4}})
		if err != nil {
			t.Fatal(err)
		}
		waits := func(ctx context.Context, want time.Duration, when string) {
			t.Helper()
			began := time.Now()
			x.Await(ctx, time.Second)
			if took := time.Since(began); took != want {
				t.Errorf("%s: it waits %s, want %s", when, took, want)
			}
		}
		waits(t.Context(), time.Second, "nothing is loaded")
		ended, end := context.WithTimeout(t.Context(), time.Millisecond)
		defer end()
		waits(ended, time.Millisecond, "the request ends")
		time.AfterFunc(2*time.Millisecond, func() { close(x.loaded) })
		waits(t.Context(), 2*time.Millisecond, "the load ends")
		waits(ended, 0, "all is loaded")
	})
}
