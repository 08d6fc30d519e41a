package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestFollowAfterRestart: a repository that is not indexed is followed after a
// restart, whatever was done in it before.
func TestFollowAfterRestart(t *testing.T) {
	for name, call := range map[string]func(s *served, dir string){
		"a lesson was told": func(s *served, dir string) { s.keep(dir, "Name the branch after the ticket") },
		"a session was held": func(s *served, dir string) {
			_, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{Goal: "Ship it", Caller: memory.Caller{Dir: dir}})
			must(s.t, err)
		},
		"a question was asked, and the log had something": func(s *served, dir string) {
			appendLine(s.t, dir, "shop.jsonl", `{"timestamp":"2026-01-02T03:04:05Z","event_type":"error","lesson":"Rotate the keys in May"}`)
			s.ask(dir, "anything")
			s.kept(memory.Lesson, 1)
		},
		"steps were asked for, and the log had something": func(s *served, dir string) {
			appendLine(s.t, dir, "shop.jsonl", `{"timestamp":"2026-01-02T03:04:05Z","event_type":"error","lesson":"Rotate the keys in May"}`)
			_, err := service.Sessions.Do(t.Context(), s, memory.SessionsRequest{Caller: memory.Caller{Dir: dir}})
			must(s.t, err)
			s.kept(memory.Lesson, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := newConfig(t)
			cfg.FollowEvery = time.Millisecond
			dir := shop(t)
			cfg.Sources.Trusted = []string{dir}
			first := serve(t, cfg)
			place(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
			call(first, dir)
			before, err := service.Status.Do(t.Context(), first, service.None{})
			must(t, err)
			first.close()
			appendLine(t, dir, "shop.jsonl", `{"timestamp":"2026-01-03T03:04:05Z","event_type":"error","lesson":"Warm the cache before the switch"}`)
			second := serve(t, cfg)
			second.kept(memory.Lesson, before.Records[memory.Lesson]+1)
		})
	}
}

// TestForgottenProjectIsNotFollowed: with a project its folders are forgotten.
func TestForgottenProjectIsNotFollowed(t *testing.T) {
	cfg := newConfig(t)
	first, dir := serve(t, cfg), shop(t)
	place(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	first.keep(dir, "Name the branch after the ticket")
	_, err := service.Forget.Do(t.Context(), first, memory.ForgetRequest{Project: dir})
	must(t, err)
	first.close()
	appendLine(t, dir, "shop.jsonl", `{"timestamp":"2026-01-03T03:04:05Z","event_type":"error","lesson":"Warm the cache before the switch"}`)
	cfg.FollowEvery = time.Millisecond
	other := shop(t)
	cfg.Sources.Trusted = []string{dir, other}
	second := serve(t, cfg)
	second.keep(other, "Freeze the schema first")
	second.lookedAgain(other, 2)
}

// TestFolderOfAllLogs: in one folder for all repositories a line is of the project
// that its repository names. Lines of one that is not known are told of once, and
// taken over as soon as it is.
func TestFolderOfAllLogs(t *testing.T) {
	cfg := newConfig(t)
	cfg.FollowEvery = time.Millisecond
	cfg.Lessons.Dir = filepath.Join(t.TempDir(), "logs")
	s, dir := serve(t, cfg), shop(t)
	s.keep(dir, "Name the branch after the ticket")
	known, err := service.Repos.Do(t.Context(), s, service.None{})
	must(t, err)
	if len(known.Repos) != 0 {
		t.Fatalf("repositories %+v are indexed, want none", known)
	}
	id := s.ask(dir, "branch").Project
	line := func(repo, lesson string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05Z","repo":%q,"event_type":"error","lesson":%q}`+"\n", repo, lesson)
	}
	// A name of ours must not be an id, nor a folder.
	place(t, cfg.Lessons.Dir, "a.jsonl", line("later", "Freeze the schema first")+line("later", "Thaw it afterwards")+
		line(id, "Never believe an id")+line(dir, "Never believe a folder"))
	place(t, cfg.Lessons.Dir, "z.jsonl", line("shop", "Warm the cache before the switch"))
	s.kept(memory.Lesson, 2)
	s.until("three lines of repositories that are not known", func(st *memory.Status) bool {
		n := 0
		for _, e := range st.Errors {
			if strings.Contains(e.Message, `no project is called`) {
				n++
				if !strings.Contains(e.Message, "a.jsonl:") {
					t.Errorf("%q does not tell the file and line", e.Message)
				}
			}
		}
		return n == 3
	})
	later := filepath.Join(t.TempDir(), "later")
	place(t, later, "a.txt", "x")
	s.keep(later, "Begin with the tests")
	s.kept(memory.Lesson, 5)
	s.until("an answer with the line that came before its project", func(*memory.Status) bool { // a commit counts before it can be found
		a := s.ask(later, "freeze schema", memory.Lesson)
		return len(a.Items) > 0 && strings.Contains(a.Items[0].Text, "Freeze the schema")
	})
}
