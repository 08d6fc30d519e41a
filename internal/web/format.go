package web

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// functions are what templates call.
func (s *Site) functions() template.FuncMap {
	return template.FuncMap{
		// Control and bidirectional characters are shown, not sent.
		"text":    func(v any) string { return render.Visible(fmt.Sprint(v)) },
		"bytes":   render.Bytes,
		"exact":   func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") },
		"ago":     func(t time.Time) string { return ago(s.opts.Now().Sub(t)) },
		"bar":     func(x float64) int { return int(min(max(x, 0), 1)*100 + .5) },
		"share":   func(x float64) string { return fmt.Sprintf("%.2f", x) },
		"percent": func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) },
		"part":    func(n, of int) float64 { return float64(n) / float64(max(of, 1)) },
		"count":   memory.Count,
		"grouped": grouped,
		"took":    func(m memory.Millis) string { return fmt.Sprintf("%.1f ms", float64(m)/1e6) },
		"short":   render.ShortID,
		"state":   func(p memory.SandboxState) string { return p.IndexState() },
		"reason":  reasonText,
		"skip":    skipText,
		"tasks":   taskLines,
		"label":   func(project string, i memory.Item) label { return labels{project: project}.labelOf(i) },
		"cut":     cutTo,
		"asked":   func(r memory.Receipt) string { return cutTo(r.Request.Asked(), 160) },
		"held":    held,
		"minus":   func(a, b int) int { return a - b },
		"list":    func(of ...string) []string { return of },
		"sorted":  counts,
	}
}

// counts lists counts in the order of their names.
func counts(m map[string]int) []count {
	var all []count
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, count{name, m[name]})
	}
	return all
}

// held says in words what an answer held.
func held(r memory.Receipt) string {
	if len(r.Items) == 0 {
		return "nothing"
	}
	n := map[memory.Kind]int{}
	for _, i := range r.Items {
		n[i.Kind]++
	}
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(n)) {
		words = append(words, memory.Count(n[kind], string(kind)))
	}
	return strings.Join(words, ", ")
}

// reasons say why something was withheld.
var reasons = map[memory.Reason]string{
	memory.BelowThreshold: "below the threshold of relevance", memory.Gone: "gone", memory.Outside: "outside of its folder", memory.Binary: "no text any more",
	memory.Changed: "changed on disk since", memory.Unreadable: "cannot be read", memory.Duplicate: "the same as another one", memory.OverBudget: "no room in the budget of tokens",
	memory.OverLimit: "more than were asked for", memory.TooSlow: "could not be read in time", memory.Removed: "taken out by hand", memory.NextStart: "from the next session on",
	memory.Disabled: "switched off", memory.ByHand: "included by hand only", memory.NotFound: "not found", memory.Ambiguous: "several begin so",
	memory.OtherProject: "of another project", memory.NotShown: "not recalled from here", memory.Superseded: "replaced by another lesson", memory.Retracted: "found wrong",
}

// reasonText is a reason in words; one of a newer version is shown as it is.
func reasonText(r memory.Reason) string { return cmp.Or(reasons[r], string(r)) }

// skips say why files are left out of an index, where the word of the code source does not.
var skips = map[string]string{
	"skipped_folder": "in a skipped folder", "skipped_name": "skipped by name", "ignored": "ignored by a rule", "too_large": "too large", "too_many": "beyond the limit of files",
	"data": "data, not written by hand", "symbolic_link": "a symbolic link", "not_a_file": "not a regular file", "nested_repository": "a repository of its own", "odd_name": "with a name that is not UTF-8",
}

func skipText(reason string) string { return cmp.Or(skips[reason], reason) }

// cutTo returns the first n characters of a text, in one line, with an ellipsis where it is cut.
func cutTo(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + render.Ellipsis
	}
	return text
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// ago says how long ago something was, as people say it.
func ago(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{365 * 24 * time.Hour, "year"}, {30 * 24 * time.Hour, "month"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / unit.of); n == 1 {
			return "1 " + unit.name + " ago"
		} else if n > 1 {
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}

// The sizes of drawings, in units of their view box.
const (
	chartWidth, chartHeight = 600, 120
	barGap                  = 2
)

// chart is values over time, drawn as a line.
type chart struct {
	Points []dot
	Line   string // the points of the line
}

// dot is one value.
type dot struct {
	At    time.Time
	Value float64
	Note  string
	X, Y  float64
}

func (c *chart) add(at time.Time, value float64, note string) {
	c.Points = append(c.Points, dot{At: at, Value: value, Note: note})
}

// drawn orders the values and puts them where they are drawn: from 0 to 100 from below.
func (c *chart) drawn() *chart {
	slices.SortStableFunc(c.Points, func(a, b dot) int { return a.At.Compare(b.At) })
	first, last := c.Points[0].At, c.Points[len(c.Points)-1].At
	var line []string
	for i := range c.Points {
		p := &c.Points[i]
		p.X, p.Y = chartWidth/2, 8+(chartHeight-16)*(1-p.Value/100)
		if span := last.Sub(first); span > 0 {
			p.X = 8 + (chartWidth-16)*float64(p.At.Sub(first))/float64(span)
		}
		line = append(line, fmt.Sprintf("%.1f,%.1f", p.X, p.Y))
	}
	c.Line = strings.Join(line, " ")
	return c
}

// bars are counts by day and kind, drawn as stacks.
type bars struct {
	Kinds []count // with all of the days
	Days  []stack
	Most  int // of one day
	Width int
}

// stack is one day.
type stack struct {
	Day   time.Time
	Total int
	X     int
	Width int
	Parts []stackPart
}

// stackPart is one kind of a day.
type stackPart struct {
	Kind      string
	N         int
	Y, Height float64
}

// barsOf draws an activity; nil if nothing was made.
func barsOf(a *memory.Activity) *bars {
	b := &bars{Width: chartWidth}
	totals := map[memory.Kind]int{}
	for _, d := range a.Days {
		n := 0
		for kind, k := range d.Counts {
			totals[kind] += k
			n += k
		}
		b.Most = max(b.Most, n)
	}
	b.Kinds = countsOf(totals)
	if b.Most == 0 {
		return nil
	}
	width := chartWidth / len(a.Days)
	for i, d := range a.Days {
		s := stack{Day: d.Day, X: i * width, Width: max(width-barGap, 1)}
		y := float64(chartHeight)
		for _, kind := range b.Kinds {
			n := d.Counts[memory.Kind(kind.Name)]
			if n == 0 {
				continue
			}
			height := float64(n) / float64(b.Most) * (chartHeight - 4)
			y -= height
			s.Total += n
			s.Parts = append(s.Parts, stackPart{kind.Name, n, y, height})
		}
		b.Days = append(b.Days, s)
	}
	return b
}
