package daemon

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/index/indextest"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkRemember measures durable writes of a lesson with all that belongs
// to it (record, terms, vector, audit line, the job of a model that embeds in
// the background), from as many callers at once as its name says. Beside it, in
// turns on the same disk, as many goroutines put the same number of entries of
// the same sizes into a plain Badger, one synced transaction each.
func BenchmarkRemember(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			core, dir := openWithJobs(b)
			sizes := entrySizes(b)
			plain := openPlain(b)
			words := newLessons()
			const perCaller = 16
			round := callers * perCaller
			var own, reference []time.Duration // of single writes
			var ownTime, referenceTime, processor time.Duration
			for b.Loop() {
				before := indextest.CPUTime()
				ownTime += together(callers, round, &own, func() error {
					_, err := core.Ingest.Remember(b.Context(), words.next(dir))
					return err
				}, b)
				b.StopTimer()
				processor += indextest.CPUTime() - before
				referenceTime += together(callers, round, &reference, func() error { return plain.put(sizes) }, b)
				b.StartTimer()
			}
			perSecond := func(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
			b.ReportMetric(perSecond(len(own), ownTime), "lessons/s")
			b.ReportMetric(perSecond(len(reference), referenceTime), "plain/s")
			b.ReportMetric(float64(referenceTime)/float64(ownTime), "x_plain")
			b.ReportMetric(processor.Seconds()*1e6/float64(len(own)), "cpu-µs/lesson")
			b.ReportMetric(median(own).Seconds()*1e3, "p50-ms")
			b.ReportMetric(median(reference).Seconds()*1e3, "plain-p50-ms")
			b.ReportMetric(float64(median(own))/float64(median(reference)), "latency/plain")
			if err := core.Store.Check(); err != nil {
				b.Fatalf("after the writes: %v", err)
			}
		})
	}
}

// openWithJobs opens both paths over a synced store, with a model in the
// background whose jobs nobody runs, and returns them with a folder that
// lessons are about.
func openWithJobs(b *testing.B) (*Core, string) {
	b.Helper()
	core := openCore(b, CoreOptions{
		Dir: b.TempDir(), Config: config.Default(),
		Background: map[string]embedder.Embedder{"fake/words": &embeddertest.Fake{}},
	})
	_, err := core.Indexer.Attach(b.Context(), "fake/words")
	must(b, err)
	return core, b.TempDir()
}

// entrySizes writes some lessons and returns the sizes of the entries that one
// of them leaves in the database, on average.
func entrySizes(b *testing.B) []entrySize {
	b.Helper()
	const n = 64
	folder := b.TempDir()
	core, err := OpenCore(b.Context(), CoreOptions{
		Dir: folder, Config: config.Default(), NoSync: true,
		Background: map[string]embedder.Embedder{"fake/words": &embeddertest.Fake{}},
	})
	if err != nil {
		b.Fatal(err)
	}
	err = core.Load(b.Context())
	if err == nil {
		_, err = core.Indexer.Attach(b.Context(), "fake/words")
	}
	words, about := newLessons(), b.TempDir()
	for range n {
		if err == nil {
			_, err = core.Ingest.Remember(b.Context(), words.next(about))
		}
	}
	if err = errors.Join(err, core.Close()); err != nil {
		b.Fatal(err)
	}
	db, err := badger.Open(plainOptions(folder))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	kinds := map[byte]*entrySize{}
	counts := map[byte]int{}
	err = db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			kind := it.Item().Key()[0]
			if kinds[kind] == nil {
				kinds[kind] = new(entrySize)
			}
			kinds[kind].key += len(it.Item().Key())
			kinds[kind].value += int(it.Item().ValueSize())
			counts[kind]++
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	var sizes []entrySize
	for kind, sum := range kinds {
		// What every write overwrites, the sequence number, is there once; what is
		// written once for all, the project, is left out.
		if counts[kind] >= n || kind == 'm' {
			sizes = append(sizes, entrySize{sum.key / counts[kind], sum.value / counts[kind]})
		}
	}
	return sizes
}

type entrySize struct{ key, value int }

// plainStore is Badger as one would use it first: every writer commits for
// itself.
type plainStore struct {
	db *badger.DB
	n  atomic.Uint64
}

func plainOptions(dir string) badger.Options {
	return badger.DefaultOptions(dir).WithLogger(nil).WithSyncWrites(true).WithDetectConflicts(false).
		WithMemTableSize(16 << 20).WithMetricsEnabled(false)
}

func openPlain(b *testing.B) *plainStore {
	b.Helper()
	db, err := badger.Open(plainOptions(b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return &plainStore{db: db}
}

// put writes entries of the sizes, with bytes that do not repeat.
func (p *plainStore) put(sizes []entrySize) error {
	n := p.n.Add(1)
	random := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	return p.db.Update(func(txn *badger.Txn) error {
		for _, size := range sizes {
			entry := make([]byte, size.key+size.value)
			_, _ = random.Read(entry) // never fails
			if err := txn.Set(entry[:size.key], entry[size.key:]); err != nil {
				return err
			}
		}
		return nil
	})
}

// together calls write n times from callers goroutines, adds the time of each
// call to times, and returns the time of all.
func together(callers, n int, times *[]time.Duration, write func() error, b *testing.B) time.Duration {
	b.Helper()
	each := make([]time.Duration, n)
	errs := make([]error, n)
	var next atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for range callers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				begin := time.Now()
				errs[i] = write()
				each[i] = time.Since(begin)
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	*times = append(*times, each...)
	return took
}

func median(times []time.Duration) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[len(times)/2]
}

// lessons makes lessons of the length that agents write, no two alike. It is
// safe for concurrent use.
type lessons struct {
	mu     sync.Mutex // guards random
	random *rand.Rand
}

func newLessons() *lessons { return &lessons{random: rand.New(rand.NewPCG(7, 7))} }

var lessonWords = strings.Fields(`build cache cannot clean commit compile config connection container database
	dependency deploy error export failed file fixture flag folder import index install integration interface
	linker migration missing module mutex network package panic parser path permission pipeline port queue race
	release restart retry rollback schema script server session shell socket staging stream test timeout token
	upgrade version volume wait worker workspace`)

func (l *lessons) next(folder string) memory.RememberRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := func(words int) string {
		parts := make([]string, words)
		for i := range parts {
			parts[i] = lessonWords[l.random.IntN(len(lessonWords))]
		}
		return strings.Join(parts, " ")
	}
	return memory.RememberRequest{
		Caller:  memory.Caller{Dir: folder},
		Type:    memory.EventError,
		Context: text(8), Command: "make " + text(2),
		Lesson:      fmt.Sprintf("%s, see ticket%d: %s", text(12), l.random.Uint32(), text(14)),
		Tags:        []string{text(1), text(1)},
		SuccessRate: "9/10",
	}
}
