package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// Objects reads commits out of a repository's object store: loose ones and those in packs.
// It reads only files in the common folder itself. Stores named by objects/info/alternates
// or a symbolic link belong to another folder: a commit in them proves nothing about this
// one.
type Objects struct {
	root  *os.Root
	packs []*pack
	// listed reports that packs has been read.
	listed bool
	// in and unpack are reused for each object: allocating them takes most of the time.
	in     *bufio.Reader
	unpack io.ReadCloser
}

// Commit is the part of a commit that is used. Ids are hexadecimal.
type Commit struct {
	Tree    string
	Parents []string
}

const (
	// maxCommit bounds a commit that is read, in bytes.
	maxCommit = 1 << 20
	// maxPacks bounds the packs that are searched.
	maxPacks = 512
)

// errNoObject is returned for an object that is not in the store, is damaged, or is not a
// commit.
var errNoObject = errors.New("there is no such commit")

// OpenObjects opens the object store of a common folder. Close it.
func OpenObjects(common string) (*Objects, error) {
	root, err := fsx.OpenRoot(common)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	return &Objects{root: root}, nil
}

// Close closes the files that are open.
func (o *Objects) Close() {
	for _, p := range o.packs {
		p.close()
	}
	o.root.Close() // only read
}

// Commit reads a commit by its id, 40 or 64 hexadecimal digits. The content is
// hashed: a folder has a commit only if it has its text, not just its name.
func (o *Objects) Commit(id string) (Commit, error) {
	name, err := hex.DecodeString(id)
	if err != nil || len(name) != sha1.Size && len(name) != sha256.Size {
		return Commit{}, errNoObject
	}
	text, err := o.loose(id)
	if err != nil {
		text, err = o.packed(name)
	}
	if err != nil {
		return Commit{}, err
	}
	if !bytes.Equal(hashObject("commit", text, len(name)), name) {
		return Commit{}, fmt.Errorf("%w: %s is damaged", errNoObject, id)
	}
	return parseCommit(text)
}

// hashObject returns the name of an object with this text.
func hashObject(kind string, text []byte, hashLen int) []byte {
	h := sha1.New()
	if hashLen == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, len(text))
	h.Write(text)
	return h.Sum(nil)
}

// parseCommit reads the lines before the message.
func parseCommit(text []byte) (Commit, error) {
	var c Commit
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		key, value, _ := strings.Cut(string(line), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		default:
			if c.Tree == "" {
				return Commit{}, errNoObject
			}
			return c, nil
		}
	}
	return Commit{}, errNoObject
}

// open opens a regular file of the object store.
func (o *Objects) open(name string) (*os.File, int64, error) {
	f, info, err := fsx.OpenFile(o.root, path.Join("objects", name))
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// loose reads a commit from its own file: "commit 123", a zero byte and the text,
// compressed.
func (o *Objects) loose(id string) ([]byte, error) {
	f, _, err := o.open(id[:2] + "/" + id[2:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoObject, err)
	}
	defer f.Close() // only read
	text, err := o.inflate(f, maxCommit+32)
	if err != nil {
		return nil, err
	}
	head, body, ok := bytes.Cut(text, []byte{0})
	size, isCommit := bytes.CutPrefix(head, []byte("commit "))
	if n, err := strconv.Atoi(string(size)); !ok || !isCommit || err != nil || n != len(body) {
		return nil, errNoObject
	}
	return body, nil
}

// packed reads a commit out of the packs.
func (o *Objects) packed(name []byte) ([]byte, error) {
	if !o.listed {
		o.listed = true
		o.list()
	}
	for _, p := range o.packs {
		if text, err := p.commit(name); err == nil {
			return text, nil
		}
	}
	return nil, errNoObject
}

// list finds the packs, in descending order of name; names do not depend on age.
func (o *Objects) list() {
	dir, err := fsx.OpenDir(o.root, "objects/pack")
	if err != nil {
		return
	}
	defer dir.Close() // only read
	names, _ := dir.Readdirnames(-1)
	slices.Sort(names)
	for _, n := range names {
		if base, ok := strings.CutSuffix(n, ".idx"); ok && len(o.packs) < maxPacks {
			o.packs = append(o.packs, &pack{store: o, name: "pack/" + base})
		}
	}
}

// inflate decompresses at most max bytes; more is an error.
func (o *Objects) inflate(r io.Reader, max int64) ([]byte, error) {
	var err error
	if o.unpack == nil {
		o.in = bufio.NewReader(r)
		if o.unpack, err = zlib.NewReader(o.in); err != nil {
			o.unpack = nil
		}
	} else {
		o.in.Reset(r)
		err = o.unpack.(zlib.Resetter).Reset(o.in, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoObject, err)
	}
	text, err := io.ReadAll(io.LimitReader(o.unpack, max+1))
	if err == nil && int64(len(text)) > max {
		err = errors.New("it is too large")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoObject, err)
	}
	return text, nil
}
