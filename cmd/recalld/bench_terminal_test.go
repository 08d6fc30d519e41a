//go:build unix

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// BenchmarkSearchOnTerminal runs the interactive search on a real terminal, beside a daemon
// that holds 100,000 lessons, and reports the time from the start of its process to its
// first paint and to its first rows, and from a key to its paint. One operation is one run:
// two questions are typed letter by letter, and removed.
func BenchmarkSearchOnTerminal(b *testing.B) {
	const lessons, columns, lines = 100_000, 120, 40
	// No word begins with a t: it could not be told from the placeholder "type to search".
	words := strings.Fields("npm cache cargo lock build docker layer flaky postgres migration index deploy branch rebase header retry socket proxy certificate kernel mount volume parser schema queue worker shard replica commit hook lint format import export module vector model batch cursor page session cookie login secret path permission owner folder file stream buffer race channel mutex")
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string { return words[random.IntN(len(words))] }
	d, dir := newDaemon(b), b.TempDir()
	log := writeLog(b, 0, lessons, func(i int) (context, lesson string) {
		return fmt.Sprintf("the %s of %s %d", word(), word(), i),
			fmt.Sprintf("Set %s before %s, because %s and %s share %s %d: then %s the %s", word(), word(), word(), word(), word(), i, word(), word())
	})
	caller := memory.Caller{Dir: dir}
	if _, err := service.Import.Do(b.Context(), d.client, memory.ImportRequest{Path: log, Caller: caller}); err != nil {
		b.Fatal(err)
	}
	if n := d.status(b).Records[memory.Lesson]; n != lessons {
		b.Fatalf("%d lessons are stored, want %d", n, lessons)
	}

	var paints, rows, keys []time.Duration
	for b.Loop() {
		cmd := exec.Command(os.Args[0])
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TERM=xterm-256color")
		began := time.Now()
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: lines, Cols: columns})
		if err != nil {
			b.Skipf("not run: no terminal can be had: %v", err)
		}
		s := newTerminal(columns, lines)
		go s.read(tty)
		s.until(b, "type to search")
		paints = append(paints, time.Since(began))
		s.until(b, "200 newest")
		rows = append(rows, time.Since(began))
		press := func(key, shows string) {
			began := time.Now()
			io.WriteString(tty, key)
			s.until(b, shows)
			keys = append(keys, time.Since(began))
		}
		for range 2 {
			query := ""
			for _, letter := range word() + " " + word() + " " + word() {
				query += string(letter)
				if letter == ' ' { // nothing is painted that was not blank before
					io.WriteString(tty, " ")
					continue
				}
				press(string(letter), "› "+query)
			}
			press("\x15", "type to search")
		}
		io.WriteString(tty, "\x03")
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		tty.Close()
	}
	for name, took := range map[string][]time.Duration{"paint": paints, "rows": rows, "key": keys} {
		b.ReportMetric(milliseconds(percentile(took, 0)), name+"-min-ms") // on a busy machine the others say how busy
		b.ReportMetric(milliseconds(median(took)), name+"-p50-ms")
		b.ReportMetric(milliseconds(percentile(took, 95)), name+"-p95-ms")
	}
	b.ReportMetric(0, "ns/op") // the percentiles say more
}
