package recall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of the factors: together they never move a match by more than their
// product's bounds, so that no factor lifts what does not fit.
const (
	minFactors, maxFactors = 0.6, 1.4
	// recencyShare is what is lost with age in the limit.
	recencyShare = 0.2
	// successShare is what proven success adds, or proven failure takes, and
	// leaningShare what outcomes do that prove nothing yet.
	successShare, leaningShare = 0.15, 0.05
	// otherProject and ownSession say whose record it is.
	otherProject = 0.8
	ownSession   = 1.1
)

// DefaultHalfLife is the age at which a record has lost half of what recency
// gives: lessons stay true longer than steps; code is as old as its file.
func DefaultHalfLife() map[memory.Kind]time.Duration {
	const day = 24 * time.Hour
	return map[memory.Kind]time.Duration{memory.Lesson: 90 * day, memory.Step: 14 * day, memory.Task: 14 * day}
}

// leastLessons is the share of an answer that relevant lessons are brought up to
// where steps would fill it: a step shows what happened, a lesson what to do.
const leastLessons = 0.5

// rankContext is from where a question is asked.
type rankContext struct {
	now     time.Time
	project string
	also    string   // a project whose records count as the own ones
	names   []string // of the project's repository; empty for any
	session string
}

// owns says whether a record is of the repository that the question is about.
func (v rankContext) owns(c *candidate) bool {
	if v.also != "" && c.Project == v.also {
		return true
	}
	return c.Project == v.project && (c.Repo == "" || len(v.names) == 0 || slices.Contains(v.names, c.Repo))
}

// rank orders the candidates as seen from where the question is asked.
func (r *run) rank() {
	r.candidates = rank(r.candidates, r.settings.HalfLife, rankContext{
		now: r.asked, project: r.project.ID, names: r.project.Names, session: r.req.Caller.Session,
	})
}

// lessonsFirst brings lessons up to their share of the answer.
func (r *run) lessonsFirst() { r.candidates = leadLessons(r.candidates, r.req.Limit) }

// rank orders candidates by match times factors, after those that tell of the
// very error that was asked about and those that were asked for by name or place.
// Records from the repository's files stand after all that was told or imported, and
// lessons of other repositories behind the own ones. Ties keep the order of the fusion.
func rank(cs []*candidate, halfLife map[memory.Kind]time.Duration, from rankContext) []*candidate {
	for _, c := range cs {
		f := memory.RankFactors{
			Recency: recency(from.now.Sub(c.Created), halfLife[c.Kind]),
			Success: 1, Project: 1, Session: 1,
			Error: c.error, Followed: c.Followed,
		}
		if c.mention.rank > 0 && c.mention.name.Name != "" {
			f.Definition = c.mention.name.String()
		}
		if c.mention.rank > 0 && c.mention.at.Path != "" {
			f.Place = c.mention.at.String()
		}
		if c.Rate != nil {
			f.Success = success(*c.Rate)
		}
		if c.foreign = !from.owns(c); c.foreign {
			f.Project = otherProject
		}
		if from.session != "" && c.Session == from.session {
			f.Session = ownSession
		}
		all := min(max(f.Recency*f.Success*f.Project*f.Session, minFactors), maxFactors)
		f.Score = c.match * all
		c.factors = f
	}
	slices.SortStableFunc(cs, func(a, b *candidate) int {
		return cmp.Or(errorOrder(a, b), askedOrder(a, b), cmp.Compare(b.factors.Score, a.factors.Score))
	})
	followedLast(cs)
	ownFirst(cs)
	return cs
}

// followedLast gives the places of records to those first that were told or imported:
// what whoever wrote the repository says never takes the place of one, whatever it
// quotes. Code keeps its places.
func followedLast(cs []*candidate) {
	reorder(cs, func(c *candidate) bool { return c.Kind != memory.Chunk }, func(a, b *candidate) int {
		return boolOrder(!a.Followed, !b.Followed)
	})
}

// ownFirst gives the places of lessons to the own ones first, so that no other
// repository's lesson takes one's place in an answer. Lessons about the quoted
// error stay before the others, and those from the repository's files behind all.
func ownFirst(cs []*candidate) {
	reorder(cs, func(c *candidate) bool { return c.Kind == memory.Lesson }, func(a, b *candidate) int {
		return cmp.Or(boolOrder(!a.Followed, !b.Followed), boolOrder(a.error, b.error), boolOrder(!a.foreign, !b.foreign))
	})
}

// reorder sorts the candidates that are chosen among the places that they have.
func reorder(cs []*candidate, chosen func(*candidate) bool, order func(a, b *candidate) int) {
	var places []int
	var sorted []*candidate
	for i, c := range cs {
		if chosen(c) {
			places, sorted = append(places, i), append(sorted, c)
		}
	}
	slices.SortStableFunc(sorted, order)
	for i, place := range places {
		cs[place] = sorted[i]
	}
}

// leadLessons brings up the best lessons before the last of the steps that an
// answer of some items would hold, until lessons are leastLessons of it. Steps that
// tell of the quoted error give way to none, and no step to a lesson from the
// repository's files.
func leadLessons(ranked []*candidate, limit int) []*candidate {
	head := ranked[:min(limit, len(ranked))]
	missing := int(math.Ceil(leastLessons * float64(limit)))
	steps := 0
	for _, c := range head {
		switch {
		case c.Kind == memory.Lesson:
			missing--
		case c.Kind == memory.Step && !c.error:
			steps++
		}
	}
	var lessons, rest []*candidate
	for _, c := range ranked[len(head):] {
		if c.Kind == memory.Lesson && !c.Followed && len(lessons) < min(missing, steps) {
			lessons = append(lessons, c)
		} else {
			rest = append(rest, c)
		}
	}
	var staying, leaving []*candidate
	for _, c := range head {
		if c.Kind == memory.Step && !c.error {
			if steps <= len(lessons) {
				leaving = append(leaving, c)
				continue
			}
			steps--
		}
		staying = append(staying, c)
	}
	return slices.Concat(staying, lessons, leaving, rest)
}

// recency falls from 1 to 1-recencyShare, half of the way in a half-life.
func recency(age, halfLife time.Duration) float64 {
	if halfLife <= 0 || age <= 0 {
		return 1
	}
	return 1 - recencyShare*(1-math.Exp2(-float64(age)/float64(halfLife)))
}

// success is 1 for no evidence either way. It goes by Wilson's 95 % interval for
// X of Y (Wilson, 1927): by how far it lies on one side of a half, and a little
// by where its middle lies. 9/10 counts for more than 1/1, 0/5 for less than
// nothing known, and one success more never for less.
func success(r memory.Rate) float64 {
	if r.Attempts == 0 {
		return 1
	}
	lower := wilson(float64(r.Successes), float64(r.Attempts))
	upper := 1 - wilson(float64(r.Attempts-r.Successes), float64(r.Attempts))
	proven := max(2*lower-1, 0) - max(1-2*upper, 0)
	return 1 + successShare*proven + leaningShare*(lower+upper-1)
}

// wilson is the lower bound of Wilson's interval for x successes of n.
func wilson(x, n float64) float64 {
	const z = 1.96
	p := x / n
	centre := p + z*z/(2*n)
	spread := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (centre - spread) / (1 + z*z/n)
}

// byKind returns ranked items in the order of an answer: lessons, steps, code,
// ranked within each.
func byKind(ranked []memory.Item) []memory.Item {
	items := slices.Clone(ranked)
	slices.SortStableFunc(items, func(a, b memory.Item) int {
		return cmp.Compare(slices.Index(memory.Kinds, a.Kind), slices.Index(memory.Kinds, b.Kind))
	})
	return items
}
