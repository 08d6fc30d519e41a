package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/viterin/vek/vek32"
)

// average writes the mean of models that were trained from one start with different seeds.
// It is better than each of them ("Model soups", Wortsman et al., 2022), because what a run
// has learned from the order of its batches cancels out.
func average(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("average", flag.ContinueOnError)
	to := flags.String("out", "mean", "file to write; those to read follow")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() < 2 {
		return errors.New("want two models or more to take the mean of")
	}
	sum, err := loadModel(flags.Arg(0))
	if err != nil {
		return err
	}
	for _, name := range flags.Args()[1:] {
		m, err := loadModel(name)
		if err != nil {
			return err
		}
		if m.Width != sum.Width || m.Tokens() != sum.Tokens() {
			return fmt.Errorf("%s has %d tokens of width %d, %s %d of %d: they have no mean",
				name, m.Tokens(), m.Width, flags.Arg(0), sum.Tokens(), sum.Width)
		}
		vek32.Add_Inplace(sum.Rows, m.Rows)
		vek32.Add_Inplace(sum.LogWeights, m.LogWeights)
	}
	vek32.MulNumber_Inplace(sum.Rows, 1/float32(flags.NArg()))
	vek32.MulNumber_Inplace(sum.LogWeights, 1/float32(flags.NArg()))
	fmt.Fprintf(out, "mean of %d models\n", flags.NArg())
	return saveModel(*to, sum)
}
