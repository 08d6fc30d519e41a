package watch

import (
	"maps"
	"path"
	"slices"
	"time"
)

// changes are the changes of a root since the last batch.
type changes struct {
	paths map[string]struct{}
	all   bool
	// first and last are the times of the first and the last change; held is until when
	// they wait for git. All are zero without changes.
	first, last, held time.Time
}

func (c *changes) empty() bool { return c.first.IsZero() }

// path records a change.
func (c *changes) path(rel string) {
	c.stamp()
	if !c.all {
		if c.paths == nil {
			c.paths = map[string]struct{}{}
		}
		c.paths[rel] = struct{}{}
	}
}

// everything records that anything may have changed.
func (c *changes) everything() {
	c.stamp()
	c.all, c.paths = true, nil
}

func (c *changes) stamp() {
	c.last = time.Now()
	if c.first.IsZero() {
		c.first = c.last
	}
}

// due returns when they are to be handed over, if there are any.
func (c *changes) due(o *Options) (time.Time, bool) {
	if c.empty() {
		return time.Time{}, false
	}
	at := c.last.Add(o.Quiet)
	if latest := c.first.Add(o.MaxDelay); latest.Before(at) {
		at = latest
	}
	if c.held.After(at) {
		at = c.held
	}
	return at, true
}

// batch makes a batch of the changes and resets them.
func (c *changes) batch(root string, most int) Batch {
	b := Batch{Root: root, All: c.all, Paths: slices.Collect(maps.Keys(c.paths))}
	*c = changes{}
	return b.tidy(most)
}

// tidy sorts the paths, removes those below others, and replaces too many of them by
// everything.
func (b Batch) tidy(most int) Batch {
	if b.All {
		b.Paths = nil
		return b
	}
	named := make(map[string]bool, len(b.Paths))
	for _, p := range b.Paths {
		named[p] = true
	}
	b.Paths = slices.DeleteFunc(b.Paths, func(p string) bool {
		for at := path.Dir(p); at != "."; at = path.Dir(at) {
			if named[at] {
				return true
			}
		}
		return false
	})
	slices.Sort(b.Paths)
	b.Paths = slices.Compact(b.Paths)
	if len(b.Paths) > most {
		b.Paths, b.All = nil, true
	}
	return b
}

// joined joins two batches of a root. The older was not received yet.
func joined(older, newer *Batch, most int) *Batch {
	if older == nil {
		return newer
	}
	b := Batch{Root: newer.Root, All: older.All || newer.All, Gone: newer.Gone, Paths: append(older.Paths, newer.Paths...)}
	b = b.tidy(most)
	return &b
}
