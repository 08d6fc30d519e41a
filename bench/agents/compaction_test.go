package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/testkit/modelserver"
)

// TestCompaction: after a compaction the model of Claude Code is told what its session did.
func TestCompaction(t *testing.T) {
	if os.Getenv(clientsEnv) == "" {
		t.Skip("not run: it installs agents from npm; make agents runs it")
	}
	c := clients[0]
	w := newWorld(t, install(t, filepath.Join("..", "..", ".build", "agents"), clients[:1]))
	if out, err := w.recalld("connect", c.name); err != nil {
		t.Fatal(out, err)
	}
	s := &script{prompt: "Measure it", steps: []step{
		{tool: c.shell, arguments: c.arguments("echo measured-before"), want: "measured-before", own: true},
		{tool: c.shell, arguments: c.arguments("cat absent-before"), want: "absent-before", own: true},
	}}
	if faults := w.turn(c, s); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, prompt := range []string{"/compact", "Go on"} {
		out, err := command(t.Context(), w.repo, append(w.env, c.env(w.server.URL)...), c.program, append(c.args(w.server.URL, prompt), "--continue")...)
		if err != nil {
			t.Fatal(out, err)
		}
	}
	requests := w.server.Requests()
	i := slices.IndexFunc(requests, func(r modelserver.Request) bool { return bytes.Contains(r.Body, []byte("Go on")) })
	if i < 0 {
		t.Fatal("no request has the last prompt")
	}
	for _, want := range []string{"Its last steps, newest first:\\n- Bash echo measured-before", "Still failing in it:\\n- Bash cat absent-before"} {
		if !bytes.Contains(requests[i].Body, []byte(want)) {
			t.Errorf("after the compaction the model is not told %q", want)
		}
	}
}
