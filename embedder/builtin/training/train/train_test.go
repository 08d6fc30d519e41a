package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/contrast"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// Questions use the left word of a subject, answers the right one, and all of
// them the same small words: what is learned is which go together.
var subjects = func() (list [90][2]string) {
	for i := range list {
		tail := string([]rune{rune('a' + i%10), rune('p' + i/10)})
		list[i] = [2]string{"ask" + tail, "tell" + tail}
	}
	return list
}()

// writePairs writes n pairs of some subjects each to a folder.
func writePairs(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	draw := rand.New(rand.NewPCG(4, 4))
	var lines bytes.Buffer
	for i := range n {
		var a, b strings.Builder
		for _, s := range draw.Perm(len(subjects))[:3] {
			fmt.Fprintf(&a, "%s the ", subjects[s][0])
			fmt.Fprintf(&b, "%s of a ", subjects[s][1])
		}
		kind := []string{"question", "commit"}[i%2]
		line, err := json.Marshal(pair{Kind: kind, Source: "source/" + strconv.Itoa(i%50), A: a.String(), B: b.String()})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, "all.jsonl"), lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// writeSet writes a set that asks for each subject by its left word.
func writeSet(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var corpus, queries, judged strings.Builder
	for i, s := range subjects {
		fmt.Fprintf(&corpus, `{"id":"d%d","title":"%s","text":"of a"}`+"\n", i, s[1])
		fmt.Fprintf(&queries, `{"id":"q%d","text":"the %s"}`+"\n", i, s[0])
		fmt.Fprintf(&judged, "q%d\td%d\t1\n", i, i)
	}
	set := filepath.Join(dir, "synonyms")
	if err := os.Mkdir(set, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"corpus.jsonl": corpus.String(), "queries.jsonl": queries.String(), "qrels.tsv": judged.String()} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(set, name+".gz"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func do(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, &out); err != nil {
		t.Fatalf("train %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

// TestWholeWay goes from pairs to a file of the model, and asks that model.
func TestWholeWay(t *testing.T) {
	pairs, sets, dir := writePairs(t, 3000), writeSet(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do(t, "prepare", "-pairs", pairs, "-out", at("corpus"), "-pieces", "200", "-buckets", "4")
	do(t, "start", "-corpus", at("corpus"), "-out", at("start"), "-width", "32")
	learn := []string{"learn", "-corpus", at("corpus"), "-from", at("start"), "-eval", sets,
		"-steps", "60", "-epoch", "20", "-batch", "64", "-part", "8", "-hard", ".3", "-cluster", "50", "-warmup", "5"}
	log := do(t, append(learn, "-out", at("trained"))...)
	if !strings.Contains(log, "step 60: even") {
		t.Errorf("the log tells nothing of step 60:\n%s", log)
	}
	if again := do(t, append(learn, "-out", at("trained"))...); !strings.Contains(again, "goes on after step 60") {
		t.Errorf("a second run does not go on after the first:\n%s", again)
	}
	other := do(t, append(learn, "-out", at("other"), "-seed", "2", "-weights", "commit=.5,comit=2", "-runs", "question=.5", "-without", "talk")...)
	if want := "no pairs are of the kinds comit, talk\n"; !strings.Contains(other, want) {
		t.Errorf("of kinds that no pair has the log does not say %q:\n%s", want, other)
	}
	do(t, "average", "-out", at("mean"), at("trained"), at("other"))
	holdMean(t, at("mean"), at("trained"), at("other"))
	do(t, "report", "-corpus", at("corpus"), "-model", at("mean"), "-eval", sets, "-bits", "8")
	do(t, "export", "-corpus", at("corpus"), "-model", at("mean"), "-out", at("model.bin"), "-name", "test")

	b, err := os.ReadFile(at("model.bin"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := table.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if log := do(t, "pack", "-model", at("model.bin"), "-pairs", pairs, "-out", at("packed"), "-share", "1"); !strings.HasPrefix(log, "3000 pairs of ") {
		t.Errorf("packed are %s", log)
	}
	rows, err := os.Stat(filepath.Join(at("packed"), "rows.bin"))
	if want := int64(m.Vocabulary().Size() * (8 + m.Widths()[0])); err != nil || rows.Size() != want {
		t.Errorf("rows.bin: %v, want %d bytes", err, want)
	}
	pooler := table.NewPooler(m, m.Widths()[0])
	vector := func(text string) []float32 {
		v := make([]float32, m.Widths()[0])
		if !pooler.Vector(text, v) {
			t.Fatalf("%q has no vector", text)
		}
		return v
	}
	right := 0
	for i, s := range subjects {
		q, best, at := vector("the "+s[0]), float32(-2), 0
		for j, other := range subjects {
			if c := dot(q, vector(other[1]+" of a")); c > best {
				best, at = c, j
			}
		}
		if at == i {
			right++
		}
	}
	if right < len(subjects)*9/10 {
		t.Errorf("%d of %d words are nearest to their synonym, want nine in ten at least", right, len(subjects))
	}
}

// holdMean holds that a model is the mean of two that differ.
func holdMean(t *testing.T, mean, one, other string) {
	t.Helper()
	var models []*contrast.Model
	for _, name := range []string{mean, one, other} {
		m, err := loadModel(name)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	differ := false
	for i, x := range models[0].Rows {
		a, b := models[1].Rows[i], models[2].Rows[i]
		differ = differ || a != b
		if math.Abs(float64(x-(a+b)/2)) > 1e-5 {
			t.Fatalf("component %d is %v, want the mean of %v and %v", i, x, a, b)
		}
	}
	if !differ {
		t.Error("another seed and other weights of kinds made the same model")
	}
}

// TestKindWeights holds that a kind of three times the weight is drawn three
// times as often as before, beside one that is not named, and that runs have
// their share of it.
func TestKindWeights(t *testing.T) {
	c := &corpus{}
	c.Kinds, c.Sources = []string{"code", "talk"}, []string{"a"}
	train := make([]int, 2000)
	for i := range train {
		train[i] = i
		c.KindOf, c.SourceOf = append(c.KindOf, uint8(i%2)), append(c.SourceOf, 0)
	}
	weights, err := parseKinds("talk=3", maxFactor)
	if err != nil {
		t.Fatal(err)
	}
	o := &learnOptions{balance: 1, weights: weights}
	var sum [2]float64
	for _, cohort := range o.cohorts(nil, c, train, 1) {
		sum[c.KindOf[cohort.Pairs[0]]] += cohort.Weight
	}
	if math.Abs(sum[1]/sum[0]-3) > 1e-9 {
		t.Errorf("kinds of the same size weigh %v and %v, want the second three times as much", sum[0], sum[1])
	}
	o.runs = map[string]float64{"talk": .7}
	var ofRuns, ofTalk float64
	for _, cohort := range o.cohorts(nil, c, train, 1) {
		if c.KindOf[cohort.Pairs[0]] == 1 {
			ofTalk += cohort.Weight
			if len(cohort.Pairs) <= sameNames {
				ofRuns += cohort.Weight
			}
		}
	}
	if math.Abs(ofRuns/ofTalk-.7) > 1e-9 || math.Abs(ofTalk-sum[1]) > 1e-6 {
		t.Errorf("runs weigh %v of the %v of a kind, want seven tenths of %v", ofRuns, ofTalk, sum[1])
	}
	for _, list := range []string{"", "talk", "talk=", "=3", "talk=-1", "talk=NaN", "talk=4", "talk=1,"} {
		if _, err := parseKinds(list, 3); err == nil {
			t.Errorf("weights %q: no error", list)
		}
	}
}

// TestNoise holds that noise makes rows as long as it says, on top of their own.
func TestNoise(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do(t, "prepare", "-pairs", writePairs(t, 500), "-out", at("corpus"), "-pieces", "200", "-buckets", "4")
	for _, noise := range []float64{0, 3} {
		do(t, "start", "-corpus", at("corpus"), "-out", at("start"), "-width", "32", "-noise", fmt.Sprint(noise))
		m, err := loadModel(at("start"))
		if err != nil {
			t.Fatal(err)
		}
		var square float64
		for _, x := range m.Rows {
			square += float64(x) * float64(x) / float64(m.Tokens())
		}
		if want := 1 + noise*noise; math.Abs(square-want) > want/5 {
			t.Errorf("with noise %v the mean square of the lengths of rows is %v, want about %v", noise, square, want)
		}
	}
}

// TestMeansOf holds that prose counts as much as code, however few its kinds.
func TestMeansOf(t *testing.T) {
	code, prose := meansOf(map[string][2]float64{
		"": {.9, .9}, "doc": {.1, .3}, "name": {.2, .4}, "commit": {.3, .5}, "turn": {.6, .8},
	})
	if math.Abs(code-.3) > 1e-9 || math.Abs(prose-.7) > 1e-9 {
		t.Errorf("the means are %v and %v, want .3 and .7", code, prose)
	}
}

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// TestNDCG holds the figure at rankings that are known.
func TestNDCG(t *testing.T) {
	v, err := table.NewVocabulary([]string{"one", "two", "three"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := contrast.NewModel(v.Size(), 2)
	for i := range v.Pieces() { // directions some degrees apart, in the order of the tokens
		m.Row(uint32(i))[0], m.Row(uint32(i))[1] = float32(math.Cos(float64(i)/9)), float32(math.Sin(float64(i)/9))
	}
	s := &set{
		documentIDs: []string{"a", "b", "c"}, groups: map[string][]int{"": {0, 1, 2}, "few": {1, 2}},
		queryGroup: []string{"", "", "few"}, grades: []map[int]float64{{0: 1}, {2: 1, 1: 2}, {2: 1}},
	}
	for i := range uint32(3) {
		s.documents.Add([]uint32{i})
		s.queries.Add([]uint32{0})
	}
	// The ranking is a, b, c: the first is found at once; of the second, the
	// better document is second and the other third; the third has but b before.
	second := (2/math.Log2(3) + 1/math.Log2(4)) / (2 + 1/math.Log2(3))
	want := (1 + second + 1/math.Log2(3)) / 3
	if got := s.ndcg(m, 2); math.Abs(got-want) > 1e-9 {
		t.Errorf("nDCG@10 is %v, want %v", got, want)
	}
}

// TestSplit holds that whole sources are held out where there are many.
func TestSplit(t *testing.T) {
	c := &corpus{}
	c.Kinds = []string{"many", "few"}
	for i := range 20_000 {
		source := i % 200
		if i%2 == 1 {
			source = 200 + i%3
		}
		c.KindOf, c.SourceOf = append(c.KindOf, uint8(i%2)), append(c.SourceOf, uint32(source))
	}
	for i := range 203 {
		c.Sources = append(c.Sources, fmt.Sprint("owner/name", i))
	}
	train, held := c.split()
	if len(train)+len(held) != 20_000 {
		t.Fatalf("%d and %d pairs, want 20,000 together", len(train), len(held))
	}
	for k, share := range []float64{sourceShare, pairShare} {
		if got := float64(len(c.byKind(held)[k])) / 10_000; got < share/3 || got > share*3 {
			t.Errorf("of %s, %v are held out, want about %v", c.Kinds[k], got, share)
		}
	}
	out := map[uint32]bool{}
	for _, i := range c.byKind(held)[0] {
		out[c.SourceOf[i]] = true
	}
	for _, i := range c.byKind(train)[0] {
		if out[c.SourceOf[i]] {
			t.Fatalf("source %d is held out in part", c.SourceOf[i])
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{`{"k":"x","r":"s","a":"one"}`, "a text is blank"},
		{`{"k":"x","a":"one","b":"two"}`, "kind or source is missing"},
		{`nonsense`, "line 1"},
		{`{"k":"x","r":"s","a":"one","b":"two"}` + "\n{", "line 2"},
	} {
		err := scanPairs(strings.NewReader(c.name), func(pair) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.want)
		}
	}
	for _, args := range [][]string{
		nil, {"dance"}, {"prepare", "-pairs", t.TempDir()}, {"start", "-corpus", "nowhere"}, {"learn", "-batch", "1"},
		{"learn", "-weights", "talk"}, {"start", "-noise", "-1"}, {"average", "one"}, {"average", "one", "two"},
	} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("train %v: no error", args)
		}
	}
}

func FuzzScanPairs(f *testing.F) {
	f.Add(`{"k":"x","r":"s","a":"one","b":"two"}`)
	f.Fuzz(func(t *testing.T, lines string) {
		_ = scanPairs(strings.NewReader(lines), func(p pair) error { return p.check() })
	})
}
