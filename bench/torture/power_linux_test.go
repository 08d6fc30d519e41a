package torture

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/testkit/backend"
	"github.com/recalld/recalld/internal/testkit/powerdisk"
)

// powerEnv is how many power losses TestPowerLoss makes.
const powerEnv = "RECALLD_TEST_POWER"

// strictEnv has a name be durable only when its folder was synced: see powerdisk.Journal.
const strictEnv = "RECALLD_TEST_POWER_STRICT"

// cutsPerRun is how many moments of one recorded run are looked at.
const cutsPerRun = 50

// TestPowerLoss runs daemons on a disk that records what was synced. Then it makes the files as
// they are if the power failed at some moment, opens the store, and compares it with what was
// acknowledged until then. What was not synced is lost, in part or whole: see powerdisk.Loss.
func TestPowerLoss(t *testing.T) {
	if os.Getenv(powerEnv) == "" {
		t.Skipf("not run: it opens hundreds of stores; make power runs it, or %s=25", powerEnv)
	}
	cuts, err := strconv.Atoi(os.Getenv(powerEnv))
	if err != nil || cuts < 1 {
		t.Fatalf("%s=%q is no number", powerEnv, os.Getenv(powerEnv))
	}
	seed := seedOf(t)
	t.Logf("%d power losses with the seed %d; to see them again set %s=%d", cuts, seed, seedEnv, seed)
	random := rand.New(rand.NewPCG(seed, 1))
	path, began := program(t), time.Now()
	results := map[string]*result{}
	writes := 0
	for done := 0; done < cuts; done += cutsPerRun {
		r := record(t, path, random)
		writes += r.o.writes()
		for i := range min(cutsPerRun, cuts-done) {
			loss := powerdisk.Losses[i%len(powerdisk.Losses)]
			at := r.moment(random)
			how := rand.New(rand.NewPCG(seed, random.Uint64()))
			t.Run(fmt.Sprintf("%d at %d of %d, lose %s", done+i, at, r.disk.Journal.Len(), loss), func(t *testing.T) {
				r.lose(t, at, loss, how, results)
			})
		}
		r.end()
	}
	text := "| what is lost of what was not synced | power losses | acknowledged writes looked for | lost or risen | stores or backups that cannot be used |\n|---|---|---|---|---|\n"
	var all result
	for _, loss := range powerdisk.Losses {
		if x := results[string(loss)]; x != nil {
			text += fmt.Sprintf("| %s | %d | %d | %d | %d |\n", loss, x.rounds, x.writes, x.lost, x.wrong)
			all.rounds, all.writes, all.lost, all.wrong = all.rounds+x.rounds, all.writes+x.writes, all.lost+x.lost, all.wrong+x.wrong
		}
	}
	t.Logf("%v, seed %d, %d writes acknowledged in %d runs\n%s| **all** | %d | %d | %d | %d |", time.Since(began).Round(time.Second), seed, writes,
		(cuts+cutsPerRun-1)/cutsPerRun, text, all.rounds, all.writes, all.lost, all.wrong)
}

// recording is a run of daemons on a disk.
type recording struct {
	o    *oracle
	disk *powerdisk.Disk
	end  func()
	home *home
}

// record runs three daemons, one after the other: the first is killed, the second is stopped.
func record(t *testing.T, program string, random *rand.Rand) *recording {
	t.Helper()
	var w *world
	m := medium{name: "a disk that records", mount: mountDisk, usage: mixed}
	if w = newWorld(t, program, m, random); w == nil {
		t.SkipNow()
	}
	disk := w.disk.(*powerdisk.Disk)
	disk.Journal.Strict = os.Getenv(strictEnv) != ""
	w.o.now = disk.Journal.Len
	for life := range 3 {
		c := w.start("")
		l := begin(t, c, w.o, w.repo, w.files, usage{}, 0)
		l.ready()
		l = begin(t, c, w.o, w.repo, w.files, mixed, random.Uint64(), bulky)
		l.more(100 + random.IntN(900))
		if life == 1 {
			l.end()
			c.stop(t)
		} else {
			c.kill()
			l.end()
		}
		for _, wrong := range l.wrong {
			t.Error(wrong)
		}
	}
	return &recording{o: w.o, disk: disk, home: w.home, end: w.close}
}

// moment chooses when the power fails: at any time, just after a sync, or just after a change of
// a name.
func (r *recording) moment(random *rand.Rand) int {
	of := [][]int{nil, r.disk.Journal.Syncs(), r.disk.Journal.Names()}[random.IntN(3)]
	if of == nil {
		return random.IntN(r.disk.Journal.Len() + 1)
	}
	return of[random.IntN(len(of))]
}

// lose opens what is left after a power failure.
func (r *recording) lose(t *testing.T, at int, loss powerdisk.Loss, random *rand.Rand, results map[string]*result) {
	x := results[string(loss)]
	if x == nil {
		x = &result{}
		results[string(loss)] = x
	}
	x.rounds++
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() && os.Getenv("RECALLD_TEST_KEEP") != "" {
			t.Logf("the files are kept in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	}()
	image := filepath.Join(dir, "image")
	if err := r.disk.Journal.Cut(at, loss, random, image); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("RECALLD_TEST_KEEP") != "" {
		if err := os.CopyFS(filepath.Join(dir, "before"), os.DirFS(image)); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if t.Failed() {
			x.wrong++
		}
	}()
	data := filepath.Join(image, "d")
	if random.IntN(5) == 0 { // a daemon opens it first
		r.serve(t, dir, data)
	}
	looked, v := r.o.judgeAt(t, data, at)
	x.writes += looked
	x.lost += v.lost + v.risen + v.others
	if v.wrong() {
		t.Errorf("after the power failure: %s", strings.Join(v.tell, "\n"))
	}
}

// serve has a daemon open the data, take a write, and stop.
func (r *recording) serve(t *testing.T, dir, data string) {
	t.Helper()
	h := newHome(r.home.program, dir, data)
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := h.start(t, "")
	if err != nil {
		t.Fatal(err)
	}
	l := begin(t, c, newOracle(), dir, dir, usage{}, 0)
	l.ready()
	if err := l.remember(&writer{random: rand.New(rand.NewPCG(1, 1))}); err != nil {
		t.Errorf("after a power failure no lesson is taken: %v\n%s", err, c.log)
	}
	c.stop(t)
}

// judgeAt opens the store of a data folder and compares it with what was acknowledged, and sent,
// before a moment of the journal. It returns how many writes had to be there.
func (o *oracle) judgeAt(t *testing.T, data string, at int) (looked int, v *verdict) {
	t.Helper()
	p := backend.Open(t, backend.Options{Dir: filepath.Join(data, "store"), MemTableSize: 16 << 20})
	defer p.Close(t) // checks store and indexes
	if d := p.Store.Damage(); d != nil {
		t.Errorf("the store has lost something: %+v", d)
	}
	records, err := recordsOf(p.Store)
	if err != nil {
		t.Fatal(err)
	}
	v = &verdict{}
	by := func(moment int) bool { return moment > 0 && moment <= at }
	for _, f := range o.order {
		r, there := records[f.marker]
		switch {
		case by(f.ackedAt) && (f.forgetAt == 0 || f.forgetAt >= at):
			looked++
			if !there || !strings.Contains(r.Text, f.text) || f.id != "" && r.ID != f.id {
				v.lost++
				v.say("%s %s was acknowledged at %d and is lost: %q, found %q", f.kind, f.id, f.ackedAt, f.text, r.Text)
			}
		case by(f.forgotAt):
			looked++
			if there {
				v.risen++
				v.say("%s %s was forgotten at %d and is stored: %q", f.kind, f.id, f.forgotAt, r.Text)
			}
		case there && f.sentAt > at:
			v.others++
			v.say("%s %s is stored and was sent later: the test is wrong", f.kind, f.id)
		}
	}
	var backups []string
	for _, b := range o.backups {
		if by(b.at) {
			backups = append(backups, b.name)
		}
	}
	if err := checkBackups(filepath.Join(data, "backups"), backups); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the power failure: %v", err)
	}
	for _, receipt := range o.receipts {
		if !by(receipt.at) {
			continue
		}
		looked++
		if _, err := p.Store.Receipt(receipt.name); err != nil {
			v.lost++
			v.say("the receipt of a context was acknowledged at %d and is lost: %v", receipt.at, err)
		}
	}
	return looked, v
}

// bulky makes steps large, so that Badger's logs turn into tables.
func bulky(l *load) {
	l.observation = slices.Repeat([]string{"the valve is open and the lamp is green"}, 1000)
}
