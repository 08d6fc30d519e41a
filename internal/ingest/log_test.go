package ingest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
)

// project is the rig's repository.
func (r *rig) project() memory.Project {
	r.t.Helper()
	p, _, err := r.ingest.opts.Projects.Resolve(r.t.Context(), "", r.caller)
	must(r.t, err)
	return p
}

func (r *rig) importLines(lines ...memory.LogLine) Imported {
	r.t.Helper()
	out, err := r.ingest.ImportLessons(r.t.Context(), r.project(), memory.Provenance{Origin: memory.OriginImported}, lines)
	if err != nil {
		r.t.Fatalf("import: %v", err)
	}
	return out
}

// lessons are the lessons of the store, by id.
func (r *rig) lessons() []memory.Record {
	r.t.Helper()
	var all []memory.Record
	for rec, err := range r.store.ProjectRecords(r.t.Context(), r.project().ID, memory.Lesson) {
		must(r.t, err)
		all = append(all, rec)
	}
	return all
}

// lineAt is a line with a hash of its own.
func lineAt(minute int, lesson, rate string) memory.LogLine {
	return memory.LogLine{
		Timestamp: testTime.Add(time.Duration(minute) * time.Minute), AgentID: "a", Repo: "shop", Type: memory.EventError, Lesson: lesson,
		SuccessRate: rate, Hash: memory.DocumentID(fmt.Sprint(minute, lesson, rate)),
	}
}

// sampleLines are lines of three lessons, one of which is told more often than
// its history holds, one retracted, and one retracted and told again.
func (r *rig) sampleLines() []memory.LogLine {
	var lines []memory.LogLine
	for i := range 20 {
		lines = append(lines, lineAt(i, "npm ci", fmt.Sprintf("%d/20", i)))
	}
	id := func(lesson string) string {
		return r.ingest.lessonRecord(lineAt(0, lesson, ""), r.project().ID).ID
	}
	retract := lineAt(31, "no need to", "")
	retract.Retracts, retract.Supersedes = []string{id("chmod 777"), "l-unknown"}, []string{id("sudo it")}
	return append(lines, lineAt(30, "chmod 777", "1/9"), lineAt(29, "sudo it", ""), retract, lineAt(32, "sudo it", ""))
}

func TestImportLessons(t *testing.T) {
	r := newRig(t)
	lines := r.sampleLines()
	out := r.importLines(lines...)
	if out.Added != len(lines) || out.Known != 0 || len(out.Problems) != 0 {
		t.Fatalf("import = %+v, want all %d lines new", out, len(lines))
	}
	var npm, chmod, sudo memory.Record
	for _, rec := range r.lessons() {
		switch rec.Event.Lesson {
		case "npm ci":
			npm = rec
		case "chmod 777":
			chmod = rec
		case "sudo it":
			sudo = rec
		}
	}
	if e := npm.Event; !npm.Created.Equal(testTime) || npm.Repo != "shop" || e.Seen != 20 || *e.Rate != (memory.Rate{Successes: 19, Attempts: 20}) {
		t.Errorf("the lesson told 20 times = %+v, %+v; want it of its first time with its last rate", npm, e)
	}
	if chmod.Event.Withdrawn == nil || chmod.Event.Withdrawn.Reason != "retracted" || sudo.Event.Withdrawn != nil {
		t.Errorf("aside are %+v and %+v, want the first, and the other, told since, not", chmod.Event.Withdrawn, sudo.Event.Withdrawn)
	}
	before := r.store.Seq()
	for name, again := range map[string][]memory.LogLine{"all": lines, "the last": lines[15:], "the first": lines[:3], "none": nil} {
		if out := r.importLines(again...); out.Known != len(again) || out.Added != 0 {
			t.Errorf("%s again = %+v, want them known", name, out)
		}
	}
	if r.store.Seq() != before {
		t.Error("known lines were written")
	}
}

// TestKnownLinesAreNotCleaned: secrets are not looked for in lines that were imported before,
// also if they name no repository.
func TestKnownLinesAreNotCleaned(t *testing.T) {
	looked := 0
	r := newRig(t, func(_ *rig, o *Options) {
		o.Redact = func(text string) (string, int) {
			looked++
			return redactSecret(text)
		}
	})
	unnamed := lineAt(1, "chmod 777", "")
	unnamed.Repo = ""
	for _, line := range []memory.LogLine{lineAt(0, "npm ci", ""), unnamed} {
		r.importLines(line)
		looked = 0
		if out := r.importLines(line); out.Known != 1 || looked > 0 {
			t.Errorf("repository %q: import = %+v after %d looks for secrets, want it known after none", line.Repo, out, looked)
		}
	}
}

// TestImportInAnyOrder: lines in any order, in parts, and again, make the same
// lessons.
func TestImportInAnyOrder(t *testing.T) {
	want := newRig(t)
	lines := want.sampleLines()
	want.importLines(lines...)
	ignore := cmpopts.IgnoreFields(memory.Record{}, "ID", "Project") // the rigs' folders differ
	ignoreBy := cmpopts.IgnoreFields(memory.Withdrawal{}, "By")
	byText := cmpopts.SortSlices(func(a, b memory.Record) bool { return a.Text < b.Text })
	for seed := range uint64(5) {
		r := newRig(t)
		mixed := r.sampleLines()
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		cut := random.IntN(len(mixed))
		r.importLines(mixed[:cut]...)
		r.importLines(mixed[cut/2:]...)
		r.importLines(mixed...) // a retraction that came first is made up for
		if diff := cmp.Diff(want.lessons(), r.lessons(), ignore, ignoreBy, byText, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("in order %d (-in order +mixed):\n%s", seed, diff)
		}
	}
}

// TestLongLogReadAgain: the middle of a history that is too long to be kept is
// known all the same.
func TestLongLogReadAgain(t *testing.T) {
	r := newRig(t)
	var lines []memory.LogLine
	for i := range 3 * memory.MaxObservations {
		rate := ""
		if i == 40 {
			rate = "4/5"
		}
		lines = append(lines, lineAt(i, "x", rate))
	}
	for part := range slices.Chunk(lines, 7) { // as a log that is followed grows
		r.importLines(part...)
	}
	before := r.lessons()
	if out := r.importLines(lines...); out.Known != len(lines) {
		t.Errorf("read again = %+v, want all known", out)
	}
	if diff := cmp.Diff(before, r.lessons()); diff != "" || before[0].Event.Seen != len(lines) || before[0].Event.Rate.String() != "4/5" {
		t.Errorf("the lesson is %+v, and changed by reading it again:\n%s", before[0].Event, diff)
	}
}

// TestOwnLineIsKnown when it is read from the log, and an older one of another
// program does not replace what is known.
func TestOwnLineIsKnown(t *testing.T) {
	r := newRig(t, func(_ *rig, o *Options) {
		o.LineHash = func(l memory.LogLine) memory.DocID { return memory.DocumentID(l.Lesson + l.Timestamp.String()) }
	})
	r.after(10)
	out, line, err := r.ingest.RememberLine(t.Context(), memory.RememberRequest{
		RequestID: "r-1", Context: "login hunter2", Command: "npm", Lesson: "x", SuccessRate: "2/3", Tags: []string{"a"}, AgentID: "me", Caller: r.caller,
	})
	must(t, err)
	want := &memory.LogLine{
		Timestamp: r.now, AgentID: "me", Repo: "demo", Type: memory.EventPattern, Context: "login [redacted]", Command: "npm", Lesson: "x",
		SuccessRate: "2/3", Tags: []string{"a"}, Hash: memory.DocumentID("x" + r.now.String()),
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("the line (-want +got):\n%s", diff)
	}
	if _, again, err := r.ingest.RememberLine(t.Context(), memory.RememberRequest{RequestID: "r-1", Context: "login hunter2", Command: "npm", Lesson: "x", Caller: r.caller}); err != nil || again != nil {
		t.Errorf("the repeated request gives the line %+v, %v; want none", again, err)
	}
	older := lineAt(0, "x", "0/9")
	older.Repo, older.Context, older.Command = line.Repo, line.Context, line.Command
	if taken := r.importLines(*line, older); taken.Known != 1 || taken.Added != 1 {
		t.Errorf("import = %+v, want our line known and the other new", taken)
	}
	rec := r.record(out.ID)
	if e := rec.Event; e.Rate.String() != "2/3" || e.Seen != 2 || !rec.Created.Equal(testTime) || e.Type != memory.EventPattern || !rec.Updated.Equal(r.now) {
		t.Errorf("after an older line: %+v, %+v; want its rate and type not taken, its time as the first", rec, e)
	}
}

func TestImportPassesOverWhatIsNotValid(t *testing.T) {
	r := newRig(t)
	long := lineAt(1, strings.Repeat("x", 4001), "")
	rate := lineAt(2, "y", "3/2")
	kind := lineAt(3, "z", "")
	kind.Type = "idea"
	timeless := lineAt(5, "timeless", "")
	timeless.Timestamp = time.Time{}
	extra := lineAt(4, "the password is hunter2", "")
	extra.Extra = map[string]json.RawMessage{"who": json.RawMessage(`{"n":1.0,"s":"hunter2"}`)}
	out := r.importLines(long, extra, rate, timeless, kind, memory.LogLine{Timestamp: testTime})
	fields := map[int]string{}
	for _, p := range out.Problems {
		fields[p.Index] = memory.AsError(p.Err).Field
	}
	want := map[int]string{0: "lesson", 2: "success_rate", 4: "event_type", 5: "lesson"}
	if diff := cmp.Diff(want, fields); diff != "" || out.Added != 2 {
		t.Errorf("import = %+v, want two added and problems by index (-want +got):\n%s", out, diff)
	}
	for _, rec := range r.lessons() {
		if rec.Event.Lesson == "timeless" && !rec.Created.Equal(r.now) {
			t.Errorf("a line without a time is of %s, want now", rec.Created)
		}
		if rec.Event.Lesson == "the password is [redacted]" && string(rec.Extra["who"]) != `{"n":1.0,"s":"[redacted]"}` {
			t.Errorf("the unknown fields are %s, want them kept without secrets", rec.Extra)
		}
	}
}

// TestManyLargeLines: an import fits into commits however much other fields its lines have.
func TestManyLargeLines(t *testing.T) {
	r := newLargeRig(t, 16<<20) // that of users
	large := json.RawMessage(`"` + strings.Repeat("word ", 8<<10) + `"`)
	var lines []memory.LogLine
	for i := range 100 {
		line := lineAt(i, fmt.Sprint("lesson ", i), "")
		line.Extra = map[string]json.RawMessage{"other": large}
		lines = append(lines, line)
	}
	if out := r.importLines(lines...); out.Added != len(lines) {
		t.Errorf("import = %+v, want all %d lines added", out, len(lines))
	}
}

// TestImportPreparedLater prepares lines while others are not yet imported, and imports them
// when the store has changed: they are added, known or forgotten by what is stored then.
func TestImportPreparedLater(t *testing.T) {
	r := newRig(t)
	prepare := func(lines ...memory.LogLine) *PreparedLessons {
		t.Helper()
		p, err := r.ingest.PrepareLessons(t.Context(), r.project(), memory.Provenance{Origin: memory.OriginImported}, lines)
		must(t, err)
		return p
	}
	r.importLines(lineAt(0, "held by another lesson", ""), lineAt(1, "forgotten", ""))
	same := lineAt(2, "held by another lesson", "")
	same.Repo = "another" // another lesson of the same text
	third := same
	third.Repo = "third"
	if !r.index.Held(memory.Document{ID: memory.DocumentID(same.Lesson), Text: same.Lesson}) {
		t.Fatal("the text of the other lesson is not stored")
	}
	first := prepare(lineAt(3, "twice", ""), lineAt(4, "once", ""))
	second := prepare(lineAt(3, "twice", ""), lineAt(5, "twice", ""), same, third, lineAt(6, "forgotten", ""))
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: idsOf(r.lessons())}, r.store); err != nil {
		t.Fatal(err)
	}
	for i, want := range []Imported{{Added: 2}, {Added: 3, Known: 1, Forgotten: 1}} {
		got, err := r.ingest.ImportPrepared(t.Context(), []*PreparedLessons{first, second}[i])
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("import %d: %v (-want +got):\n%s", i, err, diff)
		}
	}
	for _, rec := range r.lessons() {
		if seen := rec.Event.Seen; seen != map[string]int{"twice": 2, "once": 1, "held by another lesson": 1}[rec.Event.Lesson] {
			t.Errorf("the lesson %q was told %d times", rec.Event.Lesson, seen)
		}
		if !r.index.Held(memory.Document{ID: rec.Doc, Text: rec.Text}) {
			t.Errorf("the lesson %q is stored without its document", rec.Event.Lesson)
		}
	}
	if n := len(r.lessons()); n != 4 {
		t.Errorf("%d lessons are stored, want 4", n)
	}
}

// BenchmarkImportKnown reads a log again that has not changed.
func BenchmarkImportKnown(b *testing.B) {
	r := newRig(b, func(_ *rig, o *Options) { o.Redact = redact.Redact })
	var lines []memory.LogLine
	for i := range 1000 {
		line := lineAt(i, fmt.Sprintf("lesson %d: run `npm ci` again when the lock file and package.json disagree", i), "9/10")
		line.Context = "npm install fails with ERESOLVE in a workspace"
		lines = append(lines, line)
	}
	r.importLines(lines...)
	for b.Loop() {
		if out := r.importLines(lines...); out.Known != len(lines) {
			b.Fatalf("import = %+v, want all known", out)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(lines)), "µs/line")
}
