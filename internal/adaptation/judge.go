package adaptation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/recalld/recalld/embedder/builtin/contrast"
	"github.com/recalld/recalld/internal/memory"
)

const (
	// minErrors is how many standard errors the gain must be above 0. With one, every
	// sixth table that is no better would pass.
	minErrors = 2
	// maxLoss is how much MRR on the general pairs may fall.
	maxLoss = .02
)

// shares are the parts of the way from the base to the trained table that are tried until
// the loss on the general pairs is small enough: a table between the two loses less on the
// general pairs than it gains on the others (Wortsman et al., "Robust Fine-Tuning of
// Zero-Shot Models", 2022).
var shares = []float64{1, .8, .6, .4, .3, .2}

// rankings are the ranks of the judged and of the general pairs.
type rankings struct{ judged, general []int }

func (w *subset) judge(m *contrast.Model) rankings {
	return rankings{contrast.Ranks(m, &w.pairs, w.judged, w.width), contrast.Ranks(m, &w.pairs, w.general, w.width)}
}

// figuresOf returns the figures of ranks.
func figuresOf(ranks []int) memory.ModelFigures {
	var f memory.ModelFigures
	for _, r := range ranks {
		if r == 1 {
			f.R1++
		}
		if r <= 10 {
			f.R10++
		}
		f.MRR += 1 / float64(r)
	}
	n := float64(max(len(ranks), 1))
	return memory.ModelFigures{R1: f.R1 / n, R10: f.R10 / n, MRR: f.MRR / n}
}

// compare fills in the figures.
func (r *result) compare(w *subset, before, after rankings) {
	r.Before, r.After = figuresOf(before.judged), figuresOf(after.judged)
	r.GeneralBefore, r.GeneralAfter = figuresOf(before.general), figuresOf(after.general)
	r.Gain, r.Error = gain(before.judged, after.judged, w.parts.judged)
}

// gain returns the mean difference of 1/rank and its standard error. Pairs of a document
// are correlated, so the error is clustered by document (Liang and Zeger, 1986): with d_i
// the difference of pair i, G documents and n pairs,
//
//	error² = G/(G-1) · Σ_documents (Σ_i (d_i - mean))² / n²
func gain(before, after []int, of []sample) (mean, err float64) {
	n := float64(len(of))
	for i := range of {
		mean += (1/float64(after[i]) - 1/float64(before[i])) / n
	}
	type off struct {
		document uint64
		by       float64
	}
	list := make([]off, len(of))
	for i := range of {
		list[i] = off{of[i].document, 1/float64(after[i]) - 1/float64(before[i]) - mean}
	}
	slices.SortFunc(list, func(a, b off) int { return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.by, b.by)) })
	squares, groups := 0.0, 0.0
	for i := 0; i < len(list); {
		sum, document := 0.0, list[i].document
		for ; i < len(list) && list[i].document == document; i++ {
			sum += list[i].by
		}
		squares, groups = squares+sum*sum, groups+1
	}
	if groups < 2 {
		return mean, math.Inf(1) // a single document gives no error
	}
	return mean, math.Sqrt(groups/(groups-1)*squares) / n
}

// loss is how far MRR fell on the general pairs.
func (r *result) loss() float64 { return r.GeneralBefore.MRR - r.GeneralAfter.MRR }

// refusal says why the table is not kept; empty if it is.
func (r *result) refusal() string {
	switch {
	case r.Gain <= minErrors*r.Error:
		return fmt.Sprintf("no certain gain on held-out files: MRR %.3f before, %.3f after, a difference of %+.3f ± %.3f", r.Before.MRR, r.After.MRR, r.Gain, r.Error)
	case r.loss() > maxLoss:
		return fmt.Sprintf("general questions would find less: MRR %.3f before, %.3f after", r.GeneralBefore.MRR, r.GeneralAfter.MRR)
	}
	return ""
}
