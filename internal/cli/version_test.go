package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
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

// TestVersionCheck: the newest release is asked for with --check alone, and named with the
// command that installs it.
func TestVersionCheck(t *testing.T) {
	b := newBench(t, nil)
	asked, latest := 0, "/releases/tag/v0.2.0"
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Method != http.MethodHead || r.URL.Path != "/releases/latest" || r.URL.RawQuery != "" || r.UserAgent() != "recalld" {
			t.Errorf("the page is asked %s %s by %s, want nothing but the newest release", r.Method, r.URL, r.UserAgent())
		}
		http.Redirect(w, r, latest, http.StatusFound)
	}))
	b.opts.Releases = page.URL + "/releases"
	if out := b.ok("version"); asked > 0 || strings.Contains(out, "newest") {
		t.Errorf("version asks without --check:\n%s", out)
	}
	if out := b.ok("version", "--check"); !strings.Contains(out, "newest  v0.2.0\n") { // this program's version is unknown
		t.Errorf("version --check:\n%s", out)
	}
	var v versionInfo
	if err := json.Unmarshal([]byte(b.ok("version", "--check", "--json")), &v); err != nil || v.Newest == nil || v.Newest.Version != "v0.2.0" || v.Newest.Newer {
		t.Errorf("version --check --json: %+v, %v", v.Newest, err)
	}
	latest = "/releases" // where nothing is released
	if _, errs, code := b.run("version", "--check"); code != ExitUnavailable || !strings.Contains(errs, "names none (HTTP status 302)") {
		t.Errorf("without a release it ends with %d:\n%s", code, errs)
	}
	page.Close()
	if _, errs, code := b.run("version", "--check"); code != ExitUnavailable || !strings.Contains(errs, "cannot be reached") {
		t.Errorf("without the page it ends with %d:\n%s", code, errs)
	}
}

func TestUpgradeCommand(t *testing.T) {
	var text strings.Builder
	writeVersion(&text, versionInfo{Version: "v0.1.0", Newest: &newestVersion{Version: "v0.2.0", Newer: true, Upgrade: "scoop update recalld"}})
	if !strings.HasSuffix(text.String(), "\nnewest  v0.2.0\nupgrade scoop update recalld\n") {
		t.Errorf("an older program says\n%s", text.String())
	}
	for program, want := range map[string]string{
		"/usr/local/lib/node_modules/@recalld/linux-x64/bin/recalld": "npm install -g recalld@latest",
		"/opt/homebrew/Caskroom/recalld/0.1.0/recalld":               "brew upgrade --cask recalld",
		"/home/ada/.local/bin/recalld":                               "install.sh | sh",
		"/home/ada/go/bin/recalld":                                   "go install",
		"/usr/bin/recalld":                                           "/releases/tag/v0.2.0",
	} {
		if got := upgradeCommand(program, "v0.2.0"); !strings.Contains(got, want) {
			t.Errorf("%s is upgraded by %q, want %q", program, got, want)
		}
	}
}
