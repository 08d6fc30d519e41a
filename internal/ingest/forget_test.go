package ingest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// code puts a sandbox with some files of the rig's project.
func (r *rig) code(projectID string, files int) {
	r.t.Helper()
	ctx := context.Background()
	p, err := r.store.Projects()
	must(r.t, err)
	must(r.t, r.ingest.PutSandbox(ctx, p[0], memory.Sandbox{ID: "s-1", Project: projectID, Root: r.repo}))
	for i := range files {
		text := fmt.Sprintf("func file%d() {}", i)
		doc := memory.Document{ID: memory.DocumentID(text), Text: text}
		f := memory.File{Project: projectID, Sandbox: "s-1", Path: fmt.Sprintf("f%d.go", i), Chunks: []memory.FileChunk{{Doc: doc.ID, End: len(text)}}}
		must(r.t, r.ingest.PutFile(ctx, f, []memory.Document{doc}))
	}
}

// namesAll says that a text names all of these.
func namesAll(text string, words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

func TestForgetByID(t *testing.T) {
	r := newRig(t)
	a := r.remember(memory.RememberRequest{Lesson: "to be forgotten"})
	b := r.remember(memory.RememberRequest{Lesson: "to be kept"})
	doc := r.record(a.ID).Doc
	tooShort := b.ID[:len("l-")+5]
	out, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{a.ID, a.ID[:len("l-")+6], "l-unknown", tooShort}}, r.store)
	if err != nil || out.Records != 1 || out.Files != 0 || out.Documents != 1 || !namesAll(out.Note, "backups", "exports", "logs", "session files") {
		t.Errorf("forget = %+v, %v; want one record, one document, and what may still hold it", out, err)
	}
	if want := []string{tooShort, "l-unknown"}; !slices.Equal(out.Unknown, want) {
		t.Errorf("forget names %q as unknown, want %q", out.Unknown, want)
	}
	if _, err := r.store.Record(a.ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the record = %v, want it gone", err)
	}
	other := r.remember(memory.RememberRequest{Lesson: "known by its beginning"})
	if out, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{other.ID[:len("l-")+6]}}, r.store); err != nil || out.Records != 1 {
		t.Errorf("forget by the beginning of an id = %+v, %v; want one record", out, err)
	}
	if _, err := r.store.Terms(doc); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("its terms = %v, want them gone", err)
	}
	if r.index.Held(memory.Document{ID: doc}) {
		t.Error("its document is still indexed")
	}
	r.record(b.ID)
	for name, req := range map[string]memory.ForgetRequest{
		"forgotten already": {IDs: []string{a.ID}}, "never there": {IDs: []string{"l-1", "l-2"}}, "unknown project": {Project: "nowhere"},
	} {
		named := append(req.IDs, req.Project)[0]
		if _, err := r.ingest.Forget(t.Context(), req, r.store); memory.CodeOf(err) != memory.CodeNotFound || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: forget = %v, want not found, and %s in it", name, err, named)
		}
	}
	for name, req := range map[string]memory.ForgetRequest{
		"nothing": {}, "too many": {IDs: make([]string, 1001)}, "empty id": {IDs: []string{""}}, "a folder nobody stands in": {Project: "."},
	} {
		if _, err := r.ingest.Forget(t.Context(), req, r.store); memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("%s: forget = %v, want invalid input", name, err)
		}
	}
	if got, want := r.contents(), (contents{Records: 1, Documents: 1, Projects: 1}); got != want {
		t.Errorf("the store holds %+v after refused requests, want %+v", got, want)
	}
}

// TestForgetSessionAndItsStep: a step that is named beside its session goes with it.
func TestForgetSessionAndItsStep(t *testing.T) {
	r := newRig(t)
	session := r.start(memory.StartSessionRequest{}).Session.ID
	step := r.step(memory.RecordStepRequest{Tool: memory.StepTool{Name: "Bash"}, Outcome: memory.Outcome{OK: true}}).ID
	lesson := r.remember(memory.RememberRequest{Lesson: "to be forgotten"}).ID
	out, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{step, session, lesson}}, r.store)
	if err != nil || out.Records != 2 || out.Sessions != 1 {
		t.Errorf("forget = %+v, %v; want the session, its step and the lesson", out, err)
	}
	if got, want := r.contents(), (contents{Projects: 1}); got != want {
		t.Errorf("the store holds %+v, want %+v", got, want)
	}
}

func TestForgetProject(t *testing.T) {
	r := newRig(t)
	var id string
	for i := range 12 {
		id = r.remember(memory.RememberRequest{Lesson: fmt.Sprintf("lesson %d", i)}).Project
	}
	r.code(id, dropBatch/10+5) // more than one batch
	r.store.EnqueueReceipt(memory.Receipt{ID: "rc-1", Project: id, Request: memory.RecallRequest{Query: "a question"}})
	out, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{Project: "demo"}, r.store)
	if err != nil || out.Records != 12 || out.Files != dropBatch/10+5 {
		t.Errorf("forget = %+v, %v; want 12 records and %d files", out, err, dropBatch/10+5)
	}
	if got := r.contents(); got != (contents{}) {
		t.Errorf("the store still holds %+v", got)
	}
	if _, err := r.store.Receipt("rc-1"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the receipt of a question = %v, want it gone", err)
	}
	if out := r.remember(memory.RememberRequest{Lesson: "lesson 1"}); out.Merged || out.Project != id {
		t.Errorf("remembered anew = %+v, want a new lesson of the same project %s", out, id)
	}
}

func TestForgottenTextOfTwoRecordsStays(t *testing.T) {
	r := newRig(t)
	other := t.TempDir()
	a := r.remember(memory.RememberRequest{Lesson: "the same text"})
	b := r.remember(memory.RememberRequest{Lesson: "the same text", Caller: memory.Caller{Dir: other}})
	if a.ID == b.ID || r.index.Documents() != 1 {
		t.Fatalf("two projects' lessons are %s and %s with %d documents, want two records of one text", a.ID, b.ID, r.index.Documents())
	}
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{a.ID}}, r.store); err != nil {
		t.Fatal(err)
	}
	if !r.index.Held(memory.Document{ID: r.record(b.ID).Doc}) {
		t.Error("the text went with the first of its records")
	}
}

// guarded checks that whatever concerns lessons, steps and sessions is committed
// with the lock of forgetting held.
type guarded struct {
	Committer
	check func(b memory.Batch)
}

func (g guarded) Commit(ctx context.Context, b memory.Batch) (memory.Committed, error) {
	g.check(b)
	return g.Committer.Commit(ctx, b)
}

// TestForgetWhileOthersWrite: no step is left without its session, which the
// store's check at the end would find, and no lesson comes back by an outcome.
func TestForgetWhileOthersWrite(t *testing.T) {
	r := newRig(t, func(r *rig, o *Options) {
		o.Committer = guarded{r.store, func(b memory.Batch) {
			if r.ingest.forgetting.TryLock() {
				r.ingest.forgetting.Unlock()
				t.Errorf("%+v is committed while things may be forgotten", b)
			}
		}}
	})
	lesson := r.remember(memory.RememberRequest{Lesson: "to be forgotten"})
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{Project: lesson.Project}, r.store); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 25 {
				_, err := r.ingest.RecordStep(context.Background(), memory.RecordStepRequest{
					SessionID: fmt.Sprint("hook-", i%2), Open: true, Tool: memory.StepTool{Name: "bash"}, Caller: r.caller,
				})
				if err == nil {
					err = r.ingest.Outcome(context.Background(), []string{lesson.ID}, true)
				}
				if err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	for range 10 {
		_, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{Project: lesson.Project}, r.store)
		if err != nil && memory.CodeOf(err) != memory.CodeNotFound { // nothing of it is there at the moment
			t.Errorf("forget: %v", err)
		}
	}
	wg.Wait()
	if _, err := r.store.Record(lesson.ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the forgotten lesson = %v, want it gone", err)
	}
}

// TestForgetDoesNotWaitForAnImport, but for the part that is being written.
func TestForgetDoesNotWaitForAnImport(t *testing.T) {
	var lines []memory.LogLine
	var steps []memory.Record
	for i := range 2*maxPart + 10 {
		lines = append(lines, memory.LogLine{Type: memory.EventPattern, Lesson: fmt.Sprint("imported ", i), Timestamp: testTime})
		steps = append(steps, fileStep(i, "read", `{}`))
	}
	for name, run := range map[string]func(r *rig) (Imported, error){
		"lessons": func(r *rig) (Imported, error) {
			return r.ingest.ImportLessons(context.Background(), r.project(), memory.Provenance{Origin: memory.OriginImported}, lines)
		},
		"a session": func(r *rig) (Imported, error) {
			return r.ingest.ImportSession(context.Background(), r.project(), fileSession(), steps)
		},
	} {
		parts := 0
		forgotten := make(chan error, 1)
		r := newRig(t)
		id := r.remember(memory.RememberRequest{Lesson: "to be forgotten"}).ID
		r.ingest.opts.Committer = guarded{r.store, func(b memory.Batch) {
			if !b.Import {
				return
			}
			switch parts++; parts {
			case 1:
				go func() {
					_, err := r.ingest.Forget(context.Background(), memory.ForgetRequest{IDs: []string{id}}, r.store)
					forgotten <- err
				}()
				for r.ingest.forgetting.TryRLock() { // until it waits
					r.ingest.forgetting.RUnlock()
					runtime.Gosched()
				}
			case 2:
				if _, err := r.store.Record(id); memory.CodeOf(err) != memory.CodeNotFound {
					t.Errorf("%s: the record is there while the second part is written: %v", name, err)
				}
			}
		}}
		out, err := run(r)
		if err != nil || out.Added != len(lines) || parts < 3 {
			t.Errorf("%s: import = %+v in %d parts, %v; want all of it in 3", name, out, parts, err)
		}
		if err := <-forgotten; err != nil {
			t.Errorf("%s: forget: %v", name, err)
		}
	}
}

// TestForgetSession: it goes with its steps, and its files do not bring it back.
func TestForgetSession(t *testing.T) {
	r := newRig(t)
	kept := r.step(memory.RecordStepRequest{SessionID: "run-kept", Open: true, Tool: memory.StepTool{Name: "bash"}})
	session := r.start(memory.StartSessionRequest{SessionID: "run-gone", Goal: "send hunters"})
	step := r.step(memory.RecordStepRequest{SessionID: session.ID, Tool: memory.StepTool{Name: "bash"}})
	read := memory.Record{Created: step.Timestamp, Step: r.record(step.ID).Step}
	lesson := r.remember(memory.RememberRequest{Lesson: "of no session"})
	out, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{session.ID, lesson.ID}}, r.store)
	if err != nil || out.Sessions != 1 || out.Records != 2 {
		t.Fatalf("forget = %+v, %v; want one session and two records", out, err)
	}
	for name, err := range map[string]error{"its step": errorOf(r.store.Record(step.ID)), "it": errorOf(r.store.Session(session.Project, session.ID))} {
		if memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("%s = %v, want it gone", name, err)
		}
	}
	r.record(kept.ID)
	before := r.store.Seq()
	if taken := r.importSession(session.Session, read); taken.Forgotten != 1 || taken.Added != 0 || r.store.Seq() != before {
		t.Errorf("its files = %+v, want nothing taken over", taken)
	}
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{session.ID}}, r.store); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("forgotten again = %v, want not found", err)
	}
	empty := r.start(memory.StartSessionRequest{SessionID: "run-empty"})
	if out, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{empty.ID}}, r.store); err != nil || out.Sessions != 1 {
		t.Errorf("forget a session without steps = %+v, %v", out, err)
	}
}

// TestForgetSessionOfTwoProjects is refused, and with it all that was asked for.
func TestForgetSessionOfTwoProjects(t *testing.T) {
	r := newRig(t)
	lesson := r.remember(memory.RememberRequest{Lesson: "stays"})
	first := r.start(memory.StartSessionRequest{SessionID: "run-1"})
	second := r.start(memory.StartSessionRequest{SessionID: "run-1", Caller: memory.Caller{Dir: t.TempDir()}})
	_, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{lesson.ID, "run-1"}}, r.store)
	refused(t, "forget", err, memory.CodeConflict, "ids")
	if err != nil && !namesAll(err.Error(), first.Project, second.Project) {
		t.Errorf("the error %q does not name both projects", err)
	}
	r.record(lesson.ID)
	if got := r.session("run-1"); got.ID == "" {
		t.Error("the session is gone")
	}
}

func errorOf[T any](_ T, err error) error { return err }
