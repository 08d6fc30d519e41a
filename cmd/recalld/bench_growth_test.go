package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// growthQuestions is how many questions and lessons are timed at each size.
const growthQuestions = 200

// BenchmarkGrowth measures what a daemon costs as its memory grows: to import lessons, to
// start, to recall and to remember, in memory and on the disk. RECALLD_GROWTH names the sizes,
// RECALLD_GROWTH_PICTURE the SVG file to draw. It prints a table in Markdown. The lessons have some
// 30 words of a vocabulary of 20,000, as frequent as words are (Zipf's law); each question has
// six words of one lesson.
func BenchmarkGrowth(b *testing.B) {
	var sizes []int
	for _, field := range strings.Fields(valueOr("RECALLD_GROWTH", "1000 10000")) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || len(sizes) > 0 && n <= sizes[len(sizes)-1] {
			b.Fatalf("RECALLD_GROWTH: %q is no number of lessons above the one before it", field)
		}
		sizes = append(sizes, n)
	}
	var measured []growth
	for b.Loop() {
		measured = measured[:0]
		d, dir := newDaemon(b), b.TempDir()
		g := newLessonWriter()
		stored := 0
		for _, size := range sizes {
			measured = append(measured, measureGrowth(b, d, g, dir, stored, size))
			stored = size
		}
		d.stop(b)
	}
	fmt.Print("\n" + growthTable(measured)) // a benchmark's log is cut after ten lines
	for _, quantity := range growthQuantities {
		b.ReportMetric(quantity.of(measured[len(measured)-1]), strings.ReplaceAll(quantity.name+"-"+quantity.unit, " ", "-"))
	}
	b.ReportMetric(0, "ns/op") // each quantity has its own
	if path := os.Getenv("RECALLD_GROWTH_PICTURE"); path != "" {
		if err := os.WriteFile(path, []byte(growthPicture(measured)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func valueOr(variable, value string) string {
	if set := os.Getenv(variable); set != "" {
		return set
	}
	return value
}

// growth is what was measured at one number of lessons.
type growth struct {
	lessons, imported         int
	importing, start, cpu     time.Duration // cpu is that of all questions
	recalls, remembers, pings []time.Duration
	resident, disk            int64
}

// growthQuantities are what is told of each size.
var growthQuantities = []struct {
	name, unit string
	of         func(growth) float64
}{
	{"recall, median", "ms", func(g growth) float64 { return milliseconds(median(g.recalls)) }},
	{"recall, p99", "ms", func(g growth) float64 { return milliseconds(percentile(g.recalls, 99)) }},
	{"recall, processor", "ms", func(g growth) float64 { return milliseconds(g.cpu) / float64(len(g.recalls)) }},
	{"recall over status", "times", func(g growth) float64 { return float64(median(g.recalls)) / float64(median(g.pings)) }},
	{"remember, median", "ms", func(g growth) float64 { return milliseconds(median(g.remembers)) }},
	{"start to the first full answer", "s", func(g growth) float64 { return g.start.Seconds() }},
	{"import of a thousand", "s", func(g growth) float64 { return g.importing.Seconds() / float64(g.imported) * 1000 }},
	{"resident, without files", "MB", func(g growth) float64 { return megabytes(g.resident) }},
	{"disk", "MB", func(g growth) float64 { return megabytes(g.disk) }},
}

func measureGrowth(b *testing.B, d *benchDaemon, w *lessonWriter, dir string, stored, size int) growth {
	b.Helper()
	g := growth{lessons: size, imported: size - stored}
	log := writeLog(b, stored, size, w.lesson)
	caller := memory.Caller{Dir: dir}
	began := time.Now()
	if _, err := service.Import.Do(b.Context(), d.client, memory.ImportRequest{Path: log, Caller: caller}); err != nil {
		b.Fatal(err)
	}
	g.importing = time.Since(began)
	if n := d.status(b).Records[memory.Lesson]; n < size {
		b.Fatalf("%d lessons are stored, want %d", n, size)
	}
	d.stop(b)

	ask := func(i int) memory.RecallRequest {
		return memory.RecallRequest{Query: w.questions[i%len(w.questions)], Kinds: []memory.Kind{memory.Lesson}, Caller: caller}
	}
	began = time.Now()
	d.start(b)
	for {
		missing := d.recall(b, ask(0)).Degraded
		if g.start = time.Since(began); len(missing) == 0 {
			break
		}
		if g.start > 10*time.Minute {
			b.Fatalf("answers from %d lessons stay incomplete: %+v", size, missing)
		}
	}
	for i := range 20 { // what is read for the first time is no part of a question
		d.recall(b, ask(i))
	}
	timed := func(times *[]time.Duration, call func()) {
		began := time.Now()
		call()
		*times = append(*times, time.Since(began))
	}
	before, items := d.cpu(), 0
	for i := range growthQuestions {
		timed(&g.recalls, func() { items += len(d.recall(b, ask(i)).Items) })
	}
	g.cpu = d.cpu() - before
	if items == 0 {
		b.Fatalf("%d questions to %d lessons found nothing", growthQuestions, size)
	}
	for range growthQuestions {
		timed(&g.pings, func() { d.status(b) })
	}
	for i := range growthQuestions {
		context, lesson := w.lesson(-size - i)
		timed(&g.remembers, func() {
			request := memory.RememberRequest{Context: context, Lesson: lesson, Caller: caller}
			if _, err := service.Remember.Do(b.Context(), d.client, request); err != nil {
				b.Fatal(err)
			}
		})
	}
	g.resident = d.memory(b, "RssAnon")
	g.disk = diskUsage(b, d.data)
	return g
}

// lessonWriter makes lessons and questions about them.
type lessonWriter struct {
	random    *rand.Rand
	zipf      *rand.Zipf
	words     []string
	questions []string
}

func newLessonWriter() *lessonWriter {
	w := &lessonWriter{random: rand.New(rand.NewPCG(1, 2)), words: make([]string, 20_000)}
	w.zipf = rand.NewZipf(w.random, 1.1, 5, uint64(len(w.words)-1))
	syllables := strings.Fields("ba co di fen gu hal ir jo ka lem mo nur op pra qui ras sto tul ve wor xi yan zor ter")
	for i := range w.words {
		for n := i + len(syllables); n > 0; n /= len(syllables) {
			w.words[i] += syllables[n%len(syllables)]
		}
	}
	return w
}

func (w *lessonWriter) some(n int) []string {
	text := make([]string, n)
	for i := range text {
		text[i] = w.words[w.zipf.Uint64()]
	}
	return text
}

// lesson returns the lesson of a number, which makes it unlike all others.
func (w *lessonWriter) lesson(i int) (context, lesson string) {
	words := append(w.some(26), fmt.Sprintf("case %d", i))
	if len(w.questions) < growthQuestions {
		w.questions = append(w.questions, strings.Join(words[6:12], " "))
	}
	return strings.Join(words[:6], " "), strings.Join(words[6:], " ")
}

// writeLog writes a lesson log with the lessons of some numbers, and returns its path.
func writeLog(b *testing.B, from, to int, lesson func(i int) (context, lesson string)) string {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "log.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	encoder := json.NewEncoder(out)
	for i := from; i < to && err == nil; i++ {
		context, lesson := lesson(i)
		err = encoder.Encode(map[string]string{
			"timestamp": time.Unix(1_767_225_600+int64(i), 0).UTC().Format(time.RFC3339), "repo": "demo",
			"event_type": "pattern", "context": context, "lesson": lesson,
		})
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		b.Fatal(err)
	}
	return file.Name()
}

func growthTable(all []growth) string {
	var out strings.Builder
	out.WriteString("| lessons |")
	for _, g := range all {
		fmt.Fprintf(&out, " %d |", g.lessons)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, quantity := range growthQuantities {
		fmt.Fprintf(&out, "| %s |", quantity.name)
		for _, g := range all {
			fmt.Fprintf(&out, " %.3g %s |", quantity.of(g), quantity.unit)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// growthPicture draws each quantity against the number of lessons, both by powers of ten.
func growthPicture(all []growth) string {
	const width, height, across, left, bottom, top = 280, 180, 3, 44, 34, 30
	rows := (len(growthQuantities) + across - 1) / across
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11" role="img">`+"\n", across*width, rows*height)
	out.WriteString("<title>What a daemon costs against the number of lessons, both by powers of ten</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n")
	exponent := func(x float64) float64 { return math.Log10(max(x, 1e-6)) }
	least, most := exponent(float64(all[0].lessons)), exponent(float64(all[len(all)-1].lessons))
	for i, quantity := range growthQuantities {
		low, high := math.Inf(1), math.Inf(-1)
		for _, g := range all {
			y := exponent(quantity.of(g))
			low, high = min(low, math.Floor(y)), max(high, math.Ceil(y))
		}
		high = max(high, low+1)
		x := func(lessons int) float64 {
			return left + (exponent(float64(lessons))-least)/max(most-least, 1)*(width-left-30)
		}
		y := func(value float64) float64 {
			return height - bottom - (exponent(value)-low)/(high-low)*(height-bottom-top)
		}
		fmt.Fprintf(&out, `<g transform="translate(%d %d)">`+"\n", i%across*width, i/across*height)
		fmt.Fprintf(&out, `<text x="%d" y="18" font-weight="bold">%s (%s)</text>`+"\n", left, quantity.name, quantity.unit)
		for e := low; e <= high; e++ {
			at := y(math.Pow(10, e))
			fmt.Fprintf(&out, `<path d="M%d %.1fH%d" stroke="#ccc"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%g</text>`+"\n", left, at, width-30, left-5, at+4, math.Pow(10, e))
		}
		points := make([]string, len(all))
		for k, g := range all {
			px, py := x(g.lessons), y(quantity.of(g))
			points[k] = fmt.Sprintf("%.1f,%.1f", px, py)
			fmt.Fprintf(&out, `<circle cx="%.1f" cy="%.1f" r="3" fill="#0b62a4"/>`, px, py)
			fmt.Fprintf(&out, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%s</text>`+"\n", px, height-bottom+16, shortCount(g.lessons))
		}
		fmt.Fprintf(&out, `<polyline points="%s" fill="none" stroke="#0b62a4" stroke-width="2"/>`+"\n</g>\n", strings.Join(points, " "))
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// shortCount writes 1000 as 1k and a million as 1M.
func shortCount(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%gM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%gk", float64(n)/1e3)
	}
	return strconv.Itoa(n)
}
