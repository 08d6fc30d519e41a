package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/language"
	"github.com/recalld/recalld/internal/project"
)

// Entry is a file that may be indexed, by its name, place and size.
type Entry struct {
	// Path is relative to the root, with slashes.
	Path    string
	Size    int64
	ModTime time.Time
	// ChangeTime and Inode are zero where the platform has none.
	ChangeTime time.Time
	Inode      uint64
	// Lang is empty if the name does not tell.
	Lang string
}

// language is the language of the file, which has this text.
func (e *Entry) language(src []byte) string {
	if e.Lang != "" {
		return e.Lang
	}
	return language.Of(e.Path, src)
}

// Walked is the outcome of a walk.
type Walked struct {
	// View names the source of the list of files: "git", or "ignore files" where git or
	// the repository is missing.
	View string
	// Note says why git was not used although there is a repository.
	Note    string
	Files   int
	Skipped map[SkipReason]int
	// Incomplete is true if some folder could not be read, or git was too slow: files that
	// were not seen may exist.
	Incomplete bool
	slow       bool            // git was too slow
	unread     map[string]bool // the files and folders skipped as SkipUnreadable
}

// skipGone marks a folder that does not exist. Its files are not counted.
const skipGone SkipReason = "gone"

// recalldIgnore is the name of our own ignore files. They follow git's rules and add to
// them.
const recalldIgnore = ".recalldignore"

// walk calls visit for every file below root that may be indexed, in an order that is
// stable while the files are: of the files and folders in only, unless that is nil. It
// applies the guards that do not need a file's text. An error of visit, or of ctx, ends the
// walk and is returned.
func walk(ctx context.Context, root string, only []string, opts *Options, visit func(Entry) error) (Walked, error) {
	dir, err := fsx.OpenRoot(root)
	if err != nil {
		return Walked{}, fmt.Errorf("open sandbox: %w", err)
	}
	defer dir.Close() // only read
	w := &walker{
		ctx: ctx, opts: opts, root: dir, visit: visit,
		own:    newIgnores(dir, recalldIgnore, nil),
		Walked: Walked{Skipped: map[SkipReason]int{}, unread: map[string]bool{}},
	}
	defer w.closeDir()
	id, err := project.Identify(root)
	inGit := err == nil && id.GitDir != ""
	err = git.ErrNotAsked
	if inGit {
		err = w.walkGit(root, only)
		if errors.Is(err, git.ErrNotAsked) {
			w.Note = err.Error()
		}
	}
	if errors.Is(err, git.ErrNotAsked) {
		w.View = "ignore files"
		err = w.walkFolders(id, only)
	}
	return w.Walked, err
}

type walker struct {
	Walked
	ctx   context.Context
	opts  *Options
	root  *os.Root
	visit func(Entry) error
	own   *ignores // .recalldignore
	git   *ignores // .gitignore, if git is not used
	// outputs are the tracked files in folders for output, and their folders.
	outputs map[string]bool

	// dir is the folder of the last file, nil if dirSkip says why its files are skipped.
	// Files come folder by folder.
	dirName string
	dir     *os.Root
	dirSkip SkipReason
}

func (w *walker) skip(name string, reason SkipReason) {
	w.Skipped[reason]++
	if reason == SkipUnreadable {
		w.Incomplete = true
		w.unread[name] = true
	}
	if w.opts.Skipped != nil {
		w.opts.Skipped(Skip{name, reason})
	}
}

// file visits one file that git, or a folder, lists, unless it is skipped.
func (w *walker) file(name string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	info, reason := w.judge(name)
	switch reason {
	case "":
	case skipGone: // git's index still lists it
		return nil
	default:
		w.skip(strings.ToValidUTF8(name, "\uFFFD"), reason)
		return nil
	}
	w.Files++
	lang, _ := language.ByPath(name)
	changed, inode := fsx.ChangeOf(info)
	return w.visit(Entry{Path: name, Size: info.Size(), ModTime: info.ModTime(), ChangeTime: changed, Inode: inode, Lang: lang})
}

// judge returns a file's attributes, or why it is skipped.
func (w *walker) judge(name string) (fs.FileInfo, SkipReason) {
	if !utf8.ValidString(name) || !fs.ValidPath(name) {
		return nil, SkipOddName
	}
	if reason := w.enter(path.Dir(name)); reason != "" {
		return nil, reason
	}
	if w.outputs[w.dirName] && !w.outputs[name] && inOutput(w.dirName) { // beside tracked files
		return nil, SkipDir
	}
	if reason := w.opts.skipName(name); reason != "" {
		return nil, reason
	}
	if w.own.match(name, false) || w.git != nil && w.git.match(name, false) {
		return nil, SkipIgnored
	}
	info, err := w.dir.Lstat(path.Base(name))
	switch {
	case fsx.IsGone(err):
		return nil, skipGone
	case err != nil:
		return nil, SkipUnreadable
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, SkipLink
	case info.IsDir(): // for git, a submodule
		return nil, SkipNested
	case !info.Mode().IsRegular():
		return nil, SkipIrregular
	case info.Size() > w.opts.MaxFileSize:
		return nil, SkipLarge
	case info.Size() == 0:
		return nil, SkipEmpty
	case w.Files >= w.opts.MaxFiles:
		return nil, SkipMany
	}
	return info, ""
}

// enter opens the folder of the next files, or returns why all of them are skipped.
func (w *walker) enter(name string) SkipReason {
	if w.dirName == name {
		return w.dirSkip
	}
	w.closeDir()
	w.dirName, w.dirSkip = name, ""
	for part := range strings.SplitSeq(name, "/") {
		if w.opts.skipDir(part) && !(w.outputs[name] && slices.Contains(outputDirs, part)) {
			w.dirSkip = SkipDir
			return w.dirSkip
		}
	}
	// A folder that became a symbolic link leads to files under other names. One that
	// became a file is gone. A pipe must not be opened, because that waits for a writer.
	for at := name; at != "."; at = path.Dir(at) {
		info, err := w.root.Lstat(at)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0:
			w.dirSkip = SkipLink
			return w.dirSkip
		case err == nil && !info.IsDir():
			w.dirSkip = skipGone
		}
	}
	if w.dirSkip != "" {
		return w.dirSkip
	}
	dir, err := fsx.OpenRootAt(w.root, name)
	switch {
	case fsx.IsGone(err):
		w.dirSkip = skipGone
	case err != nil:
		w.dirSkip = SkipUnreadable
	default:
		w.dir = dir
	}
	return w.dirSkip
}

func (w *walker) closeDir() {
	if w.dir != nil {
		w.dir.Close() // only read
		w.dir = nil
	}
}

// walkFolders walks without git, by .gitignore files and .git/info/exclude.
func (w *walker) walkFolders(id project.Identity, only []string) error {
	w.git = newIgnores(w.root, ".gitignore", excludes(id))
	if only == nil {
		return w.folder(".")
	}
	folder, nested, skipped := "", "", "" // only is sorted: files of a folder follow one another
	for _, name := range only {
		if dir := path.Dir(name); dir != folder {
			folder, nested = dir, w.nestedAbove(name)
		}
		if nested != "" {
			if nested != skipped {
				w.skip(nested, SkipNested)
			}
			skipped = nested
			continue
		}
		info, err := w.root.Lstat(name)
		switch {
		case fsx.IsGone(err):
		case err == nil && info.IsDir():
			if err := w.subfolder(name); err != nil {
				return err
			}
		default:
			if err := w.file(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// excludeFile is where git keeps the rules of a repository that are not in its files.
func excludeFile(id project.Identity) string { return filepath.Join(id.CommonDir, "info", "exclude") }

// excludeState tells states of that file apart. A link may lead to what changes all the time.
func excludeState(id project.Identity) string {
	file := excludeFile(id)
	if info, err := os.Lstat(file); id.CommonDir == "" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return fsx.Stamp(file)
}

// excludes returns the rules of a repository's .git/info/exclude.
func excludes(id project.Identity) []ignoreRule {
	if id.CommonDir == "" {
		return nil
	}
	b, err := fsx.ReadFile(excludeFile(id), maxIgnoreFile)
	if err != nil {
		return nil
	}
	return parseIgnores(b, "")
}

func (w *walker) folder(name string) error {
	entries, err := w.readDir(name)
	if err != nil {
		if !fsx.IsGone(err) {
			w.skip(name, SkipUnreadable)
		}
		return nil
	}
	for _, e := range entries {
		child := path.Join(name, e.Name())
		if e.IsDir() {
			err = w.subfolder(child)
		} else {
			err = w.file(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) subfolder(name string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	// Git's own folder is not reported as skipped.
	if path.Base(name) == ".git" {
		return nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if w.opts.skipDir(part) {
			w.skip(name, SkipDir)
			return nil
		}
	}
	if w.own.match(name, true) || w.git.match(name, true) {
		w.skip(name, SkipIgnored)
		return nil
	}
	if w.isNested(name) {
		w.skip(name, SkipNested)
		return nil
	}
	return w.folder(name)
}

// isNested says whether a folder is a separate repository.
func (w *walker) isNested(name string) bool {
	_, err := w.root.Lstat(path.Join(name, ".git"))
	return err == nil
}

// nestedAbove returns the separate repository that a path lies in; empty for none.
func (w *walker) nestedAbove(name string) string {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if w.isNested(at) {
			return at
		}
	}
	return ""
}

// readDir lists a folder, files before folders, so that the folder stays open for its
// files.
func (w *walker) readDir(name string) ([]fs.DirEntry, error) {
	f, err := fsx.OpenDir(w.root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if b.IsDir() {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name(), b.Name())
	})
	return entries, err
}
