package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Suffixes of the files of a store's folder.
const (
	manifestSuffix = ".manifest"
	packSuffix     = ".pack"
)

// format is the version of the files.
const format = 1

// maxManifest bounds a manifest that is read, in bytes: ten million blocks.
const maxManifest = 1 << 30

// pack is a pack file and its size in bytes.
type pack struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// span is where a block lies in its pack, in bytes; raw is its length before compression.
type span struct{ offset, length, raw int64 }

// block is a block of a manifest, and the number of its pack there.
type block struct {
	hash hash
	pack int
	span
}

// manifest describes a backup. As a file it has JSON lines: the head, one line for each
// block, in order, and the SHA-256 of all lines before.
type manifest struct {
	memory.Backup
	// Forgotten is the digest of what was forgotten when it was written.
	Forgotten string

	packs  []pack
	blocks []block
}

// head is the first line of a manifest.
type head struct {
	Format    int           `json:"format"`
	Backup    memory.Backup `json:"backup"`
	Forgotten string        `json:"forgotten"`
	Packs     []pack        `json:"packs"`
	Blocks    int           `json:"blocks"`
}

// line is a block: its hash in hexadecimal; then the number of its pack, the offset there,
// its length and its length before compression.
type line struct {
	Hash string   `json:"h"`
	At   [4]int64 `json:"at"`
}

// save writes the manifest of a backup whose packs are on disk, with their sizes by name.
func (m *manifest) save(dir string, sizes map[string]int64) error {
	for i := range m.packs {
		m.packs[i].Size = sizes[m.packs[i].Name]
	}
	return fsx.WriteFile(filepath.Join(dir, m.Name+manifestSuffix), 0o600, func(out io.Writer) error {
		sum := sha256.New()
		enc := json.NewEncoder(io.MultiWriter(out, sum))
		if err := enc.Encode(head{Format: format, Backup: m.Backup, Forgotten: m.Forgotten, Packs: m.packs, Blocks: len(m.blocks)}); err != nil {
			return err
		}
		for _, b := range m.blocks {
			if err := enc.Encode(line{Hash: hex.EncodeToString(b.hash[:]), At: [4]int64{int64(b.pack), b.offset, b.length, b.raw}}); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(out, "%x\n", sum.Sum(nil))
		return err
	})
}

// load reads a manifest. The error has CodeCorrupt if the file is not as it was written. With
// CodeIncompatible the manifest has only what a list of backups shows.
func load(path string) (*manifest, error) {
	b, err := fsx.ReadFile(path, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("read backup: %w", err)
	}
	bad := func(what string, args ...any) error {
		return memory.Errorf(memory.CodeCorrupt, "the backup %s is damaged: %s", filepath.Base(path), fmt.Sprintf(what, args...))
	}
	end := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	if sum := sha256.Sum256(b[:end]); string(b[end:]) != hex.EncodeToString(sum[:])+"\n" {
		return nil, bad("the checksum of its manifest does not match")
	}
	lines := bufio.NewScanner(bytes.NewReader(b[:end]))
	lines.Buffer(nil, end+1)
	var h head
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil {
		return nil, bad("its manifest has no head")
	}
	if h.Blocks < 0 {
		return nil, bad("it says that it has %d blocks", h.Blocks)
	}
	if h.Format != format {
		name, dir := strings.TrimSuffix(filepath.Base(path), manifestSuffix), filepath.Dir(path)
		m := &manifest{Backup: memory.Backup{Name: name, Store: filepath.Base(dir), Path: dir, CreatedAt: h.Backup.CreatedAt, Version: h.Backup.Version, Newer: true}}
		return m, &memory.Error{Code: memory.CodeIncompatible, Message: fmt.Sprintf("the backup %s has format %d, this program knows %d", filepath.Base(path), h.Format, format),
			Hint: "install the newer recalld"}
	}
	m := &manifest{Backup: h.Backup, Forgotten: h.Forgotten, packs: h.Packs, blocks: make([]block, 0, min(h.Blocks, end/64))}
	m.Path = filepath.Dir(path) // the folder may have been moved
	for _, p := range m.packs {
		if filepath.Base(p.Name) != p.Name || filepath.Ext(p.Name) != packSuffix {
			return nil, bad("%q is not a name of a pack", p.Name)
		}
	}
	for lines.Scan() {
		var l line
		err := json.Unmarshal(lines.Bytes(), &l)
		sum, err2 := hex.DecodeString(l.Hash)
		x := block{pack: int(l.At[0]), span: span{l.At[1], l.At[2], l.At[3]}}
		if errors.Join(err, err2) != nil || len(sum) != len(hash{}) || x.pack < 0 || x.pack >= len(m.packs) || x.offset < 0 || x.length <= 0 || x.length > 2*maxRaw || x.raw <= 0 || x.raw > maxRaw {
			return nil, bad("block %d is invalid", len(m.blocks)+1)
		}
		x.hash = hash(sum)
		m.blocks = append(m.blocks, x)
	}
	if lines.Err() != nil || len(m.blocks) != h.Blocks || m.Name+manifestSuffix != filepath.Base(path) {
		return nil, bad("its manifest is not complete")
	}
	return m, nil
}

// manifests reads the manifests of a store's folder, oldest first, and returns the names of
// the damaged ones. If some have a format of a newer program, they are with the others, and
// the error says so.
func manifests(dir string) (all []*manifest, damaged []string, err error) {
	var newer error
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read backups: %w", err)
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), manifestSuffix)
		if !is {
			continue
		}
		m, err := load(filepath.Join(dir, e.Name()))
		switch {
		case err == nil && m.Store != filepath.Base(dir), memory.CodeOf(err) == memory.CodeCorrupt, errors.Is(err, fsx.ErrNotRegular):
			damaged = append(damaged, name)
		case memory.CodeOf(err) == memory.CodeIncompatible:
			all, newer = append(all, m), err
		case err != nil:
			return nil, nil, err
		default:
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *manifest) int { return strings.Compare(a.Name, b.Name) })
	return all, damaged, newer
}
