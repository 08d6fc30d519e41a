package ledger

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// differing are the items of an answer that are not the same in all three: "id 1→1→0".
func differing(a memory.ReplayedAnswer) []memory.ReplayedItem {
	return slices.DeleteFunc(slices.Clone(a.Items), func(i memory.ReplayedItem) bool {
		return i.Recorded == i.Before && i.Before == i.After
	})
}

// TestAFloorTakesExactlyWhatIsBelow: a floor for lessons, between the least and the most
// relevant item, loses the items whose recorded relevance is less, for that reason, and
// nothing else.
func TestAFloorTakesExactlyWhatIsBelow(t *testing.T) {
	r := newReplayRig(t)
	var answers []*memory.RecallResponse
	least, most := 1., 0.
	for _, q := range r.docker() {
		a := r.ask(memory.RecallRequest{Query: q})
		answers = append(answers, a)
		for _, item := range a.Items {
			least, most = min(least, item.Relevance), max(most, item.Relevance)
		}
	}
	floor := (least + most) / 2
	out := r.replay(memory.ReplayRequest{MinRelevance: map[memory.Kind]float64{memory.Lesson: floor}})
	if len(out.Answers) != len(answers) || out.Tally.Questions != len(answers) || out.Tally.Failed != 0 || out.More {
		t.Fatalf("replayed %d questions, %+v; want %d, all of them", len(out.Answers), out.Tally, len(answers))
	}
	lost, kept := 0, 0
	for i, a := range answers {
		got := out.Answers[i]
		if got.Receipt != a.Receipt {
			t.Fatalf("answer %d is of %s, want the oldest first: %s", i, got.Receipt, a.Receipt)
		}
		var want []string
		for _, item := range a.Items {
			if item.Relevance >= floor {
				kept++
			} else {
				want = append(want, item.ID)
				lost++
			}
		}
		var gone []string
		for _, item := range got.Items {
			if item.After == 0 {
				gone = append(gone, item.ID)
				if item.Reason != memory.BelowThreshold || item.Recorded == 0 || item.Before == 0 {
					t.Errorf("%q: %+v went, want it recorded, there before, and below the floor", got.Query, item)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(gone)
		if !slices.Equal(want, gone) || got.DataChanged || got.SettingsChanged != (len(want) > 0) {
			t.Errorf("%q loses %v (data %v, settings %v), want %v by the settings", got.Query, gone, got.DataChanged, got.SettingsChanged, want)
		}
	}
	if lost == 0 || kept == 0 {
		t.Fatalf("%d items are below the floor and %d above: the test shows nothing", lost, kept)
	}
	if diff := cmp.Diff(memory.ReplayCounts{Questions: len(answers), Same: kept, SettingsRemoved: lost}, out.Tally); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
	if out.New.MinRelevance[memory.Lesson] != floor || out.New.MinRelevance[memory.Step] != .5 {
		t.Errorf("the new settings are %+v, want today's with the floor", out.New)
	}
}

// TestALowerFloorBrings what was withheld.
func TestALowerFloorBrings(t *testing.T) {
	r := newReplayRig(t)
	var withheld int
	for _, q := range r.docker() {
		for _, w := range r.ask(memory.RecallRequest{Query: q, Limit: 50, MaxTokens: 8000}).Withheld {
			if w.Reason == memory.BelowThreshold && w.NearestScore > .01 {
				withheld++
			}
		}
	}
	out := r.replay(memory.ReplayRequest{MinRelevance: map[memory.Kind]float64{memory.Lesson: .005}})
	if withheld == 0 || out.Tally.SettingsAdded < withheld || out.Tally.SettingsRemoved+out.Tally.DataAdded+out.Tally.DataRemoved > 0 {
		t.Errorf("tally %+v, want the %d that were below the floor added, and nothing else", out.Tally, withheld)
	}
}

// TestAQuestionsOwnFloorGivesWay to a new one, and is kept without.
func TestAQuestionsOwnFloorGivesWay(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	a := r.ask(memory.RecallRequest{Query: "docker build fails", MinRelevance: new(.0), Limit: 50})
	if same := r.replay(memory.ReplayRequest{}); same.Tally.Same != len(a.Items) || same.Answers[0].DataChanged || same.Answers[0].SettingsChanged {
		t.Errorf("with the recorded settings: %+v, want all %d items", same.Tally, len(a.Items))
	}
	if out := r.replay(memory.ReplayRequest{MinRelevance: map[memory.Kind]float64{memory.Lesson: 1}}); out.Tally.SettingsRemoved == 0 {
		t.Errorf("with a floor of 1: %+v, want items to go", out.Tally)
	}
}

// TestTheDatasChangeIsToldApart from that of the settings: a lesson that was added and
// one that is gone are the data's, what a floor takes the settings'.
func TestTheDatasChangeIsToldApart(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	before := r.ask(memory.RecallRequest{Query: "docker build fails with no space left"})
	if len(before.Items) == 0 {
		t.Fatal("nothing was found")
	}
	gone := before.Items[0].ID
	r.later(time.Hour)
	added := r.lesson("docker build fails: no space left on device", "enlarge the disk of the builder")
	r.forget(gone)

	out := r.replay(memory.ReplayRequest{})
	byID := map[string]memory.ReplayedItem{}
	for _, item := range out.Answers[0].Items {
		byID[item.ID] = item
	}
	if x := byID[added]; x.Recorded != 0 || x.Before == 0 || x.After != x.Before {
		t.Errorf("what was added is %+v, want it there before and after alike", x)
	}
	if x := byID[gone]; x.Recorded != 1 || x.Before != 0 || x.After != 0 {
		t.Errorf("what is gone is %+v, want it recorded only", x)
	}
	if a := out.Answers[0]; !a.DataChanged || a.SettingsChanged || out.Tally.DataAdded != 1 || out.Tally.DataRemoved != 1 || out.Tally.SettingsAdded+out.Tally.SettingsRemoved+out.Tally.SettingsMoved > 0 {
		t.Errorf("data %v, settings %v, %+v; want one added and one gone by the data alone", a.DataChanged, a.SettingsChanged, out.Tally)
	}

	// With a floor that nothing reaches, what was added goes again, by the settings.
	out = r.replay(memory.ReplayRequest{MinRelevance: map[memory.Kind]float64{memory.Lesson: 1}})
	if a := out.Answers[0]; !a.DataChanged || !a.SettingsChanged || out.Tally.DataAdded != 1 || out.Tally.DataRemoved != 1 {
		t.Errorf("data %v, settings %v, %+v; want both, each with its own", a.DataChanged, a.SettingsChanged, out.Tally)
	}
}

// TestTimeAloneChangesNothing: a question about the last hours means those before it,
// and nothing has aged.
func TestTimeAloneChangesNothing(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	a := r.ask(memory.RecallRequest{Query: "docker build fails", Filters: &memory.Filters{SinceHours: 1}})
	r.later(100 * 24 * time.Hour)
	out := r.replay(memory.ReplayRequest{})
	if len(a.Items) == 0 || out.Tally.Same != len(a.Items) || len(differing(out.Answers[0])) > 0 {
		t.Errorf("after a hundred days: %+v, want the %d items as they were", out.Answers, len(a.Items))
	}
}

func TestReplayWritesNothing(t *testing.T) {
	r := newReplayRig(t)
	for _, q := range r.docker() {
		r.ask(memory.RecallRequest{Query: q})
	}
	r.lesson("flush", "the receipts are written with a commit")
	seq, receipts := r.store.Seq(), r.receipts()
	first := r.replay(memory.ReplayRequest{VectorWeight: new(1.0)})
	if diff := cmp.Diff(first, r.replay(memory.ReplayRequest{VectorWeight: new(1.0)})); diff != "" {
		t.Errorf("the same replay again (-first +again):\n%s", diff)
	}
	if diff := cmp.Diff(receipts, r.receipts()); diff != "" || r.store.Seq() != seq {
		t.Errorf("update %d after %d, receipts (-before +after):\n%s", r.store.Seq(), seq, diff)
	}
}

func TestOtherEmbedders(t *testing.T) {
	r := newReplayRig(t)
	for _, q := range r.docker() {
		r.ask(memory.RecallRequest{Query: q})
	}
	if out := r.replay(memory.ReplayRequest{Embedder: "none"}); out.New.Embedder != "none" || out.Tally.Failed > 0 || out.Tally.DataAdded+out.Tally.DataRemoved > 0 {
		t.Errorf("without vectors: %+v, want an answer to everything, and nothing by the data", out.Tally)
	}
	if out := r.replay(memory.ReplayRequest{Embedder: "builtin"}); out.Tally.SettingsAdded+out.Tally.SettingsRemoved+out.Tally.SettingsMoved > 0 {
		t.Errorf("with the only model that there is: %+v, want no change", out.Tally)
	}
	_, err := r.replayer.Replay(t.Context(), memory.ReplayRequest{Since: replayTime, Embedder: "ollama/none", Caller: r.caller}, func(memory.ReplayProgress) {})
	if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.CodeNotFound || e.Field != "embedder" {
		t.Errorf("an unknown embedder = %v, want it not found", err)
	}
}

// TestVectorWeightMoves: the order follows it, the items stay.
func TestVectorWeightMoves(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	a := r.ask(memory.RecallRequest{Query: "docker build network compose fails push registry cache", MinRelevance: new(.0), Limit: 8, MaxTokens: 8000})
	out := r.replay(memory.ReplayRequest{VectorWeight: new(10.0)})
	if out.Tally.SettingsMoved == 0 || !out.Answers[0].SettingsChanged || out.Answers[0].DataChanged || out.Tally.SettingsRemoved > 0 {
		t.Errorf("with a hundred times the weight: %+v of %d items, want some to move and none to go", out.Tally, len(a.Items))
	}
}

func TestReplayOfASession(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	s, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: "mm-one", Caller: r.caller})
	if err != nil {
		t.Fatal(err)
	}
	own := r.lesson("docker build fails in this session", "wait for the registry")
	in := r.ask(memory.RecallRequest{Query: "docker build fails", Kinds: []memory.Kind{memory.Lesson, memory.Step}, Scope: &memory.Scope{Name: memory.ScopeCurrent}})
	if _, err := r.ingest.EndSession(t.Context(), memory.EndSessionRequest{SessionID: s.ID, Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	outside := r.ask(memory.RecallRequest{Query: "docker build fails"})
	// The session has ended, and another is the current one.
	if _, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: "mm-two", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	if len(in.Items) != 1 || in.Items[0].ID != own {
		t.Fatalf("the session's own lesson is %s, found was %+v", own, in.Items)
	}
	out := r.replay(memory.ReplayRequest{SessionID: "mm-one"})
	if len(out.Answers) != 1 || out.Answers[0].Receipt != in.Receipt || out.Answers[0].Error != "" || out.Tally.Same != 1 || out.Answers[0].DataChanged {
		t.Errorf("replayed %+v, want the question of the session, asked of that session", out.Answers)
	}
	if out := r.replay(memory.ReplayRequest{Since: r.now}); len(out.Answers) != 1 || out.Answers[0].Receipt != outside.Receipt {
		t.Errorf("replayed %+v, want the question since then", out.Answers)
	}
	_, err = r.replayer.Replay(t.Context(), memory.ReplayRequest{SessionID: "mm-none", Caller: r.caller}, func(memory.ReplayProgress) {})
	if memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("an unknown session = %v, want it not found", err)
	}
}

// TestOldReceiptsUseTodaysSettings, and one that cannot be asked any more is told of.
func TestOldReceiptsUseTodaysSettings(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	a := r.ask(memory.RecallRequest{Query: "docker build fails"})
	old, err := r.store.Receipt(a.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	old.ID, old.Settings = "rc-000000000001", nil
	lost := old
	lost.ID, lost.Request.Scope = "rc-000000000002", &memory.Scope{Session: "mm-forgotten"}
	bare := old
	bare.ID, bare.Request.Scope = "rc-000000000003", &memory.Scope{Name: memory.ScopeCurrent}
	if _, err := r.store.Commit(t.Context(), memory.Batch{Receipts: []memory.Receipt{old, lost, bare}}); err != nil {
		t.Fatal(err)
	}
	out := r.replay(memory.ReplayRequest{MinRelevance: map[memory.Kind]float64{memory.Lesson: 1}})
	if out.Tally.Questions != 4 || out.Tally.Failed != 2 || out.Tally.SettingsRemoved != 2*len(a.Items) {
		t.Errorf("tally %+v, want 4 questions, 2 of them failed, and the items of the others gone", out.Tally)
	}
	for _, x := range out.Answers {
		if failed := x.Receipt == lost.ID || x.Receipt == bare.ID; failed != (x.Error != "") || x.Items == nil {
			t.Errorf("%s: error %q, items %v", x.Receipt, x.Error, x.Items)
		}
	}
	if !strings.Contains(out.Text, "could not be asked: ") {
		t.Errorf("the text does not tell of it:\n%s", out.Text)
	}
}

func TestProgressAndLimit(t *testing.T) {
	r := newReplayRig(t)
	questions := r.docker()
	for _, q := range questions {
		r.ask(memory.RecallRequest{Query: q})
	}
	var told []memory.ReplayProgress
	req := memory.ReplayRequest{Since: replayTime, Limit: 3, Caller: r.caller}
	out, err := r.replayer.Replay(t.Context(), req, func(p memory.ReplayProgress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []memory.ReplayProgress{{Done: 0, Total: 3}, {Done: 1, Total: 3}, {Done: 2, Total: 3}, {Done: 3, Total: 3}}) {
		t.Errorf("progress was told as %v, want each of three in order", told)
	}
	var asked []string
	for _, a := range out.Answers {
		asked = append(asked, a.Query)
	}
	if !slices.Equal(asked, questions[2:]) || !out.More {
		t.Errorf("asked %q, more %v; want the newest three in their order, and more", asked, out.More)
	}
}

// TestReplayOfIDs: what was asked by ids is named by them, as the list of receipts does.
func TestReplayOfIDs(t *testing.T) {
	r := newReplayRig(t)
	id := r.lesson("docker build fails", "prune the builder cache")
	r.ask(memory.RecallRequest{IDs: []string{id}})
	if out := r.replay(memory.ReplayRequest{}); len(out.Answers) != 1 || out.Answers[0].Query != "ids: "+id {
		t.Errorf("replayed %+v, want an answer to %q", out.Answers, "ids: "+id)
	}
}

func TestReplayIsCancelled(t *testing.T) {
	r := newReplayRig(t)
	for _, q := range r.docker() {
		r.ask(memory.RecallRequest{Query: q})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := 0
	_, err := r.replayer.Replay(ctx, memory.ReplayRequest{Since: replayTime, Caller: r.caller}, func(p memory.ReplayProgress) {
		if last = p.Done; last == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last != 2 {
		t.Errorf("cancelled after two: %v after %d", err, last)
	}
}

func TestTextOfAReplay(t *testing.T) {
	answers := []memory.ReplayedAnswer{
		{Receipt: "rc-1", Query: "docker build\nfails", At: replayTime, SettingsChanged: true, Items: []memory.ReplayedItem{
			{ID: "l-1", Kind: memory.Lesson, Title: "prune the builder cache", Recorded: 1, Before: 1, After: 1},
			{ID: "l-2", Kind: memory.Lesson, Title: "log in first", Recorded: 2, Before: 2, Reason: memory.BelowThreshold},
			{ID: "c-1", Kind: memory.Chunk, Title: "src/a.go:1-9", After: 2},
		}},
		{Receipt: "rc-2", Query: "the same", At: replayTime.Add(time.Minute), Items: []memory.ReplayedItem{{ID: "l-1", Kind: memory.Lesson, Recorded: 1, Before: 1, After: 1}}},
		{Receipt: "rc-3", Query: "moved", At: replayTime.Add(time.Hour), DataChanged: true, SettingsChanged: true, Items: []memory.ReplayedItem{
			{ID: "l-3", Kind: memory.Lesson, Title: "now first", Recorded: 2, Before: 2, After: 1},
			{ID: "l-4", Kind: memory.Lesson, Title: "now second", Recorded: 1, Before: 1, After: 2},
			{ID: "l-5", Kind: memory.Lesson, Title: "stays", Recorded: 3, Before: 3, After: 3},
			{ID: "l-6", Kind: memory.Lesson, Recorded: 4},
		}},
		{Receipt: "rc-4", Query: "lost", At: replayTime.Add(2 * time.Hour), Error: "no session is called mm-x"},
	}
	r := &memory.Replayed{
		ProjectName: "demo", Answers: answers, Tally: tally(answers), More: true,
		New:      memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Lesson: .9, memory.Chunk: .75}, VectorWeight: .0583, Embedder: "none"},
		Degraded: []memory.Degraded{{Part: "vector/ollama/nomic", Reason: "unavailable"}},
	}
	quiet := &memory.Replayed{ProjectName: "demo", Answers: answers[1:2], Tally: tally(answers[1:2]), New: r.New}
	for name, got := range map[string]string{"changes.txt": render.Replay(r, movedInAnswer), "quiet.txt": render.Replay(quiet, movedInAnswer)} {
		golden.Equal(t, filepath.Join("testdata", name), got)
	}
}

func TestCompare(t *testing.T) {
	hits := func(ids string) (hs []hit) {
		for id := range strings.FieldsSeq(ids) {
			hs = append(hs, hit{id: id, kind: memory.Lesson})
		}
		return hs
	}
	for name, test := range map[string]struct {
		recorded, before, after string
		data, settings          bool
		want                    memory.ReplayCounts
	}{
		"nothing":              {"", "", "", false, false, memory.ReplayCounts{}},
		"the same":             {"a b", "a b", "a b", false, false, memory.ReplayCounts{Same: 2}},
		"added by the data":    {"a", "a b", "a b", true, false, memory.ReplayCounts{Same: 1, DataAdded: 1}},
		"gone with the data":   {"a b", "b", "b", true, false, memory.ReplayCounts{Same: 1, DataRemoved: 1}},
		"added by settings":    {"a", "a", "b a", false, true, memory.ReplayCounts{Same: 1, SettingsAdded: 1}},
		"gone with settings":   {"a b c", "a b c", "b c", false, true, memory.ReplayCounts{Same: 2, SettingsRemoved: 1}},
		"moved by settings":    {"a b c", "a b c", "b a c", false, true, memory.ReplayCounts{Same: 3, SettingsMoved: 2}},
		"moved by the data":    {"a b", "b a", "b a", true, false, memory.ReplayCounts{Same: 2}},
		"went and came":        {"a", "", "a", true, true, memory.ReplayCounts{DataRemoved: 1, SettingsAdded: 1}},
		"came and went":        {"", "a", "", true, true, memory.ReplayCounts{DataAdded: 1, SettingsRemoved: 1}},
		"moved up is no move":  {"a b c", "b c", "c", true, true, memory.ReplayCounts{Same: 1, DataRemoved: 1, SettingsRemoved: 1}},
		"all is another":       {"a", "b", "c", true, true, memory.ReplayCounts{DataAdded: 1, DataRemoved: 1, SettingsAdded: 1, SettingsRemoved: 1}},
		"twice counts as once": {"a a", "a", "a", false, false, memory.ReplayCounts{Same: 1}},
	} {
		items, data, settings := compare(hits(test.recorded), result{items: hits(test.before)}, result{items: hits(test.after)})
		got := tally([]memory.ReplayedAnswer{{Items: items}})
		test.want.Questions = 1
		if data != test.data || settings != test.settings {
			t.Errorf("%s: changed by data %v, by settings %v; want %v, %v", name, data, settings, test.data, test.settings)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: tally (-want +got):\n%s", name, diff)
		}
	}
}
