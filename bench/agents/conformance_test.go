package agents

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// conformanceEnv has the protocol's own suite run.
const conformanceEnv = "RECALLD_TEST_CONFORMANCE"

// The suite, and the Node.js that it needs.
var conformancePackages = map[string]string{"@modelcontextprotocol/conformance": "0.2.0-alpha.12", "node": "24.21.0"}

// notDeclared are the checks that may fail, by scenario (a name, or its beginning with *),
// because they are about what recalld does not declare. One that passes has to go.
var notDeclared = map[string]string{
	"tools-call-sampling":                           "it asks no client to sample",
	"tools-call-elicitation":                        "it asks no user",
	"elicitation-sep1034-defaults":                  "it asks no user",
	"elicitation-sep1330-enums":                     "it asks no user",
	"resources-subscribe":                           "resources cannot be subscribed to",
	"resources-unsubscribe":                         "resources cannot be subscribed to",
	"json-schema-2020-12":                           "pending in the suite: the schema of a tool for it alone",
	"input-required-result-*":                       "no tool asks its client for anything",
	"tasks-*":                                       "an extension: calls are no tasks",
	"http-custom-header-server-validation":          "pending in the suite: no tool names a header",
	"sep-2575-server-rejects-undeclared-capability": "a check of server-stateless: no tool needs a capability of the client",
	"sep-2575-missing-capability-http-400":          "a check of server-stateless: no tool needs a capability of the client",
}

// TestConformance runs the Model Context Protocol's conformance suite against a daemon over
// HTTP: what two versions of the protocol require passes, as far as recalld declares it.
func TestConformance(t *testing.T) {
	if os.Getenv(conformanceEnv) == "" {
		t.Skip("not run: it installs the protocol's suite from npm; make conformance runs it")
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", ".build", "conformance"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := npm(t, dir, conformancePackages)
	endpoint := serveFixtures(t, dir)
	excused := map[string]bool{}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		results := t.TempDir()
		// It fails for what is not declared; what counts is in its files.
		out, _ := command(t.Context(), "", nil, filepath.Join(bin, "node"), filepath.Join(bin, "conformance"),
			"server", "--url", endpoint, "--requirements", version, "-o", results, "--timeout", "8000")
		passed, failed := 0, 0
		for scenario, checks := range checksIn(t, results) {
			for _, check := range checks {
				switch check.Status {
				case "SUCCESS":
					passed++
				case "FAILURE":
					if name := excuse(scenario, check.ID); name != "" {
						excused[name] = true
						continue
					}
					failed++
					t.Errorf("%s: %s, %s: %s", version, scenario, check.ID, check.ErrorMessage)
				}
			}
		}
		t.Logf("%s: %d checks passed, %d failed", version, passed, failed)
		if passed < 40 {
			t.Errorf("%s: only %d checks ran:\n%s", version, passed, out)
		}
	}
	for name, why := range notDeclared {
		if !excused[name] {
			t.Errorf("%s does not fail any more (%s): take it off the list", name, why)
		}
	}
}

// serveFixtures serves recalld with the suite's tools, and returns an address that needs no
// token: the suite knows none.
func serveFixtures(t *testing.T, dir string) string {
	program := filepath.Join(dir, "recalld")
	if out, err := command(t.Context(), "", nil, "go", "build", "-trimpath", "-tags", "conformance", "-o", program, "github.com/recalld/recalld/cmd/recalld"); err != nil {
		t.Fatal(out, err)
	}
	home := t.TempDir()
	repo := filepath.Join(home, "shop")
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command(program, "serve", "--set", "tcp.enabled=true", "--set", "tcp.address=127.0.0.1:0", "--set", "mcp.project="+repo)
	// A second daemon, started by the status below, would outlive the test.
	daemon.Env = append(os.Environ(), "HOME="+home, "RECALLD_DATA="+filepath.Join(home, "data"), "RECALLD_DAEMON_AUTOSTART=false")
	startDaemon(t, daemon)
	var status struct {
		TCP string `json:"tcp"`
	}
	ask := exec.Command(program, "call", "status")
	ask.Env = daemon.Env
	if out, err := ask.Output(); err != nil || json.Unmarshal(out, &status) != nil {
		t.Fatalf("ask the daemon: %v, %s", err, out)
	}
	token, err := os.ReadFile(filepath.Join(home, "data", "token"))
	if err != nil || status.TCP == "" {
		t.Fatalf("the daemon does not listen on TCP: %v", err)
	}
	target, err := url.Parse("http://" + status.TCP)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // which the daemon checks
		r.Out.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		// An answer that begins before the proxy has seen the end of the body closes it, and
		// the request ends with an error.
		body, err := io.ReadAll(r.In.Body)
		if err != nil {
			t.Error(err)
		}
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL + "/mcp"
}

type check struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	ErrorMessage string `json:"errorMessage"`
}

var resultFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// checksIn reads what the suite wrote: a folder for each scenario.
func checksIn(t *testing.T, dir string) map[string][]check {
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]check{}
	for _, folder := range folders {
		m := resultFolder.FindStringSubmatch(folder.Name())
		text, err := os.ReadFile(filepath.Join(dir, folder.Name(), "checks.json"))
		if err != nil || m == nil {
			t.Fatalf("%s: %v", folder.Name(), err)
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", folder.Name(), err)
		}
		all[m[1]] = checks
	}
	return all
}

// excuse is the entry of notDeclared that a failed check is about, if any.
func excuse(scenario, id string) string {
	for name := range notDeclared {
		begin, all := strings.CutSuffix(name, "*")
		if slices.Contains([]string{scenario, id}, name) || all && strings.HasPrefix(scenario, begin) {
			return name
		}
	}
	return ""
}
