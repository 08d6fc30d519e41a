package main

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/recalld/recalld/embedder/builtin/table"
)

// pack writes a table and a sample of pairs as its tokens, for encoder/train.py: small enough
// to be carried to a machine with an accelerator. All numbers are little-endian.
//
//	rows.bin    for each token: its weight and the step of its row (float32), then the row's
//	            components in steps (int8)
//	pairs.bin   for each pair: numbers of its kind (uint8) and of its source (uint32), lengths
//	            of both texts in tokens (uint8), tokens (uint16); compressed by zlib
func pack(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	model := flags.String("model", "../model.bin", "table whose tokens are used")
	dir := flags.String("pairs", "pairs", "folder of .jsonl files of pairs")
	to := flags.String("out", "packed", "folder to write")
	share := flags.Float64("share", .4, "share of the pairs that are taken, by chance")
	longest := flags.Int("tokens", 48, "tokens of a text that are kept, at most 255")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *longest < 1 || *longest > math.MaxUint8 {
		return fmt.Errorf("-tokens is %d, want 1 to %d", *longest, math.MaxUint8)
	}
	b, err := os.ReadFile(*model)
	if err != nil {
		return err
	}
	m, err := table.Read(b)
	if err == nil && m.Vocabulary().Size() > math.MaxUint16 {
		err = fmt.Errorf("%s has %d tokens, want at most %d", *model, m.Vocabulary().Size(), math.MaxUint16)
	}
	if err == nil {
		err = os.MkdirAll(*to, 0o755)
	}
	if err == nil {
		err = writeTo(filepath.Join(*to, "rows.bin"), func(w io.Writer) error { return packRows(w, m) })
	}
	if err != nil {
		return err
	}
	files, err := pairFiles(*dir)
	if err != nil {
		return err
	}
	p := packer{tokens: table.NewTokenizer(m.Vocabulary()), longest: *longest, share: *share, chance: rand.New(rand.NewPCG(1, 1)), kinds: map[string]int{}}
	if err := writeTo(filepath.Join(*to, "pairs.bin"), func(w io.Writer) error { return p.pairs(w, files) }); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d pairs of %d kinds\n", p.n, len(p.kinds))
	return nil
}

func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

func packRows(w io.Writer, m *table.Model) error {
	row := make([]float32, m.Widths()[0])
	steps := make([]int8, len(row))
	for t := range uint32(m.Vocabulary().Size()) {
		m.Row(t, row)
		var largest float32
		for _, x := range row {
			largest = max(largest, x, -x)
		}
		step := max(largest/math.MaxInt8, math.SmallestNonzeroFloat32)
		for i, x := range row {
			steps[i] = int8(math.Round(float64(x / step)))
		}
		if err := binary.Write(w, binary.LittleEndian, []float32{m.Weight(t), step}); err != nil {
			return err
		}
		if err := binary.Write(w, binary.LittleEndian, steps); err != nil {
			return err
		}
	}
	return nil
}

type packer struct {
	tokens  *table.Tokenizer
	longest int
	share   float64
	chance  *rand.Rand
	kinds   map[string]int
	n       int
}

func (p *packer) pairs(w io.Writer, files []string) error {
	z := zlib.NewWriter(w)
	for i, name := range files {
		err := readPairs(name, func(x pair) error {
			if p.chance.Float64() >= p.share {
				return nil
			}
			a, b := p.text(x.A), p.text(x.B)
			if len(a) == 0 || len(b) == 0 {
				return nil
			}
			kind, known := p.kinds[x.Kind]
			if !known {
				kind = len(p.kinds)
				p.kinds[x.Kind] = kind
			}
			p.n++
			line := binary.LittleEndian.AppendUint32([]byte{byte(kind)}, uint32(i))
			line = append(line, byte(len(a)), byte(len(b)))
			for _, t := range append(a, b...) {
				line = binary.LittleEndian.AppendUint16(line, t)
			}
			_, err := z.Write(line)
			return err
		})
		if err != nil {
			return err
		}
	}
	return z.Close()
}

func (p *packer) text(s string) (all []uint16) {
	p.tokens.Tokens(s, func(t uint32) {
		if len(all) < p.longest {
			all = append(all, uint16(t))
		}
	})
	return all
}
