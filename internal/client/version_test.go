package client_test

import (
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/service"
)

// installed returns the options of an installed version: its clients are of that
// version, and so is the daemon that they start.
func installed(opts client.Options, version string) client.Options {
	opts.Version = version
	opts.Command = append(opts.Command[:3:3], version)
	return opts
}

// served connects and returns the version of the daemon that answers.
func served(t *testing.T, opts client.Options) string {
	t.Helper()
	c, err := client.Connect(t.Context(), opts)
	if err != nil {
		t.Errorf("connect: %v", err)
		return ""
	}
	defer c.Close()
	g, err := c.Hello(t.Context())
	if err != nil {
		t.Errorf("hello: %v", err)
	}
	return g.Version
}

// Of two installed versions the newer one takes over, once, and the older one's clients
// use it from then on.
func TestNewerVersionTakesOver(t *testing.T) {
	opts, dir := startable(t)
	former, current := installed(opts, "v0.1.0"), installed(opts, "v0.2.0")
	if got := served(t, former); got != "v0.1.0" {
		t.Fatalf("the daemon is of version %q, want v0.1.0", got)
	}
	alone := current
	alone.Command = nil
	if got := served(t, alone); got != "v0.1.0" {
		t.Errorf("a client that starts no daemon got version %q, want the one that runs", got)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := served(t, current); got != "v0.2.0" {
				t.Errorf("a client of v0.2.0 is answered by %q", got)
			}
		})
	}
	wg.Wait()
	for _, version := range []string{"v0.1.0", "v0.2.0", "v0.1.0", "dev"} {
		if got := served(t, installed(opts, version)); got != "v0.2.0" {
			t.Errorf("a client of %s is answered by %q, want v0.2.0", version, got)
		}
	}
	if n := starts(t, dir); n != 2 {
		t.Errorf("%d daemons were started, want one of each version", n)
	}
}

// A program that was replaced by an older one on disk starts that. Its processes that
// still run use it, and do not replace it again and again.
func TestOlderProgramOnDisk(t *testing.T) {
	opts, dir := startable(t)
	stale := installed(opts, "v0.1.0")
	stale.Version = "v0.2.0"
	c, err := client.Connect(t.Context(), stale)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 3 {
		if _, err := service.Status.Do(t.Context(), c, service.None{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := starts(t, dir); n != 1 {
		t.Errorf("%d daemons were started, want 1", n)
	}
}
