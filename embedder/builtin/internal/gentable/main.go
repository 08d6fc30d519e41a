// Command gentable counts in how many pieces of text a feature occurs and
// writes the table of weights that package builtin embeds:
//
//	gentable -o embedder/builtin/weights.bin FOLDER...
//
// The pieces are some hundred bytes long, as lessons and chunks of code are.
// Any mixture of English prose about computers and of code will do. The table
// in the repository was counted over a Debian 12 system's /usr/share/doc and
// English manual pages and the Python 3.13 standard library without its
// tests. Only counts are kept, no text.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/embedder/builtin/internal/feature"
)

const (
	maxFile = 1 << 20
	piece   = 600
)

func main() {
	out := flag.String("o", "weights.bin", "output file")
	entries := flag.Int("entries", 16384, "features to list, the most frequent")
	perFile := flag.Int("per-file", 40, "pieces to take of one file at most, so that no large file rules")
	flag.Parse()
	if err := run(*out, *entries, *perFile, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gentable:", err)
		os.Exit(1)
	}
}

func run(out string, entries, perFile int, folders []string) error {
	c := counter{df: map[uint32]int{}, seen: map[uint32]int{}}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			return c.file(path, perFile)
		})
		if err != nil {
			return fmt.Errorf("walk %s: %w", folder, err)
		}
	}
	if c.pieces == 0 {
		return fmt.Errorf("no text in %q", folders)
	}
	fmt.Printf("%d pieces of %d files, %d features\n", c.pieces, c.files, len(c.df))
	if err := os.WriteFile(out, c.table(entries), 0o644); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// counter counts document frequencies.
type counter struct {
	files, pieces int
	df            map[uint32]int
	seen          map[uint32]int // the piece that a feature was last counted for
	extract       feature.Extractor
}

func (c *counter) file(path string, perFile int) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open file: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil // not gzip in spite of its name: no text to count
		}
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return nil // damaged or binary
	}
	c.files++
	stride := max(1, len(text)/piece/perFile)
	for i := 0; len(text) > 0; i++ {
		n := min(piece, len(text))
		if end := bytes.IndexByte(text[n:], '\n'); end >= 0 && end < piece {
			n += end
		}
		if i%stride == 0 {
			c.piece(string(text[:n]))
		}
		text = text[n:]
	}
	return nil
}

func (c *counter) piece(text string) {
	c.pieces++
	c.extract.Extract(text, func(_ feature.Kind, hash uint64) {
		if key := uint32(hash >> 32); key != 0 && c.seen[key] != c.pieces {
			c.seen[key] = c.pieces
			c.df[key]++
		}
	})
}

// table encodes the most frequent features as package builtin reads them.
func (c *counter) table(entries int) []byte {
	keys := slices.SortedFunc(maps.Keys(c.df), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(c.df[b], c.df[a]), cmp.Compare(a, b))
	})
	keys = keys[:min(entries, len(keys))]
	least := c.df[keys[len(keys)-1]]
	slices.Sort(keys)

	// What is not listed is rarer than all that is; a quarter is a middling guess.
	b := binary.LittleEndian.AppendUint16([]byte("RCWT\x01\x00"), c.weight(least/4))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(keys)))
	for _, k := range keys {
		b = binary.LittleEndian.AppendUint32(b, k)
		b = binary.LittleEndian.AppendUint16(b, c.weight(c.df[k]))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// weight is the inverse document frequency in 1/64 nats.
func (c *counter) weight(df int) uint16 {
	idf := math.Log(float64(c.pieces+1) / float64(df+1))
	return uint16(max(1, math.Round(64*idf)))
}
