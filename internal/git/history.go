package git

import "slices"

// maxWalk bounds how many commits are read to find where a history begins.
const maxWalk = 2048

// Has reports whether the store holds a commit itself, with its text.
func (o *Objects) Has(id string) bool {
	_, err := o.Commit(id)
	return err == nil
}

// History returns commits that identify a history: the first readable tip, its ancestors at
// doubling distances, and the last one reached, which is the root if the history is short
// enough; then the other tips. It follows first parents. It returns only commits that it
// has read.
func (o *Objects) History(tips []string) []string {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, tip := range tips {
		if len(ids) > 0 {
			if o.Has(tip) {
				add(tip)
			}
			continue
		}
		last, next := "", 0
		for i, id := 0, tip; i < maxWalk; i++ {
			c, err := o.Commit(id)
			if err != nil {
				break // before the first commit of a shallow clone
			}
			last = id
			if i == next {
				add(id)
				next = max(1, 2*next)
			}
			if len(c.Parents) == 0 {
				break
			}
			id = c.Parents[0]
		}
		if last != "" {
			add(last)
		}
	}
	return ids
}
