package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/spool"
	"github.com/recalld/recalld/internal/store/lsm"
)

// dataHolding returns which of the words a data folder has, and where: in the bytes of its files,
// or in an entry of the store's tables, logs and files of large values.
func dataHolding(t *testing.T, data, store string, words []string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	look := func(where string, text []byte) {
		for _, w := range words {
			if bytes.Contains(text, []byte(w)) {
				found[w] = append(found[w], where)
			}
		}
	}
	must(t, filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the daemon works meanwhile
			return nil
		}
		look("the name "+path, []byte(path))
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		look(path, text)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}))
	must(t, lsm.Salvage(store, true, func(e *lsm.Entry) {
		look(fmt.Sprintf("%q of version %d", e.Key, e.Version), slices.Concat(e.Key, e.Value))
	}))
	return found
}

// TestForgottenIsErased: what is forgotten, of each kind, leaves every file of the data folder
// while the daemon runs. What an index has dropped goes with it.
func TestForgottenIsErased(t *testing.T) {
	cfg := newConfig(t)
	cfg.FollowEvery = time.Millisecond
	words := map[string]string{} // what each is in → a word that nothing else has
	word := func(in string) string {
		w := "qz" + strings.ToLower(strings.ReplaceAll(in, " ", "")) + "kvjx"
		words[in] = w
		return w
	}
	a, b, c, imported := shop(t), shop(t), shop(t), shop(t)
	place(t, b, "stock.go", "package stock\n\n// Count counts.\nfunc "+word("code of a project")+"() {}\n")
	place(t, c, word("path of a file")+".go", "package gone\n\n// Lost is lost.\nfunc "+word("code of a file")+"() {}\n")
	home := agentHome(t, imported)
	log := filepath.Join(home, ".claude", "projects", "shop", "one.jsonl")
	text, err := os.ReadFile(log)
	must(t, err)
	putLog(t, log, strings.ReplaceAll(string(text), "npm install", "npm install "+word("imported log")))
	begin := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	waiting := spool.In(cfg.Paths().Spool)
	spooled(t, waiting, begin, hookEvent(t, a, "SessionStart", "", begin))
	spooled(t, waiting, begin.Add(time.Second), hookEvent(t, a, "PostToolUse",
		`,"tool_name":"Bash","tool_input":{"command":"make `+word("spooled step")+`"},"tool_response":{"stdout":"ok"}`, begin.Add(time.Second)))
	all := func() []string {
		var list []string
		for _, w := range words {
			list = append(list, w)
		}
		return list
	}
	if found := dataHolding(t, cfg.Data, cfg.Paths().Store, all()); len(found[words["spooled step"]]) == 0 {
		t.Error("the spool does not have its step: the test finds nothing")
	}

	s := serve(t, cfg, func(o *Options) { o.home, o.pauses.erase = home, time.Second })
	s.await("events of hooks were recorded")
	s.indexed(s.index(b))
	s.indexed(s.index(c))
	work := func(dir, of string) (session, step, task string) {
		t.Helper()
		in := memory.Caller{Dir: dir}
		started, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{Goal: "reach " + word("goal of "+of), Caller: in})
		must(t, err)
		in.Session = started.ID
		recorded, err := service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{SessionID: started.ID,
			Tool: memory.StepTool{Name: "Bash", Target: json.RawMessage(`"run ` + word("step of "+of) + `"`)}, Outcome: memory.Outcome{OK: true}, Caller: in})
		must(t, err)
		saved, err := service.CompleteTask.Do(t.Context(), s, memory.CompleteTaskRequest{TaskID: "task " + of, RequiresContext: new(true),
			Intent: "finish " + word("task of "+of), ValidationReport: json.RawMessage(`{"valid": true}`), Caller: in})
		must(t, err)
		_, err = service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: "where is " + word("question of "+of), Caller: in})
		must(t, err)
		_, err = service.EndSession.Do(t.Context(), s, memory.EndSessionRequest{SessionID: started.ID, Caller: in})
		must(t, err)
		return started.ID, recorded.ID, saved.ID
	}
	lesson := s.keep(a, "Never forget to feed "+word("lesson"))
	s.ask(a, "what must never be forgotten to feed") // a receipt of it
	s.keep(b, "Never forget to water "+word("lesson of a project"))
	session, _, task := work(a, "a session")
	_, step, other := work(a, "another")
	work(b, "a project")
	_, err = importLogs(t, s, memory.AgentImportRequest{Consent: true})
	must(t, err)
	must(t, os.Remove(filepath.Join(c, words["path of a file"]+".go")))
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) { // receipts are written later
		found := dataHolding(t, cfg.Data, cfg.Paths().Store, all())
		if len(found) == len(words) {
			break
		}
		if time.Since(start) > 10*time.Second {
			for in, w := range words {
				if len(found[w]) == 0 {
					t.Errorf("no file has the %s before it is forgotten: the test finds nothing", in)
				}
			}
			t.FailNow()
		}
	}
	s.indexed(s.index(c))

	// The goal and the question of the other session stay, of which only a step and a task go.
	for _, in := range []string{"goal of another", "question of another"} {
		defer func(w string) {
			if found := dataHolding(t, cfg.Data, cfg.Paths().Store, []string{w}); len(found) == 0 {
				t.Errorf("%s was not forgotten and is gone", w)
			}
		}(words[in])
		delete(words, in)
	}
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{
		lesson.ID, session, task, step, other, spoolSession}})
	must(t, err)
	for _, dir := range []string{b, imported} {
		_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{Project: dir})
		must(t, err)
	}
	due := func(st *memory.Status) bool {
		return slices.ContainsFunc(st.Notes, func(n string) bool { return strings.Contains(n, "not yet erased") })
	}
	s.until("an erasure was due", due)
	s.until("it is erased", func(st *memory.Status) bool { return !due(st) })
	check := func(when string) {
		t.Helper()
		found := dataHolding(t, cfg.Data, cfg.Paths().Store, all())
		for in, w := range words {
			if len(found[w]) > 0 {
				t.Errorf("%s the %s is in %v", when, in, found[w])
			}
		}
	}
	check("after the erasure")
	s.end()
	must(t, s.wait())
	check("after the daemon ended")
}
