package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/service"
)

// greeted has the bench answer greetings as a daemon.
func (b *bench) greeted(g service.Greeting) {
	b.opts.Greet = func(context.Context, config.Config) (service.Greeting, error) { return g, nil }
}

func TestVersion(t *testing.T) {
	b := newBench(t, nil)
	var v versionInfo
	if err := json.Unmarshal([]byte(b.ok("version", "--json")), &v); err != nil || v.Version == "" || v.Protocol == 0 || v.Daemon != nil {
		t.Errorf("version --json without a daemon: %+v, %v", v, err)
	}
	b.greeted(service.Greeting{Version: "v1.2.3", Protocol: service.Protocol + 1, PID: 42})
	out := b.ok("version")
	for _, want := range []string{"recalld ", "daemon  v1.2.3 (protocol 3, pid 42)", "the daemon is newer"} {
		if !strings.Contains(out, want) {
			t.Errorf("version of a newer daemon: %q, want %q in it", out, want)
		}
	}
	if out := b.ok("--config", "/no/such/file", "version"); !strings.HasPrefix(out, "recalld ") {
		t.Errorf("version with settings that cannot be read: %q", out)
	}
	if len(b.connects) > 0 {
		t.Error("version connected to a daemon")
	}
}

func TestVersionNote(t *testing.T) {
	for _, test := range []struct {
		own, daemon string
		protocol    int
		want        string
	}{
		{"v0.2.0", "v0.2.0", service.Protocol, ""},
		{"v0.2.0", "v0.1.0", service.Protocol, "older than this program (v0.2.0): the next command that needs it replaces it"},
		{"v0.2.0", "v0.3.0", service.Protocol, "newer than this program (v0.2.0): update this program"},
		{"dev", "v0.3.0", service.Protocol, ""},
		{"dev", "dev", service.Protocol - 1, "older"},
		{"v0.9.0", "v0.3.0", service.Protocol + 1, "newer"},
	} {
		got := versionNote(test.own, service.Greeting{Version: test.daemon, Protocol: test.protocol})
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("own %s, daemon %s of protocol %d: %q, want %q", test.own, test.daemon, test.protocol, got, test.want)
		}
	}
}
