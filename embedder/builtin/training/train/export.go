package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/recalld/recalld/embedder/builtin/contrast"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// export writes a model in the format of package builtin.
func export(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	corpusFile := flags.String("corpus", "corpus", "file that prepare wrote")
	model := flags.String("model", "trained", "model to export")
	to := flags.String("out", "model.bin", "file to write")
	name := flags.String("name", "static-v1", "name of the model")
	source := flags.String("source", "", "what it was trained on: a hash of the list of sources")
	bits := flags.Int("bits", 8, "of a component: 8 or 4")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, m, err := loadBoth(*corpusFile, *model)
	if err != nil {
		return err
	}
	t, err := quantise(c, m, table.Spec{Name: *name, Source: *source, Bits: *bits})
	if err != nil {
		return err
	}
	if err := writeFile(*to, t.Write); err != nil {
		return err
	}
	info, err := os.Stat(*to)
	if err != nil {
		return fmt.Errorf("look at model: %w", err)
	}
	fmt.Fprintf(out, "%s: %d pieces, %d buckets, %d bits, %.1f MB\n", *to, c.vocabulary.Pieces(), c.vocabulary.Buckets(), *bits, float64(info.Size())/1e6)
	return nil
}

// quantise returns the table of a model; s has its name, source and bits.
func quantise(c *corpus, m *contrast.Model, s table.Spec) (*table.Model, error) {
	s.Vocabulary, s.Widths, s.Rows = c.vocabulary, []int{m.Width, m.Width / 2}, m.Rows
	s.Weights = make([]float32, m.Tokens())
	for t, w := range m.LogWeights {
		s.Weights[t] = float32(math.Exp(float64(w)))
	}
	t, err := table.New(s)
	if err != nil {
		return nil, fmt.Errorf("quantise model: %w", err)
	}
	return t, nil
}

// quantised returns the model as changed by quantisation.
func quantised(c *corpus, m *contrast.Model, bits int) (*contrast.Model, error) {
	t, err := quantise(c, m, table.Spec{Name: "measured", Bits: bits})
	if err != nil {
		return nil, err
	}
	rounded := contrast.NewModel(m.Tokens(), m.Width)
	for token := range uint32(m.Tokens()) {
		t.Row(token, rounded.Row(token))
		rounded.LogWeights[token] = float32(math.Log(float64(t.Weight(token))))
	}
	return rounded, nil
}
