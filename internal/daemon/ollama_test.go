package daemon

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// modelName is the test model as collections have it.
const modelName = "ollama/" + ollamatest.Model

// server is an Ollama server that tests can stop and start again.
type server interface {
	Stop()
	Restart()
}

// slow is one that can be told to answer a few requests and then none, so that
// it is stopped in the middle of some.
type slow interface{ HangAfter(requests int) }

// fakeServer is the fake behind a listener, at an address that stays.
type fakeServer struct {
	*ollamatest.Fake
	t    *testing.T
	addr string
	http *http.Server
	over chan struct{}
	// left is how many more requests to embed a large repository are answered
	// before they hang. Those by which the server is looked at do not count.
	left atomic.Int64
}

func startFake(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{Fake: ollamatest.NewFake(), t: t, addr: "127.0.0.1:0"}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

func (s *fakeServer) Restart() {
	s.t.Helper()
	l, err := net.Listen("tcp", s.addr)
	// A child process that another test is starting may hold a copy of the former listener
	// until it executes its program.
	for start := time.Now(); err != nil && time.Since(start) < patience; l, err = net.Listen("tcp", s.addr) {
		runtime.Gosched()
	}
	must(s.t, err)
	s.addr = l.Addr().String()
	s.left.Store(math.MaxInt64)
	s.http, s.over = &http.Server{Handler: s}, make(chan struct{})
	go func(server *http.Server, over chan struct{}) {
		defer close(over)
		_ = server.Serve(l) // it is closed by Stop
	}(s.http, s.over)
}

// ServeHTTP answers as the fake does, or hangs.
func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // until then nobody sees the caller go
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte("answers request")) && s.left.Add(-1) < 0 {
		<-r.Context().Done()
		return
	}
	s.Fake.ServeHTTP(w, r)
}

func (s *fakeServer) HangAfter(requests int) { s.left.Store(int64(requests)) }

func (s *fakeServer) Stop() {
	_ = s.http.Close()
	<-s.over
}

// ollamaConfig are settings for the test model on a server that is looked at
// all the time.
func ollamaConfig(t *testing.T, url string) config.Config {
	t.Helper()
	cfg := newConfig(t)
	useOllama(&cfg, url)
	return cfg
}

func useOllama(cfg *config.Config, url string) {
	cfg.Embedding.Ollama.Enabled, cfg.Embedding.Ollama.URL, cfg.Embedding.Ollama.Model = "auto", url, ollamatest.Model
	cfg.Embedding.Ollama.Timeout = 5 * time.Second
}

// impatient looks at the server all the time, and lets it answer slowly on a busy machine.
func impatient(o *Options) {
	o.pauses.absent, o.pauses.present, o.pauses.cooldown = time.Millisecond, time.Millisecond, time.Millisecond
	o.pauses.query = patience
}

// collectionOf returns the state of the model's collection, if it is there.
func collectionOf(st *memory.Status, model string) (memory.CollectionState, bool) {
	i := slices.IndexFunc(st.Collections, func(s memory.CollectionState) bool { return s.Model == model })
	if i < 0 {
		return memory.CollectionState{}, false
	}
	return st.Collections[i], true
}

// filled says that every document has a vector of the model.
func filled(st *memory.Status) bool {
	s, ok := collectionOf(st, modelName)
	return ok && s.Embedded == st.Documents && s.State == "ready"
}

// degraded are the parts that an answer lacks, with their reasons.
func degraded(a *memory.RecallResponse) string {
	var parts []string
	for _, d := range a.Degraded {
		parts = append(parts, d.Part+": "+d.Reason)
	}
	return strings.Join(parts, "; ")
}

func TestOllama(t *testing.T) {
	t.Run("fake", func(t *testing.T) {
		fake := startFake(t)
		testOllama(t, fake, "http://"+fake.addr)
	})
	t.Run("real", func(t *testing.T) {
		real := ollamatest.Start(t)
		testOllama(t, real, real.URL)
	})
}

// testOllama follows a daemon through an outage of its server in the middle of
// indexing.
func testOllama(t *testing.T, server server, url string) {
	cfg, dir := ollamaConfig(t, url), shop(t)
	s := serve(t, cfg, impatient)
	lesson := s.keep(dir, "Delete the database of the tests before the release")
	s.indexed(s.index(dir))
	st := s.until("filled both collections", filled)
	if own, ok := collectionOf(st, builtin.Name); len(st.Collections) != 2 || !ok || own.Embedded != st.Documents {
		t.Errorf("collections %+v, want both with %d documents", st.Collections, st.Documents)
	}
	if a := s.ask(dir, "remove the db"); degraded(a) != "" {
		t.Errorf("with everything there the answer lacks %s", degraded(a))
	}
	list, err := service.Models.Do(t.Context(), s, service.None{})
	must(t, err)
	models := list.Models
	if i := slices.IndexFunc(models, func(m memory.ModelState) bool { return m.Name == modelName }); i < 0 || models[i].State != "active" || models[i].Dim != ollamatest.Dim {
		t.Errorf("models %+v, want %s active", models, modelName)
	}

	// The server goes while a repository is indexed.
	big := large(t, 300)
	if slow, ok := server.(slow); ok {
		slow.HangAfter(1)
	}
	q := s.index(big)
	before, _ := collectionOf(st, modelName)
	s.until("embedding", func(st *memory.Status) bool {
		now, _ := collectionOf(st, modelName)
		return now.Embedded > before.Embedded
	})
	server.Stop()
	s.indexed(q)
	kept := s.keep(big, "Rotate the signing key of the plugins while nobody looks")
	s.until("noticed", func(st *memory.Status) bool {
		collection, _ := collectionOf(st, modelName)
		return collection.State == "unavailable" && st.Queue.Running == 0
	})
	for range 1000 { // long enough for a job to use up its attempts
		if st, err = service.Status.Do(t.Context(), s, service.None{}); err != nil || st.Queue.Dead != 0 {
			t.Fatalf("while the server is away %d jobs die, %v\n%s", st.Queue.Dead, err, s.log)
		}
	}
	a := s.ask(big, "rotate the signing key")
	if len(a.Items) != 1 || a.Items[0].ID != kept.ID {
		t.Errorf("without the server the new lesson is not found: %+v", a.Items)
	}
	if !strings.Contains(degraded(a), "vector/"+modelName+": ") || !strings.Contains(degraded(a), "unavailable") {
		t.Errorf("without the server the answer lacks %q, want the model's vectors, unavailable", degraded(a))
	}
	if a := s.ask(dir, "delete the database", memory.Lesson); len(a.Items) == 0 || a.Items[0].ID != lesson.ID {
		t.Errorf("without the server the old lesson is not found: %+v", a.Items)
	}
	st, err = service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	if st.Queue.Dead != 0 || st.Queue.ByKind["embed"] != 1 || st.Documents != 304 {
		t.Errorf("without the server the queue is %+v over %d documents, want the filling held", st.Queue, st.Documents)
	}
	if collection, _ := collectionOf(st, modelName); collection.Embedded >= 303 {
		t.Errorf("%d documents have vectors: the server was not stopped in the middle", collection.Embedded)
	}
	if list, err = service.Models.Do(t.Context(), s, service.None{}); err != nil || !slices.ContainsFunc(list.Models, func(m memory.ModelState) bool {
		return m.Name == modelName && m.State == "missing" && strings.HasPrefix(m.Note, "no Ollama server answers")
	}) {
		t.Errorf("without the server the models are %+v, %v", list, err)
	}

	server.Restart()
	st = s.until("caught up", filled)
	if st.Queue.Dead != 0 {
		t.Errorf("after it caught up %d jobs are dead", st.Queue.Dead)
	}
	if a := s.ask(big, "rotate the signing key"); degraded(a) != "" {
		t.Errorf("after it caught up the answer lacks %s", degraded(a))
	}

	// A restart finds the vectors again; the server is not needed for that.
	s.end()
	must(t, s.wait())
	server.Stop()
	s = serve(t, cfg, impatient)
	st = s.until("loaded", func(st *memory.Status) bool { return st.State == stateReady })
	if collection, _ := collectionOf(st, modelName); collection.Embedded != st.Documents {
		t.Errorf("after a restart %d of %d documents have vectors of the model", collection.Embedded, st.Documents)
	}
	server.Restart()
}

// TestModelChanges: another model under the same name has a collection of its own,
// and the former one's is dropped, whether the server was away or not.
func TestModelChanges(t *testing.T) {
	for _, test := range []struct {
		name   string
		change ollamatest.FakeModel
		away   bool
	}{
		{"pulled anew", ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context, Salt: "v2"}, false},
		{"another width", ollamatest.FakeModel{Arch: "bert", Dim: 32, Context: ollamatest.Context, Salt: "v3"}, false},
		{"while the server was away", ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context, Salt: "v4"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake, dir := startFake(t), shop(t)
			s := serve(t, ollamaConfig(t, "http://"+fake.addr), impatient)
			s.indexed(s.index(dir))
			before, _ := collectionOf(s.until("filled", filled), modelName)
			if test.away {
				fake.Stop()
			}
			fake.SetModel(ollamatest.Model, test.change)
			if test.away {
				fake.Restart()
			}
			st := s.until("filled anew", func(st *memory.Status) bool {
				now, _ := collectionOf(st, modelName)
				return now.Name != before.Name && filled(st)
			})
			if now, _ := collectionOf(st, modelName); len(st.Collections) != 2 || now.Dim != test.change.Dim {
				t.Errorf("the collections are %+v, want the built-in one and one of width %d", st.Collections, test.change.Dim)
			}
			if a := s.ask(dir, "confirms the order"); degraded(a) != "" {
				t.Errorf("with the new model the answer lacks %s", degraded(a))
			}
		})
	}
}

// TestModelTouched: files that are others and give the same vectors change
// nothing.
func TestModelTouched(t *testing.T) {
	fake, dir := startFake(t), shop(t)
	s := serve(t, ollamaConfig(t, "http://"+fake.addr), impatient)
	s.indexed(s.index(dir))
	before, _ := collectionOf(s.until("filled", filled), modelName)
	fake.RemoveModel(ollamatest.Model)
	s.untilModel("missing", func(m memory.ModelState) bool { return m.State == "missing" })
	fake.SetModel(ollamatest.Model, ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context})
	s.untilModel("active", func(m memory.ModelState) bool { return m.State == "active" })
	kept := s.keep(dir, "Embedded by the embedder that was made anew")
	if now, _ := collectionOf(s.until("filled", filled), modelName); now.Name != before.Name {
		t.Errorf("the collection is %s, was %s", now.Name, before.Name)
	}
	if a := s.ask(dir, "embedder made anew", memory.Lesson); degraded(a) != "" || len(a.Items) != 1 || a.Items[0].ID != kept.ID {
		t.Errorf("the answer lacks %q and has %+v", degraded(a), a.Items)
	}
}

// untilModel asks until the model is as wanted.
func (s *served) untilModel(what string, holds func(memory.ModelState) bool) {
	s.t.Helper()
	for start := time.Now(); time.Since(start) < patience; {
		models, err := service.Models.Do(s.t.Context(), s, service.None{})
		must(s.t, err)
		if slices.ContainsFunc(models.Models, func(m memory.ModelState) bool { return m.Name == modelName && holds(m) }) {
			return
		}
	}
	s.t.Fatalf("the model is never %s\n%s", what, s.log)
}

// TestModelMissing: a server without the model is no fault, unless the settings
// want one; `models` says how to get it, and once it is there it is used.
func TestModelMissing(t *testing.T) {
	for _, enabled := range []string{"auto", config.OllamaOn} {
		t.Run(enabled, func(t *testing.T) {
			fake, dir := startFake(t), shop(t)
			fake.RemoveModel(ollamatest.Model)
			cfg := ollamaConfig(t, "http://"+fake.addr)
			cfg.Embedding.Ollama.Enabled = enabled
			s := serve(t, cfg, impatient)
			s.await("model is not available")
			s.untilModel("explained", func(m memory.ModelState) bool {
				return m.State == "missing" && strings.Contains(m.Note, "recalld model pull "+ollamatest.Model)
			})
			st, err := service.Status.Do(t.Context(), s, service.None{})
			must(t, err)
			told := slices.ContainsFunc(st.Errors, func(e memory.LoggedError) bool {
				return e.Part == "ollama" && strings.Contains(e.Message, "not available")
			})
			if told != (enabled == config.OllamaOn) || len(st.Errors) > 1 {
				t.Errorf("enabled is %q and the errors are %+v", enabled, st.Errors)
			}
			s.keep(dir, "Remembered without the model")
			fake.SetPull(`{"status":"pulling manifest"}`, `{"status":"success"}`)
			fake.SetModel(ollamatest.Model, ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context})
			_, err = service.PullModel.Do(t.Context(), s, memory.PullRequest{Name: ollamatest.Model}, nil)
			must(t, err)
			s.until("filled", filled)
		})
	}
}

// TestRemoteServer: a server elsewhere is used only if the settings say so, and
// is no reason not to work.
func TestRemoteServer(t *testing.T) {
	s := serve(t, ollamaConfig(t, "http://192.0.2.1:11434"))
	kept := s.keep(t.TempDir(), "Nothing leaves this machine")
	st, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	if len(st.Errors) != 1 || st.Errors[0].Part != "ollama" || !strings.Contains(st.Errors[0].Message, "not on this machine") || len(st.Collections) != 1 {
		t.Errorf("status has errors %+v and collections %+v", st.Errors, st.Collections)
	}
	if a := s.ask(t.TempDir(), "nothing leaves this machine"); len(a.Items) != 1 || a.Items[0].ID != kept.ID || strings.Contains(degraded(a), "vector") {
		t.Errorf("the answer is %+v, want it with no vectors missing", a)
	}
	if _, err := service.PullModel.Do(t.Context(), s, memory.PullRequest{Name: "x"}, nil); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("pull: %v, want %s", err, memory.CodeUnavailable)
	}
}

// TestSecretsStayHere: what goes to a server that may be elsewhere has lost its
// secrets, questions too.
func TestSecretsStayHere(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	fake := startFake(t)
	cfg := ollamaConfig(t, "http://"+fake.addr)
	cfg.Embedding.Ollama.AllowRemote = true
	s := serve(t, cfg, impatient)
	dir := t.TempDir()
	s.keep(dir, "The deploy token "+secret+" is old")
	s.until("filled", filled)
	s.ask(dir, "is "+secret+" old")
	asked := false
	for _, req := range fake.Embeds() {
		text := fmt.Sprint(req.Input)
		asked = asked || strings.Contains(text, "is ") && strings.Contains(text, " old") && !strings.Contains(text, "deploy")
		if strings.Contains(text, secret) {
			t.Errorf("sent to the server: %s", text)
		}
	}
	if !asked {
		t.Error("the question was not embedded at all")
	}
}

// TestEmbeddingIsHeldWhileBusy: a server that has no time for long costs no job
// its life.
func TestEmbeddingIsHeldWhileBusy(t *testing.T) {
	fake := startFake(t)
	for range 10 {
		fake.Fail(ollamatest.Busy())
	}
	s := serve(t, ollamaConfig(t, "http://"+fake.addr), impatient)
	s.keep(filepath.Dir(t.TempDir()), "Embedded as soon as the server has time")
	if st := s.until("filled", filled); st.Queue.Dead != 0 {
		t.Errorf("%d jobs are dead: %+v", st.Queue.Dead, st.Errors)
	}
	if len(fake.Embeds()) < 10 {
		t.Errorf("the server was asked %d times only", len(fake.Embeds()))
	}
}
