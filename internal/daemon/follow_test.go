package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// following serves a daemon that looks all the time, and a repository that it
// knows.
func following(t *testing.T) (s *served, dir string) {
	t.Helper()
	cfg := newConfig(t)
	cfg.FollowEvery = time.Millisecond
	s, dir = serve(t, cfg), shop(t)
	s.indexed(s.index(dir))
	s.trust(dir)
	return s, dir
}

// trust agrees to the files of a repository.
func (s *served) trust(dir string) {
	s.t.Helper()
	_, err := service.Trust.Do(s.t.Context(), s, memory.TrustRequest{Path: dir})
	must(s.t, err)
}

// kept waits for a number of records of a kind.
func (s *served) kept(kind memory.Kind, n int) {
	s.t.Helper()
	s.until(fmt.Sprintf("%d %ss", n, kind), func(st *memory.Status) bool { return st.Records[kind] == n })
}

// lookedAgain waits until the follower has looked at everything once more: a lesson
// that is appended last has been taken over.
func (s *served) lookedAgain(dir string, lessons int) {
	s.t.Helper()
	// No two markers are alike: the log grows with each.
	info, _ := os.Stat(filepath.Join(dir, "agent-knowledge", "logs", "zz.jsonl"))
	size := int64(0)
	if info != nil {
		size = info.Size()
	}
	appendLine(s.t, dir, "zz.jsonl", fmt.Sprintf(`{"event_type":"pattern","lesson":"Marker at %d","timestamp":"2026-02-01T00:00:00Z"}`, size))
	s.kept(memory.Lesson, lessons)
}

func appendLine(t *testing.T, dir, log, line string) {
	t.Helper()
	path := filepath.Join(dir, "agent-knowledge", "logs", log)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	_, err = f.WriteString(line + "\n")
	must(t, err)
	must(t, f.Close())
}

// What other programs append is found; a bad line is told and passed over; a log
// that is rewritten doubles nothing; what was forgotten stays so.
func TestFollowLog(t *testing.T) {
	s, dir := following(t)
	appendLine(t, dir, "shop.jsonl", `{"timestamp":"2026-01-02T03:04:05Z","event_type":"error","context":"deploy","lesson":"Warm the cache before the switch","success_rate":"1/2"}`)
	s.kept(memory.Lesson, 1)
	appendLine(t, dir, "shop.jsonl", `{"lesson":"no end`)
	s.until("told of the bad line", func(st *memory.Status) bool {
		for _, e := range st.Errors {
			if strings.Contains(e.Message, "shop.jsonl:2") {
				return true
			}
		}
		return false
	})
	// What the file says of success counts for nothing.
	appendLine(t, dir, "shop.jsonl", `{"timestamp":"2026-01-03T03:04:05Z","event_type":"error","context":"deploy","lesson":"Warm the cache before the switch","success_rate":"5/6"}`)
	s.lookedAgain(dir, 2)
	rate := func() string {
		a := s.ask(dir, "warm the cache", memory.Lesson)
		if len(a.Items) == 0 {
			t.Fatalf("the lesson is not found: %+v", a)
		}
		return a.Items[0].SuccessRate
	}
	if got := rate(); got != "" {
		t.Errorf("the rate is %s, want none: no outcome was told here", got)
	}

	path := filepath.Join(dir, "agent-knowledge", "logs", "shop.jsonl")
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	must(t, os.WriteFile(path, []byte(lines[2]+lines[0]), 0o644)) // in another order
	s.lookedAgain(dir, 3)
	if got := rate(); got != "" {
		t.Errorf("after the log was rewritten the rate is %s, want none still", got)
	}

	a := s.ask(dir, "warm the cache", memory.Lesson)
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{a.Items[0].ID}})
	must(t, err)
	must(t, os.WriteFile(path, []byte(lines[0]+lines[2]+lines[0]), 0o644))
	s.lookedAgain(dir, 3) // the markers of before, one lesson less, this one more
	if a := s.ask(dir, "warm the cache", memory.Lesson); len(a.Items) != 0 {
		t.Errorf("what was forgotten comes back: %+v", a.Items)
	}
}

// Our own line, which remember appends, is not told a second time when it is
// followed.
func TestFollowOwnLine(t *testing.T) {
	s, dir := following(t)
	must(t, os.MkdirAll(filepath.Join(dir, "agent-knowledge", "logs"), 0o755)) // so a log is kept without git
	kept := s.keep(dir, "Name the branch after the ticket")
	if kept.Log == "" || kept.Warning != "" {
		t.Fatalf("remember answers %+v, want the log that it appended to", kept)
	}
	s.lookedAgain(dir, 2)
	if again := s.keep(dir, "Name the branch after the ticket"); again.ID != kept.ID || !again.Merged {
		t.Errorf("told again it is %+v, want %s merged", again, kept.ID)
	}
	s.lookedAgain(dir, 3)
	out := filepath.Join(t.TempDir(), "out")
	_, err := service.Export.Do(t.Context(), s, memory.ExportRequest{Path: out, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if log := tree(t, out)["logs/shop.jsonl"]; strings.Count(log, "Name the branch") != 2 {
		t.Errorf("told twice, the lesson is exported as\n%swant two lines", log)
	}
}

// A tree that another program writes is followed while it grows; the metadata may
// come last.
func TestFollowSessions(t *testing.T) {
	s, dir := following(t)
	session := "test-artifacts/llm-knowledge/mm-20260115-abc"
	place(t, dir, session+"/steps/2026-01-15T12-00-01.000Z-mm_click.json",
		`{"timestamp":"2026-01-15T12:00:01Z","tool":{"name":"mm_click","target":"send-button"},"outcome":{"ok":true}}`)
	s.kept(memory.Step, 1)
	filter := "send"
	list := func() int {
		l, err := service.Sessions.Do(t.Context(), s, memory.SessionsRequest{
			Filters: &memory.StepFilters{FlowTag: &filter}, Caller: memory.Caller{Dir: dir}})
		must(t, err)
		return len(l.Sessions)
	}
	if n := list(); n != 0 {
		t.Errorf("a session without metadata passes a filter")
	}
	place(t, dir, session+"/session.json",
		`{"schemaVersion":1,"sessionId":"mm-20260115-abc","createdAt":"2026-01-15T12:00:00.000Z","goal":"Run send flow smoke test","flowTags":["send","unheard-of"]}`)
	place(t, dir, session+"/steps/2026-01-15T12-00-02.000Z-mm_type.json",
		`{"timestamp":"2026-01-15T12:00:02Z","tool":{"name":"mm_type"},"outcome":{"ok":false,"error":{"message":"no such field"}}}`)
	s.kept(memory.Step, 2)
	s.lookedAgain(dir, 1)
	if n := list(); n != 1 {
		t.Errorf("%d sessions have flow tag send, want the one whose metadata came", n)
	}
	sum, err := service.SummarizeSession.Do(t.Context(), s, memory.SummarizeRequest{
		Scope: &memory.Scope{Session: "mm-20260115-abc"}, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if sum.StepCount != 2 || sum.Goal != "Run send flow smoke test" || len(sum.Failures) != 1 {
		t.Errorf("the summary is %+v, want two steps, one of them failed", sum)
	}
}
