package adaptation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
)

// adapted is the report of a model; its table may as well be the shipped one.
func adapted(model string) *memory.Adaptation {
	return &memory.Adaptation{Kept: true, Model: model, Base: builtin.Name, BaseSum: checksum(builtin.File()), At: time.Unix(1e9, 0).UTC(), Gain: .1}
}

const (
	firstModel  = "builtin/static-v1-adapted-00000001"
	secondModel = "builtin/static-v1-adapted-00000002"
)

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	if l, err := Load(dir, builtin.File()); l != nil || err != nil {
		t.Errorf("without a folder: %v, %v", l, err)
	}
	// What a process that was killed left before its report.
	for _, model := range []string{firstModel, secondModel} {
		must(t, keep(dir, builtin.File(), adapted(model)))
		for _, leftover := range []string{"static-v1-adapted-0badcafe.bin", "static-v1-adapted-0badcafe.bin.abc.tmp", reportName + ".abc.tmp", "mine.txt"} {
			must(t, os.WriteFile(filepath.Join(dir, leftover), []byte("half"), 0o600))
		}
	}
	if report, err := readReport(dir); err != nil || *report != *adapted(secondModel) {
		t.Fatalf("the report is %+v, %v", report, err)
	}
	l, err := Load(dir, builtin.File())
	must(t, err)
	if m, err := l.Model(t.Context()); err != nil || m.Dim != builtin.Dim {
		t.Errorf("the model is %+v, %v", m, err)
	}
	must(t, sweep(dir, secondModel))
	if got, want := names(t, dir), []string{reportName, "mine.txt", "static-v1-adapted-00000002.bin"}; !slices.Equal(got, want) {
		t.Errorf("swept, there are %v, want %v", got, want)
	}

	other := bytes.Clone(builtin.File())
	other[len(other)-1] ^= 1
	if _, err := Load(dir, other); !errors.Is(err, ErrOtherBase) {
		t.Errorf("with another base: %v", err)
	}
	table := tablePath(dir, secondModel)
	must(t, os.WriteFile(table, builtin.File()[:1000], 0o600))
	if _, err := Load(dir, builtin.File()); !errors.Is(err, ErrDamaged) {
		t.Errorf("cut: %v", err)
	}
	must(t, os.Remove(table))
	if _, err := Load(dir, builtin.File()); !errors.Is(err, ErrDamaged) {
		t.Errorf("gone: %v", err)
	}
	for _, text := range []string{"{", `{}`, `{"model":"builtin/../../static-v1-adapted-x"}`, `{"model":"builtin/static-v1"}`} {
		must(t, os.WriteFile(filepath.Join(dir, reportName), []byte(text), 0o600))
		if _, err := Load(dir, builtin.File()); !errors.Is(err, ErrDamaged) {
			t.Errorf("report %q: %v", text, err)
		}
	}
	must(t, discard(dir))
	if got := names(t, dir); !slices.Equal(got, []string{"mine.txt"}) {
		t.Errorf("discarded, there are %v", got)
	}
}

// fakeStore is what is remembered, as a test has it.
type fakeStore struct{ lessons []memory.Record }

func (fakeStore) Sandboxes() ([]memory.Sandbox, error) {
	return []memory.Sandbox{{ID: "one", Project: "p", Root: "/one"}, {ID: "two", Project: "p", Root: "/two"}}, nil
}

func (fakeStore) FileMetadata(sandbox string) (map[string]memory.FileMetadata, error) {
	files := map[string]memory.FileMetadata{
		"a.go":      {Hash: memory.DocID{1}, Chunks: 2},
		"pruned.go": {Hash: memory.DocID{2}, Pruned: true},
		"head.bin":  {Hash: memory.DocID{3}, Head: true},
	}
	if sandbox == "two" { // a worktree, with one file more
		files["b.go"] = memory.FileMetadata{Hash: memory.DocID{4}, Chunks: 1}
	}
	return files, nil
}

func (s fakeStore) Lessons() iter.Seq2[memory.Record, error] {
	return func(yield func(memory.Record, error) bool) {
		_ = yield(memory.Record{}, errors.New("a damaged record"))
		for _, r := range s.lessons {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func lesson(id, about, text string, aside *memory.Withdrawal) memory.Record {
	return memory.Record{ID: id, Kind: memory.Lesson, Event: &memory.Event{Context: about, Lesson: text, Command: "recalld status", Withdrawn: aside}}
}

// TestGather reads what is indexed, each text once, and lessons that count.
func TestGather(t *testing.T) {
	var read []string
	s := New(Options{Store: fakeStore{[]memory.Record{
		lesson("l1", "migrating the warehouse database", "Take the lock before the first migration runs", nil),
		lesson("l2", "restarting the label printer", "Wait for the queue to drain before the printer restarts", &memory.Withdrawal{}),
	}}, Read: func(_ context.Context, at memory.Location, _ memory.DocID) (string, error) {
		read = append(read, at.Root+"/"+at.Path)
		if at.Path == "b.go" {
			return "", &memory.GateError{Reason: memory.Changed, Path: at.Path}
		}
		return "package a\n\n// Renew asks the warehouse to extend a lease.\nfunc Renew(id string) error {\n\tl := find(id)\n\tl.extend()\n\treturn l.err\n}\n", nil
	}})
	s.begin(nil)
	c, err := s.gather(t.Context())
	must(t, err)
	if want := []string{"/one/a.go", "/two/b.go"}; !slices.Equal(read, want) {
		t.Errorf("read %v, want %v", read, want)
	}
	if len(c.pairs) != 2 { // the function and one lesson
		t.Errorf("%d pairs, want 2", len(c.pairs))
	}
}

// TestGatherReadsAnotherCopy: a text that cannot be read in one worktree is read in another.
func TestGatherReadsAnotherCopy(t *testing.T) {
	var read []string
	s := New(Options{Store: fakeStore{}, Read: func(_ context.Context, at memory.Location, _ memory.DocID) (string, error) {
		read = append(read, at.Root+"/"+at.Path)
		if at.Root == "/one" { // it was removed
			return "", &memory.GateError{Reason: memory.Gone, Path: at.Path}
		}
		return "package a\n\n// Renew asks the warehouse to extend a lease.\nfunc Renew(id string) error {\n\tl := find(id)\n\tl.extend()\n\treturn l.err\n}\n", nil
	}})
	s.begin(nil)
	c, err := s.gather(t.Context())
	must(t, err)
	if want := []string{"/one/a.go", "/two/a.go", "/two/b.go"}; !slices.Equal(read, want) || len(c.pairs) == 0 {
		t.Errorf("read %v with %d pairs, want %v with some", read, len(c.pairs), want)
	}
}

// TestProgressIsBounded: progress is told at most a hundred times per phase, whatever the number of
// steps, and to the end.
func TestProgressIsBounded(t *testing.T) {
	for _, total := range []int{1, 7, 99, 100, 101, 150, 199, 200, 1000, 1999, 12345} {
		s := New(Options{})
		calls, last := 0, 0
		s.begin(func(p memory.AdaptProgress) { calls, last = calls+1, p.Done })
		for done := 1; done <= total; done++ {
			s.report(memory.AdaptProgress{Phase: phaseTraining, Done: done, Total: total})
		}
		if calls > 100 || calls < min(total, 99) || last != total {
			t.Errorf("%d steps are told in %d calls, the last of step %d; want at most 100, one for each hundredth, and the last step", total, calls, last)
		}
	}
}

// TestOneAtATime: an adaptation under way refuses another, and a reset; its progress is
// told; too little to learn from is told with what to do, and nothing is left.
func TestOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	var s *Service
	var inside []error
	var running *memory.AdaptProgress
	s = New(Options{Dir: dir, InUse: builtin.Name, Store: fakeStore{}, General: func() ([]Pair, error) { return nil, nil },
		Read: func(ctx context.Context, _ memory.Location, _ memory.DocID) (string, error) {
			_, err := s.Adapt(ctx, memory.AdaptRequest{}, nil)
			inside = append(inside, err, s.Reset())
			running = s.Running()
			return "", errors.New("gone")
		}})
	_, err := s.Adapt(t.Context(), memory.AdaptRequest{}, func(p memory.AdaptProgress) {
		if at := s.Running(); at == nil || *at != p { // the one who listens may ask
			t.Errorf("reported %+v, it is at %+v", p, at)
		}
	})
	if e := memory.AsError(err); e.Code != memory.CodeConflict || !strings.Contains(e.Message, "at least 2000") || !strings.Contains(e.Hint, "recalld index") {
		t.Errorf("with nothing to learn from: %+v", e)
	}
	for _, err := range inside {
		if memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("meanwhile: %v", err)
		}
	}
	if running == nil || running.Phase != phaseReading || running.Total != 2 || s.Running() != nil {
		t.Errorf("meanwhile it is at %+v, afterwards at %+v", running, s.Running())
	}
	if err := s.Reset(); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("reset with nothing to reset: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("an adaptation that failed has made a folder")
	}
}

// TestState follows a model from its being kept to its being taken back.
func TestState(t *testing.T) {
	dir := t.TempDir()
	s := New(Options{Dir: dir, InUse: builtin.Name})
	if m := s.State(); m.InUse != builtin.Name || m.Next != builtin.Name || m.Adapted != nil {
		t.Errorf("at first %+v", m)
	}
	must(t, keep(dir, builtin.File(), adapted(firstModel)))
	if m := s.State(); m.InUse != builtin.Name || m.Next != firstModel || m.Adapted == nil {
		t.Errorf("kept: %+v", m)
	}
	if m := New(Options{Dir: dir, InUse: builtin.Name, Trouble: "it is damaged"}).State(); m.Next != builtin.Name || m.Trouble == "" {
		t.Errorf("damaged: %+v", m)
	}
	s = New(Options{Dir: dir, InUse: firstModel})
	must(t, s.Reset())
	if m := s.State(); m.InUse != firstModel || m.Next != builtin.Name || m.Adapted != nil {
		t.Errorf("reset: %+v", m)
	}
}

// TestKeptWhateverElse: a model is kept though what it replaces cannot be removed, and
// is told of as kept.
func TestKeptWhateverElse(t *testing.T) {
	testlong.Only(t)
	dir := t.TempDir()
	stuck := filepath.Join(dir, "static-v1-adapted-0badcafe.bin", "inside") // a folder that is not empty
	must(t, os.MkdirAll(stuck, 0o700))
	var log strings.Builder
	s := New(Options{Dir: dir, InUse: builtin.Name, Trouble: "it was damaged", Store: private(2000), MinPairs: 500,
		Read:    func(context.Context, memory.Location, memory.DocID) (string, error) { return "", errors.New("gone") },
		General: func() ([]Pair, error) { return nil, nil }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	out, err := s.Adapt(t.Context(), memory.AdaptRequest{}, nil)
	if err != nil || !out.Kept {
		t.Fatalf("adapt: %+v, %v", out, err)
	}
	t.Logf("a gain of %.3f ± %.3f", out.Gain, out.Error)
	if m := s.State(); m.Next != out.Model || m.Trouble != "" {
		t.Errorf("afterwards %+v", m)
	}
	if !strings.Contains(log.String(), "could not be removed") {
		t.Errorf("the log says %q", log.String())
	}
}

// private is a fakeStore of lessons whose words mean something only there: each has a partner.
func private(lessons int) (s fakeStore) {
	ends := strings.Fields("zor vex mur den hoy wib kro fen sag jep")
	coined := func(begin string, n int) string { return begin + ends[n/10%10] + ends[n%10] }
	for i := range lessons {
		a, b, c := i%61, i*i%59, i*7%53
		s.lessons = append(s.lessons, lesson(fmt.Sprint(i), strings.Join([]string{coined("ilt", a), coined("ilt", b), coined("ilt", c)}, " "),
			strings.Join([]string{coined("qua", (a*37+11)%61), coined("qua", (b*41+5)%59), coined("qua", (c*43+7)%53)}, " "), nil))
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
