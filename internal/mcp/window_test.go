package mcp

import (
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"

	"github.com/recalld/recalld/internal/memory"
)

// TestWindows: a bridge's calls come from the window that runs it, so that they reach
// the session that hooks of that window have opened; the sessions that a connection
// starts belong to it alone, for one program may have several windows.
func TestWindows(t *testing.T) {
	l := newLedger()
	d := newDaemon(t, l)
	inWindow := BridgeOptions{Connect: d.connect, Dir: "/src", Window: "process:7:1"}
	a, b := connect(t, startBridgeWith(t, inWindow).transport()), connect(t, startBridgeWith(t, inWindow).transport())
	other := stdioClient(t, d, "/src")
	window := func(what string, do func()) string {
		t.Helper()
		do()
		calls := l.Calls()
		switch r := calls[len(calls)-1].Request.(type) {
		case memory.StartSessionRequest:
			return r.Caller.Window
		case memory.RecallRequest:
			return r.Caller.Window
		}
		t.Fatalf("%s was not called", what)
		return ""
	}
	for i, c := range []*mcpclient.Client{a, b} {
		if got := window("recall", func() { callTool(t, c, "recall", `{"query":"q"}`) }); got != "process:7:1" {
			t.Errorf("client %d asks from the window %q, want that of its bridge", i, got)
		}
	}
	startedA := window("session_start", func() { callTool(t, a, "session_start", `{"sessionId":"session-a"}`) })
	startedB := window("session_start", func() { callTool(t, b, "session_start", `{"sessionId":"session-b"}`) })
	if !strings.HasPrefix(startedA, "connection:") || startedA == startedB {
		t.Errorf("two connections of one process start sessions of the windows %q and %q, want one each of its own", startedA, startedB)
	}
	asked := window("recall", func() { callTool(t, other, "recall", `{"query":"q"}`) })
	started := window("session_start", func() { callTool(t, other, "session_start", `{"sessionId":"session-c"}`) })
	if !strings.HasPrefix(asked, "connection:") || asked != started {
		t.Errorf("without a window of the bridge's a connection asks from %q and starts from %q, want its own for both", asked, started)
	}
}
