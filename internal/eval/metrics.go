package eval

import (
	"maps"
	"math"
	"slices"
)

// Hit is one ranked document.
type Hit struct {
	Document string
	Score    float64
}

// Metrics are means over questions, each 0 to 1.
type Metrics struct {
	// Queries is the number of questions that the means are over.
	Queries int `json:"queries"`
	// R5 and R10 are the share of the relevant documents among the first 5 and
	// 10.
	R5  float64 `json:"recall_at_5"`
	R10 float64 `json:"recall_at_10"`
	// MRR10 is one divided by the rank of the first relevant document, 0 below
	// rank 10.
	MRR10 float64 `json:"mrr_at_10"`
	// NDCG10 is the discounted cumulative gain of the first 10, the gain of a
	// document being its grade and its discount log2(rank+1), divided by the
	// highest possible one (Järvelin and Kekäläinen, 2002; as trec_eval has it).
	NDCG10 float64 `json:"ndcg_at_10"`
}

// add takes one question's ranking in; mean divides by their number.
func (m *Metrics) add(ranked []Hit, grades Grades) {
	m.Queries++
	all := float64(grades.relevant())
	var gain float64
	first := 0
	found := 0.0
	for i, h := range ranked[:min(10, len(ranked))] {
		grade := grades[h.Document]
		gain += grade / math.Log2(float64(i+2))
		if grade > 0 {
			found++
			if first == 0 {
				first = i + 1
			}
		}
		if i == 4 {
			m.R5 += found / all
		}
	}
	if len(ranked) < 5 {
		m.R5 += found / all
	}
	m.R10 += found / all
	if first > 0 {
		m.MRR10 += 1 / float64(first)
	}
	m.NDCG10 += gain / ideal(grades)
}

// ideal is the gain of the best ranking.
func ideal(grades Grades) float64 {
	best := slices.Sorted(maps.Values(grades))
	slices.Reverse(best)
	var gain float64
	for i, g := range best[:min(10, len(best))] {
		gain += g / math.Log2(float64(i+2))
	}
	return gain
}

// mean turns the sums into means.
func (m Metrics) mean() Metrics {
	n := float64(max(m.Queries, 1))
	return Metrics{m.Queries, m.R5 / n, m.R10 / n, m.MRR10 / n, m.NDCG10 / n}
}
