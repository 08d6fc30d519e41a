package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"time"
	"unicode/utf8"
)

// The bounds of anchors.
const (
	MaxAnchors    = 8    // of one lesson
	maxAnchorPath = 1000 // characters
	// MaxSketch is the largest sketch of an anchor, in bytes: 64 lines of 4.
	MaxSketch = 256
)

// AnchorRequest is a place in code that a lesson is about.
type AnchorRequest struct {
	// Path is relative to the repository's root, or absolute below it.
	Path string `json:"path" limit:"1-1000"`
	// Symbol is a declaration or heading in the file, Lines are the first and last line of
	// a part, from 1. Without either the file is meant.
	Symbol string `json:"symbol,omitempty" limit:"0-200"`
	Lines  []int  `json:"lines,omitempty" limit:"0-2" desc:"First, last."`
}

func (r *AnchorRequest) relations(at string) error {
	const limit = "first and last line, from 1"
	switch l := r.Lines; {
	case len(l) == 0:
		return nil
	case r.Symbol != "":
		return Invalid(at+"lines", "one of symbol and lines", "is given beside symbol")
	case len(l) != 2:
		return Invalid(at+"lines", limit, "%s", Count(len(l), "number"))
	case l[0] < 1 || l[1] < l[0]:
		return Invalid(at+"lines", limit, "%d to %d is no range", l[0], l[1])
	}
	return nil
}

// Anchor ties a lesson to code as it was when the lesson was told.
type Anchor struct {
	// Path is relative to the repository's root, with slashes.
	Path string `json:"path"`
	// Symbol is the declaration or heading that the lesson names.
	Symbol string `json:"symbol,omitempty"`
	// Whole says that the lesson is about the file, not about a part of it.
	Whole bool `json:"whole,omitempty"`
	// Code is the place of the code in the file and the hash of its bytes. Its Doc is the
	// document of the indexed chunk with its first line, zero without one.
	Code FileChunk `json:"code"`
	// Sketch has the hashes of its lines, 4 bytes each: all of them, or an even sample.
	Sketch []byte `json:"sketch,omitempty"`
}

// Anchors reads the anchors that an export wrote. It returns nil if they are not valid.
func Anchors(raw json.RawMessage) []Anchor {
	var list []Anchor
	if json.Unmarshal(raw, &list) != nil || len(list) > MaxAnchors || slices.ContainsFunc(list, func(a Anchor) bool { return !a.valid() }) {
		return nil
	}
	return list
}

func (a *Anchor) valid() bool {
	c := a.Code
	return fs.ValidPath(a.Path) && utf8.RuneCountInString(a.Path) <= maxAnchorPath && utf8.RuneCountInString(a.Symbol) <= MaxNameText &&
		utf8.RuneCountInString(c.Symbol) <= MaxNameText && len(a.Sketch) <= MaxSketch && len(a.Sketch)%4 == 0 &&
		c.Start >= 0 && c.End >= c.Start && c.StartLine > 0 && c.EndLine >= c.StartLine
}

// AnchorState says what has become of the code of an anchor.
type AnchorState string

// The states of anchors, the worst last.
const (
	AnchorUnchanged AnchorState = "unchanged"
	AnchorMoved     AnchorState = "moved"   // the same text is in another file
	AnchorUnknown   AnchorState = "unknown" // it could not be read in time, or not at all
	AnchorChanged   AnchorState = "changed"
	AnchorGone      AnchorState = "gone"
)

var anchorStates = []AnchorState{AnchorUnchanged, AnchorMoved, AnchorUnknown, AnchorChanged, AnchorGone}

// Outdated says that a lesson about such code may be out of date.
func (s AnchorState) Outdated() bool { return s == AnchorChanged || s == AnchorGone }

// AnchorCheck is an anchor compared with the disk.
type AnchorCheck struct {
	Path   string      `json:"path"`
	Symbol string      `json:"symbol,omitempty"`
	State  AnchorState `json:"state" desc:"unchanged, moved, changed, gone or unknown."`
	// MovedTo is where the text, or the symbol, is now: "a/b.go:10-20".
	MovedTo string `json:"moved_to,omitempty"`
	// Changed is about which share of its lines is gone, from 0 to 1.
	Changed float64 `json:"changed,omitempty"`
}

// WorstAnchor returns the worst state of some anchors, and "" for none.
func WorstAnchor(checks []AnchorCheck) AnchorState {
	worst := -1
	for _, c := range checks {
		worst = max(worst, slices.Index(anchorStates, c.State))
	}
	if worst < 0 {
		return ""
	}
	return anchorStates[worst]
}

// String says what became of an anchor: "a.go Serve: changed since, about a third of its lines".
func (c AnchorCheck) String() string {
	text := c.Path
	if c.Symbol != "" {
		text += " " + c.Symbol
	}
	text += ": "
	switch c.State {
	case AnchorMoved:
		text += "moved to " + c.MovedTo
	case AnchorChanged:
		text += "changed since, " + shareOfLines(c.Changed)
		if c.MovedTo != "" {
			text += ", now in " + c.MovedTo
		}
	case AnchorUnknown:
		text += "not read"
	default:
		text += string(c.State)
	}
	return text
}

// shareOfLines says a share in words.
func shareOfLines(share float64) string {
	for _, s := range []struct {
		below float64
		text  string
	}{{.05, "a line or two"}, {.15, "about a tenth of its lines"}, {.3, "about a quarter of its lines"}, {.42, "about a third of its lines"}, {.6, "about half of its lines"}, {.9, "most of its lines"}} {
		if share < s.below {
			return s.text
		}
	}
	return "all of its lines"
}

// AnchorFound is what a file says of an anchor.
type AnchorFound struct {
	// Same says that the text is in the file, at these lines.
	Same               bool
	StartLine, EndLine int
	// Changed is about which share of the lines is not in the file. Gone says that none
	// is and that the symbol, if there is one, is not either.
	Changed float64
	Gone    bool
}

// AnchorReader reads files for anchors, through the gates of code. Its errors are
// *GateError.
type AnchorReader interface {
	// Anchor makes the anchor of a place in a file; at has its root and path. It returns
	// *Error if the file has no such symbol or line.
	Anchor(ctx context.Context, at Location, want AnchorRequest) (Anchor, error)
	// Compare says what a file has of anchors, in their order.
	Compare(ctx context.Context, at Location, anchors []Anchor) ([]AnchorFound, error)
}

// LessonsRequest asks for the lessons of a project, newest first.
type LessonsRequest struct {
	Project string `json:"project,omitempty" limit:"0-4096"`
	Stale   bool   `json:"stale,omitempty" desc:"Only lessons whose code changed or is gone."`
	// Words keeps the lessons that have them, the best first; at most MaxLessonsFound.
	Words string `json:"words,omitempty" limit:"0-500" desc:"Only lessons with these words, the best first."`
	// Withdrawn asks for the lessons that are kept and not recalled, in place of the others.
	Withdrawn bool      `json:"withdrawn,omitempty" desc:"Those that were superseded or retracted, in place of the others."`
	Pinned    bool      `json:"pinned,omitempty" desc:"Only lessons that are pinned."`
	Tag       string    `json:"tag,omitempty" limit:"0-200" text:"exact" desc:"Only lessons with this tag."`
	Since     time.Time `json:"since,omitzero" text:"exact" desc:"Nothing older than this RFC 3339 time."`
	// Order is ignored with words. Skip leaves out the first ones.
	Order  LessonOrder `json:"order,omitempty" enum:"newest,oldest,worked,failed" default:"newest" desc:"worked and failed: by how often they did."`
	Skip   int         `json:"skip,omitempty" limit:"0-1000000" desc:"How many to leave out at the beginning."`
	Limit  int         `json:"limit,omitempty" limit:"1-1000" default:"20"`
	Caller Caller      `json:"caller,omitzero"`
}

// LessonOrder is the order of a list of lessons.
type LessonOrder string

// The orders.
const (
	NewestFirst LessonOrder = "newest"
	OldestFirst LessonOrder = "oldest"
	WorkedFirst LessonOrder = "worked"
	FailedFirst LessonOrder = "failed"
)

// MaxLessonsFound bounds the lessons that words find.
const MaxLessonsFound = 1000

// DefaultLessons and MaxLessonsListed bound a list of lessons.
const (
	DefaultLessons   = 20
	MaxLessonsListed = 1000
)

// LessonList holds lessons, newest first.
type LessonList struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name"`
	Lessons     []Item `json:"lessons"`
	// Total counts the lessons of the project that are recalled, Found those that the request
	// chose, listed or not, Stale the stale ones if they were asked for.
	Total int `json:"total"`
	Found int `json:"found" desc:"Those that the request chose, listed or not."`
	Stale int `json:"stale,omitempty"`
	// Unread counts lessons of which some code could not be read: they may be stale, too.
	Unread int `json:"unread,omitempty"`
}

// MovedTo writes where the text of an anchor was found.
func (f AnchorFound) MovedTo(path string) string {
	if !f.Same {
		return path
	}
	return fmt.Sprintf("%s:%d-%d", path, f.StartLine, f.EndLine)
}

// AnchorQuery asks for the anchors of a lesson that is being told.
type AnchorQuery struct {
	Project string
	Dir     string // the caller's folder
	// Given are the places that the caller names; without any, those that Text mentions
	// are meant, and if it mentions none, Touched: paths that steps worked on just before.
	Given   []AnchorRequest
	Text    string
	Touched []string
}
