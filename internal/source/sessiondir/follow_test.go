package sessiondir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// follower follows one tree by a clock that the test moves.
type follower struct {
	*sessiondir.Follower
	t   *testing.T
	dir string
	now time.Time
}

func newFollower(t *testing.T) *follower {
	t.Helper()
	f := &follower{t: t, dir: filepath.Join(t.TempDir(), "tree"), now: now, Follower: sessiondir.New()}
	f.SetClock(func() time.Time { return f.now })
	must(t, os.Mkdir(f.dir, 0o777))
	return f
}

func (f *follower) poll() *collected {
	f.t.Helper()
	return collect(f.t, f.Poll("", f.dir))
}

// expect polls and holds the tools of a session's new steps, and the number of
// problems, against what is wanted.
func (f *follower) expect(when, id string, problems int, tools ...string) *collected {
	f.t.Helper()
	got := f.poll()
	if !slices.Equal(got.tools(id), tools) {
		f.t.Errorf("%s: the new steps are %v, want %v", when, got.tools(id), tools)
	}
	if len(got.problems) != problems {
		f.t.Errorf("%s: %d problems, want %d: %v", when, len(got.problems), problems, got.problems)
	}
	return got
}

// step writes a step's file as another program does.
func (f *follower) step(id, name, tool string, age time.Duration) string {
	f.t.Helper()
	text := fmt.Sprintf(`{"timestamp":"2026-05-01T11:00:00Z","tool":{"name":%q}}`, tool)
	return write(f.t, f.dir, id+"/steps/"+name, text, age)
}

func TestPollHandsOutWhatIsNew(t *testing.T) {
	f := newFollower(t)
	f.expect("an empty tree", "run-0001", 0)
	write(t, f.dir, "run-0001/session.json", `{"sessionId":"run-0001","goal":"first"}`, time.Minute)
	if got := f.expect("a session without steps", "run-0001", 0); got.parts != 1 || len(got.sessions) != 1 || got.sessions[0].Goal != "first" {
		t.Errorf("the session was told in %d parts as %+v", got.parts, got.sessions)
	}
	if got := f.poll(); got.parts != 0 {
		t.Errorf("unchanged, it was told again in %d parts", got.parts)
	}
	f.step("run-0001", "1.json", "read", 50*time.Second)
	f.step("run-0001", "2.json", "edit", 50*time.Second)
	if got := f.expect("two steps", "run-0001", 0, "read", "edit"); got.sessions[0].Goal != "first" {
		t.Errorf("the steps came with the session %+v", got.sessions[0])
	}
	f.step("run-0001", "3.json", "test", 40*time.Second)
	f.expect("one more", "run-0001", 0, "test")
	f.step("run-0001", "2.json", "write", 30*time.Second)
	f.expect("one changed", "run-0001", 0, "write")
	write(t, f.dir, "run-0001/session.json", `{"sessionId":"run-0001","goal":"second"}`, 20*time.Second)
	if got := f.expect("a changed session", "run-0001", 0); len(got.sessions) != 1 || got.sessions[0].Goal != "second" {
		t.Errorf("the session was told as %+v", got.sessions)
	}
	must(t, os.Remove(filepath.Join(f.dir, "run-0001", "steps", "1.json")))
	setTime(t, filepath.Join(f.dir, "run-0001", "steps"), 15*time.Second)
	f.expect("one removed, seen", "run-0001", 0)
	f.step("run-0001", "1.json", "read", 50*time.Second) // just as it was
	setTime(t, filepath.Join(f.dir, "run-0001", "steps"), 10*time.Second)
	f.expect("and put back", "run-0001", 0, "read")
	must(t, os.RemoveAll(f.dir))
	f.expect("without the tree", "run-0001", 0)
}

// TestPollSeesChangesOfOneMoment has a file written in the same tick of the
// system's clock in which its folder was read.
func TestPollSeesChangesOfOneMoment(t *testing.T) {
	f := newFollower(t)
	f.step("run-0001", "1.json", "read", 0)
	f.expect("the first", "run-0001", 0, "read")
	f.step("run-0001", "2.json", "edit", 0) // the folder's time is the same again
	f.expect("the second", "run-0001", 0, "edit")
}

func TestPollWaitsForAHalfWrittenFile(t *testing.T) {
	f := newFollower(t)
	whole := `{"tool":{"name":"read"},"timestamp":"2026-05-01T11:00:00Z"}`
	path := write(t, f.dir, "run-0001/steps/1.json", whole[:20], 0)
	f.step("run-0001", "2.json", "edit", 0)
	f.expect("the whole one", "run-0001", 0, "edit")
	folder := filepath.Dir(path)
	for i := 21; i <= len(whole); i += 10 { // written in place: the folder's time stays
		must(t, os.WriteFile(path, []byte(whole[:i]), 0o666))
		f.now = f.now.Add(5 * time.Second)
		setTime(t, path, now.Sub(f.now))
		setTime(t, folder, 0)
		f.expect(fmt.Sprintf("%d bytes", i), "run-0001", 0)
	}
	must(t, os.WriteFile(path, []byte(whole), 0o666))
	setTime(t, folder, 0)
	f.expect("all of it", "run-0001", 0, "read")
	f.expect("nothing more", "run-0001", 0)

	write(t, f.dir, "run-0001/steps/3.json", "{", -time.Minute)
	f.now = now.Add(time.Minute + 5*time.Second)
	f.expect("a new torn one", "run-0001", 0)
	f.now = now.Add(2 * time.Minute)
	got := f.expect("the same, grown old", "run-0001", 1)
	if len(got.problems) > 0 && (filepath.Base(got.problems[0].File) != "3.json" || !strings.Contains(got.problems[0].Message, "JSON")) {
		t.Errorf("the problem is %+v", got.problems[0])
	}
	f.expect("told once", "run-0001", 0)
	f.step("run-0001", "3.json", "test", -3*time.Minute)
	f.expect("written after all", "run-0001", 0, "test")
}

// TestPollReadsAMendedFile: an editor that rewrites a file changes no folder.
func TestPollReadsAMendedFile(t *testing.T) {
	f := newFollower(t)
	path := write(t, f.dir, "run-0001/steps/1.json", `{"tool":{"name":"read"}`, time.Hour)
	for _, folder := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		setTime(t, folder, time.Minute)
	}
	f.expect("a faulty file", "run-0001", 1)
	f.expect("told once", "run-0001", 0)
	must(t, os.WriteFile(path, []byte(`{"tool":{"name":"write"}`), 0o666))
	f.expect("rewritten with the same fault", "run-0001", 0)
	must(t, os.WriteFile(path, []byte(`{"tool":{"name":"read"},"timestamp":"2026-05-01T11:00:00Z"}`), 0o666))
	f.expect("mended in its place", "run-0001", 0, "read")
	f.expect("nothing more", "run-0001", 0)
}

func TestPollWaitsForAHalfWrittenSession(t *testing.T) {
	f := newFollower(t)
	path := write(t, f.dir, "folder/session.json", `{"sessionId":`, 0)
	f.step("folder", "1.json", "read", 0)
	if got := f.poll(); got.parts != 0 {
		t.Errorf("a session that is half-written was told as %+v", got.sessions)
	}
	must(t, os.WriteFile(path, []byte(`{"sessionId":"run-0001"}`), 0o666))
	setTime(t, path, 0)
	f.expect("whole", "run-0001", 0, "read")

	write(t, f.dir, "run-0002/session.json", `{"goal":`, time.Minute)
	f.step("run-0002", "1.json", "edit", time.Minute)
	if got := f.expect("damaged for good", "run-0002", 1, "edit"); !got.sessions[0].Bare {
		t.Errorf("its steps came with %+v, want a bare session", got.sessions[0])
	}
}

// TestASessionFileThatComesLater follows steps whose session is told of after
// them.
func TestASessionFileThatComesLater(t *testing.T) {
	f := newFollower(t)
	f.step("run-0001", "1.json", "read", time.Minute)
	first := time.Date(2026, 5, 1, 11, 0, 0, 0, time.UTC)
	if got := f.expect("steps alone", "run-0001", 0, "read"); !got.sessions[0].Bare || !got.sessions[0].CreatedAt.Equal(first) {
		t.Errorf("told as %+v; want it bare, created at its step", got.sessions[0])
	}
	write(t, f.dir, "run-0001/session.json", `{"sessionId":"run-0001","goal":"g"}`, 50*time.Second)
	if got := f.expect("its file", "run-0001", 0); len(got.sessions) != 1 || got.sessions[0].Bare || !got.sessions[0].CreatedAt.Equal(first) {
		t.Errorf("told as %+v; want the goal, created at its first step", got.sessions)
	}
	write(t, f.dir, "run-0001/session.json", `{"sessionId":"run-0009"}`, 40*time.Second)
	f.expect("another id: the steps are of that session", "run-0009", 0, "read")
}

func TestPollTakesAPartThatWasNotTakenAgain(t *testing.T) {
	f := newFollower(t)
	for i := range 600 {
		f.step("run-0001", fmt.Sprintf("%03d.json", i), fmt.Sprint("tool", i), time.Minute)
	}
	var taken []string
	for p := range f.Poll("", f.dir) {
		if len(taken) > 0 {
			break // the second part is not taken
		}
		for _, r := range p.Steps {
			taken = append(taken, r.Step.Tool.Name)
		}
	}
	if len(taken) == 0 || len(taken) == 600 {
		t.Fatalf("the first part has %d steps of 600", len(taken))
	}
	rest := f.poll()
	taken = append(taken, rest.tools("run-0001")...)
	if len(taken) != 600 || taken[599] != "tool599" {
		t.Errorf("in both polls %d steps came, want each of 600 once", len(taken))
	}
	f.expect("afterwards", "run-0001", 0)
}

func TestPollReportsOnce(t *testing.T) {
	large := `{"tool":{"name":"read"},"pad":"` + strings.Repeat("x", sessiondir.MaxFile) + `"}`
	for _, test := range []struct {
		name, file, text string
		message          string
	}{
		{"no tool", "run-0001/steps/1.json", `{"timestamp":"2026-05-01T11:00:00Z"}`, "tool.name"},
		{"no time", "run-0001/steps/1.json", `{"tool":{"name":"read"}}`, "timestamp"},
		{"a field of another kind", "run-0001/steps/1.json", `{"tool":7}`, "tool"},
		{"no JSON", "run-0001/steps/1.json", `hello`, "JSON object"},
		{"an empty file", "run-0001/steps/1.json", ``, "JSON object"},
		{"too large", "run-0001/steps/1.json", large, "1048576 bytes"},
		{"a session over its limit", "run-0001/session.json", `{"goal":"` + strings.Repeat("x", memory.MaxGoalText+1) + `"}`, "goal"},
		{"a session's id that names no folder", "run-0001/session.json", `{"sessionId":"a/b/c"}`, "sessionId"},
		{"a session too large", "run-0001/session.json", large, "1048576 bytes"},
		{"a folder's name that is no id", "x y/steps/1.json", `{"tool":{"name":"read"},"timestamp":"2026-05-01T11:00:00Z"}`, "sessionId"},
		{"a later version", "run-0001/session.json", `{"schemaVersion":3,"sessionId":"run-0001"}`, "schemaVersion 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFollower(t)
			path := write(t, f.dir, test.file, test.text, time.Minute)
			f.step("run-0002", "1.json", "edit", time.Minute)
			got := f.expect("the first poll", "run-0002", 1, "edit")
			if len(got.problems) > 0 && (!strings.Contains(got.problems[0].Message, test.message) || !strings.HasPrefix(path, got.problems[0].File)) {
				t.Errorf("the problem is %+v; want one of %s that names %s", got.problems[0], path, test.message)
			}
			f.now = f.now.Add(time.Second)
			f.expect("the second poll", "run-0002", 0)
			name, _, _ := strings.Cut(test.file, "/")
			f.step(name, "9.json", "late", 10*time.Second)
			f.expect("a poll of a changed folder", "run-0002", 0)
		})
	}
}

func TestPollReportsWhatIsNoPlainFile(t *testing.T) {
	f := newFollower(t)
	secret := write(t, t.TempDir(), "secret.json", `{"tool":{"name":"secret"},"timestamp":"2026-05-01T11:00:00Z"}`, time.Minute)
	f.step("run-0001", "1.json", "read", time.Minute)
	link(t, secret, filepath.Join(f.dir, "run-0001", "steps", "2.json"))
	link(t, "1.json", filepath.Join(f.dir, "run-0001", "steps", "3.json"))
	must(t, os.Mkdir(filepath.Join(f.dir, "run-0001", "steps", "4.json"), 0o777))
	link(t, filepath.Dir(secret), filepath.Join(f.dir, "run-0002", "steps"))
	link(t, filepath.Dir(secret), filepath.Join(f.dir, "run-0003"))
	link(t, "run-0001", filepath.Join(f.dir, "run-0004"))
	link(t, secret, filepath.Join(f.dir, "run-0005", "session.json"))
	write(t, f.dir, "README.md", "not a session", time.Minute)
	write(t, f.dir, ".hidden/steps/1.json", `{}`, time.Minute)
	write(t, f.dir, "run-0001/steps/notes.txt", "not a step", time.Minute)
	write(t, f.dir, "run-0001/package.json", `{}`, time.Minute)
	write(t, f.dir, "run-0001/steps/.tmp.json", `{`, time.Minute)

	got := f.expect("the first poll", "run-0001", 7, "read")
	if len(got.sessions) != 1 {
		t.Errorf("the sessions are %+v, want run-0001 alone", got.sessions)
	}
	f.expect("the second poll", "run-0001", 0)
}

func TestPollIsBounded(t *testing.T) {
	f := newFollower(t)
	f.SetBounds(2, 3)
	for i := range 4 {
		f.step("run-0004", fmt.Sprint(i, ".json"), "read", time.Minute)
	}
	for _, id := range []string{"run-0001", "run-0002", "run-0003"} {
		f.step(id, "1.json", "edit", time.Minute)
	}
	got := f.poll()
	if len(got.sessions) != 2 || len(got.tools("run-0003")) != 1 || len(got.tools("run-0004")) != 3 {
		t.Errorf("with room for 2 sessions and 3 steps there are %d, with %d and %d steps", len(got.sessions), len(got.tools("run-0003")), len(got.tools("run-0004")))
	}
	if len(got.problems) != 2 || got.problems[0].File != f.dir || !strings.Contains(got.problems[1].Message, "more than 3 steps") {
		t.Errorf("the problems are %v", got.problems)
	}
	f.expect("the second poll", "run-0004", 0)
	must(t, os.RemoveAll(filepath.Join(f.dir, "run-0003")))
	f.expect("with a session gone, another has its place", "run-0002", 0, "edit")
}

// TestQuietSessionsTakeTurns changes sessions in which nothing has happened for
// some time: a poll looks at a hundred of them at most, however many there are, and
// each is found in its turn. One that is in use is looked at in every poll.
func TestQuietSessionsTakeTurns(t *testing.T) {
	const sessions, looks = 450, 100
	f := newFollower(t)
	id := func(i int) string { return fmt.Sprintf("run-%04d", i) }
	for i := range sessions {
		f.step(id(i), "1.json", "read", 3*time.Hour)
	}
	if got := f.poll(); len(got.sessions) != sessions {
		t.Fatalf("the first poll found %d sessions, want %d", len(got.sessions), sessions)
	}
	for i := range sessions {
		f.step(id(i), "2.json", "edit", 2*time.Hour)
	}
	f.step("run-in-use", "0.json", "read", time.Minute)
	found := 0
	for n := range 5 {
		f.step("run-in-use", fmt.Sprint(n+1, ".json"), "edit", time.Duration(50-n)*time.Second)
		got := f.poll()
		if tools := got.tools("run-in-use"); len(tools) == 0 || tools[len(tools)-1] != "edit" {
			t.Errorf("poll %d did not look at the session in use: %v", n, tools)
		}
		quiet := len(got.sessions) - 1
		if quiet > looks {
			t.Errorf("one poll looked at %d of %d quiet sessions, want at most %d", quiet, sessions, looks)
		}
		found += quiet
	}
	if found != sessions {
		t.Errorf("five polls found %d changed sessions, want each of %d once", found, sessions)
	}
}

// TestPollBesideAWriter polls between the writes of our own writer: every step
// comes once, and no problem.
func TestPollBesideAWriter(t *testing.T) {
	f := newFollower(t)
	f.now = time.Now()
	s := testSession("run-0001")
	const steps = 12
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < steps && err == nil; i++ {
			if _, err = sessiondir.WriteSession("", f.dir, s); err == nil {
				_, err = sessiondir.WriteStep("", f.dir, s, testStep(fmt.Sprint("tool", i), now.Add(time.Duration(i)*time.Second)))
			}
		}
		done <- err
	}()
	seen := map[string]int{}
	poll := func() {
		got := f.poll()
		for _, tool := range got.tools("run-0001") {
			seen[tool]++
		}
		if len(got.problems) > 0 {
			t.Errorf("problems beside a writer: %v", got.problems)
		}
	}
	for running := true; running; {
		poll()
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("write: %v", err)
			}
			running = false
		default:
		}
	}
	poll()
	for i := range steps {
		if n := seen[fmt.Sprint("tool", i)]; n != 1 {
			t.Errorf("tool%d came %d times", i, n)
		}
	}
}
