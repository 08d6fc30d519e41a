package daemon

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// diskHistory remembers what was on disk in a sandbox, and when: it judges whether
// what an answer shows was there between the question and the answer. It learns by
// looking at the whole folder after every step of the one who changes it, so that it
// cannot misunderstand what a step, or git, has done. It is not safe for concurrent
// use: whoever changes the folder asks it, between two steps.
type diskHistory struct {
	root     string
	versions map[string][]*version // by path, oldest first
	aliases  []*alias
}

// span is a stretch of time, both ends included. Without an end it lasts.
type span struct{ from, to time.Time }

func (s span) meets(o span) bool {
	return (o.to.IsZero() || !s.from.After(o.to)) && (s.to.IsZero() || !o.from.After(s.to))
}

// version is one content of one path.
type version struct {
	text string
	// there lasts from before the step that made it began until after the step that
	// ended it was over: at its ends the disk may have held either version.
	there span
	// made is the step that wrote it. Meanwhile a reader may have seen the text up
	// to anywhere: git and editors write in place.
	made span
	// over is the text, of the same length, that was overwritten byte by byte.
	over string
	// hidden says that it is no text and must not be shown.
	hidden bool
}

// alias says that a path, and what lies below it, could be read at another one: a
// link, or a folder that was opened and then moved.
type alias struct {
	path, target string
	when         span
	link         bool
}

func newDiskHistory(root string) *diskHistory {
	return &diskHistory{root: root, versions: map[string][]*version{}}
}

// step is what is known of a change of the disk besides its time.
type step struct {
	when span
	// from and to are what was moved, if anything was.
	from, to string
	// overwritten is the path whose bytes were replaced in place.
	overwritten string
	// between are contents that were there during the step only, by path.
	between map[string][]string
}

// learn looks at the folder after a step.
func (h *diskHistory) learn(s step) error {
	files, links, err := onDisk(h.root)
	if err != nil {
		return fmt.Errorf("look at the sandbox: %w", err)
	}
	for name, text := range files {
		current := h.current(name)
		if current != nil && current.text == text {
			continue
		}
		v := &version{text: text, there: span{from: s.when.from}, made: s.when, hidden: !isShowable(text)}
		if current != nil {
			current.there.to = s.when.to
			if name == s.overwritten && len(current.text) == len(text) {
				v.over = current.text
			}
		}
		h.versions[name] = append(h.versions[name], v)
	}
	for name := range h.versions {
		if _, ok := files[name]; !ok {
			if v := h.current(name); v != nil {
				v.there.to = s.when.to
			}
		}
	}
	for name, texts := range s.between {
		for _, text := range texts {
			passing := &version{text: text, there: s.when, made: s.when, hidden: !isShowable(text)}
			h.versions[name] = slices.Insert(h.versions[name], max(len(h.versions[name])-1, 0), passing)
		}
	}
	h.learnLinks(links, s.when)
	if s.from != "" {
		h.aliases = append(h.aliases, &alias{path: s.from, target: s.to, when: s.when})
	}
	return nil
}

func (h *diskHistory) learnLinks(links map[string]string, when span) {
	for _, a := range h.aliases {
		if !a.link || !a.when.to.IsZero() {
			continue
		}
		if links[a.path] == a.target {
			delete(links, a.path) // known
		} else {
			a.when.to = when.to
		}
	}
	for name, target := range links {
		h.aliases = append(h.aliases, &alias{path: name, target: target, when: span{from: when.from}, link: true})
	}
}

// current is the version of a path that is on disk, nil if none is.
func (h *diskHistory) current(name string) *version {
	all := h.versions[name]
	if len(all) == 0 || !all[len(all)-1].there.to.IsZero() {
		return nil
	}
	return all[len(all)-1]
}

// judge returns an error if code that an answer shows was not on disk, at its path
// and in its lines, at any moment between question and answer.
func (h *diskHistory) judge(item memory.Item, asked span) error {
	if item.Source.Lines == nil {
		return fmt.Errorf("%s is shown without its lines", item.Source.Path)
	}
	if h.held(item, item.Source.Path, asked, 0) {
		return nil
	}
	return fmt.Errorf("%s:%v shows text that was not there between question and answer:\n%s\n%s",
		item.Source.Path, *item.Source.Lines, item.Text, h.tell(item, asked))
}

// maxHops bounds how many links and moves are followed; a loop ends here.
const maxHops = 4

func (h *diskHistory) held(item memory.Item, name string, asked span, hops int) bool {
	for _, v := range h.versions[name] {
		if v.there.meets(asked) && !v.hidden && v.shows(item, asked) {
			return true
		}
	}
	if hops == maxHops {
		return false
	}
	for _, a := range h.aliases {
		rest, below := strings.CutPrefix(name, a.path)
		if a.when.meets(asked) && below && (rest == "" || rest[0] == '/') && h.held(item, path.Join(a.target, rest), asked, hops+1) {
			return true
		}
	}
	return false
}

// shows says whether the item can have been read from the version.
func (v *version) shows(item memory.Item, asked span) bool {
	if item.State == "light" { // how a file begins
		return strings.HasPrefix(strings.TrimLeft(v.text, "\uFEFF \t\r\n"), item.Text)
	}
	from, to := item.Source.Lines[0], item.Source.Lines[1]
	lines := strings.SplitAfter(v.text, "\n")
	if from < 1 || to < from || to > len(lines) {
		return false
	}
	start := len(strings.Join(lines[:from-1], ""))
	shown := strings.TrimSuffix(item.Text, "\r")
	if v.made.meets(asked) { // it was being written
		if strings.HasPrefix(v.text[start:], shown) || mixed(v.text, v.over, shown, start) {
			return true
		}
	}
	// A chunk may end with lines that hold nothing, which are not shown.
	return shown == strings.TrimRight(strings.Join(lines[from-1:to], ""), "\r\n") ||
		strings.TrimRight(shown, "\r\n") == strings.TrimRight(strings.Join(lines[from-1:to], ""), "\r\n")
}

// mixed says whether every byte shown is of one text or of the other.
func mixed(text, over, shown string, start int) bool {
	if over == "" || start+len(shown) > len(text) {
		return false
	}
	for i := range len(shown) {
		if shown[i] != text[start+i] && shown[i] != over[start+i] {
			return false
		}
	}
	return true
}

// tell says what was at the path around that time, for who looks into a failure.
func (h *diskHistory) tell(item memory.Item, asked span) string {
	var b strings.Builder
	fmt.Fprintf(&b, "asked %s, answered %s later\n", asked.from.Format(time.StampMicro), asked.to.Sub(asked.from))
	all := h.versions[item.Source.Path]
	for i, v := range all[max(len(all)-4, 0):] {
		ended := "still there"
		if !v.there.to.IsZero() {
			ended = fmt.Sprintf("ended %s after the answer", v.there.to.Sub(asked.to))
		}
		fmt.Fprintf(&b, "version %d of %d: written %s before the question, %s, in it %t\n",
			len(all)-min(len(all), 4)+i+1, len(all), asked.from.Sub(v.there.from), ended, strings.Contains(v.text, item.Text))
	}
	for _, a := range h.aliases {
		if a.when.meets(asked) {
			fmt.Fprintf(&b, "%s was also %s\n", a.path, a.target)
		}
	}
	return b.String()
}

// texts are what an index of everything would hold now: text files by path.
func (h *diskHistory) texts() map[string]string {
	now := map[string]string{}
	for name := range h.versions {
		if v := h.current(name); v != nil && !v.hidden {
			now[name] = v.text
		}
	}
	return now
}

func isShowable(text string) bool { return !strings.Contains(text, "\x00") }

// onDisk reads every regular file below a folder, and where links lead that stay in
// it, without git's own folder. A root that is away, or a link, holds nothing.
func onDisk(root string) (files, links map[string]string, err error) {
	files, links = map[string]string{}, map[string]string{}
	if info, err := os.Lstat(root); err != nil || !info.IsDir() {
		return files, links, nil
	}
	err = filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			if inside := path.Join(path.Dir(name), filepath.ToSlash(target)); !filepath.IsAbs(target) && fs.ValidPath(inside) {
				links[name] = inside
			}
		case entry.Type().IsRegular():
			text, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			files[name] = string(text)
		}
		return nil
	})
	return files, links, err
}

// sortedKeys is for scripts that must do the same with the same seed.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
