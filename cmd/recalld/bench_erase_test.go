package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// BenchmarkErase measures what it costs to erase a forgotten lesson from the files of a store
// with RECALLD_ERASE lessons, and what a question takes meanwhile: without questions, and with a
// question 20 milliseconds after each answer. What an erasure takes of the processor is what the
// daemon takes besides its questions.
//
//	RECALLD_ERASE=100000 go test -run '^$' -bench '^BenchmarkErase$' -benchtime 1x ./cmd/recalld
func BenchmarkErase(b *testing.B) {
	size, err := strconv.Atoi(valueOr("RECALLD_ERASE", "1000"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d, w, caller := newDaemon(b), newLessonWriter(), memory.Caller{Dir: b.TempDir()}
		log := writeLog(b, 0, size, w.lesson)
		if _, err := service.Import.Do(b.Context(), d.client, memory.ImportRequest{Path: log, Caller: caller}); err != nil {
			b.Fatal(err)
		}
		e := eraser{d: d, ask: func(i int) {
			d.recall(b, memory.RecallRequest{Query: w.questions[i%len(w.questions)], Kinds: []memory.Kind{memory.Lesson}, Caller: caller})
		}}
		fmt.Printf("\n%d lessons, %.0f MB: %+v\n", size, megabytes(diskUsage(b, d.data)), d.status(b).Collections)
		for n, asked := range []bool{false, false, false, true, true, true} {
			_, lesson := w.lesson(-n)
			kept, err := service.Remember.Do(b.Context(), d.client, memory.RememberRequest{Lesson: lesson, Caller: caller})
			if err != nil {
				b.Fatal(err)
			}
			d.stop(b) // a daemon that has erased waits before it does so again
			d.start(b)
			for i := range 500 { // what is read for the first time is no part of a question
				e.ask(i)
			}
			e.measure(b, kept.ID, asked)
		}
		d.stop(b)
	}
	b.ReportMetric(0, "ns/op") // each erasure says its own
}

type eraser struct {
	d     *benchDaemon
	ask   func(i int)
	count int // of questions
}

// questions asks until a time, and returns when each answer came and what it took.
func (e *eraser) questions(until func() bool) (at []time.Time, took []time.Duration) {
	for !until() {
		began := time.Now()
		e.ask(e.count)
		e.count++
		at, took = append(at, time.Now()), append(took, time.Since(began))
		time.Sleep(20 * time.Millisecond)
	}
	return at, took
}

// measure forgets a record and prints what its erasure takes.
func (e *eraser) measure(b *testing.B, id string, asked bool) {
	cfg := config.Default()
	cfg.Data = e.d.data
	took := regexp.MustCompile(`"?msg"?[=:]"forgotten text was erased.*took"?[=:]"?([0-9a-zµ.]+)`)
	erasures := func() [][]string {
		text, err := os.ReadFile(cfg.Paths().Log)
		if err != nil {
			b.Fatal(err)
		}
		var found [][]string
		for line := range strings.Lines(string(text)) {
			if m := took.FindStringSubmatch(line); m != nil {
				found = append(found, m)
			}
		}
		return found
	}
	before, began := e.d.cpu(), time.Now()
	_, alone := e.questions(func() bool { return time.Since(began) > 10*time.Second })
	each := (e.d.cpu() - before) / time.Duration(len(alone))

	done := len(erasures())
	if _, err := service.Forget.Do(b.Context(), e.d.client, memory.ForgetRequest{IDs: []string{id}}); err != nil {
		b.Fatal(err)
	}
	type look struct {
		at   time.Time
		cpu  time.Duration
		disk int64
	}
	var looks []look
	over := make(chan struct{})
	go func() {
		defer close(over)
		for len(erasures()) == done {
			looks = append(looks, look{time.Now(), e.d.cpu(), diskUsage(b, e.d.data)})
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var at []time.Time
	var times []time.Duration
	if asked {
		at, times = e.questions(func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
	}
	<-over
	lasted, err := time.ParseDuration(erasures()[done][1])
	if err != nil {
		b.Fatal(err)
	}
	start := looks[len(looks)-1].at.Add(-lasted)
	looks = slices.DeleteFunc(looks, func(l look) bool { return l.at.Before(start) })
	var during []time.Duration
	for i, when := range at {
		if when.After(start) {
			during = append(during, times[i])
		}
	}
	most := slices.MaxFunc(looks, func(x, y look) int { return int(x.disk - y.disk) }).disk
	cpu := looks[len(looks)-1].cpu - looks[0].cpu - each*time.Duration(len(during))
	fmt.Printf("erased in %v, processor %v, at most %.0f MB more on the disk than before", lasted, cpu.Round(10*time.Millisecond), megabytes(most-looks[0].disk))
	fmt.Printf("; questions alone p50 %.1f ms, p99 %.1f ms", milliseconds(median(alone)), milliseconds(percentile(alone, 99)))
	if asked {
		fmt.Printf("; meanwhile %d, p50 %.1f ms, p99 %.1f ms, slowest %.1f ms", len(during), milliseconds(median(during)), milliseconds(percentile(during, 99)), milliseconds(slices.Max(during)))
	}
	fmt.Println()
}
