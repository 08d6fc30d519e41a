package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
)

// Worktree names the folders of one worktree and its current commit.
type Worktree struct {
	Root, GitDir, CommonDir string
	// Head is empty before the first commit.
	Head string
}

// slashesOnly reports whether a backslash is no separator here.
const slashesOnly = filepath.Separator == '/'

// maxCompared bounds the content that one call of Changed reads, in bytes.
const maxCompared = 16 << 20

// Changed reports whether files that git tracks differ from the commit, in the index or in
// the worktree. It compares as git does: attributes first, then content. known is false if
// only a filter or a text conversion of the repository could tell, if the index has an
// unsupported form, and if ctx ends first. Submodules do not count.
func (w Worktree) Changed(ctx context.Context) (changed, known bool) {
	c := comparison{ctx: ctx, w: w, config: ReadConfig(filepath.Join(w.CommonDir, "config")), hashLen: sha1.Size}
	format, _ := c.config.Get("extensions", "objectformat")
	if len(w.Head) == 2*sha256.Size || strings.EqualFold(format, "sha256") {
		c.hashLen = sha256.Size
	}
	file := filepath.Join(w.GitDir, "index")
	text, err := fsx.ReadFile(file, maxIndex)
	if err != nil { // without an index git is still at work, or has never run
		return false, errors.Is(err, fs.ErrNotExist) && w.Head == ""
	}
	info, err := os.Lstat(file)
	if err != nil {
		return false, false
	}
	c.written = info.ModTime()
	if c.entries, err = parseIndex(text, c.hashLen); err != nil {
		return false, false
	}
	staged, stagedKnown := c.staged()
	if staged {
		return true, true
	}
	edited, editedKnown := c.edited()
	return edited, edited || stagedKnown && editedKnown
}

// comparison is one run of Changed.
type comparison struct {
	ctx     context.Context
	w       Worktree
	config  Config
	hashLen int
	entries []entry
	// written is the time of the index.
	written time.Time
	root    *os.Root // opened when the first file is read
	read    int64
	// plain is the last folder that was found to be no link, nor in one.
	plain string
}

// staged reports whether the index differs from the commit. It computes the tree of the
// index's entries and compares it with the commit's.
func (c *comparison) staged() (changed, known bool) {
	for _, e := range c.entries {
		if e.Stage != 0 || e.IntentToAdd {
			return true, true
		}
	}
	if c.w.Head == "" {
		return len(c.entries) > 0, true
	}
	objects, err := OpenObjects(c.w.CommonDir)
	if err != nil {
		return false, false
	}
	defer objects.Close()
	head, err := objects.Commit(c.w.Head)
	if err != nil {
		return false, false
	}
	tree, ok := c.tree(c.entries, 0)
	return ok && fmt.Sprintf("%x", tree) != head.Tree, ok
}

// tree returns the name of the tree of some entries, whose paths share their first folder
// bytes: the folder.
func (c *comparison) tree(entries []entry, folder int) (name []byte, ok bool) {
	if c.ctx.Err() != nil {
		return nil, false
	}
	var text bytes.Buffer
	for i := 0; i < len(entries); {
		e := &entries[i]
		rest := e.Path[folder:]
		slash := strings.IndexByte(rest, '/')
		mode, child, hash, end := e.Mode, rest, e.Hash, i+1
		switch {
		case rest == "" || slash == 0:
			return nil, false
		case slash < 0:
		case slash == len(rest)-1: // a folder that a sparse index lists as a whole
			mode, child = modeTree, rest[:slash]
		default:
			prefix := e.Path[:folder+slash+1]
			for end < len(entries) && strings.HasPrefix(entries[end].Path, prefix) {
				end++
			}
			sub, ok := c.tree(entries[i:end], len(prefix))
			if !ok {
				return nil, false
			}
			mode, child, hash = modeTree, rest[:slash], sub
		}
		fmt.Fprintf(&text, "%o %s\x00", mode, child)
		text.Write(hash)
		i = end
	}
	return hashObject("tree", text.Bytes(), c.hashLen), true
}

// edited reports whether files of the worktree differ from the index.
func (c *comparison) edited() (changed, known bool) {
	if at, ok := c.config.Get("core", "worktree"); ok {
		if !filepath.IsAbs(at) {
			at = filepath.Join(c.w.GitDir, at)
		}
		if real, err := filepath.EvalSymlinks(at); err != nil || real != c.w.Root {
			return false, false // the files are elsewhere
		}
	}
	defer func() {
		if c.root != nil {
			c.root.Close() // only read
		}
	}()
	known = true
	for i := range c.entries {
		if c.ctx.Err() != nil {
			return false, false
		}
		changed, sure := c.file(&c.entries[i])
		if changed && sure {
			return true, true
		}
		known = known && sure
	}
	return false, known
}

// file compares one file.
func (c *comparison) file(e *entry) (changed, known bool) {
	kind := e.Mode & modeType
	if e.AssumeValid || e.SkipWorktree || kind == modeGitlink || kind == modeTree {
		return false, true
	}
	if !isLocalPath(e.Path) {
		return false, false
	}
	if c.behindLink(path.Dir(e.Path)) {
		return true, true // to git the file is not there
	}
	info, err := os.Lstat(filepath.Join(c.w.Root, filepath.FromSlash(e.Path)))
	switch {
	case fsx.IsGone(err):
		return true, true
	case err != nil:
		return false, false
	}
	isLink := info.Mode()&fs.ModeSymlink != 0
	switch {
	case kind == modeLink && info.Mode().IsRegular() && c.config.Off("core", "symlinks"):
		return false, false // a link's target, stored as the text of a file
	case (kind == modeLink) != isLink, !isLink && !info.Mode().IsRegular():
		return true, true
	case kind != modeLink && c.programDiffers(e, info):
		return true, true
	case e.Size != 0 && uint32(info.Size()) != e.Size:
		return true, true
	case c.isAsIndexed(e, info):
		return false, true
	}
	return c.content(e, info, isLink)
}

// behindLink reports whether a folder of the worktree is a symbolic link or in one.
func (c *comparison) behindLink(folder string) bool {
	for at := folder; at != "." && at != c.plain; at = path.Dir(at) {
		info, err := os.Lstat(filepath.Join(c.w.Root, filepath.FromSlash(at)))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	c.plain = folder
	return false
}

func (c *comparison) programDiffers(e *entry, info fs.FileInfo) bool {
	if runtime.GOOS == "windows" || c.config.Off("core", "filemode") {
		return false
	}
	return (e.Mode == modeProgram) != (info.Mode()&0o100 != 0)
}

// isAsIndexed reports whether a file's attributes prove that it is as git last saw it:
// size, times and inode are the same, and it was written long enough before the index that
// a later write would have another time.
func (c *comparison) isAsIndexed(e *entry, info fs.FileInfo) bool {
	mod := info.ModTime()
	if uint32(info.Size()) != e.Size || !sameMoment(mod, e.Stat.MSec, e.Stat.MNano) {
		return false
	}
	if !mod.Before(c.written) || mod.Unix() >= c.written.Unix() && c.written.Nanosecond() == 0 {
		return false
	}
	changed, inode := fsx.ChangeOf(info)
	if value, _ := c.config.Get("core", "checkstat"); changed.IsZero() || strings.EqualFold(value, "minimal") {
		return true
	}
	if e.Stat.Ino != 0 && e.Stat.Ino != uint32(inode) {
		return false
	}
	return e.Stat.CSec == 0 || c.config.Off("core", "trustctime") || sameMoment(changed, e.Stat.CSec, e.Stat.CNano)
}

// sameMoment compares a time with one of the index, whose nanoseconds may be left out.
func sameMoment(t time.Time, sec, nano uint32) bool {
	return uint32(t.Unix()) == sec && (nano == 0 || uint32(t.Nanosecond()) == nano)
}

// content compares a file's content with the index entry.
func (c *comparison) content(e *entry, info fs.FileInfo, isLink bool) (changed, known bool) {
	if c.root == nil {
		root, err := fsx.OpenRoot(c.w.Root)
		if err != nil {
			return false, false
		}
		c.root = root
	}
	name := filepath.FromSlash(e.Path)
	if isLink {
		target, err := c.root.Readlink(name)
		return err == nil && !bytes.Equal(hashObject("blob", []byte(filepath.ToSlash(target)), c.hashLen), e.Hash), err == nil
	}
	if info.Size() > maxCompared-c.read {
		return false, false // smaller ones may still tell
	}
	c.read += info.Size()
	text, err := fsx.ReadBeginning(c.root, name, info.Size()+1)
	if err != nil {
		return false, false
	}
	if bytes.Equal(hashObject("blob", text, c.hashLen), e.Hash) {
		return false, true
	}
	if bytes.Contains(text, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		if bytes.Equal(hashObject("blob", text, c.hashLen), e.Hash) {
			return false, true
		}
	}
	return true, !c.hasAttributes(e.Path)
}

// hasAttributes reports whether git may store a file in another form than in the worktree.
func (c *comparison) hasAttributes(file string) bool {
	if _, ok := c.config.Get("core", "attributesfile"); ok {
		return true
	}
	if _, err := os.Lstat(filepath.Join(c.w.CommonDir, "info", "attributes")); err == nil {
		return true
	}
	for at := file; at != "."; {
		at = path.Dir(at)
		if _, err := os.Lstat(filepath.Join(c.w.Root, filepath.FromSlash(at), ".gitattributes")); err == nil {
			return true
		}
	}
	// Attributes that are missing in the worktree are taken from the index.
	return slices.ContainsFunc(c.entries, func(e entry) bool { return path.Base(e.Path) == ".gitattributes" })
}
