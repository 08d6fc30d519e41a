//go:build unix

package daemon

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// outsideMarker is in every file that lies outside of the sandbox.
const outsideMarker = "Quetzalcoatl keeps the harbour ledger"

// vandal changes a repository at random, the same way for the same seed, and tells
// its history what it does. All of it belongs to one goroutine.
type vandal struct {
	random  *rand.Rand
	root    string
	outside string // a folder beside the repository, full of outsideMarker
	history *diskHistory
	written int // texts so far
	refused int // by git
	// objects are the texts that git keeps, by name: a rebase goes through many commits
	// of nearly the same files.
	objects map[string]string
	// asked are paths that a client could name as changed, some of them bad.
	asked []string
}

// deed is one kind of change. It returns what is to be known of it besides its time,
// and does nothing where there is nothing to do it to.
type deed struct {
	name  string
	share int // how often it is chosen, against the others
	do    func(*vandal) (step, error)
}

// deeds lists every way in which the repository is changed.
func deeds() []deed {
	return []deed{
		{"write a file by rename", 30, (*vandal).saveByRename},
		{"write a file in place", 20, (*vandal).saveInPlace},
		{"change a part of a file", 30, (*vandal).edit},
		{"append", 8, (*vandal).appendText},
		{"write with the same size and time", 6, (*vandal).sameSizeAndTime},
		{"cut a file short", 4, (*vandal).truncate},
		{"rename a file", 12, (*vandal).renameFile},
		{"move a folder", 8, (*vandal).moveFolder},
		{"delete a file", 8, (*vandal).deleteFile},
		{"delete a folder", 2, (*vandal).deleteFolder},
		{"make a file a folder", 3, (*vandal).fileToFolder},
		{"make a folder a file", 2, (*vandal).folderToFile},
		{"make a file a link that leads out", 5, (*vandal).linkFileOut},
		{"make a folder a link that leads out", 4, (*vandal).linkFolderOut},
		{"make a file a link inside", 3, (*vandal).linkFileIn},
		{"make a folder a link inside", 2, (*vandal).linkFolderIn},
		{"make a file binary", 4, (*vandal).binary},
		{"let a file grow over the limit", 1, (*vandal).grow},
		{"turn line ends", 5, (*vandal).turnLineEnds},
		{"make a file a pipe", 2, (*vandal).pipe},
		{"make a folder a pipe", 2, (*vandal).folderToPipe},
		{"take permissions away", 3, (*vandal).permissions},
		{"put the root away", 1, (*vandal).rootAway},
		{"commit", 8, (*vandal).commit},
		{"switch branches", 6, (*vandal).switchBranch},
		{"rebase", 3, (*vandal).rebase},
		{"merge", 2, (*vandal).merge},
		{"stash", 3, (*vandal).stash},
	}
}

// run does one deed and has the history learn of it. It returns its name.
func (v *vandal) run(d deed) error {
	began := time.Now()
	s, err := d.do(v)
	s.when = span{began, time.Now()}
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	return v.history.learn(s)
}

// choose picks a deed by its share.
func (v *vandal) choose(all []deed) deed {
	if v.isAway() && v.random.IntN(3) == 0 {
		return deed{name: "put the root back", do: (*vandal).rootAway}
	}
	if few := len(v.history.texts()) < 20; few && !v.isAway() && v.random.IntN(2) == 0 {
		return deed{name: "write a file in place", do: (*vandal).saveInPlace}
	}
	total := 0
	for _, d := range all {
		total += d.share
	}
	n := v.random.IntN(total)
	for _, d := range all {
		if n -= d.share; n < 0 {
			return d
		}
	}
	return all[0]
}

// folders and names are where files are made. Among them are names that look alike,
// look like nothing, or are written from right to left.
var (
	tortureFolders = []string{".", "app", "app/core", "lib", "lib/deep/er", "docs", "f\u00f6lder", "fo\u0308lder", "a\u200bpp", "we ird"}
	tortureNames   = []string{
		"main.go", "cart.go", "mail.py", "store.ts", "notes.md", "plain.txt", "conf.yaml", "passwd",
		"caf\u00e9.go", "cafe\u0301.go", "zero\u200bwidth.go", "\u202egnp.go", "-dash.go", " space.md", "[x]*.py", "..dots.txt",
	}
	tortureWords = strings.Fields("anchor basket candle drawer engine fabric garden hammer island jacket kettle ladder magnet needle " +
		"orchard parcel quarry ribbon saddle tunnel umbrella violin window yogurt zipper bridge copper dragon feather glacier")
)

// tortureQuestion is made of the words that the files are made of.
func tortureQuestion(random *rand.Rand) string {
	if random.IntN(8) == 0 {
		return "who keeps the harbour ledger of " + tortureWord(random)
	}
	return fmt.Sprintf("where does the %s carry the %s over the %s", tortureWord(random), tortureWord(random), tortureWord(random))
}

func tortureWord(random *rand.Rand) string { return tortureWords[random.IntN(len(tortureWords))] }

// mark is a word that no other text has.
func (v *vandal) mark() string {
	v.written++
	n, word := v.written, []byte("xyaaaaa")
	for i := len(word) - 1; n > 0; i-- {
		word[i] = byte('a' + n%26)
		n /= 26
	}
	return string(word)
}

// part is one piece of a file: a function with what it is for.
func (v *vandal) part(name string) string {
	mark, w := v.mark(), func() string { return tortureWord(v.random) }
	switch path.Ext(name) {
	case ".go", ".ts":
		return fmt.Sprintf("// Carry%s lets the %s carry the %s over the %s: %s.\nfunc Carry%s(%s int) int {\n\ttotal := 0\n\tfor i := 0; i < %s; i++ {\n\t\ttotal += i\n\t}\n\treturn total // of the %s\n}\n\n",
			mark, w(), w(), w(), mark, mark, w(), w(), w())
	case ".py":
		return fmt.Sprintf("def carry_%s(%s):\n    \"\"\"Let the %s carry the %s over the %s: %s.\"\"\"\n    return %s\n\n", mark, w(), w(), w(), w(), mark, w())
	case ".md":
		return fmt.Sprintf("## About %s\n\nThe %s carries the %s over the %s, and the %s waits.\n\n", mark, w(), w(), w(), w())
	}
	return fmt.Sprintf("%s: the %s carries\nthe %s over the %s\n\n", mark, w(), w(), w())
}

// text is a whole new file of some parts.
func (v *vandal) text(name string) string {
	var b strings.Builder
	if path.Ext(name) == ".go" {
		b.WriteString("package carry\n\n")
	}
	for range 1 + v.random.IntN(12) {
		b.WriteString(v.part(name))
	}
	return b.String()
}

func (v *vandal) full(name string) string { return filepath.Join(v.root, filepath.FromSlash(name)) }

// newName is where a file may be made.
func (v *vandal) newName() string {
	name := path.Join(tortureFolders[v.random.IntN(len(tortureFolders))], tortureNames[v.random.IntN(len(tortureNames))])
	v.ask(name)
	return name
}

// anyFile is a text file that is there, empty if none is.
func (v *vandal) anyFile() string {
	all := sortedKeys(v.history.texts())
	if len(all) == 0 {
		return ""
	}
	name := all[v.random.IntN(len(all))]
	v.ask(name)
	return name
}

// anyFolder is a folder of the repository that is there, empty if none is.
func (v *vandal) anyFolder() string {
	var there []string
	for _, name := range tortureFolders[1:] {
		if info, err := os.Lstat(v.full(name)); err == nil && info.IsDir() && v.isReal(path.Dir(name)) {
			there = append(there, name)
		}
	}
	if len(there) == 0 {
		return ""
	}
	name := there[v.random.IntN(len(there))]
	v.ask(name)
	return name
}

// ask keeps some of the changed paths for the next request.
func (v *vandal) ask(name string) { v.asked = append(v.asked, name) }

// room makes way for a file: folders above it, and nothing at its place that would
// write elsewhere. It returns false where a folder is at its place, and now and then
// where a link or a file is above it; else that goes.
func (v *vandal) room(name string) (bool, error) {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		info, err := os.Lstat(v.full(at))
		if err != nil || info.IsDir() || !v.isReal(path.Dir(at)) {
			continue
		}
		if v.random.IntN(2) == 0 {
			return false, nil
		}
		if err := os.Remove(v.full(at)); err != nil {
			return false, err
		}
	}
	switch info, err := os.Lstat(v.full(name)); {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil && !info.Mode().IsRegular():
		if err := os.Remove(v.full(name)); err != nil {
			return false, err
		}
	}
	return true, os.MkdirAll(filepath.Dir(v.full(name)), 0o755)
}

// isReal says that nothing on the way to a folder is a link or a file.
func (v *vandal) isReal(folder string) bool {
	for at := folder; at != "."; at = path.Dir(at) {
		if info, err := os.Lstat(v.full(at)); err == nil && !info.IsDir() {
			return false
		}
	}
	return true
}

// replace writes a file beside its place and renames it, as most editors do.
func (v *vandal) replace(name, text string) error {
	if ok, err := v.room(name); !ok || err != nil {
		return err
	}
	beside := filepath.Join(filepath.Dir(v.root), "beside")
	if err := os.WriteFile(beside, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(beside, v.full(name))
}
