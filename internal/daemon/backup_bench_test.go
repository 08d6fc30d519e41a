package daemon

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// BenchmarkBackup makes a first backup of lessons, then one after a tenth of a per cent of
// them was written again, while recalls are answered and a writer stores lessons all the
// time. It verifies and restores it, and compares the ids in the restored store with those
// that were acknowledged. It reports the sizes in MB, the times, and how much slower the
// median recall was beside the first backup than beside the writer alone.
func BenchmarkBackup(b *testing.B) {
	for _, lessons := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(lessons), func(b *testing.B) {
			h := newHistory(b, lessons, 1)
			dir := b.TempDir()
			beside := writeBeside(b, h)
			alone := askUntil(b, h, func() bool { return false })
			var first, next *memory.Backup
			var during []time.Duration
			for b.Loop() {
				begin := time.Now()
				first, during = backUpBeside(b, h, dir)
				b.ReportMetric(time.Since(begin).Seconds(), "first-s")
				w := historyWriter{core: h.core}
				for n := range lessons / 1000 {
					r := h.lesson(n, time.Now())
					r.Doc = memory.DocumentID(r.Text)
					w.batch.Docs = append(w.batch.Docs, memory.Doc{ID: r.Doc, Terms: analyzeRecord(r.Text)})
					w.batch.Records = append(w.batch.Records, r)
				}
				if _, err := h.core.Store.Commit(b.Context(), w.batch); err != nil {
					b.Fatal(err)
				}
				acknowledged := beside.stored()
				begin = time.Now()
				next, _ = backUpBeside(b, h, dir)
				b.ReportMetric(time.Since(begin).Seconds(), "next-s")
				begin = time.Now()
				if err := backup.Verify(b.Context(), next, func(int64) {}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begin).Seconds(), "verify-s")
				begin = time.Now()
				to := store.Options{Dir: b.TempDir() + "/store"}
				r, err := store.PrepareRestore(b.Context(), to, store.Restoring{Size: next.Size, Schema: next.Schema,
					Walk: func(fn func(store.Entry) error) error { return backup.Walk(b.Context(), next, fn) }})
				if err != nil || r.Kept[string(memory.Lesson)] != next.Records[string(memory.Lesson)] {
					b.Fatalf("restore: %+v, %v; the backup has %v", r, err, next.Records)
				}
				if _, err := r.Finish(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begin).Seconds(), "restore-s")
				hasLessons(b, to, lessons, acknowledged)
			}
			b.ReportMetric(float64(len(beside.stored())), "written")
			beside.end()
			b.ReportMetric(float64(first.Size)/1e6, "values-MB")
			b.ReportMetric(float64(first.Written)/1e6, "first-MB")
			b.ReportMetric(float64(next.Written)/1e6, "next-MB")
			b.ReportMetric(float64(percentile(during, 50))/float64(percentile(alone, 50)), "x_recall")
		})
	}
}

// besideWriter stores lessons until it is ended.
type besideWriter struct {
	over  atomic.Bool
	ended chan struct{}
	n     atomic.Int64 // acknowledged
}

func writeBeside(b *testing.B, h *history) *besideWriter {
	w := &besideWriter{ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		for n := 0; !w.over.Load(); n++ {
			text := fmt.Sprintf("The writer beside the backup learns its lesson %d", n)
			r := memory.Record{ID: besideID(n), Kind: memory.Lesson, Project: h.project.ID, Created: time.Now(), Text: text, Doc: memory.DocumentID(text), Event: &memory.Event{Type: memory.EventError, Lesson: text}}
			if _, err := h.core.Store.Commit(b.Context(), memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{{ID: r.Doc, Terms: analyzeRecord(text)}}}); err != nil {
				b.Error(err)
				return
			}
			w.n.Add(1)
		}
	}()
	return w
}

func besideID(n int) string { return fmt.Sprintf("l-beside-%06d", n) }

// stored returns the ids of the acknowledged lessons.
func (w *besideWriter) stored() (ids []string) {
	for n := range int(w.n.Load()) {
		ids = append(ids, besideID(n))
	}
	return ids
}

func (w *besideWriter) end() {
	w.over.Store(true)
	<-w.ended
}

// hasLessons opens a restored store and looks for the first lessons of the history, and
// for more by their ids.
func hasLessons(b *testing.B, opts store.Options, lessons int, more []string) {
	b.Helper()
	s, err := store.Open(opts)
	if err != nil {
		b.Fatal(err)
	}
	found := map[string]bool{}
	err = s.View(func(v store.View) error {
		for r, err := range v.Records() {
			if err != nil {
				return err
			}
			found[r.ID] = true
		}
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		b.Fatal(err)
	}
	for n := range lessons {
		more = append(more, fmt.Sprintf("l-%06d", n))
	}
	for _, id := range more {
		if !found[id] {
			b.Fatalf("%s was acknowledged before the backup, and is not restored", id)
		}
	}
}

// backUpBeside makes a backup while recalls are answered, and returns their times.
func backUpBeside(b *testing.B, h *history, dir string) (*memory.Backup, []time.Duration) {
	b.Helper()
	var over atomic.Bool
	made := make(chan *memory.Backup, 1)
	go func() {
		defer over.Store(true)
		defer close(made)
		x, err := h.core.Store.Snapshot()
		if err != nil {
			b.Error(err)
			return
		}
		defer x.Close()
		done, err := backup.Create(b.Context(), x, backup.Options{Dir: dir, Turn: h.core.yield}, func(int64) {})
		if err != nil {
			b.Error(err)
			return
		}
		made <- done
	}()
	times := askUntil(b, h, over.Load)
	done := <-made
	if done == nil {
		b.FailNow()
	}
	return done, times
}

// askUntil asks 300 questions, and fewer if over says so before.
func askUntil(b *testing.B, h *history, over func() bool) (times []time.Duration) {
	b.Helper()
	for len(times) == 0 || len(times) < 300 && !over() {
		begin := time.Now()
		answered := h.core.Gate.Ask() // as the server notes each request
		_, err := h.core.Recall.Recall(b.Context(), memory.RecallRequest{Query: h.words.query(), Project: h.project.Name})
		answered()
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begin))
	}
	return times
}
