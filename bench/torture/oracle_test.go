//go:build unix

package torture

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// state is what the oracle knows of a fact.
type state uint8

const (
	sent       state = iota // it was sent and not acknowledged: it may be stored or not
	kept                    // acknowledged: it must be stored
	withdrawn               // kept, and its retraction is acknowledged: stored, not recalled
	forgetting              // its forgetting was sent and not acknowledged: stored or not
	forgotten               // acknowledged: it must not be stored
	never                   // it was found missing after a fault, so it must not appear later
)

// fact is one thing that was written. Its marker is a word that no other text has.
type fact struct {
	marker string
	kind   memory.Kind
	text   string // what the stored text contains
	id     string // of the record; empty if the answer did not name it
	state  state
	// retracting says that a retraction was sent and not acknowledged.
	retracting bool
	// sentAt and ackedAt are the lengths of the disk's journal before it was sent and after
	// it was acknowledged, forgetAt and forgotAt those of its forgetting; see TestPowerLoss.
	sentAt, ackedAt, forgetAt, forgotAt int
}

// oracle knows everything that was sent to a daemon, and what was acknowledged. It is safe
// for concurrent use.
type oracle struct {
	mu    sync.Mutex
	facts map[string]*fact
	order []*fact
	// lessons that may be forgotten or retracted, by index in order.
	lessons []*fact
	// receipts are the ids of the contexts that were assembled.
	receipts []named
	backups  []named
	// acked counts acknowledged writes; a forgetting and a retraction are writes.
	acked int
	now   func() int // the length of the journal; 0 without one
}

// named is something acknowledged that has a name, and the length of the journal then.
type named struct {
	name string
	at   int
}

func newOracle() *oracle { return &oracle{facts: map[string]*fact{}, now: func() int { return 0 }} }

// markers finds the markers in a text.
var markers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bmk[a-z]{12}\b`) })

// send notes that something is about to be sent and returns it.
func (o *oracle) send(kind memory.Kind, random *rand.Rand, form string) *fact {
	o.mu.Lock()
	defer o.mu.Unlock()
	var marker []byte
	for marker == nil || o.facts[string(marker)] != nil {
		marker = []byte("mk")
		for range 12 {
			marker = append(marker, "bcdfghjklmnpqrstvwxz"[random.IntN(20)])
		}
	}
	f := &fact{marker: string(marker), kind: kind, text: fmt.Sprintf(form, marker), sentAt: o.now()}
	o.facts[f.marker] = f
	o.order = append(o.order, f)
	return f
}

// acknowledge notes that facts were acknowledged, one with an id.
func (o *oracle) acknowledge(id string, facts ...*fact) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.now()
	for _, f := range facts {
		f.state, f.ackedAt = kept, at
		if id != "" {
			f.id = id
		}
		if f.kind == memory.Lesson && f.id != "" {
			o.lessons = append(o.lessons, f)
		}
	}
	o.acked += len(facts)
}

// choose takes some acknowledged lessons out of those that may be forgotten or retracted.
func (o *oracle) choose(random *rand.Rand, n int) (chosen []*fact) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range min(n, len(o.lessons)) {
		i := random.IntN(len(o.lessons))
		chosen = append(chosen, o.lessons[i])
		o.lessons = slices.Delete(o.lessons, i, i+1)
	}
	return chosen
}

func (o *oracle) forget(facts []*fact) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.now()
	for _, f := range facts {
		f.state, f.forgetAt = forgetting, at
	}
}

func (o *oracle) forgot(facts []*fact) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.now()
	for _, f := range facts {
		f.state, f.forgotAt = forgotten, at
	}
	o.acked += len(facts)
}

func (o *oracle) retract(f *fact, acknowledged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f.retracting = !acknowledged; acknowledged {
		f.state = withdrawn
		o.acked++
	}
}

func (o *oracle) assembled(receipt string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.receipts = append(o.receipts, named{receipt, o.now()})
	o.acked++
}

func (o *oracle) backedUp(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.backups = append(o.backups, named{name, o.now()})
}

// expired notes that the clock went far: what is kept by the clock may be gone, but for the
// newest backup.
func (o *oracle) expired() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.receipts = nil
	o.backups = o.backups[max(0, len(o.backups)-1):]
}

// writes is how many writes were acknowledged.
func (o *oracle) writes() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acked
}

// verdict counts what a store has wrong.
type verdict struct {
	lost   int // acknowledged, and not there or not as it was said
	risen  int // forgotten, or found missing before, and there
	others int // there, and nobody wrote it
	tell   []string
}

func (v *verdict) say(form string, args ...any) {
	if len(v.tell) < 10 {
		v.tell = append(v.tell, fmt.Sprintf(form, args...))
	}
}

func (v *verdict) wrong() bool { return v.lost+v.risen+v.others > 0 }

// judge compares the records of a store that no daemon has open with what is known, and
// settles what was open: what is there now must stay, what is not must not appear.
func (o *oracle) judge(records map[string]memory.Record) *verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := &verdict{}
	for marker, r := range records {
		f := o.facts[marker]
		switch {
		case f == nil:
			v.others++
			v.say("%s %s is stored and was never sent: %q", r.Kind, r.ID, r.Text)
		case f.state == forgotten || f.state == never:
			v.risen++
			v.say("%s %s is stored again: %q", r.Kind, r.ID, f.text)
		case r.Kind != f.kind || !strings.Contains(r.Text, f.text) || f.id != "" && r.ID != f.id:
			v.lost++
			v.say("%s %s (%s, %s) has another text: %q, want %q", r.Kind, r.ID, f.kind, f.id, r.Text, f.text)
		case r.Event != nil && !f.retracting && (r.Event.Withdrawn != nil) != (f.state == withdrawn):
			v.lost++
			v.say("lesson %s: withdrawn is %v, which is not what was acknowledged", r.ID, r.Event.Withdrawn != nil)
		default:
			f.id = r.ID
			if f.retracting {
				f.retracting = false
				if f.state = kept; r.Event.Withdrawn != nil {
					f.state = withdrawn
				}
			}
			if f.state == sent || f.state == forgetting {
				f.state = kept
			}
		}
	}
	for _, f := range o.order {
		if _, is := records[f.marker]; is {
			continue
		}
		switch f.state {
		case kept, withdrawn:
			v.lost++
			v.say("%s %s was acknowledged and is not stored: %q", f.kind, f.id, f.text)
		case sent:
			f.state = never
		case forgetting:
			f.state = forgotten
		}
	}
	return v
}

// sample chooses lessons and steps that a question for their marker must find, or must not.
func (o *oracle) sample(random *rand.Rand, n int) (found, absent []*fact) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range 20 * n {
		if len(o.order) == 0 {
			break
		}
		f := o.order[random.IntN(len(o.order))]
		isAbsent := f.state == forgotten || f.state == withdrawn || f.state == never
		switch {
		case f.kind != memory.Lesson && f.kind != memory.Step || f.retracting:
		case f.state == kept && len(found) < n:
			found = append(found, f)
		case isAbsent && len(absent) < n/2:
			absent = append(absent, f)
		}
	}
	return found, absent
}
