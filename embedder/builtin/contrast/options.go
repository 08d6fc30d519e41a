package contrast

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Options configure training. The zero value of a field stands for its default, if it has
// one.
type Options struct {
	// Seed determines which tokens are dropped.
	Seed uint64
	// Widths are the numbers of leading components to train at once, ascending. Default:
	// only the model's width.
	Widths []int
	// Temperature divides cosines: the lower it is, the more the nearest wrong texts count.
	// Default .05.
	Temperature float64
	// Steps is the length of the run, over which the rates decay. Required.
	Steps int
	// WarmUp is the number of steps in which the rates rise from 0. Default 0.
	WarmUp int
	// RowRate and WeightRate are the peak learning rates of rows and weights: about the
	// most that a step moves a component of a row, or the logarithm of a weight. After
	// warm-up they fall to 0 along a cosine. Default .02 and .02.
	RowRate, WeightRate float64
	// FreezeWeights keeps the weights unchanged.
	FreezeWeights bool
	// Dropout is the share of a text's distinct tokens that a step leaves out, at
	// random, so that no text depends on one word. Default 0.
	Dropout float64
	// Anchor is the share of the way back to its start that a row moves in a step that
	// updates it, times the step's RowRate. It keeps rare words from memorising their few
	// texts. Default 0.
	Anchor float64
}

// errOptions is returned for invalid options.
var errOptions = errors.New("contrast: options")

// withDefaults returns the options with defaults for a model of this width.
func (o Options) withDefaults(width int) Options {
	if len(o.Widths) == 0 {
		o.Widths = []int{width}
	}
	o.Temperature = cmp.Or(o.Temperature, .05)
	o.RowRate = cmp.Or(o.RowRate, .02)
	o.WeightRate = cmp.Or(o.WeightRate, .02)
	return o
}

func (o Options) validate(width int) error {
	switch last := len(o.Widths) - 1; {
	case !slices.IsSorted(o.Widths) || len(slices.Compact(slices.Clone(o.Widths))) != len(o.Widths):
		return fmt.Errorf("%w: widths %v are not ascending", errOptions, o.Widths)
	case o.Widths[0] < 1 || o.Widths[last] != width:
		return fmt.Errorf("%w: widths %v, want 1 and more, the last the model's %d", errOptions, o.Widths, width)
	case !(o.Temperature >= .01 && o.Temperature <= 1):
		return fmt.Errorf("%w: temperature %v, want .01 to 1", errOptions, o.Temperature)
	case o.Steps < 1 || o.WarmUp < 0 || o.WarmUp >= o.Steps:
		return fmt.Errorf("%w: %d steps, %d of them to warm up", errOptions, o.Steps, o.WarmUp)
	case !(o.RowRate > 0 && o.RowRate <= 1) || !(o.WeightRate > 0 && o.WeightRate <= 1):
		return fmt.Errorf("%w: rates %v and %v, want above 0 and at most 1", errOptions, o.RowRate, o.WeightRate)
	case !(o.Dropout >= 0 && o.Dropout < 1):
		return fmt.Errorf("%w: dropout %v, want 0 or more, below 1", errOptions, o.Dropout)
	case !(o.Anchor >= 0 && o.Anchor*o.RowRate < 1):
		return fmt.Errorf("%w: anchor %v, want 0 or more, times the rate below 1", errOptions, o.Anchor)
	}
	return nil
}

// fall is the factor of the rates in a step, counted from 0: a linear rise, then half a
// cosine (Loshchilov and Hutter, "SGDR", 2017, without restarts).
func (o Options) fall(step int) float64 {
	if step < o.WarmUp {
		return float64(step+1) / float64(o.WarmUp)
	}
	done := float64(step-o.WarmUp) / float64(o.Steps-o.WarmUp)
	return (1 + math.Cos(math.Pi*min(done, 1))) / 2
}
