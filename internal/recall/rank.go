package recall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of the ranking factors. Together they move a match by at most their product, so
// that no factor lifts a bad match.
const (
	minFactors, maxFactors = 0.6, 1.4
	// recencyShare is the largest loss with age.
	recencyShare = 0.2
	// successShare is the gain from proven success or the loss from proven failure,
	// leaningShare the same for outcomes that prove nothing yet.
	successShare, leaningShare = 0.15, 0.05
	// otherProject and ownSession are the factors for the record's origin.
	otherProject = 0.8
	ownSession   = 1.1
)

// DefaultHalfLife returns the age at which a record has lost half of the recency factor.
// Lessons stay true longer than steps. Code does not age.
func DefaultHalfLife() map[memory.Kind]time.Duration {
	const day = 24 * time.Hour
	return map[memory.Kind]time.Duration{memory.Lesson: 90 * day, memory.Step: 14 * day, memory.Task: 14 * day, memory.SessionSummary: 14 * day}
}

// leastLessons is the minimum share of relevant lessons in an answer with steps: a step
// shows what happened, a lesson what to do.
const leastLessons = 0.5

// rankContext describes the caller and the project of a question.
type rankContext struct {
	now     time.Time
	project string
	also    string   // a project whose records count as own
	names   []string // of the project's repository; empty for any
	session string
	// strengths ranks what is sure before what is likely.
	strengths bool
}

// owns says whether a record belongs to the repository that the question is about.
func (v rankContext) owns(c *candidate) bool {
	if v.also != "" && c.Project == v.also {
		return true
	}
	return c.Project == v.project && (c.Repo == "" || len(v.names) == 0 || slices.Contains(v.names, c.Repo))
}

func (r *run) rank() {
	from := rankContext{now: r.asked, project: r.project.ID, names: r.project.Names, session: r.req.Caller.Session, strengths: true}
	r.candidates = rank(r.candidates, r.settings.HalfLife, from)
	r.maybe = rank(r.maybe, r.settings.HalfLife, from)
}

// lessonsFirst raises lessons to their share of the answer.
func (r *run) lessonsFirst() { r.candidates = leadLessons(r.candidates, r.req.Limit) }

// rank orders candidates by match times factors. Exact error matches come first, then
// candidates asked for by name or place, then, for an answer, what is sure. Records from the
// repository's files come after all recorded or imported ones, and lessons of other
// repositories after the own ones. Ties keep the order of the fusion.
func rank(cs []*candidate, halfLife map[memory.Kind]time.Duration, from rankContext) []*candidate {
	for _, c := range cs {
		f := memory.RankFactors{
			Recency: recency(from.now.Sub(c.Created), halfLife[c.Kind]),
			Success: 1, Project: 1, Session: 1,
			Error: c.error, Followed: c.Followed, Neighbours: round(c.around),
			FileKind: string(c.fileKind), Named: c.spelled,
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
		order := cmp.Or(errorOrder(a, b), askedOrder(a, b))
		if order == 0 && from.strengths {
			order = strengthOrder(a, b)
		}
		return cmp.Or(order, cmp.Compare(b.factors.Score, a.factors.Score),
			boolOrder(a.Kind != memory.SessionSummary, b.Kind != memory.SessionSummary))
	})
	codeByScore(cs)
	followedLast(cs)
	ownFirst(cs)
	return cs
}

// codeByScore orders code by its score among the places of all code, whatever its strengths
// are: a test is surer than what it tests, because it says in words what the code does in
// names.
func codeByScore(cs []*candidate) {
	reorder(cs, func(c *candidate) bool { return c.Kind == memory.Chunk && !c.error && c.mention.rank == 0 }, func(a, b *candidate) int {
		return cmp.Compare(b.factors.Score, a.factors.Score)
	})
}

// followedLast moves recorded and imported records before those from the repository's
// files, within the places of all records. A repository's author must not displace them,
// whatever the file quotes. Code keeps its places.
func followedLast(cs []*candidate) {
	reorder(cs, func(c *candidate) bool { return c.Kind != memory.Chunk }, func(a, b *candidate) int {
		return boolOrder(!a.Followed, !b.Followed)
	})
}

// ownFirst moves own lessons before lessons of other repositories, within the places of
// all lessons. Lessons about the quoted error stay first, lessons from the repository's
// files last.
func ownFirst(cs []*candidate) {
	reorder(cs, func(c *candidate) bool { return c.Kind == memory.Lesson }, func(a, b *candidate) int {
		return cmp.Or(boolOrder(!a.Followed, !b.Followed), boolOrder(a.error, b.error), boolOrder(!a.foreign, !b.foreign))
	})
}

// reorder sorts the chosen candidates among the places that they have.
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

// reorderByScore orders the chosen candidates by a score among the places, and with the
// fused scores, that they have: how they compare with all others does not change.
func (r *run) reorderByScore(chosen func(*candidate) bool, score func(*candidate) float64) {
	type place struct{ fused, match float64 }
	var places []place // best first
	by := map[*candidate]float64{}
	for _, c := range r.candidates {
		if chosen(c) {
			places = append(places, place{c.fused, c.match})
			by[c] = score(c)
		}
	}
	reorder(r.candidates, chosen, func(a, b *candidate) int { return cmp.Compare(by[b], by[a]) })
	for _, c := range r.candidates {
		if _, is := by[c]; is {
			c.fused, c.match = places[0].fused, places[0].match
			places = places[1:]
		}
	}
}

// yields says that an item gives way to lessons: a step that is not about the quoted error, or
// a session summary.
func yields(c *candidate) bool {
	return (c.Kind == memory.Step || c.Kind == memory.SessionSummary) && !c.error
}

// leadLessons moves the best lessons before the last steps and session summaries among the
// first limit items, until lessons are leastLessons of them. A step about the quoted error
// never moves, and no step moves for a lesson from the repository's files.
func leadLessons(ranked []*candidate, limit int) []*candidate {
	head := ranked[:min(limit, len(ranked))]
	missing := int(math.Ceil(leastLessons * float64(limit)))
	steps := 0
	for _, c := range head {
		switch {
		case c.Kind == memory.Lesson:
			missing--
		case yields(c):
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
		if yields(c) {
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

// recency falls from 1 to 1-recencyShare; half of that in one half-life.
func recency(age, halfLife time.Duration) float64 {
	if halfLife <= 0 || age <= 0 {
		return 1
	}
	return 1 - recencyShare*(1-math.Exp2(-float64(age)/float64(halfLife)))
}

// success returns the factor for X successes of Y, from Wilson's 95 % interval (Wilson,
// 1927): by how far the interval lies on one side of .5, and a little by its middle. It is
// 1 without evidence. 9/10 counts for more than 1/1, 0/5 for less than no outcome, and one
// more success never for less.
func success(r memory.Rate) float64 {
	if r.Attempts == 0 {
		return 1
	}
	lower := wilson(float64(r.Successes), float64(r.Attempts))
	upper := 1 - wilson(float64(r.Attempts-r.Successes), float64(r.Attempts))
	proven := max(2*lower-1, 0) - max(1-2*upper, 0)
	return 1 + successShare*proven + leaningShare*(lower+upper-1)
}

// wilson returns the lower bound of Wilson's interval for x successes of n.
func wilson(x, n float64) float64 {
	const z = 1.96
	p := x / n
	centre := p + z*z/(2*n)
	spread := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (centre - spread) / (1 + z*z/n)
}

// byKind orders ranked items by kind: lessons, steps, code, and lines last. It keeps the
// rank within each.
func byKind(ranked []memory.Item) []memory.Item {
	items := slices.Clone(ranked)
	slices.SortStableFunc(items, func(a, b memory.Item) int {
		if maybe := memory.Maybe; a.Strength == maybe || b.Strength == maybe {
			return boolOrder(a.Strength != maybe, b.Strength != maybe)
		}
		return cmp.Compare(slices.Index(memory.Kinds, a.Kind), slices.Index(memory.Kinds, b.Kind))
	})
	return items
}
