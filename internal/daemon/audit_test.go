package daemon

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestAudit: each change is noted with who asked for it, without texts; questions are not;
// a torn or long line and other files do no harm.
func TestAudit(t *testing.T) {
	cfg, dir := newConfig(t), t.TempDir()
	s := serve(t, cfg)
	in := memory.Caller{Dir: dir, Client: "codex-mcp-client\u202e", Window: "w1"}
	kept, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{RequestID: "req-1", Lesson: "Freeze the clock before the coupon expires", Caller: in})
	must(t, err)
	_, err = service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: "coupon", Caller: in})
	must(t, err)
	_, err = service.Trust.Do(t.Context(), s, memory.TrustRequest{List: true, Caller: in})
	must(t, err)
	if _, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{Caller: in}); err == nil {
		t.Fatal("an empty lesson is kept")
	}
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{kept.ID}})
	must(t, err)
	audit := func(r memory.AuditRequest) []memory.AuditLine {
		t.Helper()
		list, err := service.Audit.Do(t.Context(), s, r)
		must(t, err)
		return list.Changes
	}
	all := audit(memory.AuditRequest{})
	var names []string
	for _, l := range all {
		names = append(names, l.Operation+" "+l.Error)
	}
	if got := strings.Join(names, ", "); got != "forget , remember invalid_input: lesson, remember " {
		t.Errorf("it lists %q", got)
	}
	first := all[len(all)-1]
	if first.Client != in.Client || first.Window != "w1" || first.Dir != dir || first.RequestID != "req-1" || len(first.IDs) != 1 || first.IDs[0] != kept.ID || time.Since(first.At) > time.Hour {
		t.Errorf("the first change is %+v", first)
	}
	if text, _ := json.Marshal(all); strings.Contains(string(text), "coupon") {
		t.Errorf("it holds texts: %s", text)
	}
	for name, test := range map[string]struct {
		r    memory.AuditRequest
		want int
	}{
		"a client":    {memory.AuditRequest{Client: in.Client}, 2},
		"by its call": {memory.AuditRequest{Client: client.Name}, 1},
		"no client":   {memory.AuditRequest{Client: "other"}, 0},
		"failed":      {memory.AuditRequest{Failed: true}, 1},
		"operation":   {memory.AuditRequest{Operation: "forget"}, 1},
		"the newest":  {memory.AuditRequest{Limit: 1}, 1},
		"since later": {memory.AuditRequest{Since: time.Now().Add(time.Hour)}, 0},
	} {
		if got := audit(test.r); len(got) != test.want || name == "the newest" && got[0].Operation != "forget" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := service.Audit.Do(t.Context(), s, memory.AuditRequest{Operation: "forgett"}); memory.CodeOf(err) != memory.CodeInvalidInput || !strings.Contains(memory.AsError(err).Hint, `"forget"`) {
		t.Errorf("an unknown operation: %v", err)
	}
	if _, err := service.Audit.Do(t.Context(), s, memory.AuditRequest{Limit: 1001}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("a limit of 1001: %v", err)
	}
	must(t, logging.NoteCommand(cfg.Paths().Log, logging.ChangeTokenAdd, memory.Caller{Client: "cli"}, []string{"ci"}, nil))
	if got := audit(memory.AuditRequest{Operation: logging.ChangeTokenAdd}); len(got) != 1 || !got[0].NoDaemon || got[0].By() != "cli" || got[0].IDs[0] != "ci" {
		t.Errorf("of a command beside the daemon it says %+v", got)
	}
	path := logging.AuditPath(cfg.Paths().Log)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path+".1", append([]byte("{torn\n\x00\n{\"long\":\""+strings.Repeat("x", 3<<20)+"\"}\n"), text...), 0o600))
	if got := audit(memory.AuditRequest{}); len(got) != 8 {
		t.Errorf("with the part before it lists %d changes", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
}

// TestAuditOfPolicy: what a client with a policy was refused is found by the policy's name,
// with and without brackets, and by what the page shows of the client.
func TestAuditOfPolicy(t *testing.T) {
	cfg := newConfig(t)
	s := serve(t, cfg)
	_, err := access.OpenList(cfg.Paths().Clients).Add(access.Policy{Name: "ro", ReadOnly: true}, time.Now())
	must(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://recalld"+service.Forget.Path, strings.NewReader(`{"ids":["l-1"]}`))
	must(t, err)
	r.Header.Set(access.Header, "ro")
	r.Header.Set("User-Agent", "script/1.2")
	answer, err := s.HTTP().Do(r)
	must(t, err)
	must(t, answer.Body.Close())
	for _, name := range []string{"ro", "(ro)", "script", "script (ro)"} {
		list, err := service.Audit.Do(t.Context(), s, memory.AuditRequest{Client: name})
		must(t, err)
		if len(list.Changes) != 1 || list.Changes[0].By() != "script (ro)" || !strings.HasPrefix(list.Changes[0].Error, string(memory.CodeForbidden)) {
			t.Errorf("of %q it lists %+v", name, list.Changes)
		}
	}
	for _, name := range []string{"()", "script/1.2", "other"} {
		if list, err := service.Audit.Do(t.Context(), s, memory.AuditRequest{Client: name}); err != nil || len(list.Changes) > 0 {
			t.Errorf("of %q it lists %+v, %v", name, list, err)
		}
	}
}
