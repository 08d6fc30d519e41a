package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// Answer is what a question is answered with, as an agent gets it.
type Answer struct {
	Items []Shown
	// Tokens is the length of the text that is sent.
	Tokens int
}

// Shown is one item of an answer.
type Shown struct {
	// Documents are the ids of what it shows: a piece of code may hold several documents.
	Documents []string
	// Line says that it is shown as a line and not in full.
	Line bool
}

// Answers are the figures of answers to some questions.
type Answers struct {
	// Kind and Split say which questions; empty is all.
	Kind       memory.Kind `json:"kind,omitempty"`
	Split      string      `json:"split,omitempty"`
	Answerable Answerable  `json:"answerable"`
	// Unanswerable are the questions that nothing in the set answers, Removed the answerable
	// ones, asked while what answers them was removed.
	Unanswerable Unanswerable `json:"unanswerable"`
	Removed      Unanswerable `json:"removed,omitzero"`
}

// Answerable counts what became of the right documents. A question with several counts once, with
// the best.
type Answerable struct {
	Questions int `json:"questions"`
	// Full and Line were shown, in full or as a line. Ranked were among the first ten of
	// the ranking and not shown, Lost neither.
	Full   int `json:"full"`
	Line   int `json:"line"`
	Ranked int `json:"ranked"`
	Lost   int `json:"lost"`
	// Tokens is the mean length of an answer.
	Tokens float64 `json:"tokens"`
}

// Unanswerable counts what is shown where nothing is right.
type Unanswerable struct {
	Questions int `json:"questions"`
	// Silent were answered with no item, Lines with lines only, Full with at least one
	// item in full.
	Silent int     `json:"silent"`
	Lines  int     `json:"lines"`
	Full   int     `json:"full"`
	Tokens float64 `json:"tokens"`
}

func (c *Answerable) add(a Answer, ranked []Hit, grades Grades) {
	right := func(id string) bool { return grades[id] > 0 }
	c.Questions++
	c.Tokens += float64(a.Tokens)
	full, line := false, false
	for _, item := range a.Items {
		if slices.ContainsFunc(item.Documents, right) {
			full, line = full || !item.Line, line || item.Line
		}
	}
	switch {
	case full:
		c.Full++
	case line:
		c.Line++
	case slices.ContainsFunc(ranked[:min(10, len(ranked))], func(h Hit) bool { return right(h.Document) }):
		c.Ranked++
	default:
		c.Lost++
	}
}

func (c *Unanswerable) add(a Answer) {
	c.Questions++
	c.Tokens += float64(a.Tokens)
	switch {
	case len(a.Items) == 0:
		c.Silent++
	case slices.ContainsFunc(a.Items, func(item Shown) bool { return !item.Line }):
		c.Full++
	default:
		c.Lines++
	}
}

// asker asks for answers and counts them.
type asker struct {
	set    *Set
	engine Engine
	kinds  []memory.Kind
	opts   Options
	rows   []Answers
	judged map[string]Document // by id; only where answers are removed
}

// count calls add for every row that the question belongs to, and makes those that are missing: all
// questions, those of a split, those of a kind.
func (k *asker) count(q Query, add func(*Answers)) {
	keys := []Answers{{}}
	if q.Split != "" {
		keys = append(keys, Answers{Split: q.Split})
	}
	if q.Kind != "" {
		keys = append(keys, Answers{Kind: q.Kind})
	}
	for _, key := range keys {
		i := slices.IndexFunc(k.rows, func(a Answers) bool { return a.Kind == key.Kind && a.Split == key.Split })
		if i < 0 {
			i = len(k.rows)
			k.rows = append(k.rows, key)
		}
		add(&k.rows[i])
	}
}

// ask asks one question, which has been ranked if it is judged.
func (k *asker) ask(ctx context.Context, q Query, ranked []Hit) error {
	project := project(k.set, q.Group)
	a, err := k.engine.Answer(ctx, project.ID, k.kinds, q.Text)
	if err != nil {
		return err
	}
	grades, judged := k.set.Judged[q.ID]
	if !judged {
		k.count(q, func(row *Answers) { row.Unanswerable.add(a) })
		return nil
	}
	k.count(q, func(row *Answers) { row.Answerable.add(a, ranked, grades) })
	if !k.opts.Removed {
		return nil
	}
	var docs []Document
	for id, grade := range grades {
		if grade > 0 {
			docs = append(docs, k.judged[id])
		}
	}
	slices.SortFunc(docs, func(a, b Document) int { return a.order - b.order })
	if err := k.engine.Remove(ctx, project, docs); err != nil {
		return fmt.Errorf("remove answers: %w", err)
	}
	if a, err = k.engine.Answer(ctx, project.ID, k.kinds, q.Text); err != nil {
		return err
	}
	k.count(q, func(row *Answers) { row.Removed.add(a) })
	if err := k.engine.Put(ctx, project, docs); err != nil {
		return fmt.Errorf("put answers back: %w", err)
	}
	return k.engine.Settle(ctx, func(int) {})
}

// means returns the rows with means for sums: all questions first, then by split and kind.
func (k *asker) means() []Answers {
	for i := range k.rows {
		r := &k.rows[i]
		r.Answerable.Tokens /= float64(max(r.Answerable.Questions, 1))
		r.Unanswerable.Tokens /= float64(max(r.Unanswerable.Questions, 1))
		r.Removed.Tokens /= float64(max(r.Removed.Questions, 1))
	}
	slices.SortStableFunc(k.rows, func(a, b Answers) int {
		by := func(r Answers) int {
			switch {
			case r.Kind != "":
				return 2
			case r.Split != "":
				return 1
			}
			return 0
		}
		return by(a) - by(b)
	})
	return k.rows
}
